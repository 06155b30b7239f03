"""Reading arrays: as real floats of a sufficient precision, with sizes that fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


def read_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as an array; raise an error for ragged lists and for masked arrays."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise TypeError(
            f"{name}: expected an array without a mask of its own, got a masked array, whose "
            "mask would be lost; pass its .data, and say what is hidden by the argument mask."
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name}: expected rows of equal length, got a ragged nested list; "
            "give every row the same number of entries."
        ) from error


def as_float_array(values: ArrayLike, name: str) -> NDArray[np.floating]:
    """Return `values` as a floating-point array; integers become float64."""
    array = read_array(values, name)
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    if array.dtype.kind != "f":
        raise TypeError(
            f"{name}: expected real numbers, got dtype {array.dtype}; "
            "convert with np.asarray(..., dtype=float)."
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def working_dtype(dtype: DTypeLike) -> np.dtype:
    """Return the type to compute in: at least float32, so that sums do not overflow float16."""
    return np.promote_types(dtype, np.float32)


def read_arrays(
    *named: tuple[ArrayLike, str],
) -> tuple[list[NDArray[np.floating]], np.dtype[np.floating]]:
    """Return the named arrays in the type to compute in, and the type of the result."""
    arrays = [as_float_array(values, name) for values, name in named]
    dtype = np.result_type(*arrays)
    wide = working_dtype(dtype)
    return [array.astype(wide, copy=False) for array in arrays], dtype


def project(x: NDArray[np.floating], w: NDArray[np.floating], product: str) -> NDArray[np.floating]:
    """Return x @ w; if the shapes do not fit, raise ValueError and call the product `product`."""
    if x.ndim < 2 or w.ndim != 2 or x.shape[-1] != len(w):
        raise ValueError(
            f"{product}: expected shapes (..., n, d) and (d, d_out), got {x.shape} and "
            f"{w.shape}; make the last size of the first and the first of the second equal."
        )
    return x @ w


def common_batch_shape(
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    v: NDArray[np.floating],
    advice: str = "if q has more heads than k and v, pass enable_gqa=True",
) -> tuple[int, ...]:
    """Return the common leading shape; raise ValueError if the shapes do not fit together."""
    for name, array in (("q", q), ("k", k), ("v", v)):
        if array.ndim < 2:
            raise ValueError(
                f"{name}: expected shape (..., n, d), got {array.shape}; "
                f"for a single vector pass {name}[None, :]."
            )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"expected q and k of the same width d_k, got q {q.shape} and k {k.shape}; "
            "a query can only be compared with keys of its own width."
        )
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"expected one value for each key, got k {k.shape} and v {v.shape}; "
            "make their second-to-last sizes (n_k) equal."
        )
    try:
        return np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError as error:
        raise ValueError(
            f"expected leading axes that broadcast, got q {q.shape}, k {k.shape} and "
            f"v {v.shape}; {advice}."
        ) from error


def repeat_heads(
    q: NDArray[np.floating], k: NDArray[np.floating], v: NDArray[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return `k` and `v` with each head repeated for every head of `q` that uses it."""
    if min(q.ndim, k.ndim, v.ndim) < 3:
        raise ValueError(
            "enable_gqa: expected q, k and v of shape (..., H, n, d), "
            f"got q {q.shape}, k {k.shape} and v {v.shape}; add the axis of heads."
        )
    heads, key_heads, value_heads = q.shape[-3], k.shape[-3], v.shape[-3]
    if 0 in (key_heads, value_heads) or heads % key_heads or heads % value_heads:
        raise ValueError(
            "enable_gqa: expected the heads of q to be a multiple of those of k and v, "
            f"got {heads}, {key_heads} and {value_heads}."
        )
    return (
        np.repeat(k, heads // key_heads, axis=-3),
        np.repeat(v, heads // value_heads, axis=-3),
    )


def read_whole_numbers(values: ArrayLike, name: str) -> NDArray[np.integer]:
    array = read_array(values, name)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name}: expected whole numbers, got dtype {array.dtype}; convert with .astype(int)."
        )
    return array
