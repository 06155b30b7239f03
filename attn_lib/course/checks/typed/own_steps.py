"""Judging a typed answer from the learner's own earlier one, so that a slip costs its point once.

A learner who has the raw scores wrong and goes on correctly from there loses the point for the raw
scores only. Two things keep numbers without any meaning from earning points. The later answer has
to be what follows from the earlier one, to the digits that the task asks for. And the earlier one
has to come from the learner's own numbers: some of its entries are right, or all are near the right
ones, or it is what a known wrong way or a slip such as a lost sign makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.comparison import as_numbers, difference
from attn_lib.course.checks.diagnosis import Question, half_a_digit, same_numbers
from attn_lib.course.mistakes import spellings
from attn_lib.course.personal.misreadings import Asked

#: For earlier answers by name, what follows from them. With None, an answer follows if the same
#: reading of the numbers gives both.
After = Mapping[str, Callable[[Any], object] | None]

#: How far a number may be from the right one, relative to that, to be near it.
NEAR = 0.2

#: What a slip multiplies a right number by: a lost sign, a shifted point, a lost or doubled 2.
SLIPS = (-1.0, 0.01, 0.1, 10.0, 100.0, 0.5, 2.0)


@dataclass(frozen=True)
class _Step:
    """A wrong answer that later ones may follow from."""

    own: Any  #: an array of finite numbers, or a letter
    tolerance: float  #: absolute, of its numbers
    is_from_own_numbers: bool


@dataclass(frozen=True)
class Source:
    """The learner's own wrong answer that a later one follows from."""

    name: str
    counts: bool  #: whether it comes from the learner's own numbers, so that the later one is right


