"""Reading arrays: real floats of a type wide enough, with sizes that fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


def as_float_array(values: ArrayLike, name: str) -> NDArray[np.floating]:
    """Return `values` as a floating-point array; integers become float64."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name}: expected rows of equal length, got a ragged nested list; "
            "give every row the same number of entries."
        ) from error
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    if array.dtype.kind != "f":
        raise TypeError(
            f"{name}: expected real numbers, got dtype {array.dtype}; "
            "convert with np.asarray(..., dtype=float)."
        )
    return array


def working_dtype(dtype: DTypeLike) -> np.dtype:
    """Return the type to compute in: float32 or better, so that float16 sums stay finite."""
    return np.promote_types(dtype, np.float32)


def read_arrays(
    *named: tuple[ArrayLike, str],
) -> tuple[list[NDArray[np.floating]], np.dtype[np.floating]]:
    """Return arrays, each given with its name, in a type to compute in, and the type to return."""
    arrays = [as_float_array(values, name) for values, name in named]
    dtype = np.result_type(*arrays)
    wide = working_dtype(dtype)
    return [array.astype(wide, copy=False) for array in arrays], dtype


def project(x: NDArray[np.floating], w: NDArray[np.floating], product: str) -> NDArray[np.floating]:
    """Return x @ w, or say in one sentence, which calls it `product`, what does not fit."""
    if x.ndim < 2 or w.ndim != 2 or x.shape[-1] != len(w):
        raise ValueError(
            f"{product}: expected shapes (..., n, d) and (d, d_out), got {x.shape} and "
            f"{w.shape}; make the last size of the first and the first of the second equal."
        )
    return x @ w
