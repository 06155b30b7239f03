"""The right functions of the chapter `from-text-to-next-word`: a model's steps, and its heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib import multihead
from attn_lib.course.targets.arrays import Array
from attn_lib.masks import causal_mask
from attn_lib.model import decode, encode, generate, trained_model
from attn_lib.model.layers import layer_norm


def embed(ids: NDArray[np.integer], embedding: Array, positions: Array, n_past: int) -> Array:
    """Return the vector of each word: the row of its id, and the row of its position.

    Parameters
    ----------
    ids : ndarray of int, shape (..., n)
    embedding : ndarray, shape (n_words, d_model)
    positions : ndarray, shape (max_length, d_model)
        Row 0 belongs to the first word of the text.
    n_past : int
        Number of words that come before these in the text.

    Returns
    -------
    ndarray, shape (..., n, d_model)

    Examples
    --------
    >>> embedding, positions = np.array([[0, 0], [1, 5], [2, 7]]), np.array([[10, 0], [20, 0]])
    >>> embed(np.array([2, 1]), embedding, positions, 0)
    array([[12,  7],
           [21,  5]])
    """
    return embedding[ids] + positions[n_past : n_past + np.shape(ids)[-1]]


def block(
    x: Array,
    gain: Array,
    bias: Array,
    w_q: Array,
    w_k: Array,
    w_v: Array,
    w_o: Array,
    n_heads: int,
) -> Array:
    """Return the stream after a block: what came in, and what its attention adds.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    gain, bias : ndarray, shape (d_model,)
        Of the layer norm before the attention.
    w_q, w_k, w_v, w_o : ndarray
        Shapes (d_model, n_heads·d_k) twice, (d_model, n_heads·d_v), (n_heads·d_v, d_model).
    n_heads : int

    Returns
    -------
    ndarray, shape (..., n, d_model)

    Examples
    --------
    >>> x, one = np.array([[1.0, 3.0]]), np.eye(2)
    >>> block(x, np.ones(2), np.zeros(2), one, one, one, 10 * one, n_heads=1).round(2)
    array([[-9., 13.]])
    """
    n = x.shape[-2]
    return x + multihead.multi_head_attention(
        layer_norm(x, gain, bias),
        w_q,
        w_k,
        w_v,
        w_o,
        n_heads=n_heads,
        mask=causal_mask(n, n),
    )


def output_after_shuffling(output: Array, order: ArrayLike) -> Array:
    """Return the output of self-attention after its words change places.

    There are no positions and no mask, so each word keeps its output and takes it along.

    Parameters
    ----------
    output : ndarray, shape (n, ...)
        The output for each word before.
    order : array_like of int, shape (n,)
        Entry i is the old place of the word that is now at place i.

    Examples
    --------
    >>> output_after_shuffling(np.array([1.5, 2.5, 3.5]), [2, 0, 1])
    array([3.5, 1.5, 2.5])
    """
    return output[np.asarray(order)]


def weight_after_shuffling(weights: Array, order: ArrayLike, row: int, column: int) -> Array:
    """Return one weight of self-attention after its words change places.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        The weights before.
    order : array_like of int, shape (n,)
        As in `output_after_shuffling`.
    row, column : int
        Where the weight stands after.

    Examples
    --------
    >>> weight_after_shuffling(np.array([[0.5, 0.5], [0.2, 0.8]]), [1, 0], 0, 1)
    array(0.2)
    """
    order = np.asarray(order)
    return np.asarray(weights[order[row], order[column]])


def induction_head(weights: Array, ids: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the layer and the head of the induction head, both counted from 0.

    From a word that comes again, an induction head looks at the word after its first occurrence.

    Parameters
    ----------
    weights : ndarray, shape (n_layers, n_heads, n, n)
        The weights of every head for one text.
    ids : ndarray of int, shape (n,)
        The text. At least one word comes again.

    Returns
    -------
    ndarray of int, shape (2,)

    Examples
    --------
    >>> weights = np.zeros((1, 2, 3, 3))
    >>> weights[0, 1, 2, 1] = 1  # head 1: from the second "ada" to "tea"
    >>> induction_head(weights, np.array([3, 11, 3]))
    array([0, 1])
    """
    first = np.array([np.flatnonzero(ids == word)[0] for word in ids])
    again = np.flatnonzero(first < np.arange(len(ids)))
    scores = weights[..., again, first[again] + 1].mean(axis=-1)
    return np.array(np.unravel_index(scores.argmax(), scores.shape))


def without_head(w_o: Array, n_heads: int, head: int) -> Array:
    """Return the output matrix of a layer that leaves out one head.

    Parameters
    ----------
    w_o : ndarray, shape (n_heads·d_v, d_model)
    n_heads, head : int
        Heads are counted from 0.

    Returns
    -------
    ndarray, shape (n_heads·d_v, d_model)

    Examples
    --------
    >>> without_head(np.ones((4, 3)), 2, 0)
    array([[0., 0., 0.],
           [0., 0., 0.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    width = len(w_o) // n_heads
    left = w_o.copy()
    left[head * width : (head + 1) * width] = 0
    return left


def lead_without_head(parts: Array, head: int) -> Array:
    """Return the lead of the first of two words, in logits, if one part is left out.

    Parameters
    ----------
    parts : ndarray, shape (n_parts, 2)
        What each part of the stream adds to the logits of the two words.
    head : int
        The row of the part that is left out.

    Examples
    --------
    >>> lead_without_head(np.array([[1.0, 0.0], [5.0, 2.0], [0.5, 1.0]]), 1)
    array(0.5)
    """
    leads = parts[:, 0] - parts[:, 1]
    return np.asarray(leads.sum() - leads[head])


def write(ids: ArrayLike, n_words: int) -> NDArray[np.integer]:
    """Return a text, continued by the trained model with its likeliest words.

    Parameters
    ----------
    ids : array_like of int, shape (n,)
        The words of the text so far, at least one.
    n_words : int
        Number of words to add.

    Returns
    -------
    ndarray of int, shape (n + n_words,)

    Examples
    --------
    >>> decode(write(encode("ada tea bob milk ada"), 1))
    'ada tea bob milk ada tea'
    """
    return encode(generate(trained_model(), decode(ids), n_words).text)
