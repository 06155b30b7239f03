"""What nbgrader's gradebook knows of an assignment, in one query however large the class."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass
class Entry:
    """One student's grades in one assignment."""

    student: str
    first_name: str
    last_name: str
    scores: dict[str, float] = field(default_factory=dict)  #: by cell; without those to read
    points: dict[str, float] = field(default_factory=dict)  #: the most each cell gives
    to_read: list[str] = field(default_factory=list)  #: cells that wait for a person
    missing: list[str] = field(default_factory=list)  #: cells not handed in; they score 0
    comments: dict[str, str] = field(default_factory=dict)  #: by cell, where there is one


def database(folder: Path) -> str:
    """Return the address of the gradebook in the folder."""
    return f"sqlite:///{folder.resolve() / 'gradebook.db'}"


def enter_students(db_url: str, course_id: str, names: dict[str, tuple[str, str]]) -> None:
    """Enter each student's first and last name under their id."""
    with Gradebook(db_url, course_id) as gradebook:
        for student, (first_name, last_name) in names.items():
            gradebook.update_or_create_student(student, first_name=first_name, last_name=last_name)


def forget_submission(db_url: str, assignment: str, student: str) -> None:
    """Remove what is recorded of a submission, so that no old score stands for it."""
    with Gradebook(db_url) as gradebook:
        if student in {s.student_id for s in gradebook.assignment_submissions(assignment)}:
            gradebook.remove_submission(assignment, student)


def enter_missing(db_url: str, assignment: str, student: str, handed_in: Collection[str]) -> None:
    """Take every grade off the cells that are not among those handed in.

    nbgrader grades the cells that it finds. For one that was deleted it would keep the score of
    an earlier submission, or else wait for a person.
    """
    with Gradebook(db_url) as gradebook:
        for notebook in gradebook.find_submission(assignment, student).notebooks:
            for grade in notebook.grades:
                if grade.name not in handed_in:
                    grade.auto_score = grade.manual_score = grade.extra_credit = None
                    grade.needs_manual_grade = False
        gradebook.db.commit()


def read(db_url: str, assignment: str) -> dict[str, Entry]:
    """Return the entries of all submissions to the assignment by student.

    An entry knows every cell that gives points, also those that were not handed in.
    """
    of_assignment = (
        select(Student.id, Student.first_name, Student.last_name)
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
        .add_columns(GradeCell.name, GradeCell.max_score, Grade)
        .order_by(Student.id, GradeCell.name)
    )
    comments = (
        of_assignment.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
        .join(SolutionCell, SolutionCell.id == Comment.cell_id)
        .add_columns(SolutionCell.name, Comment.comment)
        .where(Comment.comment.is_not(None))
        .order_by(Student.id, SolutionCell.name)
    )
    entries: dict[str, Entry] = {}
    with Gradebook(db_url) as gradebook:
        for student, first, last, cell, most, grade in gradebook.db.execute(grades):
            entry = entries.setdefault(student, Entry(student, first or "", last or ""))
            entry.points[cell] = most
            if grade and grade.needs_manual_grade:
                entry.to_read.append(cell)
            else:
                entry.scores[cell] = grade.score if grade else 0.0
            if _is_missing(grade):
                entry.missing.append(cell)
        for student, _, _, cell, comment in gradebook.db.execute(comments):
            entries[student].comments[cell] = comment
    return entries


def _is_missing(grade: Grade | None) -> bool:
    """Say whether a cell has no grade and waits for none."""
    if grade is None:
        return True
    return not grade.needs_manual_grade and grade.auto_score is None and grade.manual_score is None
