"""Grades as a CSV file: for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from grader.reporting.results import Result

#: A spreadsheet reads a cell that begins with one of these characters as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

Row = Sequence[str | float]


class Sheet(NamedTuple):
    """The rows of a file."""

    head: list[Row]
    students: list[Row]  #: one for each student


def neutral(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet would read it as a formula.

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
    file_format: str = "csv",
) -> int:
    """Write a line for each student. Texts are quoted and cannot act as formulas.

    Parameters
    ----------
    results : sequence of Result
    cells : sequence of str
        The cells that are worth points, in the notebook's order.
    path : Path
        The file.
    assignment : str
        The heading of the column with the score, in formats for learning platforms.
    file_format : str
        A key of `FORMATS`.

    Returns
    -------
    int
        The number of students in the file.
    """
    sheet = FORMATS[file_format](results, cells, assignment)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        for row in (*sheet.head, *sheet.students):
            writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return len(sheet.students)


def _everything(results: Sequence[Result], cells: Sequence[str], _: str) -> Sheet:
    """Return names, score, status, remarks and the score of each cell.

    The score is empty if a person still has to give it, and 0 if the cell was not handed in.
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
    """Return what *Import Grades* of Canvas reads; it finds students by ID or SIS login ID.

    The second row has the maximum score. The cell of a student without a grade is empty, so the
    import changes nothing for that student.
    """
    max_score = max((result.points for result in results if result.points is not None), default=0.0)
    head: list[Row] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment],
        ["    Points Possible", "", "", "", "", float(max_score)],
    ]
    rows: list[Row] = []
    for result in results:
        first, last, number = result.learner
        name = ", ".join(part for part in (last, first) if part) or result.student
        rows.append([name, number, "", result.student, "", _number(result.score)])
    return Sheet(head, rows)


def _moodle(results: Sequence[Result], _: Sequence[str], assignment: str) -> Sheet:
    """Return what *Import > CSV file* of Moodle reads, with students mapped by their username.

    Students without a grade are left out, since Moodle removes a grade if the cell is empty.
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


#: The formats of the file, by name.
FORMATS: dict[str, Callable[[Sequence[Result], Sequence[str], str], Sheet]] = {
    "csv": _everything,
    "canvas": _canvas,
    "moodle": _moodle,
}


def _number(value: float | None) -> float | str:
    """Return a number without the rounding errors of sums, or "" for None."""
    return "" if value is None else float(f"{value:.10g}")
