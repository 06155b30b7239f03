"""Read and write nbgrader's gradebook.

Other rooms use:

- `reading`: learners, entries and deadlines, in few queries.
- `roster`: a class list, read from a file and entered.
- `writing`: enter verdicts and late penalties, as nbgrader would.
- `copying`: copy all of it into another database.
"""
