"""Numerical gradients by central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def central_differences(
    loss: Callable[[NDArray[np.float64]], float], array: NDArray[np.float64], step: float = 1e-5
) -> NDArray[np.float64]:
    """Return the derivative of `loss` with respect to each entry of `array`."""
    slope = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        ends = []
        for away in (step, -step):
            moved = array.copy()
            moved[index] += away
            ends.append(loss(moved))
        slope[index] = (ends[0] - ends[1]) / (2 * step)
    return slope
