"""The right functions of the chapter `dot-products`, except softmax and attention."""

from __future__ import annotations

import numpy as np

from attn_lib.course.targets.arrays import Array

Shape = tuple[int, ...]


def score_matrix(q: Array, k: Array) -> Array:
    """Return the raw scores ``q @ kᵀ``: entry [i, j] compares query i with key j.

    Parameters
    ----------
    q : ndarray, shape (..., n_q, d_k)
    k : ndarray, shape (..., n_k, d_k)

    Returns
    -------
    ndarray, shape (..., n_q, n_k)

    Examples
    --------
    >>> score_matrix(np.array([[2, 1]]), np.array([[2, 1], [1, 0], [0, -1]]))
    array([[ 5,  2, -1]])
    """
    return q @ np.swapaxes(k, -1, -2)


def scaled_scores(q: Array, k: Array) -> Array:
    """Return ``q @ kᵀ / √d_k``, the scores that the softmax is applied to.

    Parameters
    ----------
    q : ndarray, shape (..., n_q, d_k)
    k : ndarray, shape (..., n_k, d_k)

    Returns
    -------
    ndarray, shape (..., n_q, n_k)

    Examples
    --------
    >>> scaled_scores(np.array([[2, 1]]), np.array([[2, 1], [1, 0], [0, -1]])).round(4)
    array([[ 3.5355,  1.4142, -0.7071]])
    """
    return score_matrix(q, k) / np.sqrt(np.shape(q)[-1])


def weight_at(weights: Array, query: int, key: int) -> Array:
    """Return how much of its attention query number `query` gives to key number `key`.

    Parameters
    ----------
    weights : ndarray, shape (n_q, n_k)
    query, key : int

    Examples
    --------
    >>> float(weight_at(np.array([[0.7, 0.3], [0.4, 0.6]]), 1, 0))
    0.4
    """
    return weights[query, key]


def weights_shape(q: Shape, k: Shape, v: Shape) -> Array:
    """Return the shape of the weights for inputs of the shapes `q`, `k` and `v`.

    Parameters
    ----------
    q, k, v : tuple of int
        (B, H, n_q, d_k), (B, H, n_k, d_k) and (B, H, n_k, d_v).

    Examples
    --------
    >>> weights_shape((4, 8, 100, 64), (4, 8, 50, 64), (4, 8, 50, 32)).tolist()
    [4, 8, 100, 50]
    """
    return np.array([*q[:-2], q[-2], k[-2]])


def output_shape(q: Shape, k: Shape, v: Shape) -> Array:
    """Return the shape of the output for inputs of the shapes `q`, `k` and `v`.

    Parameters
    ----------
    q, k, v : tuple of int
        (B, H, n_q, d_k), (B, H, n_k, d_k) and (B, H, n_k, d_v).

    Examples
    --------
    >>> output_shape((4, 8, 100, 64), (4, 8, 50, 64), (4, 8, 50, 32)).tolist()
    [4, 8, 100, 32]
    """
    return np.array([*q[:-2], q[-2], v[-1]])
