"""Standard extreme inputs for the hidden tests of a kind of function.

A text says that scores may be large and hidden ones do not matter. These inputs hold it to that, in
every exercise alike: scores in the thousands, far apart in both directions within a row and from
row to row, hidden scores of ±1e30, exact zeros, a single key, whole numbers, and one shape several
times with other numbers.

Scores are multiples of 1/16 below 2^20, or ±1e30, and the width of keys is 4, with the exact
root 2. So no step up to the softmax rounds in float32, and an answer that computes in float32 is as
right as one in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.targets.arrays import Array

#: Larger than any other score, and still finite in float32.
HUGE = 1e30

_D_K = 4
_FAR = 4096.0


def quarters(rng: np.random.Generator, *shape: int, largest: int = 12) -> Array:
    """Return random multiples of 1/4, up to `largest` quarters in size.

    Examples
    --------
    >>> quarters(np.random.default_rng(0), 3).tolist()
    [2.25, 0.75, 0.0]
    """
    return rng.integers(-largest, largest + 1, size=shape) / 4


def extreme_scores(rng: np.random.Generator, n_k: int = 5) -> list[Array]:
    """Return arrays of scores for functions of the softmax family.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_k : int
        Number of keys, at least 3.

    Returns
    -------
    list of ndarray, shape (…, n_k)
        The third has whole numbers, and the last a single key. Most have the same shape.

    Examples
    --------
    >>> [scores.shape for scores in extreme_scores(np.random.default_rng(0))]
    [(4, 5), (4, 5), (4, 5), (4, 5), (2, 4, 5), (3, 1)]
    """
    shape = (4, n_k)
    row_offsets = np.array([[_FAR], [-_FAR], [0.0], [800.0]])
    rising = np.arange(n_k) * 800.0
    steps = np.stack([rising, rising[::-1], -rising, np.roll(rising, 1)])
    far_apart = quarters(rng, *shape) + row_offsets
    whole = rng.integers(-3, 4, size=shape) + row_offsets.astype(np.int64)
    leading = quarters(rng, 2, *shape) + np.stack([row_offsets, -row_offsets])
    return [
        far_apart,
        quarters(rng, *shape) + steps,
        whole,
        quarters(rng, *shape) + row_offsets[::-1],
        leading,
        _FAR * quarters(rng, 3, 1),
    ]


def extreme_masked_scores(
    rng: np.random.Generator,
) -> list[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """Return scores and masks whose hidden scores would decide everything if they counted.

    Returns
    -------
    list of (ndarray, ndarray of bool), shapes (…, 4, 5)
        Hidden scores far above the allowed ones, and allowed ones far below any number that one
        might put in place of −∞. No row is empty.

    Examples
    --------
    >>> scores, mask = extreme_masked_scores(np.random.default_rng(0))[0]
    >>> float(scores[~mask].max()), mask.sum(axis=-1).tolist()
    (1e+30, [3, 3, 1, 2])
    """
    mask = np.array(
        [[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 1], [1, 1, 0, 0, 0]], dtype=bool
    )

    def hidden(sign: float) -> Array:
        return np.where(mask, quarters(rng, 4, 5), sign * HUGE)

    far_below = np.where(mask, -HUGE * np.arange(1, 6), quarters(rng, 4, 5))
    offsets = np.array([[_FAR], [-_FAR], [0.0], [-2 * _FAR]])
    lowered = np.where(mask, quarters(rng, 4, 5) + offsets, _FAR)
    whole = np.where(mask, rng.integers(-3, 4, size=(4, 5)), 10**6)
    heads = np.stack([hidden(1), lowered, hidden(-1)])
    return [
        (hidden(1), mask),
        (hidden(-1), mask),
        (far_below, mask),
        (lowered, mask),
        (whole, mask),
        (heads, mask),
        (quarters(rng, 4, 5) + offsets, ~mask),
    ]


def extreme_attention(
    rng: np.random.Generator, *leading: int
) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Return queries, keys and values whose scores are large.

    Parameters
    ----------
    rng : numpy.random.Generator
    *leading : int
        Sizes of leading axes, such as batch and head.

    Returns
    -------
    list of (ndarray, ndarray, ndarray), shapes (…, 3, 4), (…, 5, 4), (…, 5, 2)
        The third has whole numbers, and the last a single key.

    Examples
    --------
    >>> q, k, v = extreme_attention(np.random.default_rng(0))[0]
    >>> (q @ k.T / 2).round().astype(int).tolist()[0]
    [2046, 2050, 2049, 2048, 2047]
    """

    def draw(n_k: int = 5) -> tuple[Array, Array, Array]:
        q, k = quarters(rng, *leading, 3, _D_K), quarters(rng, *leading, n_k, _D_K)
        return q, k, quarters(rng, *leading, n_k, 2, largest=40)

    def large(sign: float) -> tuple[Array, Array, Array]:
        q, k, v = draw()
        q[..., 0], k[..., 0] = sign * _FAR * np.array([1.0, -1.0, 0.5]), 1.0
        return q, k, v

    q, k, v = draw()
    k[..., 0] = np.array([0.0, 1.0, -1.0, 1.0, 0.0])
    q[..., 0] = _FAR * np.array([1.0, -1.0, 0.0])
    ints = tuple((4 * x).astype(np.int64) for x in draw())
    one = draw(n_k=1)
    return [large(1), (q, k, v), ints, large(-1), one]  # type: ignore[list-item]


