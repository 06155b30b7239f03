"""Enter verdicts in nbgrader's gradebook in batches, with the same rows that nbgrader writes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties, SaveCells
from sqlalchemy import or_, select, text
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    SAWarning,
    SQLAlchemyError,
)
from sqlalchemy.orm import selectinload
from traitlets import TraitError
from traitlets.config import Config

from grader.course import closest
from grader.errors import GraderError
from grader.gradebook.reading import Known, known_students, open_gradebook, seconds_late
from grader.judging.assignment_source import read_source
from grader.judging.verdict import FAILED, Verdict
from grader.printable import printable

#: The largest number of characters of a student's id.
MAX_ID_LENGTH = Student.id.type.length

#: Milliseconds to wait for rows that another program has locked in PostgreSQL.
PATIENCE = 10_000
#: PostgreSQL's codes for locked rows: not available, deadlock, serialization failure.
OF_LOCKED_ROWS = ("55P03", "40P01", "40001")

#: The comment that nbgrader gives to an answer that is still the released stub.
NO_RESPONSE = "No response."


class CellsChanged(GraderError):
    """Raised when an assignment that was graded before has cells added or removed."""


class LateRuleFailed(GraderError):
    """Raised when the course's rule for late work is missing or raises an error."""


class ImpossibleId(GraderError):
    """Raised for the name of a folder that the gradebook cannot hold as a student's id.

    The message begins with a lower-case letter, because it follows "failed:".
    """


class UnknownStudent(GraderError):
    """Raised for a student who is not in the gradebook."""


@dataclass(frozen=True)
class Entered:
    """A verdict to be entered in the gradebook."""

    verdict: Verdict
    timestamp: datetime | None = None  #: when it was handed in, if nbgrader recorded that


