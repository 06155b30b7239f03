"""What attention costs: operations, memory and, measured, time.

An operation (FLOP) is one addition, multiplication, comparison, division or exponential.
Each entry of the product of an (n, d) and a (d, m) matrix takes d multiplications and d
additions, so the product takes 2·n·d·m operations.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attn_lib._arguments import read_positive_size, read_size
from attn_lib._arrays import as_float_array

#: Operations per score, namely compare for the maximum, subtract it, exponentiate, add up, divide.
SOFTMAX_FLOPS = 5


class LayerFlops(NamedTuple):
    """Operations of one layer, part by part."""

    projections: int  #: four products with a (d_model, d_model) matrix, to q, k, v and out
    scores: int  #: q @ kᵀ
    softmax: int  #: over all scores
    mix: int  #: weights @ v
    feed_forward: int  #: two matrices, out to 4·d_model and back

    @property
    def attention(self) -> int:
        """Operations of the two matrix products of attention, without its softmax."""
        return self.scores + self.mix


class ScoreCost(NamedTuple):
    """Cost of computing the scores of all queries with all keys."""

    parameters: int  #: numbers to be learnt
    flops: int  #: operations
    numbers: int  #: entries of the largest intermediate array


def layer_flops(n: int, d_model: int, heads: int = 1, *, n_cached: int = 0) -> LayerFlops:
    """Count the operations of one Transformer layer on `n` tokens.

    Parameters
    ----------
    n : int
        Number of tokens that go through the layer, 0 or more.
    d_model : int
        Width of a token; each head has ``d_k = d_v = d_model / heads``.
    heads : int
        Divides `d_model`.
    n_cached : int
        Number of earlier tokens whose keys and values are kept. They are attended to, but
        not computed again: with ``n=1`` this counts one step of decoding.

    Returns
    -------
    LayerFlops
        Without a causal mask, biases, normalisation and the feed-forward part's
        activation, which are small beside the rest.

    Raises
    ------
    ValueError
        If a size is not whole or too small, or the heads do not divide `d_model`.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.2 and 3.3, table 1.

    Examples
    --------
    >>> layer = layer_flops(128, 512)
    >>> layer.projections, layer.attention, layer.projections / layer.attention
    (268435456, 33554432, 8.0)
    >>> layer_flops(1, 512, n_cached=1023).attention
    2097152
    """
    n, n_cached = read_size(n, "n"), read_size(n_cached, "n_cached")
    d_model, heads = read_positive_size(d_model, "d_model"), read_positive_size(heads, "heads")
    if d_model % heads:
        raise ValueError(
            f"layer_flops: expected heads that divide d_model={d_model}, got {heads}; "
            "every head has the same width."
        )
    n_k, d_head = n_cached + n, d_model // heads
    return LayerFlops(
        projections=4 * _product(n, d_model, d_model),
        scores=heads * _product(n, d_head, n_k),
        softmax=heads * SOFTMAX_FLOPS * n * n_k,
        mix=heads * _product(n, n_k, d_head),
        feed_forward=_product(n, d_model, 4 * d_model) + _product(n, 4 * d_model, d_model),
    )


def crossover(steeper: Callable[[int], float], flatter: Callable[[int], float]) -> int:
    """Return the smallest n from which on `steeper` costs at least as much as `flatter`.

    Parameters
    ----------
    steeper, flatter : callable
        Cost as a function of n. Once `steeper` costs at least as much, it must do so for
        every larger n.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If `steeper` still costs less at n = 2⁴⁰.

    Examples
    --------
    >>> layer = lambda n: layer_flops(n, d_model=512)
    >>> crossover(lambda n: layer(n).attention, lambda n: layer(n).projections)
    1024
    """
    high = 1
    while steeper(high) < flatter(high):
        high *= 2
        if high > 2**40:
            raise ValueError(
                "crossover: expected the first cost to overtake the second below n = 2⁴⁰, "
                "got a smaller one throughout; is it the steeper of the two?"
            )
    low = high // 2  # steeper(below) is smaller, or below is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if steeper(middle) < flatter(middle) else (low, middle)
    return high


def dot_product_cost(n_q: int, n_k: int, d_k: int) -> ScoreCost:
    """Count what the scores ``q @ kᵀ`` cost.

    Parameters
    ----------
    n_q, n_k, d_k : int
        Number of queries and keys, and their width.

    Returns
    -------
    ScoreCost

    Raises
    ------
    ValueError
        If a size is negative or not whole.

    Examples
    --------
    >>> dot_product_cost(100, 100, 64)
    ScoreCost(parameters=0, flops=1280000, numbers=10000)
    """
    n_q, n_k, d_k = read_size(n_q, "n_q"), read_size(n_k, "n_k"), read_size(d_k, "d_k")
    return ScoreCost(parameters=0, flops=_product(n_q, d_k, n_k), numbers=n_q * n_k)


def additive_cost(n_q: int, n_k: int, d_k: int, d_hidden: int) -> ScoreCost:
    r"""Count what the additive scores :math:`w^T \tanh(W_q q + W_k k)` cost.

    Each query and each key is projected once. Then every pair takes, for each
    neuron, an addition, a tanh, a multiplication and an addition.

    Parameters
    ----------
    n_q, n_k, d_k : int
        Number of queries and keys, and their width.
    d_hidden : int
        Length of `w`, one number for each neuron of the hidden layer.

    Returns
    -------
    ScoreCost
        `numbers` counts the hidden layer of all pairs at once, as
        `attn_lib.additive.additive_attention` holds it.

    Raises
    ------
    ValueError
        If a size is negative or not whole.

    References
    ----------
    Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and
    Translate", appendix A.1.2.

    Examples
    --------
    >>> additive_cost(100, 100, 64, d_hidden=64)
    ScoreCost(parameters=8256, flops=4198400, numbers=640000)
    """
    n_q, n_k = read_size(n_q, "n_q"), read_size(n_k, "n_k")
    d_k, d_hidden = read_size(d_k, "d_k"), read_size(d_hidden, "d_hidden")
    hidden = n_q * n_k * d_hidden
    return ScoreCost(
        parameters=2 * d_k * d_hidden + d_hidden,
        flops=_product(n_q, d_k, d_hidden) + _product(n_k, d_k, d_hidden) + 4 * hidden,
        numbers=hidden,
    )


def weights_bytes(heads: int, n_q: int, n_k: int, dtype: DTypeLike = np.float32) -> int:
    """Return the memory that all attention weights of one layer take at once.

    Parameters
    ----------
    heads, n_q, n_k : int
        Number of heads, queries and keys.
    dtype : dtype
        Type of a weight.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a size is negative or not whole.

    Examples
    --------
    >>> weights_bytes(8, 2048, 2048) / 2**20  # in MiB
    128.0
    """
    entries = read_size(heads, "heads") * read_size(n_q, "n_q") * read_size(n_k, "n_k")
    return entries * np.dtype(dtype).itemsize


def cache_bytes(n: int, d_model: int, dtype: DTypeLike = np.float32) -> int:
    """Return the memory that the keys and values of `n` tokens take in one layer.

    Parameters
    ----------
    n, d_model : int
        Number of tokens, and width of all heads together.
    dtype : dtype
        Type of an entry.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a size is negative or not whole.

    Examples
    --------
    >>> cache_bytes(2048, 512) / 2**20  # in MiB
    8.0
    """
    return 2 * read_size(n, "n") * read_size(d_model, "d_model") * np.dtype(dtype).itemsize


def seconds_in_turns(
    functions: Mapping[str, Callable[[], object]],
    repeats: int = 7,
    *,
    of: Callable[[list[float]], float] = statistics.median,
    in_a_row: int = 1,
    pause: float = 0.0,
) -> dict[str, float]:
    """Return the time that each function takes.

    Every round calls all of them, one after the other. A temporary disturbance of the computer
    then affects all of them alike, so that their ratio is more reliable than their times.

    Parameters
    ----------
    functions : mapping of str to callable
        Called without arguments; the first call is not timed.
    repeats : int
        Number of rounds, at least 1.
    of : callable
        Reduces the times of a function to one number. Default: their median. Disturbances
        only add time, so on a busy computer ``min`` comes nearest to the true cost of a call.
    in_a_row : int
        Timed calls of one function in each round, at least 1.
    pause : float
        Seconds to wait before a function's turn. Threads of BLAS and PyTorch keep a core busy
        for some milliseconds after their work, which would slow the next function. After the
        pause they are asleep, so an untimed call wakes them first.

    Returns
    -------
    dict of str to float
        Seconds, in the order of `functions`.

    Raises
    ------
    ValueError
        If `repeats` or `in_a_row` is not a whole number of at least 1.

    Examples
    --------
    >>> a, b = np.ones((2, 200, 200))
    >>> seconds = seconds_in_turns({"product": lambda: a @ b, "sum": lambda: a + b})
    >>> list(seconds)
    ['product', 'sum']
    """
    repeats, in_a_row = (
        read_positive_size(repeats, "repeats"),
        read_positive_size(in_a_row, "in_a_row"),
    )
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            if pause:
                time.sleep(pause)
                function()
            for _ in range(in_a_row):
                start = time.perf_counter()
                function()
                times[name].append(time.perf_counter() - start)
    return {name: of(seconds) for name, seconds in times.items()}


def peak_extra_bytes(function: Callable[[], object]) -> int:
    """Return the peak memory that `function` needs in addition to what was allocated before.

    Parameters
    ----------
    function : callable
        Called once, without arguments. Its return value counts too.

    Returns
    -------
    int
        Bytes allocated by Python and NumPy; memory of other libraries is not counted.

    Examples
    --------
    >>> peak_extra_bytes(lambda: np.ones((1000, 1000))) // 10**6
    8
    """
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()


def loglog_slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent p of the power law ``y ~ x**p`` that fits best on log-log axes.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Positive, at least two of each.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `x` and `y` are not rows of the same length, or contain a number that is not positive.

    Examples
    --------
    >>> round(loglog_slope([100, 200, 400], [3, 12, 48]), 3)
    2.0
    """
    x, y = as_float_array(x, "x"), as_float_array(y, "y")
    if not (x.ndim == 1 and x.shape == y.shape and len(x) > 1 and min(x.min(), y.min()) > 0):
        raise ValueError(
            "loglog_slope: expected two rows of at least two positive numbers, "
            f"got shapes {x.shape} and {y.shape}; only positive numbers have a logarithm."
        )
    return float(np.polyfit(np.log(x), np.log(y), deg=1)[0])


def _product(n: int, d: int, m: int) -> int:
    """Return the operations of an (n, d) times a (d, m) matrix."""
    return 2 * n * d * m
