"""How a class did on each cell and each part: the numbers of the instructor's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.reporting.results import Result


@dataclass(frozen=True)
class Item:
    """How a class did on a cell that is worth points."""

    cell: str
    points: float  #: the maximum score
    number: int  #: number of students whose answer has a score
    waiting: int  #: number of students whose answer a person still has to read
    mean: float  #: mean score as a share of the points, from 0 to 1
    full: int  #: number of students with all points
    none: int  #: number of students without any points
    discrimination: float | None  #: correlation with the sum of the scores of all other cells
    below: tuple[str, ...]  #: students without all points, the lowest score first

    @property
    def mostly_scored(self) -> bool:
        """Whether more than half of the answers have a score; fewer say little about a class."""
        return self.number > self.waiting


@dataclass(frozen=True)
class PartCount:
    """How many students passed a part of a test cell."""

    cell: str
    title: str
    passed: int
    number: int  #: number of students for whom the part was executed


@dataclass(frozen=True)
class ChoiceCount:
    """Which letters students chose for an answer."""

    cell: str
    name: str  #: of the answer
    number: int  #: number of students whose tests were executed
    right: int  #: number of students with the right letter
    wrong: Mapping[str, int]  #: number of students by letter, the most frequent first

    @property
    def without(self) -> int:
        """Number of students who gave no letter."""
        return self.number - self.right - sum(self.wrong.values())


def items(results: Sequence[Result], cells: Sequence[str]) -> list[Item]:
    """Return the item analysis of the cells. Answers without a score are only counted."""
    entries = [result.entry for result in results if result.entry is not None]
    found = []
    for cell in cells:
        known = [entry for entry in entries if cell in entry.scores]
        scores = [entry.scores[cell] for entry in known]
        rest = [sum(entry.scores.values()) - entry.scores[cell] for entry in known]
        points = max((entry.points.get(cell, 0.0) for entry in entries), default=0.0)
        found.append(
            Item(
                cell,
                points,
                len(known),
                len(entries) - len(known),
                float(np.mean(scores)) / points if known and points else 0.0,
                sum(score >= points for score in scores),
                sum(score == 0 for score in scores),
                _correlation(scores, rest),
                tuple(
                    entry.student
                    for entry, score in sorted(
                        zip(known, scores, strict=True), key=lambda pair: (pair[1], pair[0].student)
                    )
                    if score < points
                ),
            )
        )
    return found


def parts(results: Sequence[Result]) -> list[PartCount]:
    """Count the students who passed each part of the test cells."""
    passed: Counter[tuple[str, str]] = Counter()
    number: Counter[tuple[str, str]] = Counter()
    for result in results:
        for cell, of_cell in result.parts.items():
            # If a cell has two parts of the same title, the last one counts.
            for title, has_passed in {part.title: part.passed for part in of_cell}.items():
                number[cell, title] += 1
                passed[cell, title] += has_passed
    return [PartCount(*key, passed[key], number[key]) for key in number]


def choices(results: Sequence[Result]) -> list[ChoiceCount]:
    """Count which letters students chose, for each answer that is one.

    A letter can be right for one student and wrong for another, whose numbers are others.
    """
    number: Counter[str] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    wrong: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        for cell, of_cell in result.parts.items():
            number[cell] += 1
            chosen = {choice.name: choice for part in of_cell for choice in part.choices}
            for name, choice in chosen.items():
                letters = wrong.setdefault((cell, name), Counter())
                if choice.is_right:
                    right[cell, name] += 1
                else:
                    letters[choice.letter] += 1
    return [
        ChoiceCount(
            cell,
            name,
            number[cell],
            right[cell, name],
            dict(sorted(letters.items(), key=lambda pair: (-pair[1], pair[0]))),
        )
        for (cell, name), letters in wrong.items()
    ]


def mistakes(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the students whose tests named a mistake, by mistake id, the most frequent first."""
    found: dict[str, list[str]] = {}
    for result in results:
        for mistake in result.mistakes:
            found.setdefault(mistake, []).append(result.student)
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0])))


def _correlation(scores: Sequence[float], rest: Sequence[float]) -> float | None:
    """Return Pearson's correlation, or None for fewer than 3 students or constant scores."""
    if len(scores) < 3 or np.ptp(scores) == 0 or np.ptp(rest) == 0:
        return None
    return float(np.corrcoef(scores, rest)[0, 1])
