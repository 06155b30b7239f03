"""What exercises give to learners: their answers may call it, unlike the rest of attn_lib."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import read_size
from attn_lib.model import forward, trained_model
from attn_lib.model.transformer import Trace

#: How many words each call of `read` was given, until somebody clears the list.
calls: list[int] = []


def read(
    new: ArrayLike, start: int, cache: Trace | None = None
) -> tuple[NDArray[np.floating], Trace]:
    """Let the trained model read words, and return its logits and the cache after them.

    The number of words is appended to `calls`.

    Parameters
    ----------
    new : array_like of int, shape (n,)
        Ids of the words to read.
    start : int
        Position of the first of them in the text, counted from 0.
    cache : Trace, optional
        What this function returned for the words before: their keys and values. It is not
        changed. Default: there are none.

    Returns
    -------
    logits : ndarray, shape (n, 49)
        Row i scores every word of the vocabulary as the one after word i.
    cache : Trace
        The keys and values of all words so far, in both layers.

    Raises
    ------
    ValueError
        If an id is not in the vocabulary, there is no word, or the model has learned no position
        for the last one.

    Examples
    --------
    >>> from attn_lib.model import WORDS, encode
    >>> logits, cache = read(encode("ada tea bob milk"), 0)
    >>> logits, cache = read(encode("ada"), 4, cache)
    >>> WORDS[logits[-1].argmax()]
    'tea'
    """
    model = trained_model()
    start, n, table = read_size(start, "read: start"), np.size(new), model.parameters["positions"]
    n_past = 0 if cache is None else cache["layer1.k"].shape[-2]
    if max(start, n_past) + n > len(table):
        raise ValueError(
            f"read: expected positions up to {len(table) - 1}, as many as the model has learned, "
            f"got {n} words from {start} on, with {n_past} in the cache."
        )
    calls.append(n)
    # `forward` counts positions from the cache on. Here the reader says where a word stands.
    places = np.zeros_like(table)
    places[n_past : n_past + n] = table[start : start + n]
    moved = model._replace(parameters={**model.parameters, "positions": places})
    trace = forward(moved, new, past=cache)
    return trace["logits"], trace


def peak_bytes(function: Callable[..., Any], *args: object) -> int:
    """Return how many bytes a call of a function holds at once, at most.

    Its arguments are not counted, nor what was there before the call.

    Parameters
    ----------
    function : callable
    *args
        Its arguments.

    Examples
    --------
    >>> 8000 <= peak_bytes(np.ones, 1000) < 9000
    True
    """
    traced_before = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        function(*args)
        return tracemalloc.get_traced_memory()[1] - held
    finally:
        if not traced_before:
            tracemalloc.stop()
