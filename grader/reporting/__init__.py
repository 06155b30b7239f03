"""What people read after grading: feedback, tables, exports and the report on a class.

Other rooms use:

- `results`: what gradebook and journal know of each student.
- `summary`: a class in a few sentences and a table.
- `feedback`: a page for each student.
- `export`: grades as a learning platform imports them.
- `report`: the instructor's page on how the class did.
"""
