"""nbgrader's gradebook: its rows read in one query, written by one writer.

Other rooms use:

- `reading`: students, entries, deadlines.
- `writing`: verdicts entered as nbgrader itself would.
- `due_dates`: times in words and in UTC.
"""
