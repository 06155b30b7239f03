"""Personal numbers for the assignment `dot-products`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.course.personal.core import first_suitable_of_many, mistakes_show, personal_rng
from attn_lib.course.personal.misreadings import any_accepted, none_accepted
from attn_lib.course.personal.misreadings import dot_products as misreadings

_IN_RAW_SCORES = ("keys-times-queries", "cosine-scores", "scores-already-scaled")
_IN_SCALED_SCORES = (*_IN_RAW_SCORES, "no-scale", "divide-by-d_k", "multiply-by-root-d_k")

#: The mistakes that must change the answer for one query and two keys, by target.
SHOWN_BY_TWO_KEYS = {
    "score_matrix": _IN_RAW_SCORES,
    "scaled_scores": _IN_SCALED_SCORES,
    "attention": (
        *_IN_SCALED_SCORES,
        "scale-after-softmax",
        "attention-over-queries",
        "no-softmax",
        "hard-attention",
        "softmax-of-values",
        "weights-rounded-midway",
        "equal-weights",
        "softmax-over-queries",
        "exponentials-not-normalised",
        "normalised-without-exponential",
    ),
}


#: Largest difference between two raw scores whose weights are not those of the better key alone,
#: to three decimals.
MAX_LEAD = 8


#: Least raw score whose exponential, after scaling, has two digits among three decimals.
MIN_SCORE = -6


#: The least and the greatest value of each number that `two_keys` draws: two of the query, four of
#: the keys, four of the values.
_LEAST = np.repeat([1, -3, 0], [2, 4, 4])
_GREATEST = np.repeat([4, 3, 9], [2, 4, 4])


class TwoKeys(NamedTuple):
    """One query, two keys and their values, in whole numbers."""

    q: NDArray[np.int64]  #: shape (2,)
    k: NDArray[np.int64]  #: shape (2, 2), one key a row
    v: NDArray[np.int64]  #: shape (2, 2), one value a row


class Sizes(NamedTuple):
    """The six sizes of an attention call, no two of them equal."""

    B: int  #: sequences in the batch
    H: int  #: heads
    n_q: int  #: queries
    n_k: int  #: keys, each with a value
    d_k: int  #: numbers in a query and in a key
    d_v: int  #: numbers in a value


def two_keys(learner_id: str) -> TwoKeys:
    """Return a query, two keys and two values to compute attention with by hand.

    One key has clearly the larger weight, and the other has some. Each mistake of
    `SHOWN_BY_TWO_KEYS` changes the answer by more than `HAND_MARGIN`, and no reading of
    `misreadings.of_two_keys` gives an accepted one.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Examples
    --------
    >>> q, k, v = two_keys("ada")
    >>> q.shape, k.shape, v.shape
    ((2,), (2, 2), (2, 2))
    """
    found = first_suitable_of_many(
        learner_id, "two-keys", _draw_keys, _are_possible_keys, _are_suitable_keys
    )
    return TwoKeys(*found)


def sizes(learner_id: str) -> Sizes:
    """Return six sizes, all different, so that no two axes can be mistaken for each other.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Examples
    --------
    >>> len(set(sizes("ada")))
    6
    """
    rng = personal_rng(learner_id, "sizes")
    return Sizes(*rng.choice(np.arange(2, 21), size=6, replace=False).tolist())


def weights_to_read(learner_id: str) -> NDArray[np.floating]:
    """Return the weights of three queries over four keys.

    Each query clearly prefers one key, and they prefer different keys. No reading of
    `misreadings.of_weights` gives an accepted answer.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Returns
    -------
    ndarray, shape (3, 4)
        Every row sums to 1.

    Examples
    --------
    >>> bool(np.allclose(weights_to_read("ada").sum(axis=1), 1))
    True
    """
    (found,) = first_suitable_of_many(
        learner_id, "weights-to-read", _draw_weights, _are_clear, _are_read_in_one_way
    )
    return found


def _draw_keys(rng: np.random.Generator, number: int) -> TwoKeys:
    drawn = rng.integers(_LEAST, _GREATEST, size=(number, len(_LEAST)), endpoint=True)
    q, k, v = drawn[:, :2], drawn[:, 2:6], drawn[:, 6:]
    return TwoKeys(q, k.reshape(-1, 2, 2), v.reshape(-1, 2, 2))


def _are_possible_keys(
    q: NDArray[np.int64], k: NDArray[np.int64], v: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Say which of several draws meet the conditions that cost little; see `two_keys`."""
    return (
        (v[:, 0] != v[:, 1]).all(axis=-1)
        & _have_causes_of_their_own(q, k)
        & _one_key_leads(q, k)
        & ~any_accepted(misreadings.of_raw_scores(q, k, v))
    )


def _are_suitable_keys(q: NDArray[np.int64], k: NDArray[np.int64], v: NDArray[np.int64]) -> bool:
    """Say whether one draw meets the other conditions of `two_keys`."""
    numbers = TwoKeys(q, k, v)
    return none_accepted(misreadings.of_two_keys(numbers)) and mistakes_show(
        _asked_of(numbers), SHOWN_BY_TWO_KEYS
    )


def _have_causes_of_their_own(q: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say of each draw whether likely misreadings lead neither to equal nor to one-hot weights.

    Another cause would be named for such weights.
    """
    query, lead = q[:, None], k[:, 0] - k[:, 1]
    by_column, without_signs = (k * q[..., None]).sum(1), (np.abs(k) * query).sum(-1)
    leads = np.abs(
        [
            q[:, 0] * lead[:, 0],
            q[:, 1] * lead[:, 1],
            (q * lead[:, ::-1]).sum(-1),
            by_column[:, 0] - by_column[:, 1],
            without_signs[:, 0] - without_signs[:, 1],
        ]
    )
    least_score = (k * query).sum(-1).min(-1)
    return (least_score >= MIN_SCORE) & ((leads > 0) & (leads <= MAX_LEAD)).all(axis=0)


def _one_key_leads(q: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say of each draw whether one key has clearly more weight, and the other enough to be seen."""
    weights = scaled_dot_product_attention(q[:, None], k, np.eye(2))[:, 0]
    return (np.abs(weights[:, 0] - weights[:, 1]) > 0.2) & (weights.min(axis=-1) > 0.02)


def _asked_of(numbers: TwoKeys) -> dict[str, tuple[NDArray[np.float64], ...]]:
    q, k, v = numbers.q[None].astype(float), numbers.k.astype(float), numbers.v.astype(float)
    return {"score_matrix": (q, k), "scaled_scores": (q, k), "attention": (q, k, v)}


def _draw_weights(rng: np.random.Generator, number: int) -> tuple[NDArray[np.floating]]:
    drawn = rng.normal(size=(number, 7, 4))
    return (scaled_dot_product_attention(drawn[:, :3], 2 * drawn[:, 3:], np.eye(4)),)


def _are_clear(weights: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say of each draw whether the queries clearly prefer three different keys."""
    ordered = np.sort(weights, axis=-1)
    clear = (ordered[..., -1] - ordered[..., -2]).min(axis=-1) > 0.1
    first, second, third = np.moveaxis(weights.argmax(axis=-1), -1, 0)
    varied = (first != second) & (second != third) & (third != first)
    return clear & varied & (np.abs(weights[:, 2, 0] - weights[:, 0, 2]) > 0.1)


def _are_read_in_one_way(weights: NDArray[np.floating]) -> bool:
    return none_accepted(misreadings.of_weights(weights))