def extreme_gradients(
    rng: np.random.Generator, *leading: int, at: str
) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Return the gradient at an output, queries, keys and values, with large scores or odd units.

    In the last four, scores are of ordinary size, but what the gradient is taken at is tiny and the
    other huge, or one feature of it is huge and the other's is 0. A derivative does not mind; a
    difference quotient has no step that suits all.

    Parameters
    ----------
    rng : numpy.random.Generator
    *leading : int
        Sizes of leading axes.
    at : str
        What the gradient is taken at: "q" or "k".

    Returns
    -------
    list of four ndarray each, shapes (…, 3, 2), (…, 3, 4), (…, 5, 4), (…, 5, 2)
        The third has whole numbers.

    Examples
    --------
    >>> grad_output, q, k, v = extreme_gradients(np.random.default_rng(0), at="q")[-1]
    >>> float(abs(q).max()), bool((k[:, 0] == 0).all())
    (1048576.0, True)
    """
    found: list[Any] = []
    for q, k, v in extreme_attention(rng, *leading)[:4]:
        # Small, so that what float32 loses stays below the tolerance where saturated weights leave
        # hardly any gradient.
        grad_output = quarters(rng, *leading, 3, 2, largest=4) / 16
        arrays: tuple[NDArray[Any], ...] = (grad_output, q, k, quarters(rng, *v.shape, largest=4))
        if v.dtype == np.int64:
            arrays = tuple(rng.integers(-2, 3, size=array.shape) for array in arrays)
        found.append(arrays)
    unit = 2.0**20
    for feature in (slice(None), slice(None), 0, 0):
        q, k = (quarters(rng, *leading, n, _D_K, largest=4) for n in (3, 5))
        own, other = (q, k) if at == "q" else (k, q)
        if feature == 0:
            own[..., feature], other[..., feature] = unit, 0
        else:
            own[..., feature] /= unit
            other[..., feature] *= unit
        found.append((quarters(rng, *leading, 3, 2), q, k, quarters(rng, *leading, 5, 2)))
    return found


def extreme_weights(rng: np.random.Generator, n_k: int = 5) -> list[Array]:
    """Return rows of weights for functions that are given weights in place of scores.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_k : int
        Number of keys, at least 3.

    Returns
    -------
    list of ndarray, shape (…, n_k)
        One-hot rows, rows with exact zeros, rows rounded down, which sum to less than 1, and
        rows with leading axes.

    Examples
    --------
    >>> extreme_weights(np.random.default_rng(0))[0][0].tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    one_hot = np.eye(n_k)[rng.permutation(n_k)[:3]]
    zeros = rng.dirichlet(np.ones(n_k), size=3)
    zeros[np.arange(3), rng.integers(n_k, size=3)] = 0
    zeros /= zeros.sum(axis=-1, keepdims=True)
    rounded = np.floor(10 * zeros) / 10
    while np.any(rounded.sum(axis=-1) > 0.95):
        rounded = np.floor(10 * rng.dirichlet(np.ones(n_k), size=3)) / 10
    return [one_hot, zeros, rounded, np.stack([zeros, one_hot]), zeros[::-1]]


