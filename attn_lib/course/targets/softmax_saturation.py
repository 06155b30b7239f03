"""The right functions of the chapter `softmax-saturation` that are not in attn_lib.softmax."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

from attn_lib.course.targets.arrays import Array
from attn_lib.softmax import softmax


def two_key_weight(gap: float) -> float:
    """Return the weight of the better of two keys, whose score is larger by `gap`.

    Parameters
    ----------
    gap : float

    Examples
    --------
    >>> round(two_key_weight(4.0), 3)
    0.982
    """
    return 1 / (1 + math.exp(-gap))


def tempered_softmax(scores: Array, temperature: float) -> Array:
    """Return the softmax of each row of ``scores / temperature``.

    Parameters
    ----------
    scores : ndarray, shape (..., n_k)
    temperature : float
        Positive. Above 1 it flattens the weights, below 1 it sharpens them.

    Examples
    --------
    >>> tempered_softmax(np.array([15.0, 12.0, 9.0]), 8.0).round(3)
    array([0.463, 0.318, 0.219])
    """
    return softmax(scores / temperature)


def overflow_limit(dtype: DTypeLike) -> float:
    """Return the number above which ``exp`` overflows in a floating-point type.

    Parameters
    ----------
    dtype : floating-point dtype

    Examples
    --------
    >>> [round(overflow_limit(dtype), 1) for dtype in ("float64", "float32", "float16")]
    [709.8, 88.7, 11.1]
    """
    return math.log(np.finfo(dtype).max)


def mean_largest_weight(scores: Array) -> np.floating:
    """Return the largest weight of each row, averaged over the rows.

    Parameters
    ----------
    scores : ndarray, shape (n_q, n_k)

    Examples
    --------
    >>> float(mean_largest_weight(np.array([[1.0, 5.0], [3.0, 3.0]])).round(3))
    0.741
    """
    return softmax(scores).max(axis=-1).mean()


def cross_entropy_gradient(scores: Array, label: int) -> Array:
    """Return the gradient of ``-log softmax(scores)[label]`` with respect to the scores.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    label : int
        Index of the right class, from 0.

    Examples
    --------
    >>> cross_entropy_gradient(np.array([1.0, 5.0]), 0).round(3)
    array([-0.982,  0.982])
    """
    return softmax(scores) - np.eye(len(scores))[label]
