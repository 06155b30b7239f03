"""Read nbgrader's gradebook, with a number of queries that does not depend on the class size."""

from __future__ import annotations

import contextlib
import sqlite3
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
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import and_, func, make_url, select
from sqlalchemy.orm import Session

from grader.course import read_version_here
from grader.errors import GraderError


class NoGradebook(GraderError):
    """Raised for a file that was named as the gradebook and is something else."""


@dataclass
class Entry:
    """One student's grades in one assignment."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)  #: by cell, if it has been scored
    points: dict[str, float] = field(default_factory=dict)  #: the maximum score by cell
    to_read: list[str] = field(default_factory=list)  #: cells that a person has to score
    late_penalty: float = 0.0  #: points deducted for lateness
    due: datetime | None = None  #: the deadline in UTC, with the student's extension
    seconds_late: float = 0.0  #: after the deadline, extended if the student has an extension
    comments: dict[str, str] = field(default_factory=dict)  #: by cell, if it has a comment
    judged: bool = False  #: whether any score comes from a test rather than from a person

    @property
    def handed_in(self) -> bool:
        """Whether there is a score. Without one, the entry was added to give extra time."""
        return self.judged or bool(self.scores)

    @property
    def above_maximum(self) -> dict[str, float]:
        """The scores that are greater than the maximum of their cell, by extra credit."""
        return {cell: score for cell, score in self.scores.items() if score > self.points[cell]}


def sqlite_url(folder: Path) -> str:
    """Return the SQLAlchemy URL of the gradebook in a folder."""
    return f"sqlite:///{folder.resolve() / 'gradebook.db'}"


def open_gradebook(db_url: str, course_id: str = "") -> Gradebook:
    """Open a gradebook, and create it if there is none. Use it as a context manager.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the database.
    course_id : str, optional
        A course to add if the gradebook does not have it. Default: none.

    Raises
    ------
    NoGradebook
        If the file is not a gradebook but something else.
    sqlalchemy.exc.DBAPIError
        If there is no such database, or it cannot be opened.
    """
    read_version_here()
    _check_file(db_url)
    return Gradebook(db_url, course_id)


def _check_file(db_url: str) -> None:
    """Raise `NoGradebook` if the URL is that of a file with something else in it.

    nbgrader would add its tables to any database of SQLite.
    """
    file = Path(make_url(db_url).database or "") if db_url.startswith("sqlite") else None
    if file is None or not file.is_file() or not file.stat().st_size:
        return
    address = f"{file.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, timeout=0, uri=True)) as database:
        try:
            tables = {name for (name,) in database.execute("select name from sqlite_master")}
        except sqlite3.OperationalError:  # locked, for example: opening it will say so
            return
        except sqlite3.DatabaseError as problem:
            raise NoGradebook(f"expected a gradebook in {file}, but {problem}.") from None
    if tables and not {"student", "grade"} <= tables:
        raise NoGradebook(
            f"expected a gradebook in {file}, found a database with the tables "
            f"{', '.join(sorted(tables)[:5])}."
        )


def submitted_assignments(db_url: str) -> set[str]:
    """Return the names of the assignments in which somebody has a score.

    A submission without one may be there only because a student was given more time.
    """
    names = (
        select(Assignment.name)
        .join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
        .distinct()
    )
    with open_gradebook(db_url) as gradebook:
        found = list(gradebook.db.scalars(names))
    return {
        name for name in found if any(entry.handed_in for entry in entries(db_url, name).values())
    }


def due(db_url: str, assignment: str) -> datetime | None:
    """Return the assignment's deadline in UTC, or None if it has none."""
    with open_gradebook(db_url) as gradebook:
        return gradebook.db.scalar(select(Assignment.duedate).where(Assignment.name == assignment))


class Deadlines(NamedTuple):
    """The deadlines of an assignment in UTC, without a zone, as nbgrader keeps them."""

    due: datetime | None  #: None if it has none
    extended: dict[str, datetime]  #: by student, for those who have more time

    def over_for(self, student: str, now: datetime) -> bool:
        """Say whether a student can hand in no more, except late; True if there is no deadline.

        Examples
        --------
        >>> noon = datetime(2026, 3, 2, 12)
        >>> deadlines = Deadlines(noon, {"ada": datetime(2026, 3, 3, 12)})
        >>> later = datetime(2026, 3, 2, 15)
        >>> deadlines.over_for("ada", later), deadlines.over_for("bo", later)
        (False, True)
        """
        due = self.extended.get(student, self.due)
        return due is None or now >= due


