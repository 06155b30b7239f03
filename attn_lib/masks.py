"""Masks say which key each query may attend to.

One convention holds everywhere in this course, that of PyTorch's
``scaled_dot_product_attention`` and of ONNX: a boolean mask is **True where attention is
allowed**; a floating-point mask is added to the scaled scores.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Alignment = Literal["top-left", "bottom-right"]


def causal_mask(n_q: int, n_k: int, alignment: Alignment = "top-left") -> NDArray[np.bool_]:
    """Return the mask that keeps every query from looking at later positions.

    Parameters
    ----------
    n_q, n_k : int
        Number of queries and keys, 0 or more.
    alignment : {"top-left", "bottom-right"}
        What "later" means when ``n_q != n_k``. ``"top-left"``: query i and key i stand at
        the same position, as in PyTorch's ``is_causal``. ``"bottom-right"``: the last query
        and the last key do, as in decoding with a cache of earlier keys. The two agree
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
    n_q, n_k = _size(n_q, "n_q"), _size(n_k, "n_k")
    if alignment not in ("top-left", "bottom-right"):
        raise ValueError(
            f'causal_mask: expected alignment "top-left" or "bottom-right", got {alignment!r}.'
        )
    offset = n_k - n_q if alignment == "bottom-right" else 0
    return np.arange(n_k) <= np.arange(n_q)[:, None] + offset


def padding_mask(lengths: ArrayLike, n_k: int) -> NDArray[np.bool_]:
    """Return the mask that hides the padding behind each sequence of a batch.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        True length of each sequence, between 0 and `n_k`.
    n_k : int
        Number of keys after padding.

    Returns
    -------
    ndarray of bool, shape (..., 1, n_k)
        True where the key is a real position. The axis of length 1 stands for the
        queries: padding is a property of the key, so every query sees the same mask.

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
    n_k = _size(n_k, "n_k")
    lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu":
        raise TypeError(
            f"padding_mask: expected whole numbers as lengths, got dtype {lengths.dtype}; "
            "convert with .astype(int)."
        )
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
    arrays = [np.asarray(mask) for mask in masks]
    for array in arrays:
        if array.dtype != np.bool_:
            raise TypeError(
                f"combine_masks: expected boolean masks, got dtype {array.dtype}; "
                "additive masks combine by +."
            )
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(
            f"combine_masks: expected shapes that broadcast to (..., n_q, n_k), got {shapes}."
        ) from error
    return reduce(operator.and_, arrays)


def _size(value: int, name: str) -> int:
    try:
        size = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name}: expected a whole number, got {value!r}.") from error
    if size < 0:
        raise ValueError(f"{name}: expected 0 or more, got {size}.")
    return size
