"""Masks say which key each query may attend to.

One convention holds everywhere in this course, that of PyTorch's
``scaled_dot_product_attention`` and of ONNX: a boolean mask is **True where attention is
allowed**; a floating-point mask is added to the scaled scores.
"""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from attn_lib._arguments import Alignment, causal_offset, read_size
from attn_lib._arrays import read_array, read_whole_numbers


def causal_mask(n_q: int, n_k: int, alignment: Alignment = "top-left") -> NDArray[np.bool_]:
    """Return the mask that keeps every query from looking at later positions.

    Parameters
    ----------
    n_q, n_k : int
        Number of queries and keys, 0 or more.
    alignment : {"top-left", "bottom-right"}
        What "later" means when ``n_q != n_k``. ``"top-left"``: query i and key i are at the
        same position, as in PyTorch's ``is_causal``. ``"bottom-right"``: the last query and
        the last key are, as in decoding with a cache of earlier keys. Both give the same mask
        when ``n_q == n_k``.

    Returns
    -------
    ndarray of bool, shape (n_q, n_k)
        True where the query may attend.

    Raises
    ------
    ValueError
        If a size is negative or not whole, or the alignment is not one of the two.

    Examples
    --------
    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    >>> causal_mask(2, 3, alignment="bottom-right").astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    n_q, n_k = read_size(n_q, "n_q"), read_size(n_k, "n_k")
    offset = causal_offset(n_q, n_k, alignment)
    return sliding_window_mask(n_q, n_k, left=None, right=0, offset=offset)


def sliding_window_mask(
    n_q: int, n_k: int, left: int | None, right: int | None = 0, *, offset: ArrayLike = 0
) -> NDArray[np.bool_]:
    """Return the mask that lets every query see only keys near its own position.

    Query i has the position ``i + offset`` among the keys. It may attend to the key at
    that position, to `left` keys before it and to `right` keys after it.

    Parameters
    ----------
    n_q, n_k : int
        Number of queries and keys, 0 or more.
    left, right : int or None
        How many keys before and after the query's own position are allowed, 0 or more;
        None for no limit. A window of W keys that ends at the query, as in Mistral 7B, is
        ``left=W - 1, right=0``: the query's own key counts among the W. These are ONNX's
        ``left_window_size`` and ``right_window_size``, which write -1 for no limit.
    offset : array_like of int, shape (...)
        Position of the first query among the keys; one for all sequences, or one for each
        sequence of a batch. 0 is `causal_mask`'s ``"top-left"``, ``n_k - n_q`` its
        ``"bottom-right"``. With a cache it is the number of keys in the cache.

    Returns
    -------
    ndarray of bool, shape (..., n_q, n_k)
        True where the query may attend.

    Raises
    ------
    TypeError
        If the offsets are not whole numbers.
    ValueError
        If a size or a limit is negative or not whole.

    References
    ----------
    Beltagy et al. 2020, "Longformer", section 3.1; Jiang et al. 2023, "Mistral 7B",
    section 2 and figure 1.

    Examples
    --------
    >>> sliding_window_mask(4, 4, left=1).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> sliding_window_mask(2, 4, left=1, right=1, offset=2).astype(int)
    array([[0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    offset = read_whole_numbers(offset, "sliding_window_mask: offset")
    query = np.arange(read_size(n_q, "n_q"))[:, None] + offset[..., None, None]  # (..., n_q, 1)
    key = np.arange(read_size(n_k, "n_k"))  # (n_k,)
    allowed = np.ones(np.broadcast_shapes(query.shape, key.shape), dtype=np.bool_)
    if left is not None:
        allowed &= query - read_size(left, "left (None: no limit)") <= key
    if right is not None:
        allowed &= key - read_size(right, "right (None: no limit)") <= query
    return allowed


def padding_mask(lengths: ArrayLike, n_k: int) -> NDArray[np.bool_]:
    """Return the mask that hides the padding after each sequence of a batch.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        True length of each sequence, between 0 and `n_k`.
    n_k : int
        Number of keys after padding.

    Returns
    -------
    ndarray of bool, shape (..., 1, n_k)
        True where the key is a real position. The axis of length 1 broadcasts over the
        queries: padding is a property of the key, so it is the same for every query.
        Beside scores of shape (B, H, n_q, n_k) a mask of shape (B, 1, n_k) needs an axis for
        the heads, ``mask[:, None]``: without it, B is taken for H where the two are equal.

    Raises
    ------
    TypeError
        If the lengths are not whole numbers.
    ValueError
        If a length is negative or larger than `n_k`.

    Examples
    --------
    >>> padding_mask([1, 3], n_k=3).astype(int)
    array([[[1, 0, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    n_k = read_size(n_k, "n_k")
    lengths = read_whole_numbers(lengths, "padding_mask: lengths")
    if np.any((lengths < 0) | (lengths > n_k)):
        raise ValueError(
            f"padding_mask: expected lengths between 0 and n_k={n_k}, got {lengths.tolist()}; "
            "a sequence cannot be longer than the padded array."
        )
    return np.arange(n_k) < lengths[..., None, None]


def combine_masks(*masks: ArrayLike) -> NDArray[np.bool_]:
    """Return the mask that allows what every given mask allows.

    Parameters
    ----------
    *masks : array_like of bool, shapes that broadcast together
        True where attention is allowed.

    Returns
    -------
    ndarray of bool, the broadcast shape

    Raises
    ------
    TypeError
        If a mask is not boolean.
    ValueError
        If no mask is given, or the shapes do not broadcast.

    Examples
    --------
    >>> combine_masks(causal_mask(3, 3), padding_mask(2, n_k=3)).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 0]])
    """
    if not masks:
        raise ValueError("combine_masks: expected at least one mask, got none.")
    arrays = [_booleans(mask, "combine_masks", "additive masks combine by +") for mask in masks]
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(
            f"combine_masks: expected shapes that broadcast to (..., n_q, n_k), got {shapes}."
        ) from error
    return reduce(operator.and_, arrays)


def allowed_from_blocked(blocked: ArrayLike) -> NDArray[np.bool_]:
    """Convert a mask that is True where *blocked* to the convention of this course.

    PyTorch's ``key_padding_mask`` and the ``attn_mask`` of its ``MultiheadAttention`` are True
    where attention is not allowed.

    Parameters
    ----------
    blocked : array_like of bool, any shape
        True where attention is not allowed.

    Returns
    -------
    ndarray of bool, the same shape
        True where attention is allowed.

    Raises
    ------
    TypeError
        If the mask is not boolean.

    Examples
    --------
    >>> allowed_from_blocked([False, False, True])
    array([ True,  True, False])
    """
    return ~_booleans(blocked, "allowed_from_blocked", "convert 0/1 with .astype(bool)")


def additive_mask(allowed: ArrayLike, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """Return the mask to add to the scaled scores: 0 where allowed, ``-inf`` elsewhere.

    Parameters
    ----------
    allowed : array_like of bool, any shape
        True where attention is allowed.
    dtype : floating-point dtype
        Type of the result, ideally the same as that of the scores.

    Returns
    -------
    ndarray of `dtype`, the same shape

    Raises
    ------
    TypeError
        If the mask is not boolean, or `dtype` has no ``-inf``.

    Examples
    --------
    >>> additive_mask([True, True, False])
    array([  0.,   0., -inf])
    """
    allowed = _booleans(allowed, "additive_mask", "a float mask is additive already")
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(
            f"additive_mask: expected a floating-point dtype, got {dtype}; only they have -inf."
        )
    return np.where(allowed, 0.0, -np.inf).astype(dtype)


def _booleans(mask: ArrayLike, caller: str, advice: str) -> NDArray[np.bool_]:
    array = read_array(mask, f"{caller}: mask")
    if array.dtype != np.bool_:
        raise TypeError(f"{caller}: expected booleans, got dtype {array.dtype}; {advice}.")
    return array
