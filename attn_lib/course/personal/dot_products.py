"""Personal numbers for the assignment `dot-products`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.course.personal.core import first_suitable, mistakes_show, personal_rng
from attn_lib.course.personal.misreadings import dot_products as misreadings
from attn_lib.course.personal.misreadings import none_accepted

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

    def draw(rng: np.random.Generator) -> TwoKeys:
        return TwoKeys(
            q=rng.integers(1, 5, size=2),
            k=rng.integers(-3, 4, size=(2, 2)),
            v=rng.integers(0, 10, size=(2, 2)),
        )

    def suitable(numbers: TwoKeys) -> bool:
        return (
            bool((numbers.v[0] != numbers.v[1]).all())
            and _have_causes_of_their_own(numbers)
            and _one_key_leads(numbers)
            and none_accepted(misreadings.of_two_keys(numbers))
            and mistakes_show(_asked_of(numbers), SHOWN_BY_TWO_KEYS)
        )

    return first_suitable(learner_id, "two-keys", draw, suitable)


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

    def draw(rng: np.random.Generator) -> NDArray[np.floating]:
        q, k = rng.normal(size=(3, 4)), 2 * rng.normal(size=(4, 4))
        return scaled_dot_product_attention(q, k, np.eye(4))

    def suitable(weights: NDArray[np.floating]) -> bool:
        ordered = np.sort(weights, axis=1)
        clear = (ordered[:, -1] - ordered[:, -2]).min() > 0.1
        varied = len(set(weights.argmax(axis=1).tolist())) == 3
        return bool(
            clear
            and varied
            and abs(weights[2, 0] - weights[0, 2]) > 0.1
            and none_accepted(misreadings.of_weights(weights))
        )

    return first_suitable(learner_id, "weights-to-read", draw, suitable)


def _have_causes_of_their_own(numbers: TwoKeys) -> bool:
    """Say whether likely misreadings of the keys lead neither to equal nor to one-hot weights.

    Another cause would be named for such weights.
    """
    q, k, _ = numbers
    (q0, q1), (lead0, lead1) = q.tolist(), (k[0] - k[1]).tolist()
    columns, signless = q @ k, np.abs(k) @ q
    leads = (
        q0 * lead0,
        q1 * lead1,
        q0 * lead1 + q1 * lead0,
        int(columns[0] - columns[1]),
        int(signless[0] - signless[1]),
    )
    return bool((k @ q).min() >= MIN_SCORE) and all(0 < abs(lead) <= MAX_LEAD for lead in leads)


def _asked_of(numbers: TwoKeys) -> dict[str, tuple[NDArray[np.float64], ...]]:
    q, k, v = numbers.q[None].astype(float), numbers.k.astype(float), numbers.v.astype(float)
    return {"score_matrix": (q, k), "scaled_scores": (q, k), "attention": (q, k, v)}


def _one_key_leads(numbers: TwoKeys) -> bool:
    """Say whether one key has clearly more weight, and the other enough to be seen."""
    weights = scaled_dot_product_attention(numbers.q[None], numbers.k, np.eye(2))[0]
    return bool(abs(weights[0] - weights[1]) > 0.2 and weights.min() > 0.02)
