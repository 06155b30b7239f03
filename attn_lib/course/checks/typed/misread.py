"""Which wrong reading of a task's numbers, or which rounding, explains a typed answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.diagnosis import EXACT, same_numbers

#: Readings with the same number that are named.
MAX_NAMED = 3


def the_reading(readings: Mapping[str, NDArray[Any]]) -> str:
    """Return the reading that explains an answer, or "" if none or different ones do.

    Of readings that give the same number, at most three are named, since it may be any of them.

    Examples
    --------
    >>> the_reading({"columns": np.array([0.98]), "first column": np.array([0.981])})
    ''
    >>> the_reading({"above 0.9": np.array(31), "the other rows": np.array(31)})
    'above 0.9, or the other rows'
    """
    numbers = list(readings.values())
    if not numbers or any(not same_numbers(other, numbers[0], EXACT) for other in numbers):
        return ""
    return ", or ".join(readings) if len(readings) <= MAX_NAMED else ""


def is_rounded_too_far(got: object, right: NDArray[Any], tolerance: tuple[float, float]) -> bool:
    """Say whether an answer is the right one with too few decimals, but one at least.

    Examples
    --------
    >>> is_rounded_too_far([0.8, 0.2], np.array([0.804, 0.196]), (0.0, 0.001))
    True
    """
    relative, absolute = tolerance
    if relative or not 0 < absolute < 0.5 or right.dtype.kind not in "iuf":
        return False
    decimals = round(-np.log10(absolute))
    return any(same_numbers(got, np.round(right, fewer), EXACT) for fewer in range(1, decimals))