class GradebookWriter:
    """Enters verdicts on one assignment in the gradebook. A context manager.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the database: SQLite or PostgreSQL.
    assignment : str
        The assignment, which has one notebook of the same name.
    source : bytes
        The instructor's notebook; its cells are entered as ``nbgrader generate_assignment``
        enters them.
    config : Config
        nbgrader's configuration, for the course's id and its rule for late work.

    Raises
    ------
    CellsChanged
        If the gradebook has other cells for this assignment than the instructor's notebook.
    LateRuleFailed
        If the class that the configuration names for late work cannot be imported.
    """

    def __init__(self, db_url: str, assignment: str, source: bytes, config: Config) -> None:
        self.assignment = assignment
        course = config.CourseDirectory.get("course_id", "")
        self._gradebook = open_gradebook(db_url, course)
        try:
            if self._gradebook.engine.dialect.name == "postgresql":
                self._gradebook.db.execute(text(f"SET lock_timeout = {PATIENCE}"))
                self._gradebook.db.commit()
            self._penalties = _late_rule(config)
            self._enter_cells(db_url, source, config)
            self._db = self._gradebook.db
            row = self._gradebook.find_assignment(assignment)
            (notebook,) = row.notebooks
            self._assignment_id, self._notebook_id = row.id, notebook.id
            self._due = row.duedate
            self._max_scores = {
                cell.id: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)
            }
            self._comment_cells = [
                cell.id for cell in (*notebook.solution_cells, *notebook.task_cells)
            ]
            self._names = {
                cell.id: cell.name
                for cell in (*notebook.grade_cells, *notebook.task_cells, *notebook.solution_cells)
            }
        except BaseException:
            self._gradebook.close()
            raise

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def students(self) -> set[str]:
        """Return the students who have a score in the assignment, from a test or a person.

        Without one, the gradebook has no more than extra time for a submission.
        """
        rows = self._db.scalars(
            select(SubmittedAssignment.student_id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .where(
                SubmittedAssignment.assignment_id == self._assignment_id,
                or_(Grade.auto_score.is_not(None), Grade.manual_score.is_not(None)),
            )
            .distinct()
        )
        found = set(rows)
        self._db.rollback()
        return found

    def known_students(self) -> Known:
        """Return which students are in the gradebook, and what it knows of them."""
        known = known_students(self._db)
        self._db.rollback()
        return known

    def add_students(self, students: Iterable[str]) -> None:
        """Add students, except for ids that the gradebook cannot hold."""
        for student in students:
            with contextlib.suppress(ImpossibleId):
                self.check_id(student)
                self._add_student(student)
        self._db.commit()

    def enter_names(self, names: Mapping[str, tuple[str, str]]) -> None:
        """Enter each student's first and last name."""
        known = self._known_students(names)
        for student, (first_name, last_name) in names.items():
            row = known.get(student) or self._add_student(student)
            row.first_name, row.last_name = first_name, last_name
        self._db.commit()

    def renew_penalties(self) -> None:
        """Compute the penalties of all late submissions in the gradebook again.

        A penalty depends on the deadline, on extensions, on the rule and on scores that a person
        gave. These may have changed although no submission has to be judged again.

        Raises
        ------
        LateRuleFailed
            If the rule raises an error.
        """
        concerned = SubmittedNotebook.late_submission_penalty.is_not(None)
        if self._due is not None:
            concerned = or_(concerned, SubmittedAssignment.timestamp > self._due)
        rows = self._db.scalars(
            select(SubmittedAssignment)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .where(SubmittedAssignment.assignment_id == self._assignment_id, concerned)
            .options(selectinload(SubmittedAssignment.notebooks))
        )
        for submission in rows.unique().all():
            self._enter_penalty(submission)
        self._db.commit()
        self._db.expunge_all()

    def extend(self, student: str, extension: timedelta) -> None:
        """Set how much later than the deadline a student may hand in; also before the hand-in.

        Raises
        ------
        UnknownStudent
            If the student is not in the gradebook.
        """
        known = {*self.known_students().students}
        if student not in known:
            close = closest(student, known)
            raise UnknownStudent(
                f"expected a student of the gradebook, got {printable(student)!r}"
                + (f". Did you mean {printable(close)}?" if close else ". Import the class list.")
            )
        submission = self._submissions([student]).get(student) or self._add_submission(student)
        self._complete(submission)
        submission.extension = extension or None
        self._db.commit()
        self._db.expunge_all()

    def check_id(self, student: str) -> None:
        """Raise `ImpossibleId` if the gradebook cannot hold this id."""
        if not writable(student):
            raise ImpossibleId(
                "the name of the folder is not in UTF-8, so it is nobody's id. Give the folder the "
                "student's id as its name"
            )
        # SQLite does not enforce the length.
        if self._gradebook.engine.dialect.name != "sqlite" and len(student) > MAX_ID_LENGTH:
            raise ImpossibleId(
                f"the name of the folder has {len(student)} characters, and an id in the gradebook "
                f"has at most {MAX_ID_LENGTH}. Give the folder the student's id as its name"
            )

    def enter(self, batch: Sequence[Entered]) -> dict[str, str]:
        """Enter the verdicts in one transaction, or each in its own if one cannot be entered.

        If a verdict is a failure, only what a person gave stays of an earlier entry.

        Returns
        -------
        dict
            The reason by student, for those whose rows the database refused. These are unchanged.

        Raises
        ------
        LateRuleFailed
            If the rule for late work raises an error. Nothing of that transaction is entered then.
        sqlalchemy.exc.SQLAlchemyError
            If the database cannot be used at all.
        """
        batch = [entered for entered in batch if writable(entered.verdict.student)]
        if not batch:
            return {}
        try:
            self._enter_together(batch)
            return {}
        except SQLAlchemyError as problem:
            if _concerns_all(problem):
                raise
        refused = {}
        for entered in batch:
            try:
                self._enter_together([entered])
            except SQLAlchemyError as problem:
                if _concerns_all(problem):
                    raise
                first, *_ = str(getattr(problem, "orig", problem)).splitlines() or [""]
                refused[entered.verdict.student] = f"the gradebook did not take it: {first.strip()}"
        return refused

    def _enter_together(self, batch: Sequence[Entered]) -> None:
        with warnings.catch_warnings():
            # nbgrader's models make SQLAlchemy 2.1 warn about the order in which rows are added.
            warnings.filterwarnings("ignore", category=SAWarning)
            try:
                self._enter(batch)
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise
            finally:
                self._db.expunge_all()  # frees the memory of the batch

    def _enter(self, batch: Sequence[Entered]) -> None:
        submissions = self._submissions([entered.verdict.student for entered in batch])
        for entered in batch:
            student = entered.verdict.student
            if entered.verdict.status == FAILED and student in submissions:
                if _has_something_by_hand(submissions[student]):
                    self._withdraw_verdict(submissions[student])
                else:
                    self._remove(submissions.pop(student))
        graded = [entered for entered in batch if entered.verdict.status != FAILED]
        known = self._known_students([entered.verdict.student for entered in graded])
        for entered in graded:
            student = entered.verdict.student
            if student not in known:
                self._add_student(student)
            if student not in submissions:
                submissions[student] = self._add_submission(student)
            self._enter_one(submissions[student], entered)
        self._db.flush()
        for submission in submissions.values():
            self._enter_penalty(submission)

    def _submissions(self, students: Sequence[str]) -> dict[str, SubmittedAssignment]:
        rows = self._db.scalars(
            select(SubmittedAssignment)
            .where(
                SubmittedAssignment.assignment_id == self._assignment_id,
                SubmittedAssignment.student_id.in_(students),
            )
            .options(
                selectinload(SubmittedAssignment.notebooks).options(
                    selectinload(SubmittedNotebook.grades),
                    selectinload(SubmittedNotebook.comments),
                )
            )
        )
        return {row.student_id: row for row in rows}

    def _known_students(self, students: Sequence[str] | Mapping[str, Any]) -> dict[str, Student]:
        rows = self._db.scalars(select(Student).where(Student.id.in_(list(students))))
        return {row.id: row for row in rows}

    def _add_student(self, student: str) -> Student:
        row = Student(id=student)
        self._db.add(row)
        return row

    def _add_submission(self, student: str) -> SubmittedAssignment:
        """Add the rows that `Gradebook.add_submission` adds, without its commit."""
        submission = SubmittedAssignment(assignment_id=self._assignment_id, student_id=student)
        self._db.add(submission)
        self._complete(submission)
        return submission

    def _complete(self, submission: SubmittedAssignment) -> None:
        """Add the rows of the notebook to a submission that has none.

        nbgrader makes such a submission for extra time if it does not know the cells yet.
        """
        if submission.notebooks:
            return
        notebook = SubmittedNotebook(notebook_id=self._notebook_id, assignment=submission)
        for cell in self._max_scores:
            Grade(cell_id=cell, notebook=notebook)
        for cell in self._comment_cells:
            Comment(cell_id=cell, notebook=notebook)
        self._db.add(notebook)

    def _enter_one(self, submission: SubmittedAssignment, entered: Entered) -> None:
        """Set what nbgrader's `SaveAutoGrades` sets, and keep a person's scores and comments."""
        verdict = entered.verdict
        self._complete(submission)
        if entered.timestamp is not None:
            submission.timestamp = entered.timestamp
        for notebook in submission.notebooks:
            for cell in {*self._max_scores} - {grade.cell_id for grade in notebook.grades}:
                Grade(cell_id=cell, notebook=notebook)
            for grade in notebook.grades:
                name = self._names.get(grade.cell_id, "")
                grade.auto_score = verdict.scores.get(name)
                if name in verdict.missing:
                    # This cell was not handed in, so a person's score is for an earlier submission.
                    grade.manual_score = grade.extra_credit = None
                if grade.manual_score is not None:
                    # The maximum may have been lowered since; formgrader has this limit too.
                    grade.manual_score = min(grade.manual_score, self._max_scores[grade.cell_id])
                grade.needs_manual_grade = (
                    grade.manual_score is not None or grade.auto_score is None
                )
            for comment in notebook.comments:
                name = self._names.get(comment.cell_id)
                comment.auto_comment = NO_RESPONSE if name in verdict.unanswered else None

    def _enter_penalty(self, submission: SubmittedAssignment) -> None:
        """Set what nbgrader's `AssignLatePenalties` sets."""
        late = seconds_late(submission.timestamp, self._due, submission.extension)
        for notebook in submission.notebooks:
            notebook.late_submission_penalty = None
            if late:
                self._db.refresh(notebook, ["score"])
                notebook.late_submission_penalty = self._penalty(submission, notebook, late)

    def _penalty(
        self, submission: SubmittedAssignment, notebook: SubmittedNotebook, late: float
    ) -> float | None:
        rule = self._penalties.plugin_inst
        try:
            penalty = rule.late_submission_penalty(submission.student_id, notebook.score, late)
            return (
                None if penalty is None else self._penalties._check_late_penalty(notebook, penalty)
            )
        except Exception as problem:  # the course may bring its own rule, which can raise anything
            raise LateRuleFailed(
                f"the rule for late work, {type(rule).__name__}, raised "
                f"{type(problem).__name__}: {problem}, for {printable(submission.student_id)}, who "
                f"was {late:g} s late. Correct the rule and give the command again."
            ) from problem

    def _withdraw_verdict(self, submission: SubmittedAssignment) -> None:
        """Remove what came from a verdict, and keep what a person gave."""
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                # nbgrader, too, leaves a submission that it could not grade in this state.
                grade.auto_score, grade.needs_manual_grade = None, True
            for comment in notebook.comments:
                comment.auto_comment = None

    def _remove(self, submission: SubmittedAssignment) -> None:
        for notebook in submission.notebooks:
            for row in (*notebook.grades, *notebook.comments, notebook):
                self._db.delete(row)
        self._db.delete(submission)

    def _enter_cells(self, db_url: str, source: bytes, config: Config) -> None:
        """Enter the assignment and its cells, unless the gradebook already has the same ones."""
        stub = read_source(source).stub
        gradebook = self._gradebook
        known = gradebook.db.scalar(select(Assignment).where(Assignment.name == self.assignment))
        if known is None:
            gradebook.update_or_create_assignment(self.assignment)
        elif known.notebooks and _same_cells(known.notebooks[0], stub):
            return
        names = {"notebook": self.assignment, "assignment": self.assignment, "db_url": db_url}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=SAWarning)
            try:
                SaveCells(config=config).preprocess(stub, {"nbgrader": names})
            except RuntimeError as problem:
                raise CellsChanged(
                    f"{self.assignment}: expected the same cells in the instructor's notebook as "
                    f"in the gradebook, found others. {problem}. Put the cells in solutions back: "
                    "a task that has grades is dropped by giving it 0 points. To grade other "
                    "cells, grade into another folder, or remove the assignment's submissions "
                    "from the gradebook first."
                ) from problem
        gradebook.db.expire_all()


