"""Mixing values by their weights, so that a value of weight 0 does not count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def mix(attend: Callable[[Array], Array], v: Array) -> Array:
    """Return the weighted means of the values.

    A sum that contains 0 · NaN or 0 · ∞ is NaN. So where a value is not finite, the finite
    part is mixed by itself, and it is asked who gives weight to the rest.

    Parameters
    ----------
    attend : callable
        Returns the weighted means, shape (..., n_q, d_v), of finite values with the shape of `v`.
    v : ndarray, shape (..., n_k, d_v)
        The values.

    Returns
    -------
    ndarray, shape (..., n_q, d_v)

    Examples
    --------
    >>> weights = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    >>> mix(lambda v: weights @ v, np.array([[2.0], [4.0], [np.inf]]))
    array([[ 3.],
           [inf]])
    """
    with np.errstate(invalid="ignore"):
        output = attend(v)
        if np.isfinite(output).all() or np.isfinite(v).all():
            return output
        output = attend(np.where(np.isfinite(v), v, 0))
        for places, number in (
            (np.isnan(v), np.nan),
            (v == np.inf, np.inf),
            (v == -np.inf, -np.inf),
        ):
            output[attend(places.astype(v.dtype)) > 0] += number
        return output
