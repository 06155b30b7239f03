"""Reading arguments that are not arrays: sizes, numbers, and the alignment of a causal mask."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Literal

import numpy as np

Alignment = Literal["top-left", "bottom-right"]


def read_size(value: int, name: str) -> int:
    """Return `value` as an int; raise ValueError if it is not a whole number of at least 0."""
    try:
        size = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name}: expected a whole number, got {value!r}.") from error
    if size < 0:
        raise ValueError(f"{name}: expected 0 or more, got {size}.")
    return size


def read_positive_size(value: int, name: str) -> int:
    """Return `value` as an int; raise ValueError if it is not a whole number of at least 1."""
    size = read_size(value, name)
    if size < 1:
        raise ValueError(f"{name}: expected 1 or more, got {size}.")
    return size


def read_number(value: object, name: str) -> float:
    """Return `value` as a float; raise an error if it is not one finite real number."""
    if isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool):
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        raise TypeError(f"{name}: expected one number, got {given}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, got {number}.")
    return number


def causal_offset(n_q: int, n_k: int, alignment: Alignment) -> int:
    """Return how many keys come before the position of the first query."""
    if alignment not in ("top-left", "bottom-right"):
        raise ValueError(f'alignment: expected "top-left" or "bottom-right", got {alignment!r}.')
    return n_k - n_q if alignment == "bottom-right" else 0
