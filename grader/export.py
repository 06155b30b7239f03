"""Grades as a CSV file that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from grader.classroom import Result

#: A spreadsheet takes a text that begins with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def neutral(text: str) -> str:
    """Return the text with an apostrophe before it where it would count as a formula.

    Examples
    --------
    >>> neutral("=1+1"), neutral("Ada")
    ("'=1+1", 'Ada')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def write_csv(results: Sequence[Result], cells: Sequence[str], path: Path) -> None:
    """Write a line for each student: names, points, status and the points of each of `cells`.

    Texts are quoted, numbers are not. A cell that waits for a person is empty;
    one that was not handed in has 0.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(
            ["student", "last_name", "first_name", "score", "points", "status", "mistakes", *cells]
        )
        for result in results:
            entry = result.entry
            names = (entry.last_name, entry.first_name) if entry else ("", "")
            texts = [neutral(text) for text in (result.student, *names)]
            totals = [_number(result.score), _number(result.points)]
            remarks = [neutral(result.status), " ".join(result.mistakes)]
            scores = [_number(entry.scores.get(cell)) if entry else "" for cell in cells]
            writer.writerow([*texts, *totals, *remarks, *scores])


def _number(value: float | None) -> float | str:
    return "" if value is None else float(value)