def extreme_blocks(rng: np.random.Generator) -> list[tuple[NDArray[Any], ...]]:
    """Return what is known of two blocks of keys whose largest scores lie far apart.

    Returns
    -------
    list of six ndarray each, shapes (4,), (4,), (4, 3), (4,), (4,), (4, 3)
        Largest score, sum of exponentials and output of block A, then those of block B. In the
        second, outputs are whole numbers.

    Examples
    --------
    >>> max_a, sum_a, out_a, *_ = extreme_blocks(np.random.default_rng(0))[0]
    >>> max_a.round(-3).tolist(), sum_a.shape, out_a.shape
    ([4000.0, -4000.0, 0.0, -4000.0], (4,), (4, 3))
    """
    offsets_a = _FAR * np.array([1.0, -1.0, 0.0, -1.0])
    offsets_b = _FAR * np.array([-1.0, 1.0, 0.25, -1.0])
    found: list[tuple[NDArray[Any], ...]] = []
    for sign in (1, 1, -1):
        maxima = [quarters(rng, 4) + sign * offsets for offsets in (offsets_a, offsets_b)]
        sums = [1 + abs(quarters(rng, 4)) for _ in maxima]
        outputs = [quarters(rng, 4, 3, largest=40) for _ in maxima]
        found.append((maxima[0], sums[0], outputs[0], maxima[1], sums[1], outputs[1]))
    found[1] = tuple(
        (4 * array).astype(np.int64) if array.ndim == 2 else array for array in found[1]
    )
    huge = np.array([HUGE, -HUGE, HUGE, 0.0])
    found.append((huge, *found[0][1:3], np.roll(huge, 1), *found[0][4:]))
    return found


def extreme_layers(rng: np.random.Generator, *leading: int) -> list[tuple[Any, ...]]:
    """Return the arguments of a layer with two heads in which scores are large.

    Parameters
    ----------
    rng : numpy.random.Generator
    *leading : int
        Sizes of leading axes.

    Returns
    -------
    list of (x, w_q, w_k, w_v, w_o, n_heads)
        Shapes (…, 5, 6), (6, 8), (6, 8), (6, 4) and (4, 7), and 2. The second has whole numbers.

    Examples
    --------
    >>> x, w_q, w_k, *_ = extreme_layers(np.random.default_rng(0))[0]
    >>> float(abs(x @ w_q[:, :4] @ w_k[:, :4].T @ x.T).min().round(-3))
    4000.0
    """
    found: list[tuple[Any, ...]] = []
    for spread in (False, False, True):
        x = quarters(rng, *leading, 5, 6, largest=6)
        w_q, w_k = (rng.integers(-1, 2, size=(6, 2 * _D_K)).astype(float) for _ in range(2))
        # The first entry of a head's query is large, of either sign. That of its key is 1, or
        # differs from position to position.
        x[..., 0], x[..., 1] = 1.0, rng.permuted(np.arange(5.0) - 2)
        x[..., 2] = rng.permuted([1.0, -1.0, 1.0, -1.0, 1.0])
        w_q[:, ::_D_K] = w_k[:, ::_D_K] = 0
        w_q[2, ::_D_K] = _FAR * np.array([1.0, -1.0])
        w_k[int(spread), ::_D_K] = 1
        w_v, w_o = quarters(rng, 6, 4), quarters(rng, 4, 7)
        found.append((x, w_q, w_k, w_v, w_o, 2))
    whole = [np.asarray(4 * x).astype(np.int64) for x in (found[1][0], *found[1][3:5])]
    w_q, w_k = (w.astype(np.int64) for w in found[1][1:3])
    found[1] = (whole[0] // 4, w_q, w_k, *whole[1:], 2)
    return found
