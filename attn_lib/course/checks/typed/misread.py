"""Which wrong reading of a task's numbers, or which rounding, explains a typed answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.diagnosis import EXACT, same_numbers


def the_reading(readings: Mapping[str, NDArray[Any]]) -> str:
    """Return the one reading that explains an answer, or "" if none or several do.

    Readings that give the same number are one, under the first name.

    Examples
    --------
    >>> the_reading({"columns": np.array([0.98]), "first column": np.array([0.981])})
    ''
    """
    numbers = list(readings.values())
    if not numbers or any(not same_numbers(other, numbers[0], EXACT) for other in numbers):
        return ""
    return next(iter(readings))


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
