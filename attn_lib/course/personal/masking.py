"""Personal numbers for the assignment `masking`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.core import first_suitable, mistakes_show
from attn_lib.course.personal.misreadings import masking as misreadings
from attn_lib.course.personal.misreadings import none_accepted
from attn_lib.course.targets import masked_attention
from attn_lib.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask
from attn_lib.softmax import softmax

Mask = NDArray[np.bool_]
Attention = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]]

#: The mistakes that must change the answer for the mask that the learner reads.
SHOWN_BY_A_MASK = {"visible_keys": ("hidden-keys-counted", "seeing-queries-counted")}


class Reading(NamedTuple):
    """A mask, its kind and the number that belongs to the kind."""

    mask: Mask  #: shape (n_q, n_k)
    kind: str  #: A: causal with a cache, B: window, C: padding, D: causal and padding
    number: int  #: number of keys in the cache (A), in the window (B) or in the sequence (C, D)


class MaskFromOutside(NamedTuple):
    """A wrong causal mask."""

    mask: Mask  #: shape (n, n)
    kind: str  #: A: some keys ahead, B: not the last keys, C: window, D: padding, E: inverted


def empty_row(learner_id: str) -> NDArray[np.float64]:
    """Return the scaled scores of a query that has no key to attend to.

    Without a mask, the weights are clearly not uniform, and leaving out the last key changes
    them visibly.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Returns
    -------
    ndarray, shape (3,), (4,) or (5,)
        With one decimal.

    Examples
    --------
    >>> bool((empty_row("ada").round(1) == empty_row("ada")).all())
    True
    """

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        return (1.5 * rng.normal(size=rng.integers(3, 6))).round(1) + 0.0  # no −0.0

    def suitable(scores: NDArray[np.float64]) -> bool:
        weights = softmax(scores)
        distinct = len(set(scores.tolist())) == len(scores)
        far_from_uniform = np.abs(weights - 1 / len(scores)).min() > 0.04
        return bool(
            distinct
            and far_from_uniform
            and 0.1 < weights[-1] < 0.7
            and none_accepted(misreadings.of_empty_row(scores))
        )

    return first_suitable(learner_id, "empty-row", draw, suitable)


def mask_to_read(learner_id: str) -> Mask:
    """Return a mask of one of four kinds, no two of which look alike.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Returns
    -------
    ndarray of bool, shape (n_q, n_k)

    Examples
    --------
    >>> mask_to_read("ada").dtype
    dtype('bool')
    """
    return reading(learner_id).mask


def reading(learner_id: str) -> Reading:
    """Return `mask_to_read` with the answers that the learner should read off it.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> reading("ada").kind in "ABCD"
    True
    """

    def draw(rng: np.random.Generator) -> Reading:
        kind = "ABCD"[rng.integers(4)]
        n = int(rng.integers(6, 9))
        number = int(rng.integers(3, n - 1))
        masks = {
            "A": causal_mask(n - number, n, alignment="bottom-right"),
            "B": sliding_window_mask(n, n, left=number - 1, right=0),
            "C": np.broadcast_to(padding_mask(number, n), (n, n)),
            "D": combine_masks(causal_mask(n, n), padding_mask(number, n)),
        }
        return Reading(masks[kind].copy(), kind, number)

    def suitable(given: Reading) -> bool:
        return none_accepted(misreadings.of_reading(given)) and mistakes_show(
            {"visible_keys": (given.mask,)}, SHOWN_BY_A_MASK
        )

    return first_suitable(learner_id, "read-a-mask", draw, suitable)


def mask_from_outside(learner_id: str) -> MaskFromOutside:
    """Return the wrong mask that `unknown_attention` applies.

    No reading of `misreadings.of_mask_from_outside` finds as many pairs wrong. So pairs can be told
    from queries, and the mask from the transposed one.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> mask_from_outside("ada").kind in "ABCDE"
    True
    """

    def draw(rng: np.random.Generator) -> MaskFromOutside:
        kind, n = "ABCDE"[rng.integers(5)], int(rng.integers(7, 12))
        behind = np.arange(n)[:, None] - np.arange(n)
        some = rng.integers(2, n - 2)
        masks = {
            "A": behind >= -rng.integers(2, 4),
            "B": behind >= rng.integers(2, 4),
            "C": (behind >= 0) & (behind < some),
            "D": np.broadcast_to(np.arange(n) < some, (n, n)),
            "E": behind < 0,
        }
        return MaskFromOutside(masks[kind].copy(), kind)

    def suitable(given: MaskFromOutside) -> bool:
        return none_accepted(misreadings.of_mask_from_outside(given))

    return first_suitable(learner_id, "mask-from-outside", draw, suitable)


def unknown_attention(learner_id: str) -> tuple[Attention, int]:
    """Return an attention function that hides its mask, and the number of positions it takes.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Returns
    -------
    attend : callable
        Takes q, k and v, each with n rows.
    n : int

    Examples
    --------
    >>> attend, n = unknown_attention("ada")
    >>> attend(np.ones((n, 2)), np.ones((n, 2)), np.ones((n, 3))).shape == (n, 3)
    True
    """
    mask, _ = mask_from_outside(learner_id)
    return (lambda q, k, v: masked_attention(q, k, v, mask)), len(mask)
