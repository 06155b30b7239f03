"""Read and write nbgrader's gradebook.

Used by other subpackages:

- `reading`: learners, entries and deadlines, in few queries.
- `writing`: enter verdicts as nbgrader itself would.
- `due_dates`: parse and format times with their time zones.
"""
