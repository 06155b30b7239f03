"""Totals as the rows of a CSV file, for a spreadsheet or a learning platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reporting.export import PLATFORMS, Row, ScoreLine, Sheet, neutral, number

if TYPE_CHECKING:
    from grader.reporting.totals.term import Term


def everything(term: Term) -> Sheet:
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


def for_platform(term: Term, column: str, file_format: str) -> Sheet:
    """Return what a platform reads, with 100 points for the whole term."""
    lines = [
        ScoreLine(one.student, one.learner, one.total, _why(one.dropped, one.excused))
        for one in term.students
    ]
    return PLATFORMS[file_format](lines, column, 100.0)


def _why(dropped: tuple[str, ...], excused: tuple[str, ...]) -> str:
    """Return what a student is told about assignments that do not count."""
    told = {"Dropped": dropped, "Excused": excused}
    return " ".join(f"{what}: {', '.join(names)}." for what, names in told.items() if names)


def sheet(term: Term, column: str, file_format: str) -> Sheet:
    """Return the rows in one of the formats of `grader.reporting.export`."""
    if file_format == "csv":
        return everything(term)
    return for_platform(term, column, file_format)
