"""What every public function does to its inputs first: read them as real floats."""

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
