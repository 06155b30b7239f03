"""Inputs for tests of targets that take texts: words that come again, maps of heads, prompts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.targets.arrays import Array
from attn_lib.model import encode, generate, recall_sentence, trained_model

#: Share of its weight that the induction head puts where its role says, in every row.
FOCUS = (0.55, 0.7)
#: The same for the other heads. They are sharper: a sharp head need not be an induction head.
FOCUS_OF_OTHERS = (0.8, 0.95)

#: Least lead, in logits, of each word that the model writes over the word that comes second. In
#: float32 an answer computed in another order differs by far less.
CLEAR_LEAD = 0.3


def text_with_repeats(
    rng: np.random.Generator, n_different: int, n_again: int, n_new: int
) -> NDArray[np.int64]:
    """Return the ids of a text in which some words come a second time.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_different : int
        Number of words at the beginning, all different.
    n_again : int
        How many of them come again, at most ``n_different - 2``. Their order is drawn. Such a
        word never stands right behind the word that followed it the first time, so looking there
        is not the same as looking one word back.
    n_new : int
        Number of words that come among these for the first and only time.

    Returns
    -------
    ndarray of int, shape (n_different + n_again + n_new,)

    Raises
    ------
    ValueError
        If more words should come again than can.

    Examples
    --------
    >>> ids = text_with_repeats(np.random.default_rng(0), 5, 3, 1)
    >>> len(ids), len(set(ids.tolist()))
    (9, 6)
    """
    if not 1 <= n_again <= n_different - 2:
        raise ValueError(
            f"text_with_repeats: expected from 1 to {n_different - 2} words to come again, "
            f"2 fewer than come once, got {n_again}."
        )
    words = rng.permutation(np.arange(1, n_different + n_new + 1))
    beginning, new = words[:n_different], words[n_different:]
    again = rng.permutation(beginning[:-2])[:n_again]
    return np.concatenate([beginning, rng.permutation(np.concatenate([again, new]))])


def maps_with_induction_head(
    rng: np.random.Generator, ids: NDArray[np.integer], n_layers: int, n_heads: int
) -> Array:
    """Return causal attention maps. One head, at a place that is drawn, is an induction head.

    The others look at a word's first occurrence itself, at the word before that, at the word
    before the query, at the first word of the text, or at the query.

    Parameters
    ----------
    rng : numpy.random.Generator
    ids : ndarray of int, shape (n,)
        As from `text_with_repeats`.
    n_layers, n_heads : int

    Returns
    -------
    ndarray, shape (n_layers, n_heads, n, n)
        From a word that comes again, the induction head puts at least `FOCUS[0]` of its weight on
        the word after its first occurrence; no other head puts more than
        ``1 - FOCUS_OF_OTHERS[0]`` there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> weights = maps_with_induction_head(rng, text_with_repeats(rng, 5, 3, 1), 2, 3)
    >>> weights.shape, bool(np.allclose(weights.sum(axis=-1), 1))
    ((2, 3, 9, 9), True)
    """
    n = len(ids)
    places = np.arange(n)
    first = np.array([np.flatnonzero(ids == word)[0] for word in ids])
    again = first < places
    others = [
        np.where(again, first, places),  # the same word
        np.where(again, np.maximum(first - 1, 0), 0),  # the word before its first occurrence
        np.maximum(places - 1, 0),  # the previous word
        np.zeros(n, dtype=int),  # the first word
        places,  # itself
    ]
    keys = [np.where(again, first + 1, 0)]
    keys += [others[i % len(others)] for i in range(n_layers * n_heads - 1)]
    allowed = np.tri(n)
    weights = rng.random((n_layers * n_heads, n, n)) * allowed
    for head, looked_at in enumerate(keys):
        focus = rng.uniform(*(FOCUS if head == 0 else FOCUS_OF_OTHERS), size=n)
        weights[head] *= ((1 - focus) / weights[head].sum(axis=-1))[:, None]
        weights[head, places, looked_at] += focus
    order = rng.permutation(len(keys))
    return weights[order].reshape(n_layers, n_heads, n, n)


def clear_prompts(rng: np.random.Generator, number: int, n_words: int) -> list[NDArray[np.int64]]:
    """Return texts that the trained model continues without hesitation.

    Two names have ordered, and one of them comes again. What follows is decided by the text: its
    drink, the other name, the other drink and a stop.

    Parameters
    ----------
    rng : numpy.random.Generator
    number : int
        How many texts.
    n_words : int
        Number of words to continue by, from 1 to 4. Each of them leads the word that comes second
        by at least `CLEAR_LEAD`.

    Returns
    -------
    list of ndarray of int, shape (5,)

    Examples
    --------
    >>> from attn_lib.model import decode
    >>> (ids,) = clear_prompts(np.random.default_rng(0), 1, n_words=4)
    >>> decode(ids)
    'cleo milk eve juice eve'
    """
    prompts: list[NDArray[np.int64]] = []
    while len(prompts) < number:
        text = " ".join(recall_sentence(rng, pairs=2).words[:5])
        best = np.sort(generate(trained_model(), text, n_words).logits, axis=-1)
        if np.all(best[:, -1] - best[:, -2] > CLEAR_LEAD):
            prompts.append(encode(text))
    return prompts
