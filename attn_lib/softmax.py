"""Softmax: turn a row of scores into a row of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import as_float_array, working_dtype


def softmax(scores: ArrayLike, axis: int = -1) -> NDArray[np.floating]:
    """Return ``exp(scores) / sum(exp(scores))`` along `axis`, computed without overflow.

    The largest score is subtracted before exponentiating. That changes nothing in the
    result, because softmax only sees differences, and keeps ``exp`` in range.

    Parameters
    ----------
    scores : array_like, any shape with at least one axis
        Real numbers. ``-inf`` means "may not be chosen" and gets weight 0.
    axis : int
        The axis along which the weights sum to 1. For attention scores of shape
        (..., n_q, n_k) this is the last one: over the keys.

    Returns
    -------
    ndarray of the same shape
        Weights in [0, 1]. float16 and float32 are kept; integers give float64. Where
        every score along `axis` is ``-inf`` the weights are all 0, never NaN.

    Raises
    ------
    TypeError
        If `scores` are not real numbers.
    ValueError
        If `scores` has no axis, or not the one asked for.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1.

    Examples
    --------
    >>> softmax([1.0, 5.0]).round(3)
    array([0.018, 0.982])
    >>> softmax([1001.0, 1005.0]).round(3)
    array([0.018, 0.982])
    >>> softmax([-np.inf, -np.inf])
    array([0., 0.])
    """
    scores = as_float_array(scores, "scores")
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(
            f"softmax: expected scores with an axis {axis}, got shape {scores.shape}; "
            "pass an array of at least one axis and an axis it has."
        )
    wide = scores.astype(working_dtype(scores.dtype), copy=False)
    return _softmax(wide, axis).astype(scores.dtype, copy=False)


def _softmax(scores: NDArray[np.floating], axis: int = -1) -> NDArray[np.floating]:
    """Softmax of an array already known to be of a float type wide enough to sum in."""
    row_max = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    row_max = np.where(np.isneginf(row_max), 0, row_max)
    weights = np.exp(scores - row_max)
    row_sum = weights.sum(axis=axis, keepdims=True)
    return weights / np.where(row_sum == 0, 1, row_sum)
