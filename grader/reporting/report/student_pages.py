"""A page for each student over the term, and a list of all students that leads to them.

This module computes what the pages show; templates in ``templates/report`` lay them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.files import make_writable, write_atomically
from grader.reporting.report import calls
from grader.reporting.report.book import Book, Described
from grader.reporting.report.people import FOLDER, LIST, Person, Places, file_name
from grader.reporting.report.standing import EXCUSED, FAILED, GRADED, MISSING, OPEN, Standing
from grader.reporting.report.templates import template
from grader.reporting.results import Result

#: What a page says of an assignment without a result.
_WITHOUT = {MISSING: "nothing was handed in", OPEN: "nothing yet", EXCUSED: "excused"}


class Work(NamedTuple):
    """A student's work in an assignment."""

    assignment: str
    status: str
    score: float | None
    points: float | None
    share: float | None
    median: float | None  #: of the shares of the class
    mistakes: Sequence[Described]
    remarks: Sequence[str]
    feedback: str  #: the address of the feedback, or ""
    report: str  #: the address of the report on the class, or ""


class Row(NamedTuple):
    """A line in the list of students."""

    person: Person
    total: float | None  #: in percent
    graded: int  #: number of assignments with a grade
    due: int  #: number of assignments that had to be handed in, with those graded before
    needs_call: bool


def write_student_pages(
    standing: Standing, into: Path, asked: Callable[[str], bool] = lambda student: True
) -> int:
    """Write the pages of the students who were asked for, and the list of all; return how many.

    Pages of students who have left the class are removed.

    Parameters
    ----------
    standing : Standing
        The class in the term.
    into : Path
        The folder of the gradebook.
    asked : callable
        Says whether to write a student's page. Default: those of all.
    """
    into = into.resolve()
    folder = into / FOLDER
    make_writable(folder)
    students = sorted({*standing.learners}.union(*standing.results.values()))
    last = standing.last_due
    reasons = {student: calls.reasons(standing, student, last) for student in students}
    places = Places(into, folder, standing.learners)
    book = Book(folder)
    layout = template("student.html.j2")
    written = [student for student in students if asked(student)]
    for student in written:
        page = layout.render(
            label=places.label(student),
            total=standing.totals.get(student),
            reasons=reasons[student],
            rule=calls.RULE,
            works=[_work(standing, student, name, places, book) for name in standing.assignments],
            students=f"../{LIST}",
        )
        write_atomically(folder / file_name(student), page)
    there = {file_name(student) for student in students}
    for old in folder.glob("*.html"):
        if old.name not in there:
            old.unlink()
    seen_from_above = Places(into, into, standing.learners)
    rows = [_row(standing, student, seen_from_above, reasons[student]) for student in students]
    page = template("students.html.j2").render(rows=rows, assignments=standing.assignments)
    write_atomically(into / LIST, page)
    return len(written)


def _row(standing: Standing, student: str, places: Places, reasons: Sequence[str]) -> Row:
    states = [standing.state(student, name) for name in standing.assignments]
    return Row(
        places.person(student),
        standing.totals.get(student),
        states.count(GRADED),
        sum(state in (GRADED, FAILED, MISSING) for state in states),
        bool(reasons),
    )


def _work(standing: Standing, student: str, assignment: str, places: Places, book: Book) -> Work:
    state = standing.state(student, assignment)
    result = standing.results[assignment].get(student)
    if result is None or state == EXCUSED:
        result = Result(student, None, reason=_WITHOUT[state])
    return Work(
        assignment,
        result.status if state in (GRADED, FAILED) else _WITHOUT[state],
        result.score,
        result.points,
        standing.share(student, assignment),
        standing.outcomes[assignment].median,
        [book.described(name) for name in result.mistakes],
        result.remarks,
        places.person(student, assignment).work,
        places.page(f"report-{assignment}.html"),
    )
