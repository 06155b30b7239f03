"""Which catalogued mistake explains an answer: all that was asked of it, not one call alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.comparison import as_numbers, difference
from attn_lib.course.mistakes import Mistake, spellings

Function = Callable[..., Any]


@dataclass(frozen=True)
class Question:
    """One thing that was asked of an answer."""

    expected: NDArray[Any]  #: what is right
    compute: Callable[[Function], NDArray[Any]]  #: what another function in its place gives
    tolerance: tuple[float, float]  #: relative and absolute

    def answer(self, function: Function) -> NDArray[Any] | None:
        """Return what a function gives, or None where its way of going wrong does not fit."""
        with np.errstate(all="ignore"):
            try:
                return self.compute(function)
            except (ValueError, IndexError):
                return None

    def tells_apart(self, wrong: NDArray[Any]) -> bool:
        """Say whether this answer is seen to be wrong."""
        return wrong.shape != self.expected.shape or bool(
            difference(wrong, self.expected, self.tolerance)
        )

    def has_numbers(self, wrong: NDArray[Any]) -> bool:
        """Say whether an answer holds more than NaN and infinities out of place."""
        in_place = wrong.shape == self.expected.shape and bool(np.any(wrong == self.expected))
        return in_place or bool(np.isfinite(wrong).any())


class Diagnosis:
    """What is known of one answer that is compared with a target.

    A mistake is named if it explains every wrong answer and gives the right ones too. A cause
    that another call contradicts would send a learner astray, so none is told then.

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
        """Note that the answer to this question is right."""
        self._passed.append(question)

    def failed(self, question: Question, got: Any) -> None:
        """Note a wrong answer; mistakes that do not give it are out of the question."""
        if self._suspects is None:
            self._suspects = list(spellings(self._target))
        left = []
        for mistake, function in self._suspects:
            wrong = question.answer(function)
            if wrong is None or not question.tells_apart(wrong):
                continue
            if _same_numbers(got, wrong, question.tolerance):
                left.append((mistake, function))
                if question.has_numbers(wrong):
                    self._found_in_numbers.add(mistake.id)
        self._suspects = left

    def mistake(self) -> Mistake | None:
        """Return the first catalogued mistake that all answers agree with, if there is one.

        Infinities and NaN alone are no agreement: many ways lead there.
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


def _same_numbers(got: Any, wrong: NDArray[Any], tolerance: tuple[float, float]) -> bool:
    array = as_numbers(got)
    if array is None or array.shape != wrong.shape or array.dtype.kind not in "iufb":
        return False
    relative, absolute = tolerance
    return bool(np.allclose(array, wrong, rtol=relative, atol=absolute, equal_nan=True))
