"""What a task asks for beside what wrong readings give, and the comparison of the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: How far a wrong answer must be from the right one, in units of the last digit that a task asks
#: for. A difference of 1 is accepted, and rounding can bring the two closer by half of a unit.
MARGIN = 1.6


class Asked(NamedTuple):
    """An answer that a task asks for, and what wrong readings of its numbers give instead.

    Examples
    --------
    >>> asked = Asked(0.25, {"columns for rows": 0.2505, "counted from 1": 0.31}, decimals=3)
    >>> accepted(asked)
    ['columns for rows']
    """

    right: Any  #: the right answer
    wrong: Mapping[str, Any]  #: by reading
    decimals: int | None = None  #: digits asked for after the point; None for counts and letters


def accepted(asked: Asked) -> list[str]:
    """Return the wrong readings whose answer lies too near to the right one.

    Parameters
    ----------
    asked : Asked

    Examples
    --------
    >>> accepted(Asked([1, 2], {"from 1": [2, 3], "in reverse": [2, 1], "sorted": [1, 2]}))
    ['sorted']
    """
    right, margin = np.asarray(asked.right), _margin(asked)
    return [name for name, wrong in asked.wrong.items() if _is_near(wrong, right, margin)]


def any_accepted(asked: Asked) -> NDArray[np.bool_]:
    """Say of each of many answers whether a wrong reading lies too near to it.

    Parameters
    ----------
    asked : Asked
        Arrays of one shape, whose last axis is that of the numbers in an answer.

    Examples
    --------
    >>> asked = Asked(np.array([[1, 2], [3, 3]]), {"in reverse": np.array([[2, 1], [3, 3]])})
    >>> any_accepted(asked)
    array([False,  True])
    """
    wrong = np.stack([*asked.wrong.values()])
    return (np.abs(wrong - asked.right) <= _margin(asked)).all(axis=-1).any(axis=0)


def none_accepted(answers: Mapping[str, Asked]) -> bool:
    """Say whether no wrong reading gives an answer that its task accepts.

    Parameters
    ----------
    answers : mapping of str to Asked
        By the name of the answer.

    Examples
    --------
    >>> none_accepted({"share": Asked(0.25, {"exchanged": 0.75}, decimals=2)})
    True
    """
    return not any(accepted(asked) for asked in answers.values())


def _margin(asked: Asked) -> float:
    return 0.0 if asked.decimals is None else MARGIN * 10.0**-asked.decimals


def _is_near(wrong: object, right: NDArray[Any], margin: float) -> bool:
    answer = np.asarray(wrong)
    if answer.shape != right.shape:
        return False
    if right.dtype.kind == "U":
        return bool((answer == right).all())
    return bool((np.abs(answer - right) <= margin).all())  # False for NaN, which nobody types
