"""A graded class as a table to print and as the few figures that matter."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from grader.results import Result

HEADINGS = ("student", "points", "status", "mistakes named")


def table(results: Sequence[Result]) -> str:
    """Return a line for each student: points, status and the mistakes the tests named."""
    rows = [HEADINGS]
    for result in results:
        points = "" if result.score is None else f"{result.score:g} of {result.points:g}"
        rows.append((result.student, points, result.status, ", ".join(result.mistakes)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def remarks(results: Sequence[Result]) -> str:
    """Return a line for each remark: whose work it is on and what it says."""
    return "\n".join(
        f"{result.student}: {remark}" for result in results for remark in result.remarks
    )


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """Return what the closing report of ``make course`` says of the class.

    Returns
    -------
    dict
        ``graded``, ``failed``: numbers of submissions. ``full_marks``: those that lost no point.
        ``to_read``: those with an answer that waits for a person. ``points``: the most there
        are. ``mean``: of the points so far.
    """
    graded = [result for result in results if not result.problem]
    return {
        "graded": len(graded),
        "failed": len(results) - len(graded),
        "full_marks": sum(result.lost == 0 for result in graded),
        "to_read": sum(bool(result.entry.to_read) for result in graded if result.entry),
        "points": max((result.points for result in graded), default=0),
        "mean": round(statistics.mean(r.score for r in graded), 2) if graded else 0,
    }


def sentence(facts: dict[str, Any]) -> str:
    """Return the figures as sentences."""
    text = (
        f"{facts['graded']} submissions graded, {facts['full_marks']} lost no point, "
        f"mean {facts['mean']:g} of {facts['points']:g} points."
    )
    if facts["to_read"]:
        text += f" {facts['to_read']} have a written answer that waits to be read."
    if facts["failed"]:
        text += f" {facts['failed']} could not be graded."
    return text
