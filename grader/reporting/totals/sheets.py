"""Totals as the rows of a CSV file: for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.reporting import export
from grader.reporting.export import Row, Sheet, neutral, number

if TYPE_CHECKING:
    from grader.reporting.totals.term import Term


def everything(term: Term, _: str) -> Sheet:
    """Return totals, the scores that they come from, and what was counted in another way."""
    head = ["student", "last_name", "first_name", "total"]
    head += [f"{name} (of {points:g})" for name, points in term.max_scores.items()]
    head += ["dropped", "excused", "missing", "failed", "to_read"]
    rows: list[Row] = [
        [
            one.student,
            neutral(one.learner.last_name),
            neutral(one.learner.first_name),
            number(one.total),
            *(number(one.scores.get(name)) for name in term.max_scores),
            *map(" ".join, (one.dropped, one.excused, one.missing, one.failed, one.to_read)),
        ]
        for one in term.students
    ]
    return Sheet([head], rows)


def for_canvas(term: Term, column: str) -> Sheet:
    """Return what *Import Grades* of Canvas reads, with 100 points for the whole term."""
    rows = [export.canvas_row(one.student, one.learner, one.total) for one in term.students]
    return Sheet(export.canvas_head(column, 100.0), rows)


def for_moodle(term: Term, column: str) -> Sheet:
    """Return what *Import > CSV file* of Moodle reads; who has no total is left out."""
    rows = [
        export.moodle_row(one.student, one.learner, one.total, _why(one.dropped, one.excused))
        for one in term.students
        if one.total is not None
    ]
    return Sheet(export.moodle_head(column), rows)


def _why(dropped: tuple[str, ...], excused: tuple[str, ...]) -> str:
    """Return what a student is told about assignments that do not count."""
    told = {"Dropped": dropped, "Excused": excused}
    return " ".join(f"{what}: {', '.join(names)}." for what, names in told.items() if names)


#: The formats of the file, by name.
FORMATS: dict[str, Callable[[Term, str], Sheet]] = {
    "csv": everything,
    "canvas": for_canvas,
    "moodle": for_moodle,
}