def writable(student: str) -> bool:
    """Say whether an id can be encoded in UTF-8. Names of folders may hold any bytes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in student)


def _concerns_all(problem: SQLAlchemyError) -> bool:
    """Say whether an error of the database concerns more than the rows that were entered."""
    if getattr(getattr(problem, "orig", None), "sqlstate", None) in OF_LOCKED_ROWS:
        return False
    of_rows = (DataError, IntegrityError, NotSupportedError)
    return isinstance(problem, DBAPIError) and not isinstance(problem, of_rows)


def _late_rule(config: Config) -> AssignLatePenalties:
    try:
        rule = AssignLatePenalties(config=config)
        rule.init_plugin()
    except TraitError as problem:
        named = config.AssignLatePenalties.get("plugin_class")
        if "could not be imported" in str(problem):
            raise LateRuleFailed(
                f"nbgrader_config.py names {named!r} in c.AssignLatePenalties.plugin_class, but it "
                "cannot be imported. Put the file beside nbgrader_config.py, and name it and its "
                "class, as late_policy.TenPercentADay."
            ) from problem
        what = str(problem).rstrip(".")
        raise LateRuleFailed(
            f"nbgrader_config.py has a wrong option for late work. {what}. Correct it first."
        ) from problem
    return rule


def _has_something_by_hand(submission: SubmittedAssignment) -> bool:
    """Say whether a person gave a score, a comment, an extension or a flag."""
    return submission.extension is not None or any(
        notebook.flagged
        or any(
            given is not None
            for grade in notebook.grades
            for given in (grade.manual_score, grade.extra_credit)
        )
        or any(comment.manual_comment is not None for comment in notebook.comments)
        for notebook in submission.notebooks
    )


def _same_cells(notebook: Notebook, stub: NotebookNode) -> bool:
    """Say whether the gradebook has the same cells as the released notebook."""
    recorded = {cell.name: (cell.checksum, cell.source) for cell in notebook.source_cells}
    found = {
        cell.metadata.nbgrader.grade_id: (cell.metadata.nbgrader.get("checksum"), cell.source)
        for cell in stub.cells
        if "nbgrader" in cell.metadata
    }
    points = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    wanted = {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in stub.cells
        if "points" in cell.metadata.get("nbgrader", {})
    }
    return recorded == found and points == wanted
