"""What people read after grading: feedback, summaries, exports and the report on a class.

Other rooms use:

- `results`: what gradebook and journal know about each student's submission.
- `summary`: the results of a class in a table and a few sentences.
- `feedback`: a page for each student.
- `returning`: the pages, for the command or the mail that returns them.
- `export`: grades as CSV for a spreadsheet or a learning platform.
- `totals`: totals over the term, from the results in all assignments.
- `report`: the instructor's pages on how the class and each student did.
"""
