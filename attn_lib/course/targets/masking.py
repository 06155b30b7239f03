"""The right functions of the chapter `masking`, except attn_lib.masks and attention."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.course.targets.arrays import Array
from attn_lib.masks import (
    allowed_from_blocked,
    causal_mask,
    combine_masks,
    padding_mask,
    sliding_window_mask,
)
from attn_lib.softmax import softmax

Mask = NDArray[np.bool_]


def cached_causal_mask(n_q: int, n_k: int) -> Mask:
    """Return the causal mask of queries at the positions of the last `n_q` of `n_k` keys.

    Parameters
    ----------
    n_q, n_k : int
        Number of queries and keys; the earlier keys come from a cache.

    Returns
    -------
    ndarray of bool, shape (n_q, n_k)

    Examples
    --------
    >>> cached_causal_mask(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    return causal_mask(n_q, n_k, alignment="bottom-right")


def combined_mask(lengths: ArrayLike, n: int) -> Mask:
    """Return the mask of causal self-attention over a padded batch.

    Parameters
    ----------
    lengths : array_like of int, shape (B,)
        True length of each sequence.
    n : int
        Length after padding.

    Returns
    -------
    ndarray of bool, shape (B, n, n)

    Examples
    --------
    >>> combined_mask([2], 3).astype(int)
    array([[[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]]])
    """
    return combine_masks(causal_mask(n, n), padding_mask(lengths, n))


def window_mask(n: int, width: int) -> Mask:
    """Return the causal mask that allows the last `width` keys, the query's own included.

    Parameters
    ----------
    n : int
        Number of queries and of keys.
    width : int
        At least 1.

    Returns
    -------
    ndarray of bool, shape (n, n)

    Examples
    --------
    >>> window_mask(3, 2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    return sliding_window_mask(n, n, left=width - 1, right=0)


def mask_from_key_padding(blocked: Mask) -> Mask:
    """Return a mask for the scores from a key padding mask, which is True at the padding.

    Parameters
    ----------
    blocked : ndarray of bool, shape (B, n_k)
        True where the key is padding: PyTorch's ``key_padding_mask``.

    Returns
    -------
    ndarray of bool, shape (B, 1, n_k)
        True where the key may be attended to, the same for every query.

    Examples
    --------
    >>> mask_from_key_padding(np.array([[False, False, True]])).astype(int)
    array([[[1, 1, 0]]])
    """
    return allowed_from_blocked(blocked)[:, None, :]


def visible_keys(mask: Mask) -> NDArray[np.integer]:
    """Return how many keys each query may attend to.

    Parameters
    ----------
    mask : ndarray of bool, shape (..., n_q, n_k)
        True where attention is allowed.

    Returns
    -------
    ndarray of int, shape (..., n_q)

    Examples
    --------
    >>> visible_keys(causal_mask(3, 3))
    array([1, 2, 3])
    """
    return np.sum(mask, axis=-1)


def masked_scores(scores: Array, mask: Mask) -> Array:
    """Return the scores with ``-inf`` wherever attention is not allowed.

    Parameters
    ----------
    scores : ndarray, shape (..., n_q, n_k)
    mask : ndarray of bool, broadcastable to the scores
        True where attention is allowed.

    Examples
    --------
    >>> masked_scores(np.array([[1.0, 2.0]]), np.array([[True, False]]))
    array([[  1., -inf]])
    """
    return np.where(mask, scores, -np.inf)


def masked_softmax(scores: Array, mask: Mask) -> Array:
    """Return the weights over the allowed keys: each row sums to 1, an empty one is all 0.

    Parameters
    ----------
    scores, mask
        As in `masked_scores`.

    Examples
    --------
    >>> masked_softmax(np.array([[1.0, 1.0, 7.0]]), np.array([[True, True, False]]))
    array([[0.5, 0.5, 0. ]])
    """
    return softmax(masked_scores(scores, mask))


def masked_attention(q: Array, k: Array, v: Array, mask: Mask) -> Array:
    """Return the output of attention to the allowed keys.

    Parameters
    ----------
    q, k, v : ndarray, shapes (..., n_q, d_k), (..., n_k, d_k) and (..., n_k, d_v)
    mask : ndarray of bool, broadcastable to (..., n_q, n_k)
        True where attention is allowed.

    Examples
    --------
    >>> q, k, v = np.ones((1, 2)), np.ones((3, 2)), np.array([[1.0], [3.0], [90.0]])
    >>> masked_attention(q, k, v, np.array([[True, True, False]]))
    array([[2.]])
    """
    return scaled_dot_product_attention(q, k, v, mask=mask)


def causal_attention(q: Array, k: Array, v: Array) -> Array:
    """Return the output of attention in which query i sees the keys 0 to i.

    Parameters
    ----------
    q, k, v : ndarray, shapes (..., n, d_k), (..., n, d_k) and (..., n, d_v)

    Examples
    --------
    >>> causal_attention(np.ones((3, 2)), np.ones((3, 2)), np.array([[1.0], [3.0], [8.0]]))
    array([[1.],
           [2.],
           [4.]])
    """
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def cached_attention(q: Array, k: Array, v: Array) -> Array:
    """Return the output of causal attention of the newest queries, with earlier keys cached.

    Parameters
    ----------
    q, k, v : ndarray, shapes (..., n_q, d_k), (..., n_k, d_k) and (..., n_k, d_v)
        The last query and the last key are at the same position.

    Examples
    --------
    >>> cached_attention(np.ones((2, 2)), np.ones((3, 2)), np.array([[1.0], [3.0], [8.0]]))
    array([[2.],
           [4.]])
    """
    return scaled_dot_product_attention(q, k, v, is_causal=True, causal_alignment="bottom-right")


def padded_attention(q: Array, k: Array, v: Array, lengths: ArrayLike) -> Array:
    """Return the output of attention that ignores the padding of a batch.

    Parameters
    ----------
    q, k, v : ndarray, shapes (B, n_q, d_k), (B, n_k, d_k) and (B, n_k, d_v)
    lengths : array_like of int, shape (B,)
        How many keys of each sequence are real; the padding comes after them.

    Examples
    --------
    >>> q, k, v = np.ones((1, 1, 2)), np.ones((1, 3, 2)), np.array([[[1.0], [3.0], [90.0]]])
    >>> padded_attention(q, k, v, [2])
    array([[[2.]]])
    """
    return scaled_dot_product_attention(q, k, v, mask=padding_mask(lengths, np.shape(k)[-2]))
