"""The right functions of the chapter `variance-growth`: how widely scores spread."""

from __future__ import annotations

import math

import numpy as np

from attn_lib.course.targets.arrays import Array


def score_variance(d_k: int, var_q: float = 1.0, var_k: float = 1.0) -> float:
    """Return the variance of a score of independent entries of mean 0.

    Parameters
    ----------
    d_k : int
        Width of a query and a key.
    var_q, var_k : float
        Variance of an entry of a query and of a key.

    Examples
    --------
    >>> score_variance(64)
    64.0
    >>> score_variance(8, var_q=0.5, var_k=3.0)
    12.0
    """
    return d_k * var_q * var_k


def score_sd(d_k: int, var_q: float = 1.0, var_k: float = 1.0) -> float:
    """Return the standard deviation of a score of independent entries of mean 0.

    Parameters
    ----------
    d_k, var_q, var_k
        As in `score_variance`.

    Examples
    --------
    >>> score_sd(64)
    8.0
    """
    return math.sqrt(score_variance(d_k, var_q, var_k))


def score_mean(d_k: int, mean_q: float, mean_k: float) -> float:
    """Return the mean of a score of independent entries.

    Parameters
    ----------
    d_k : int
        Width of a query and a key.
    mean_q, mean_k : float
        Mean of an entry of a query and of a key.

    Examples
    --------
    >>> score_mean(64, 0.5, 0.5)
    16.0
    """
    return d_k * mean_q * mean_k


def score_range(d_k: int) -> float:
    """Return two standard deviations: about 95 % of raw scores lie within ± this bound.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, whose entries are independent with mean 0, variance 1.

    Examples
    --------
    >>> score_range(64)
    16.0
    """
    return 2 * score_sd(d_k)


def scaled_variance(d_k: int, divisor: float) -> float:
    """Return the variance of scores of variance `d_k` after division by `divisor`.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, whose entries are independent with mean 0, variance 1.
    divisor : float

    Examples
    --------
    >>> scaled_variance(64, 8), scaled_variance(64, 64)
    (1.0, 0.015625)
    """
    return d_k / divisor**2


def scale_for(d_k: int, var_q: float = 1.0, var_k: float = 1.0) -> float:
    """Return the factor that gives the scores variance 1.

    Parameters
    ----------
    d_k, var_q, var_k
        As in `score_variance`.

    Examples
    --------
    >>> scale_for(64)
    0.125
    """
    return 1 / score_sd(d_k, var_q, var_k)


def head_scale(d_model: int, n_heads: int, n_k: int) -> float:
    """Return the factor on the scores of one head: 1/√d_k, whatever the number of keys.

    Parameters
    ----------
    d_model : int
        Width of the model, which the heads share: d_k = d_model / n_heads.
    n_heads : int
    n_k : int
        Number of keys.

    Examples
    --------
    >>> head_scale(512, n_heads=8, n_k=100)
    0.125
    """
    return scale_for(d_model // n_heads)


def measured_variance(q: Array, k: Array) -> float:
    """Return the variance of the scores of matched pairs: row i of `q` with row i of `k`.

    Parameters
    ----------
    q, k : ndarray, shape (n, d_k)

    Examples
    --------
    >>> float(measured_variance(np.array([[1, 1], [2, 0]]), np.array([[1, 2], [0, 9]])))
    2.25
    """
    return np.var(np.sum(q * k, axis=-1))
