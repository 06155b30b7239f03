"""Pages on a class: one for the next lecture in each assignment, and one for each student.

`analysis` and `standing` compute the numbers, `calls` says who needs a call, and `lecture` and
`student_pages` lay them out with the help of `people` and `templates`.
"""
