"""Copy a gradebook into another database, such as one of PostgreSQL."""

from __future__ import annotations

from nbgrader.api import Assignment, Base, Course, Student, SubmittedAssignment
from sqlalchemy import Connection, delete, func, insert, make_url, select

from grader.errors import GraderError
from grader.gradebook.reading import open_gradebook

#: Rows that are read and written at a time.
BATCH = 1000


class NotCopied(GraderError):
    """Raised when a gradebook is empty, or the one that it is to be copied into is not."""


def copy_gradebook(source: str, target: str) -> dict[str, int]:
    """Copy all rows of a gradebook, with their ids, into an empty or a new one.

    One transaction enters them all, so the target stays empty if a row is refused.

    Parameters
    ----------
    source, target : str
        SQLAlchemy URLs: SQLite or PostgreSQL.

    Returns
    -------
    dict
        How many ``students``, ``assignments`` and ``submissions`` were copied.

    Raises
    ------
    NotCopied
        If the source has no student, or the target a student or an assignment.
    sqlalchemy.exc.DBAPIError
        If a database cannot be opened, or refuses a row.
    """
    with (
        open_gradebook(source) as old,
        open_gradebook(target) as new,
        old.engine.connect() as reader,
        new.engine.begin() as writer,
    ):
        counts = _counts(reader)
        if not counts["students"]:
            raise NotCopied(f"expected students in the gradebook {shown(source)}, found none.")
        there = _counts(writer)
        if any(there.values()):
            raise NotCopied(
                f"expected an empty gradebook in {shown(target)}, found one with "
                f"{there['students']} students and {there['assignments']} assignments. Name "
                "another database, or empty that one first."
            )
        writer.execute(delete(Course))  # opening a gradebook enters one
        for table in Base.metadata.sorted_tables:
            for rows in reader.execute(select(table)).mappings().partitions(BATCH):
                writer.execute(insert(table), [dict(row) for row in rows])
    return counts


def _counts(connection: Connection) -> dict[str, int]:
    kinds = {"students": Student, "assignments": Assignment, "submissions": SubmittedAssignment}
    return {
        name: connection.scalar(select(func.count()).select_from(kind)) or 0
        for name, kind in kinds.items()
    }


def shown(db_url: str) -> str:
    """Return an address of a database without its password.

    Examples
    --------
    >>> shown("postgresql+psycopg://ada:secret@localhost/gradebook")
    'postgresql+psycopg://ada:***@localhost/gradebook'
    """
    return make_url(db_url).render_as_string(hide_password=True)
