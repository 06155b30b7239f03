"""Words and their ids: encoding sentences as numbers, and decoding them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import read_whole_numbers
from attn_lib.model.language import (
    DRINKS,
    NAMES,
    PLURAL_NOUNS,
    PLURAL_VERBS,
    PREPOSITIONS,
    SINGULAR_NOUNS,
    SINGULAR_VERBS,
)

PADDING = "<pad>"
#: Every word of the language; its index is its id.
WORDS = (
    *(PADDING, ".", "the"),
    *NAMES,
    *DRINKS,
    *SINGULAR_NOUNS,
    *PLURAL_NOUNS,
    *SINGULAR_VERBS,
    *PLURAL_VERBS,
    *PREPOSITIONS,
)
IDS = {word: i for i, word in enumerate(WORDS)}


class Batch(NamedTuple):
    """Sentences as one array, in which shorter ones have padding at the end."""

    ids: NDArray[np.int64]  #: shape (batch, n)
    lengths: NDArray[np.int64]  #: words of each sentence without padding, shape (batch,)


def encode(text: str | Sequence[str]) -> NDArray[np.int64]:
    """Return the ids of a text's words.

    Parameters
    ----------
    text : str or sequence of str
        Words, separated by spaces if they are one string. A stop is a word.

    Returns
    -------
    ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        If a word is not in the vocabulary.

    Examples
    --------
    >>> encode("the cats sleep .")
    array([ 2, 25, 39,  1])
    """
    words = text.split() if isinstance(text, str) else list(text)
    unknown = sorted(set(words) - set(IDS))
    if unknown:
        raise ValueError(
            f"encode: expected words of the vocabulary, got {', '.join(unknown)}; "
            "attn_lib.model.WORDS lists all of them. Put a space before each stop."
        )
    return np.array([IDS[word] for word in words], dtype=np.int64)


def decode(ids: ArrayLike) -> str:
    """Return the words of ids, separated by spaces: the inverse of `encode`.

    Parameters
    ----------
    ids : array_like of int, shape (n,)

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If the ids are not whole numbers.
    ValueError
        If they are not a single row of ids of the vocabulary.

    Examples
    --------
    >>> decode([2, 25, 39, 1])
    'the cats sleep .'
    """
    array = read_whole_numbers(ids, "decode: ids")
    if array.ndim != 1 or np.any((array < 0) | (array >= len(WORDS))):
        raise ValueError(
            f"decode: expected one row of ids from 0 to {len(WORDS) - 1}, got shape "
            f"{array.shape} and {array.tolist()}; decode a batch row by row."
        )
    return " ".join(WORDS[i] for i in array)


def encode_batch(texts: Iterable[str | Sequence[str]]) -> Batch:
    """Return several texts as one array, padded to the longest.

    Parameters
    ----------
    texts : iterable of str or of sequences of str
        Each as `encode` takes it.

    Returns
    -------
    Batch

    Raises
    ------
    ValueError
        If there is no text, or a word is not in the vocabulary.

    Examples
    --------
    >>> encode_batch(["ada tea .", "the cats sleep ."])
    Batch(ids=array([[ 3, 11,  1,  0],
           [ 2, 25, 39,  1]]), lengths=array([3, 4]))
    """
    rows = [encode(text) for text in texts]
    if not rows:
        raise ValueError("encode_batch: expected at least one text, got none.")
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), IDS[PADDING])
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return Batch(ids, lengths)
