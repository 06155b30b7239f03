"""Four ways to give attention the order of the words.

Attention itself ignores the order: permuted words give the same outputs, permuted. A table
of positions, learned or sinusoidal, is added to the words before the first layer. Rotary
positions turn the queries and keys of every layer. ALiBi lowers each score by a multiple of
the distance between query and key.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import read_positive_size
from attn_lib._arrays import as_float_array, read_whole_numbers

Positions = Literal["learned", "sinusoidal", "rotary", "alibi", "none"]

#: Determines the slowest frequency: one turn in about 2π · 10000 positions.
BASE = 10000.0


def frequencies(width: int) -> NDArray[np.float64]:
    r"""Return the angle, in radians, by which each pair of entries turns from word to word.

    Pair i turns by :math:`10000^{-2i/d}`: the first by 1, every other more slowly than the one
    before.

    Parameters
    ----------
    width : int
        Width d of the vectors, even.

    Returns
    -------
    ndarray, shape (width / 2,)

    Raises
    ------
    ValueError
        If `width` is not a positive even number.

    Examples
    --------
    >>> frequencies(4)
    array([1.  , 0.01])
    """
    if read_positive_size(width, "width") % 2:
        raise ValueError(f"frequencies: expected an even width, a pair for each, got {width}.")
    return BASE ** (-np.arange(0, width, 2) / width)


def sinusoidal(positions: ArrayLike, width: int) -> NDArray[np.float64]:
    r"""Return a vector of sines and cosines for each position.

    Entry :math:`2i` is :math:`\sin(p\,\omega_i)`, entry :math:`2i + 1` is
    :math:`\cos(p\,\omega_i)`, with :math:`\omega_i` from `frequencies`. A step of m positions
    turns each such pair by the angle :math:`m\,\omega_i`, whatever the position. So the vector of
    position :math:`p + m` is a fixed matrix times the vector of position p.

    Parameters
    ----------
    positions : array_like of int, shape (n,)
    width : int
        Width of a vector, even.

    Returns
    -------
    ndarray, shape (n, width)

    Raises
    ------
    TypeError
        If the positions are not whole numbers.
    ValueError
        If `width` is not a positive even number.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.5.

    Examples
    --------
    >>> sinusoidal([0, 1], width=4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    positions = read_whole_numbers(positions, "sinusoidal: positions")
    angles = positions[:, None] * frequencies(width)  # (n, width / 2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), width)


def rotate(x: ArrayLike, positions: ArrayLike) -> NDArray[np.floating]:
    r"""Return queries or keys with each pair of entries turned by an angle for its position.

    Entries :math:`2i` and :math:`2i + 1` are the coordinates of a point in a plane, which is
    turned by :math:`p\,\omega_i` about the origin, with :math:`\omega_i` from `frequencies`. If
    queries and keys are both turned, the dot product of a query at p and a key at j depends on
    their vectors and on the difference :math:`p - j` only. Turning by the negated positions is
    the inverse, and also the backward pass.

    Parameters
    ----------
    x : array_like, shape (..., n, d)
        Queries or keys of an even width d.
    positions : array_like of int, shape (n,)

    Returns
    -------
    ndarray, shape (..., n, d)
        Each vector as long as before; the float type is kept.

    Raises
    ------
    TypeError
        If `x` is not made of real numbers or the positions are not whole numbers.
    ValueError
        If the width is odd, or the number of positions differs from that of the vectors.

    References
    ----------
    Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    section 3.2.2 and equation 34.

    Examples
    --------
    >>> rotate([[1, 0], [1, 0]], positions=[0, 1]).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    x = as_float_array(x, "x")
    positions = read_whole_numbers(positions, "rotate: positions")
    if x.ndim < 2 or positions.shape != (x.shape[-2],):
        raise ValueError(
            f"rotate: expected x of shape (..., n, d) and n positions, got {x.shape} and "
            f"{positions.shape}; give one position for each vector."
        )
    angles = positions[:, None] * frequencies(x.shape[-1])  # (n, d / 2)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    across, up = x[..., 0::2], x[..., 1::2]  # (..., n, d / 2) each
    turned = np.stack([across * cos - up * sin, across * sin + up * cos], axis=-1)
    return turned.reshape(x.shape)


def alibi_bias(n_heads: int, n_q: int, n_k: int) -> NDArray[np.float64]:
    r"""Return what ALiBi adds to each score, for the distance between its query and its key.

    Head h of H, counted from 1, subtracts :math:`2^{-8h/H}` for each step of distance: some heads
    see only near words, others see all words almost equally. The last query and the last key are
    at the same position.

    Parameters
    ----------
    n_heads, n_q, n_k : int
        At least 1 each.

    Returns
    -------
    ndarray, shape (n_heads, n_q, n_k)
        To be added to the scaled scores: 0 at the query's own position, negative elsewhere.
        Keys after the query are treated like those before it; a causal mask hides them.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    References
    ----------
    Press et al. 2022, "Train Short, Test Long: Attention with Linear Biases Enables Input
    Length Extrapolation", section 3.

    Examples
    --------
    >>> alibi_bias(n_heads=8, n_q=2, n_k=3)[0]
    array([[-0.5,  0. , -0.5],
           [-1. , -0.5,  0. ]])
    """
    n_heads, n_q, n_k = (
        read_positive_size(size, name)
        for size, name in ((n_heads, "n_heads"), (n_q, "n_q"), (n_k, "n_k"))
    )
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)  # (n_heads,)
    distances = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))  # (n_q, n_k)
    return slopes[:, None, None] * -distances
