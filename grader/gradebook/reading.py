"""What nbgrader's gradebook knows of an assignment, in one query however large the class."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import and_, select

from grader.course import let_alembic_be_found


@dataclass
class Entry:
    """One student's grades in one assignment."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)  #: by cell, where it has any yet
    points: dict[str, float] = field(default_factory=dict)  #: the most each cell gives
    to_read: list[str] = field(default_factory=list)  #: cells that wait for a person
    late_penalty: float = 0.0  #: points taken off for lateness
    seconds_late: float = 0.0  #: since the deadline, with any extension of it
    comments: dict[str, str] = field(default_factory=dict)  #: by cell, where there is one
    judged: bool = False  #: whether a test has given points, and not a person alone


def sqlite_url(folder: Path) -> str:
    """Return the address of the gradebook in the folder."""
    return f"sqlite:///{folder.resolve() / 'gradebook.db'}"


def open_gradebook(db_url: str, course_id: str = "") -> Gradebook:
    """Return the gradebook at the address, made there if there is none. A context.

    Parameters
    ----------
    db_url : str
        SQLAlchemy's address of the database.
    course_id : str, optional
        A course to add if the gradebook does not have it. Default: none.
    """
    let_alembic_be_found()
    return Gradebook(db_url, course_id)


def due(db_url: str, assignment: str) -> datetime | None:
    """Return the assignment's deadline, in UTC, if it has one."""
    with open_gradebook(db_url) as gradebook:
        return gradebook.db.scalar(select(Assignment.duedate).where(Assignment.name == assignment))


class Learner(NamedTuple):
    """What the class list says of somebody; "" where it says nothing."""

    first_name: str = ""
    last_name: str = ""
    lms_user_id: str = ""


def learners(db_url: str) -> dict[str, Learner]:
    """Return all learners by id: those of the class list and who has handed in."""
    columns = (Student.id, Student.first_name, Student.last_name, Student.lms_user_id)
    with open_gradebook(db_url) as gradebook:
        rows = gradebook.db.execute(select(*columns).order_by(Student.id))
        return {student: Learner(*(fact or "" for fact in facts)) for student, *facts in rows}


def seconds_late(
    timestamp: datetime | None, due: datetime | None, extension: timedelta | None
) -> float:
    """Return how long after the deadline a submission came, 0 where one of the two is not known.

    Examples
    --------
    >>> noon = datetime(2026, 3, 2, 12)
    >>> seconds_late(noon, noon - timedelta(hours=3), timedelta(hours=2))
    3600.0
    """
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or timedelta())).total_seconds())


def entries(db_url: str, assignment: str) -> dict[str, Entry]:
    """Return the entries of all submissions to the assignment by student.

    An entry knows every cell that gives points, also those that were not handed in.
    """
    of_assignment = (
        select(Student.id)
        .join(SubmittedAssignment, SubmittedAssignment.student_id == Student.id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(Assignment.name == assignment)
    )
    grades = (
        of_assignment.join(GradeCell, GradeCell.notebook_id == SubmittedNotebook.notebook_id)
        .outerjoin(
            Grade,
            and_(Grade.notebook_id == SubmittedNotebook.id, Grade.cell_id == GradeCell.id),
        )
        .add_columns(
            SubmittedNotebook.late_submission_penalty,
            SubmittedAssignment.timestamp,
            Assignment.duedate,
            SubmittedAssignment.extension,
            GradeCell.name,
            GradeCell.max_score,
            Grade,
        )
        .order_by(Student.id, GradeCell.name)
    )
    comments = (
        of_assignment.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
        .join(SolutionCell, SolutionCell.id == Comment.cell_id)
        .add_columns(SolutionCell.name, Comment.comment)
        .where(Comment.comment.is_not(None))
        .order_by(Student.id, SolutionCell.name)
    )
    found: dict[str, Entry] = {}
    with open_gradebook(db_url) as gradebook:
        for student, penalty, *times, cell, most, grade in gradebook.db.execute(grades):
            entry = found.setdefault(student, Entry(student))
            entry.late_penalty = penalty or 0.0
            entry.seconds_late = seconds_late(*times)
            entry.points[cell] = most
            entry.judged |= bool(grade and grade.auto_score is not None)
            waits = bool(grade and grade.needs_manual_grade)
            if waits:
                entry.to_read.append(cell)
            # What a person gave counts while it waits to be looked at again, as in formgrader.
            if not waits or grade.manual_score is not None:
                entry.scores[cell] = grade.score if grade else 0.0
        for student, cell, comment in gradebook.db.execute(comments):
            found[student].comments[cell] = comment
    return found