class OwnSteps:
    """The wrong typed answers of a cell, and what follows from them.

    Examples
    --------
    >>> steps, right = OwnSteps(), np.array([5.0, 2.0])
    >>> exactly = Question(right, lambda function: right, (0.0, 0.001))
    >>> steps.note_numbers("raw", np.array([5.0, 3.0]), exactly, None)
    >>> steps.source("halves", [2.5, 1.5], exactly, {"raw": lambda raw: raw / 2})
    Source(name='raw', counts=True)
    """

    def __init__(self) -> None:
        self.readings: Mapping[str, Asked] = {}  #: known wrong readings, by the name of an answer
        self._steps: dict[str, _Step] = {}

    def note_letter(self, name: str, letter: str) -> None:
        """Remember a wrong letter. One of a few has been chosen, so it counts."""
        self._steps[name] = _Step(letter, 0.0, is_from_own_numbers=True)

    def note_numbers(
        self,
        name: str,
        got: object,
        question: Question,
        target: str | None,
        source: Source | None = None,
    ) -> None:
        """Remember a wrong typed answer, if it has the right form.

        Parameters
        ----------
        name : str
        got : object
            The answer.
        question : Question
            What it was compared with.
        target : str or None
            The key in `TARGETS` of the function that gives the right answer.
        source : Source, optional
            The earlier answer that it follows from. If that one does not come from the learner's
            own numbers, neither does this one.
        """
        own = _finite(got, question.expected.shape)
        if own is not None:
            counts = (
                source.counts if source else self._is_from_own_numbers(name, own, question, target)
            )
            self._steps[name] = _Step(own, question.tolerance[1], counts)

    def source(self, name: str, got: object, question: Question, after: After) -> Source | None:
        """Return the wrong answer that this one follows from, or None.

        Parameters
        ----------
        name, got, question
            As in `note_numbers`.
        after : mapping
            See `After`.
        """
        for earlier, follow in after.items():
            step = self._steps.get(earlier)
            if step is None:
                continue
            if (follow and _follows(got, step, follow, question.tolerance)) or (
                self._has_one_reading(earlier, step, name, got, question.tolerance)
            ):
                return Source(earlier, step.is_from_own_numbers)
        return None

    def readings_of(self, name: str, got: object, question: Question) -> dict[str, NDArray[Any]]:
        """Return the wrong readings that give the digits of this answer, with their numbers."""
        if name not in self.readings:
            return {}
        tolerance = half_a_digit(question.tolerance)
        wrong = {
            reading: np.asarray(number) for reading, number in self.readings[name].wrong.items()
        }
        return {
            reading: number
            for reading, number in wrong.items()
            if number.dtype.kind in "iuf" and same_numbers(got, number, tolerance)
        }

    def letter_after(self, after: After) -> str | None:
        """Return the letter that follows from an earlier wrong answer that counts, or None."""
        for earlier, follow in after.items():
            step = self._steps.get(earlier)
            if step is not None and follow is not None and step.is_from_own_numbers:
                return str(follow(step.own))
        return None

    def _is_from_own_numbers(
        self, name: str, own: NDArray[Any], question: Question, target: str | None
    ) -> bool:
        right = question.expected
        differs = own.size == 1 or np.ptp(own) > 0  # else one number has been put everywhere
        some = (np.abs(own - right) <= question.tolerance[1]) & (right != 0)
        if differs and (some.any() or np.all(np.abs(own - right) <= NEAR * np.abs(right))):
            return True
        return any(
            not difference(own, wrong, question.tolerance)
            for wrong in self._known(name, question, target)
            if wrong.shape == own.shape and not np.all(wrong == 0)
        )

    def _known(
        self, name: str, question: Question, target: str | None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield what known wrong ways make of the learner's numbers."""
        right = question.expected
        yield from (np.asarray(slip * right, dtype=float) for slip in SLIPS)
        if right.ndim:
            yield np.asarray(right[::-1], dtype=float)
        if name in self.readings:
            yield from map(_as_floats, self.readings[name].wrong.values())
        if target is not None:
            for _, function in spellings(target):
                wrong = question.answer(function)
                if wrong is not None and wrong.dtype.kind in "iufb":
                    yield _as_floats(wrong)

    def _has_one_reading(
        self, earlier: str, step: _Step, name: str, got: object, tolerance: tuple[float, float]
    ) -> bool:
        """Say whether the same known reading gives the earlier answer and this one."""
        if earlier not in self.readings or name not in self.readings or isinstance(step.own, str):
            return False
        known, here = self.readings[earlier].wrong, self.readings[name].wrong
        return any(
            not difference(step.own, _as_floats(known[reading]), (0.0, step.tolerance))
            and not difference(got, _as_floats(here[reading]), tolerance)
            for reading in known.keys() & here.keys()
        )


def _follows(
    got: object, step: _Step, follow: Callable[[Any], object], tolerance: tuple[float, float]
) -> bool:
    expected = _result(follow, step.own)
    if expected is None:
        return False
    relative, absolute = tolerance
    return not difference(got, expected, (relative, absolute + _slack(follow, step, expected)))


def _slack(follow: Callable[[Any], object], step: _Step, expected: NDArray[np.float64]) -> float:
    """Return how far the result may be off because the step was rounded when it was typed in.

    Learners are asked to keep all digits on the way.
    """
    if isinstance(step.own, str):
        return 0.0
    slack = np.zeros_like(expected)
    for place in np.ndindex(step.own.shape):
        moved = step.own.copy()
        moved[place] += step.tolerance / 2
        other = _result(follow, moved)
        if other is not None and other.shape == expected.shape:
            slack += np.abs(other - expected)
    return float(slack.max(initial=0.0))


def _result(follow: Callable[[Any], object], own: object) -> NDArray[np.float64] | None:
    """Return what follows from a step as finite numbers, or None if nothing does."""
    with np.errstate(all="ignore"):
        try:
            result = np.asarray(follow(own), dtype=float)
        except (ValueError, IndexError, TypeError):
            return None
    return result if np.isfinite(result).all() else None


def _finite(got: object, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    numbers = as_numbers(got)
    if numbers is None or numbers.shape != shape or numbers.dtype.kind not in "iuf":
        return None
    return numbers.astype(float) if np.isfinite(numbers).all() else None


def _as_floats(numbers: object) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=float)
