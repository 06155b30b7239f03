"""Finding the catalogued mistake that explains all results of a learner's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.comparison import all_near, as_numbers, difference
from attn_lib.course.mistakes import Mistake, spellings

Function = Callable[..., Any]

#: Tolerance for the same number, computed twice.
EXACT = (1e-9, 1e-12)


@dataclass(frozen=True)
class Question:
    """One comparison of an answer, such as one call of a function."""

    expected: NDArray[Any]  #: the right result
    compute: Callable[[Function], NDArray[Any]]  #: the result of any function, right or wrong
    tolerance: tuple[float, float]  #: relative and absolute

    def answer(self, function: Function) -> NDArray[Any] | None:
        """Return the result of a function, or None if it cannot handle these arguments."""
        with np.errstate(all="ignore"):
            try:
                return self.compute(function)
            except (ValueError, IndexError):
                return None

    def tells_apart(self, wrong: NDArray[Any]) -> bool:
        """Say whether this wrong answer differs from the right one by more than the tolerance."""
        return wrong.shape != self.expected.shape or bool(
            difference(wrong, self.expected, self.tolerance)
        )

    def has_numbers(self, wrong: NDArray[Any]) -> bool:
        """Say whether an answer has a finite entry, or one that equals the expected entry."""
        in_place = wrong.shape == self.expected.shape and bool(np.any(wrong == self.expected))
        return in_place or bool(np.isfinite(wrong).any())


class Diagnosis:
    """The search for the mistake behind one answer that is compared with a target.

    A mistake is named only if it reproduces every wrong result and every right one. A cause
    that some other call contradicts would mislead the learner, so then none is named. Of a number
    that was typed in, a mistake has to give each digit, by a number that is nearer than those of
    known wrong readings of the task's numbers.

    Parameters
    ----------
    target : str
        A key of `attn_lib.course.targets.TARGETS`.

    Examples
    --------
    >>> diagnosis = Diagnosis("score_range")
    >>> at_64 = Question(np.array(16.0), lambda function: np.asarray(function(64)), (1e-4, 1e-4))
    >>> diagnosis.failed(at_64, 8)
    >>> diagnosis.mistake().id
    'range-of-one-sd'
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._suspects: list[tuple[Mistake, Function]] | None = None
        self._found_in_numbers: set[str] = set()
        self._passed: list[Question] = []

    def passed(self, question: Question) -> None:
        """Record that the answer to this question is right."""
        self._passed.append(question)

    def failed(
        self,
        question: Question,
        got: object,
        rivals: Sequence[NDArray[Any]] = (),
        tolerance: tuple[float, float] | None = None,
    ) -> None:
        """Record a wrong answer, and drop the mistakes that do not reproduce it.

        Parameters
        ----------
        question : Question
        got : object
            The answer.
        rivals : sequence of ndarray
            What wrong readings of the numbers give that could have been meant as well.
        tolerance : (float, float), optional
            How far a mistake's result may be from the answer. Default: as far as the right one.
        """
        if self._suspects is None:
            self._suspects = list(spellings(self._target))
        numbers = as_numbers(got)
        if numbers is None:  # then no mistake's result needs to be computed
            self._suspects = []
        tolerance = tolerance or question.tolerance
        left = []
        for mistake, function in self._suspects:
            wrong = question.answer(function)
            # In the order of what takes least: nearly all mistakes give other numbers.
            if wrong is None or not same_numbers(numbers, wrong, tolerance):
                continue
            if not question.tells_apart(wrong):
                continue
            if any(_is_nearer(rival, wrong, got) for rival in rivals):
                continue
            left.append((mistake, function))
            if question.has_numbers(wrong):
                self._found_in_numbers.add(mistake.id)
        self._suspects = left

    def mistake(self) -> Mistake | None:
        """Return the first catalogued mistake that reproduces all answers, or None.

        Agreement in infinities and NaN does not suffice: many mistakes lead to them.
        """
        for mistake, function in self._suspects or ():
            in_numbers = bool(self._passed) or mistake.id in self._found_in_numbers
            if in_numbers and self._gives_what_is_right(function):
                return mistake
        return None

    def _gives_what_is_right(self, function: Function) -> bool:
        answers = ((question, question.answer(function)) for question in self._passed)
        return all(
            answer is not None and not question.tells_apart(answer) for question, answer in answers
        )


def half_a_digit(tolerance: tuple[float, float]) -> tuple[float, float]:
    """Return the tolerance of a typed number that is known: only rounding moves it.

    Examples
    --------
    >>> half_a_digit((0.0, 0.001))
    (0.0, 0.0005)
    """
    relative, absolute = tolerance
    return relative, absolute / 2


def _is_nearer(rival: NDArray[Any], wrong: NDArray[Any], got: object) -> bool:
    """Say whether an answer is nearer to a rival explanation, which is another number."""
    if rival.shape != wrong.shape or same_numbers(rival, wrong, EXACT):
        return False
    answer = np.asarray(got)
    return bool(np.abs(answer - rival).max() <= np.abs(answer - wrong).max())


def same_numbers(got: object, wrong: NDArray[Any], tolerance: tuple[float, float]) -> bool:
    """Say whether an answer consists of these numbers; NaN equals NaN.

    Examples
    --------
    >>> same_numbers([1.0, 2.0], np.array([1.0, 2.1]), (0.0, 0.2))
    True
    """
    array = as_numbers(got)
    if array is None or array.shape != wrong.shape or array.dtype.kind not in "iufb":
        return False
    return all_near(array, wrong, tolerance, nan_equal=True)
