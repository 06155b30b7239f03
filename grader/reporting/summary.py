"""A graded class as a table to print and as the few figures that matter."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from grader.gradebook import due_dates
from grader.reporting.results import Result

#: Characters of a status in the table; a longer one, with its reason, stands below.
WIDEST_STATUS = 60

#: Names that a sentence lists.
MOST_NAMES = 20

HEADINGS = ("student", "points", "status", "mistakes named")


def table(results: Sequence[Result]) -> str:
    """Return a line for each student: points, status and the mistakes the tests named."""
    rows = [HEADINGS]
    for result in results:
        points = "" if result.score is None else f"{result.score:g} of {result.points:g}"
        status = textwrap.shorten(result.status, WIDEST_STATUS, placeholder=" …")
        rows.append((result.student, points, status, ", ".join(result.mistakes)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def remarks(results: Sequence[Result]) -> str:
    """Return a line for each remark and each long status: whose work it is on and what it says."""
    return "\n".join(
        f"{result.student}: {text}"
        for result in results
        for text in ([result.status] * (len(result.status) > WIDEST_STATUS) + [*result.remarks])
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
    graded = [result for result in results if not result.reason]
    scores = [result.score for result in graded if result.score is not None]
    points = [result.points for result in graded if result.points is not None]
    return {
        "graded": len(graded),
        "failed": len(results) - len(graded),
        "full_marks": sum(result.lost == 0 for result in graded),
        "to_read": sum(bool(result.entry.to_read) for result in graded if result.entry),
        "points": max(points, default=0),
        "mean": round(statistics.mean(scores), 2) if scores else 0,
    }


def sentence(facts: dict[str, Any]) -> str:
    """Return the figures as sentences."""
    text = (
        f"{counted(facts['graded'], 'submission')} graded, {facts['full_marks']} lost no point, "
        f"mean {facts['mean']:g} of {facts['points']:g} points."
    )
    if facts["to_read"]:
        text += (
            f" {facts['to_read']} {_have(facts['to_read'])} a written answer that waits to be read."
        )
    if facts["failed"]:
        text += f" {facts['failed']} could not be graded."
    return text


def counted(number: int, noun: str) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "page"), counted(3, "page")
    ('1 page', '3 pages')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def exported(results: Sequence[Result], lines: int, file: object) -> str:
    """Return what is in a file of grades, and what to know before anybody imports it.

    Parameters
    ----------
    results : sequence of Result
    lines : int
        Of how many of them the file has a line.
    file : object
        Its name.
    """
    failed = [result.student for result in results if result.reason]
    waiting = figures(results)["to_read"]
    texts = [f"{counted(lines, 'student')} in {file}."]
    if failed:
        fate = "Left out" if lines < len(results) else "In it without points"
        texts.append(f"{fate}, because the work has no grade: {len(failed)} ({named(failed)}).")
    if waiting:
        texts.append(
            f"{waiting} {_have(waiting)} an answer that waits to be read: the "
            "points are not final. Read the answers in formgrader, give the command grade once "
            "more, then export again."
        )
    return "\n".join(texts)


def absent(known: Sequence[str], handed_in: Sequence[str]) -> str:
    """Return a sentence on those who are in the gradebook and handed in nothing, or "".

    Examples
    --------
    >>> absent(["ada", "ben", "zoe"], ["ben"])
    'Nothing was handed in by 2 of the class: ada, zoe.'
    """
    names = sorted(set(known) - set(handed_in))
    if not names:
        return ""
    return f"Nothing was handed in by {len(names)} of the class: {named(names)}."


def named(students: Sequence[str]) -> str:
    """Return the names in a list, the first of them if they are many.

    Examples
    --------
    >>> named(["ada", "ben"])
    'ada, ben'
    """
    return ", ".join(students[:MOST_NAMES]) + (", …" if len(students) > MOST_NAMES else "")


def deadline(due: datetime | None, zone: str, results: Sequence[Result]) -> str:
    """Return the deadline in a time zone, and how many came later, or "" without one."""
    if due is None:
        return ""
    late = [result.entry for result in results if result.entry and result.entry.seconds_late]
    text = f"Due {due_dates.told(due, zone)}."
    if late:
        penalised = sum(entry.late_penalty > 0 for entry in late)
        text += f" {len(late)} came later, of them {penalised} with a penalty."
    return text