def deadlines(db_url: str) -> dict[str, Deadlines]:
    """Return the deadlines of each assignment in the gradebook."""
    extensions = (
        select(Assignment.name, SubmittedAssignment.student_id, SubmittedAssignment.extension)
        .join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(SubmittedAssignment.extension.is_not(None))
    )
    with open_gradebook(db_url) as gradebook:
        rows = gradebook.db.execute(select(Assignment.name, Assignment.duedate))
        found = {name: Deadlines(due, {}) for name, due in rows}
        for name, student, extension in gradebook.db.execute(extensions):
            if due := _extended(found[name].due, extension):
                found[name].extended[student] = due
    return found


def max_scores(db_url: str) -> dict[str, float]:
    """Return the maximum score of each assignment with submissions or extra time, by name."""
    query = (
        select(Assignment.name, func.sum(GradeCell.max_score))
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .join(GradeCell, GradeCell.notebook_id == Notebook.id)
        .group_by(Assignment.name)
    )
    with open_gradebook(db_url) as gradebook:
        return {name: float(points) for name, points in sorted(gradebook.db.execute(query))}


def due_for(db_url: str, assignment: str, student: str) -> datetime | None:
    """Return a student's deadline in UTC, with an extension; None if the assignment has none."""
    query = (
        select(Assignment.duedate, SubmittedAssignment.extension)
        .join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == assignment, SubmittedAssignment.student_id == student)
    )
    with open_gradebook(db_url) as gradebook:
        row = gradebook.db.execute(query).first()
    return _extended(*row) if row else None


def _extended(due: datetime | None, extension: timedelta | None) -> datetime | None:
    return due and due + (extension or timedelta())


class Learner(NamedTuple):
    """What the class list says about a learner. A field is "" if it is not in the list."""

    first_name: str = ""
    last_name: str = ""
    lms_user_id: str = ""
    email: str = ""


def learners(db_url: str) -> dict[str, Learner]:
    """Return all learners by id: those in the class list and those with a submission."""
    facts = (Student.first_name, Student.last_name, Student.lms_user_id, Student.email)
    with open_gradebook(db_url) as gradebook:
        rows = gradebook.db.execute(select(Student.id, *facts).order_by(Student.id))
        return {student: Learner(*(fact or "" for fact in known)) for student, *known in rows}


class Known(NamedTuple):
    """Which students are in a gradebook, and what it knows of them."""

    students: frozenset[str]
    has_facts: bool  #: whether any has a name, an address or a platform's id
    bare: frozenset[str]  #: those without such facts and without a submission


def known_students(db: Session) -> Known:
    """Return which students are in a gradebook, and what it knows of them."""
    facts = (Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    with_submission = set(db.scalars(select(SubmittedAssignment.student_id).distinct()))
    with_facts: set[str] = set()
    without: set[str] = set()
    for student, *found in db.execute(select(Student.id, *facts)):
        (with_facts if any(found) else without).add(student)
    return Known(
        frozenset(with_facts | without), bool(with_facts), frozenset(without - with_submission)
    )


def seconds_late(
    timestamp: datetime | None, due: datetime | None, extension: timedelta | None
) -> float:
    """Return how many seconds after the deadline a submission came, 0 if either time is unknown.

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
    """Return the entries of all submissions to an assignment, by student.

    An entry has every cell that is worth points, even if it was not handed in.
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
            entry.due = _extended(*times[1:])
            entry.points[cell] = most
            entry.judged |= bool(grade and grade.auto_score is not None)
            waits = bool(grade and grade.needs_manual_grade)
            if waits:
                entry.to_read.append(cell)
            # As in formgrader, a person's score counts even while the answer is marked to be read.
            if not waits or grade.manual_score is not None:
                entry.scores[cell] = grade.score if grade else 0.0
        for student, cell, comment in gradebook.db.execute(comments):
            found[student].comments[cell] = comment
    return found
