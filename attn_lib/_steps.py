"""The steps around softmax: scale, cap and mask the scores before it, mix the values after it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import read_array


def default_scale(d_k: int) -> float:
    """Return 1/√d_k; for d_k = 0, where all scores are 0, return 1."""
    return 1 / math.sqrt(d_k) if d_k else 1.0


def cap_scores(scores: NDArray[np.floating], softcap: float) -> None:
    """Squash scores into (−softcap, softcap), in place: ``softcap · tanh(scores / softcap)``."""
    scores /= softcap
    np.tanh(scores, out=scores)
    scores *= softcap


def mask_scores(scores: NDArray[np.floating], mask: NDArray[Any]) -> None:
    """Set scores to ``-inf`` where a boolean mask is False, or add a float mask, in place."""
    if mask.dtype.kind == "b":
        np.copyto(scores, -np.inf, where=~mask)
        return
    # Where the mask is -inf, set the score: adding -inf to an infinite score would give NaN.
    blocked = np.isneginf(mask)
    np.add(scores, mask, out=scores, where=~blocked)
    np.copyto(scores, -np.inf, where=blocked)


def broadcast_mask(mask: ArrayLike, scores_shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the mask broadcast to all scores, as a view; raise an error if it does not fit."""
    mask = read_array(mask, "mask")
    if mask.dtype.kind not in "bf":
        raise TypeError(
            f"mask: expected booleans (True = may attend) or floats to add, "
            f"got dtype {mask.dtype}; convert 0/1 with .astype(bool)."
        )
    try:
        return np.broadcast_to(mask, scores_shape)
    except ValueError as error:
        raise ValueError(
            f"mask: expected a shape that broadcasts to (..., n_q, n_k) = {scores_shape}, "
            f"got {mask.shape}."
        ) from error


def mix(
    attend: Callable[[NDArray[np.floating]], NDArray[np.floating]], v: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return the weighted means of the values.

    A sum that contains 0 · NaN or 0 · ∞ is NaN. So where a value is not finite, the finite
    part is mixed by itself, and it is asked who gives weight to the rest.

    Parameters
    ----------
    attend : callable
        Returns the weighted means, shape (..., n_q, d_v), of finite values with the shape of `v`.
    v : ndarray, shape (..., n_k, d_v)
        The values.

    Returns
    -------
    ndarray, shape (..., n_q, d_v)

    Examples
    --------
    >>> weights = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    >>> mix(lambda v: weights @ v, np.array([[2.0], [4.0], [np.inf]]))
    array([[ 3.],
           [inf]])
    """
    with np.errstate(invalid="ignore"):
        output = attend(v)
        if np.isfinite(output).all() or np.isfinite(v).all():
            return output
        output = attend(np.where(np.isfinite(v), v, 0))
        for places, number in (
            (np.isnan(v), np.nan),
            (v == np.inf, np.inf),
            (v == -np.inf, -np.inf),
        ):
            output[attend(places.astype(v.dtype)) > 0] += number
        return output
