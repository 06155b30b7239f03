"""The right functions of the chapter `complexity` that are not in attn_lib.complexity."""

from __future__ import annotations

import numpy as np

from attn_lib.additive import additive_attention
from attn_lib.attention import scaled_dot_product_attention
from attn_lib.complexity import additive_cost, crossover, dot_product_cost, layer_flops
from attn_lib.course.targets.arrays import Array


def score_flops(n_q: int, n_k: int, d_k: int) -> int:
    """Return the operations of ``q @ kᵀ``, each addition and each multiplication counted.

    Parameters
    ----------
    n_q, n_k, d_k : int
        Number of queries and keys, and their width.

    Examples
    --------
    >>> score_flops(100, 50, 64)
    640000
    """
    return dot_product_cost(n_q, n_k, d_k).flops


def attention_flops(n_q: int, n_k: int, d_k: int, d_v: int, heads: int) -> int:
    """Return the operations of the two matrix products of attention, over all heads.

    Parameters
    ----------
    n_q, n_k : int
        Number of queries and keys.
    d_k, d_v : int
        Width of a key and of a value in one head.
    heads : int

    Examples
    --------
    >>> attention_flops(100, 50, 64, 32, heads=8)
    7680000
    """
    mix_flops = 2 * n_q * n_k * d_v
    return heads * (score_flops(n_q, n_k, d_k) + mix_flops)


def projection_flops(n: int, d_model: int) -> int:
    """Return the operations of the four projections: to q, k and v, and of the output.

    Parameters
    ----------
    n : int
        Number of tokens.
    d_model : int
        Width of a token; the four matrices are d_model × d_model.

    Examples
    --------
    >>> projection_flops(128, 512)
    268435456
    """
    return layer_flops(n, d_model).projections


def crossover_length(d_model: int) -> int:
    """Return the number of tokens at which attention costs as much as its projections.

    Parameters
    ----------
    d_model : int

    Examples
    --------
    >>> crossover_length(512)
    1024
    """
    return crossover(
        lambda n: layer_flops(n, d_model).attention, lambda n: layer_flops(n, d_model).projections
    )


def decoding_flops(n_cached: int, d_model: int) -> int:
    """Return the operations of attention's two products for one new token.

    Parameters
    ----------
    n_cached : int
        Number of earlier tokens, whose keys and values are kept. The new token attends to
        them and to itself.
    d_model : int
        Width of all heads together.

    Examples
    --------
    >>> decoding_flops(1023, 512)
    2097152
    """
    return layer_flops(1, d_model, n_cached=n_cached).attention


def mebibytes(n_bytes: float) -> float:
    """Return a number of bytes in MiB.

    Parameters
    ----------
    n_bytes : float

    Examples
    --------
    >>> mebibytes(134_217_728)
    128.0
    """
    return n_bytes / 2**20


def additive_scores(q: Array, k: Array, w_q: Array, w_k: Array, w_score: Array) -> Array:
    """Return the scores of additive attention; see `attn_lib.additive`.

    Parameters
    ----------
    q, k : ndarray, shapes (..., n_q, d_q) and (..., n_k, d_key)
    w_q, w_k : ndarray, shapes (d_q, d_hidden) and (d_key, d_hidden)
    w_score : ndarray, shape (d_hidden,)

    Returns
    -------
    ndarray, shape (..., n_q, n_k)

    Examples
    --------
    >>> q, k, w_q, w_k, w_score = [[1]], [[2, 0]], [[1, 1]], [[1, 0], [0, 1]], [1, 1]
    >>> additive_scores(q, k, w_q, w_k, w_score).round(4)  # tanh 3 + tanh 1
    array([[1.7566]])
    """
    return additive_attention(q, k, k, w_q, w_k, w_score, return_trace=True).raw


def additive_parameters(d_k: int, d_hidden: int) -> int:
    """Return how many numbers additive attention has to learn for its scores.

    Parameters
    ----------
    d_k : int
        Width of a query and of a key.
    d_hidden : int

    Examples
    --------
    >>> additive_parameters(64, 32)
    4128
    """
    return additive_cost(1, 1, d_k, d_hidden).parameters


def merge_sums(max_a: Array, sum_a: Array, max_b: Array, sum_b: Array) -> Array:
    """Return the largest score and the sum of exponentials of two blocks of keys together.

    Parameters
    ----------
    max_a, max_b : ndarray, shape (n_q,)
        Largest score of each query in either block.
    sum_a, sum_b : ndarray, shape (n_q,)
        Sum of ``exp(score - max)`` over the block, with the block's own maximum.

    Returns
    -------
    ndarray, shape (2, n_q)
        The maxima, and the sums of ``exp(score - max)`` with them.

    Examples
    --------
    >>> merge_sums(np.array([0.0]), np.array([4.0]), np.log([2.0]), np.array([1.0])).round(4)
    array([[0.6931],
           [3.    ]])
    """
    maximum = np.maximum(max_a, max_b)
    return np.stack([maximum, sum_a * np.exp(max_a - maximum) + sum_b * np.exp(max_b - maximum)])


def merge_outputs(
    max_a: Array, sum_a: Array, out_a: Array, max_b: Array, sum_b: Array, out_b: Array
) -> Array:
    """Return the output over two blocks of keys from the outputs over each.

    Parameters
    ----------
    max_a, sum_a, max_b, sum_b
        As in `merge_sums`.
    out_a, out_b : ndarray, shape (n_q, d_v)
        Output of attention over the keys of one block only.

    Returns
    -------
    ndarray, shape (n_q, d_v)

    Examples
    --------
    >>> zero, one, out_a, out_b = np.zeros(1), np.ones(1), np.array([[6.0]]), np.array([[9.0]])
    >>> merge_outputs(zero, one, out_a, zero, 2 * one, out_b)
    array([[8.]])
    """
    maximum, total = merge_sums(max_a, sum_a, max_b, sum_b)
    share_a = sum_a * np.exp(max_a - maximum) / total
    share_b = sum_b * np.exp(max_b - maximum) / total
    return share_a[:, None] * out_a + share_b[:, None] * out_b


def streaming_attention(q: Array, k: Array, v: Array, block: int) -> Array:
    """Return the output of attention, which a loop over blocks of keys has to reproduce.

    Parameters
    ----------
    q, k, v : ndarray, shapes (n_q, d_k), (n_k, d_k) and (n_k, d_v)
    block : int
        Number of keys to look at together. The result does not depend on it.

    Examples
    --------
    >>> streaming_attention(np.ones((1, 2)), np.ones((3, 2)), np.array([[1.0], [3.0], [8.0]]), 2)
    array([[4.]])
    """
    return scaled_dot_product_attention(q, k, v)
