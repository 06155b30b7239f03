"""All rows of a gradebook without random ids, to compare two gradebooks."""

from __future__ import annotations

import datetime

from sqlalchemy import create_engine, text

QUERIES = {
    "course": "select id from course",
    "assignment": "select name, duedate, course_id from assignment",
    "notebook": """
        select a.name as assignment, n.name, n.kernelspec
        from notebook n join assignment a on a.id = n.assignment_id""",
    "grade cells": """
        select b.name, b.type, c.max_score, c.cell_type
        from grade_cells c join base_cell b on b.id = c.id""",
    "solution cells": "select b.name, b.type from base_cell b where b.type = 'SolutionCell'",
    "source cells": "select name, cell_type, locked, source, checksum from source_cell",
    "student": "select id, first_name, last_name, email, lms_user_id from student",
    "submission": """
        select s.student_id, a.name, s.timestamp, s.extension
        from submitted_assignment s join assignment a on a.id = s.assignment_id""",
    "submitted notebook": """
        select s.student_id, n.name, sn.flagged, sn.late_submission_penalty
        from submitted_notebook sn join notebook n on n.id = sn.notebook_id
        join submitted_assignment s on s.id = sn.assignment_id""",
    "grade": """
        select s.student_id, b.name, g.auto_score, g.manual_score, g.extra_credit,
            g.needs_manual_grade
        from grade g join base_cell b on b.id = g.cell_id
        join submitted_notebook sn on sn.id = g.notebook_id
        join submitted_assignment s on s.id = sn.assignment_id""",
    "comment": """
        select s.student_id, b.name, c.auto_comment, c.manual_comment
        from comment c join base_cell b on b.id = c.cell_id
        join submitted_notebook sn on sn.id = c.notebook_id
        join submitted_assignment s on s.id = sn.assignment_id""",
}


def rows(db_url: str) -> dict[str, list[str]]:
    """Return the sorted rows of each table."""
    engine = create_engine(db_url)
    try:
        with engine.connect() as connection:
            return {
                name: sorted(repr(_plain(row)) for row in connection.execute(text(query)))
                for name, query in QUERIES.items()
            }
    finally:
        engine.dispose()


def _plain(row: object) -> tuple:
    """Return a row with Booleans as numbers, times and spans as text, as stored by SQLite."""
    epoch = datetime.datetime(1970, 1, 1)
    row = [epoch + value if isinstance(value, datetime.timedelta) else value for value in row]
    return tuple(
        int(value)
        if isinstance(value, bool)
        else f"{value:%Y-%m-%d %H:%M:%S.%f}"
        if isinstance(value, datetime.datetime)
        else value
        for value in row
    )
