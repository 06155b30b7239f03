"""Grades as a CSV file: for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from grader.reporting.results import Result

#: A spreadsheet takes a text that begins with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

Row = Sequence[str | float]


class Sheet(NamedTuple):
    """The rows of a file."""

    head: list[Row]
    students: list[Row]  #: one a student


def neutral(text: str) -> str:
    """Return the text with an apostrophe before it where it would count as a formula.

    Examples
    --------
    >>> neutral("=1+1"), neutral("Ada")
    ("'=1+1", 'Ada')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def write_csv(
    results: Sequence[Result],
    cells: Sequence[str],
    path: Path,
    *,
    assignment: str = "",
    form: str = "csv",
) -> int:
    """Write a line for each student. Texts are quoted and no formulas, numbers are numbers.

    Parameters
    ----------
    results : sequence of Result
    cells : sequence of str
        The cells that give points, in the notebook's order.
    path : Path
        The file.
    assignment : str
        The name of the column of points, where the form has one such column.
    form : str
        A key of `FORMS`.

    Returns
    -------
    int
        Of how many students there is a line.
    """
    sheet = FORMS[form](results, cells, assignment)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        for row in (*sheet.head, *sheet.students):
            writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return len(sheet.students)


def _everything(results: Sequence[Result], cells: Sequence[str], _: str) -> Sheet:
    """Names, points, status, remarks and the points of each cell.

    A cell that waits for a person is empty; one that was not handed in has 0.
    """
    names = ["student", "last_name", "first_name"]
    facts = ["score", "points", "late_penalty", "status", "mistakes", "remarks"]
    rows: list[Row] = []
    for result in results:
        entry = result.entry
        first, last, _ = result.learner
        totals = [_number(x) for x in (result.score, result.points)]
        penalty = _number(entry.late_penalty if entry else None)
        texts = [result.status, " ".join(result.mistakes), " ".join(result.remarks)]
        scores = [_number(entry.scores.get(cell)) if entry else "" for cell in cells]
        rows.append([result.student, last, first, *totals, penalty, *texts, *scores])
    return Sheet([[*names, *facts, *cells]], rows)


def _canvas(results: Sequence[Result], _: Sequence[str], assignment: str) -> Sheet:
    """What Canvas's *Import Grades* reads; it finds students by ID or SIS login ID.

    The second row says how many points there are. A student without a grade has an empty cell,
    which changes nothing there.
    """
    most = max((result.points for result in results if result.points is not None), default=0.0)
    head: list[Row] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment],
        ["    Points Possible", "", "", "", "", float(most)],
    ]
    rows: list[Row] = []
    for result in results:
        first, last, number = result.learner
        name = ", ".join(part for part in (last, first) if part) or result.student
        rows.append([name, number, "", result.student, "", _number(result.score)])
    return Sheet(head, rows)


def _moodle(results: Sequence[Result], _: Sequence[str], assignment: str) -> Sheet:
    """What Moodle's *Import > CSV file* reads, with students mapped by their username.

    Who has no grade is left out: Moodle would take an empty cell for a grade to remove.
    """
    head: list[Row] = [["username", "lastname", "firstname", assignment, f"{assignment} feedback"]]
    rows: list[Row] = [
        [
            result.student,
            result.learner.last_name,
            result.learner.first_name,
            _number(result.score),
            " ".join(result.remarks),
        ]
        for result in results
        if result.entry is not None
    ]
    return Sheet(head, rows)


#: The forms of the file by name.
FORMS: dict[str, Callable[[Sequence[Result], Sequence[str], str], Sheet]] = {
    "csv": _everything,
    "canvas": _canvas,
    "moodle": _moodle,
}


def _number(value: Any) -> float | str:
    """Return a number as it is written: without the last bits of sums."""
    return "" if value is None else float(f"{value:.10g}")
