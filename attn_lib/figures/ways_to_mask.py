"""Right and wrong ways to apply a mask to scores, for figures and their tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.mistakes import appearances, catalogue
from attn_lib.course.targets import masked_softmax
from attn_lib.softmax import softmax

#: The right way to apply a mask, and the ids of mistakes, with a description.
WAYS = {
    "right": "−∞ for a hidden score, and 0 for an empty row: attn_lib",
    "empty-rows-become-nan": "−∞ for a hidden score, plain softmax",
    "zero-for-minus-infinity": "0 for a hidden score",
    "large-negative-fill": "−1e9 for a hidden score",
    "large-negative-added": "−1e9 added to a hidden score",
    "mask-after-softmax": "weight set to 0 after the softmax",
}

Weights = NDArray[np.floating]


def way_to_mask(way: str) -> Callable[[Weights, NDArray[np.bool_]], Weights]:
    """Return the function that computes weights from scores and a mask in one of `WAYS`.

    It computes in the type of the scores.

    Parameters
    ----------
    way : str

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If there is no such way.

    Examples
    --------
    >>> zero = way_to_mask("zero-for-minus-infinity")
    >>> zero(np.float32([0, 7]), np.array([True, False]))
    array([0.5, 0.5], dtype=float32)
    """
    if way not in WAYS:
        raise ValueError(f"way_to_mask: expected one of {', '.join(WAYS)}, got {way!r}.")
    if way == "right":
        return masked_softmax
    if way == "large-negative-added":
        (added,) = (m.wrong for m in catalogue("additive_mask") if m.id == way)
        return lambda scores, mask: softmax(scores + added(mask).astype(scores.dtype))
    (wrong,) = (wrong for mistake, wrong in appearances("masked_softmax") if mistake.id == way)
    return wrong
