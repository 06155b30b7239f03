"""Personal numbers for the assignment `softmax-saturation`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.core import first_suitable, mistakes_show
from attn_lib.course.personal.misreadings import none_accepted
from attn_lib.course.personal.misreadings import softmax_saturation as misreadings
from attn_lib.softmax import softmax, softmax_jacobian

#: The mistakes that must change the answer for a gap between two scores.
SHOWN_BY_A_GAP = {
    "two_key_weight": (
        "odds-for-weight",
        "weight-of-the-other-key",
        "gap-shared-without-exponential",
    ),
}

_IN_A_JACOBIAN_AND_ITS_NORM = (
    "jacobian-diagonal-only",
    "jacobian-without-diagonal",
    "jacobian-of-a-sigmoid",
    "jacobian-without-the-factor",
)

#: The mistakes that must change the Jacobians of rows of weights, by target.
SHOWN_BY_WEIGHTS = {
    "softmax_jacobian": (*_IN_A_JACOBIAN_AND_ITS_NORM, "jacobian-with-the-wrong-sign"),
    "softmax_jacobian_norm": (
        *_IN_A_JACOBIAN_AND_ITS_NORM,
        "jacobian-norm-squared",
        "largest-singular-value",
        "jacobian-norm-of-equal-weights",
    ),
}

#: The mistakes that must change the answer for random scores, with the scale and without.
SHOWN_BY_RANDOM_SCORES = {
    "mean_largest_weight": (
        "largest-weight-of-all",
        "largest-average-weight",
        "largest-weight-of-a-column",
        "softmax-over-queries",
        "softmax-over-everything",
        "exponentials-not-normalised",
        "normalised-without-exponential",
    ),
}

#: Keys of `weights_and_jacobians`, and queries of `random_scores`.
N_KEYS, N_ROWS = 5, 50


class TwoScores(NamedTuple):
    """Two scores too large to exponentiate, a temperature, and a weight to reach."""

    low: float  #: score of the worse key
    high: float  #: score of the better key
    temperature: int  #: by which both are divided
    goal: float  #: a weight of the better key

    @property
    def gap(self) -> float:
        """Difference between the scores of the better and the worse key; one decimal."""
        return round(self.high - self.low, 1)


class WeightsAndJacobians(NamedTuple):
    """Four rows of weights, from equal to one-hot, and their Jacobians in another order."""

    weights: NDArray[np.floating]  #: shape (4, 5); thousandths that sum to 1
    jacobians: NDArray[np.floating]  #: shape (4, 5, 5)
    row: int  #: a row of the weights in which weights differ
    key: int  #: a key with some weight in it

    @property
    def row_of_jacobian(self) -> list[int]:
        """The number of the row of weights that each Jacobian belongs to."""
        right = softmax_jacobian(self.weights)
        apart = np.abs(self.jacobians[:, None] - right).max(axis=(-1, -2))
        return apart.argmin(axis=-1).tolist()


class RandomScores(NamedTuple):
    """Raw scores of random queries and keys."""

    d_k: int  #: numbers in a query and in a key
    scores: NDArray[np.float64]  #: shape (50, n_k); two decimals


def two_scores(learner_id: str) -> TwoScores:
    """Return two scores so large that only their difference can be exponentiated.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> 1 < two_scores("ada").gap < 5
    True
    """

    def draw(rng: np.random.Generator) -> TwoScores:
        low, gap = int(rng.integers(720, 980)), int(rng.integers(12, 46)) / 10
        temperature = int(rng.choice([2, 3, 4, 5, 8]))
        goal = float(rng.choice([0.6, 0.7, 0.75, 0.8, 0.85, 0.95, 0.99]))
        return TwoScores(float(low), round(low + gap, 1), temperature, goal)

    def suitable(numbers: TwoScores) -> bool:
        gaps = numbers.gap, numbers.gap / numbers.temperature
        return none_accepted(misreadings.of_two_scores(numbers)) and all(
            mistakes_show({"two_key_weight": (gap,)}, SHOWN_BY_A_GAP, margin=0.02) for gap in gaps
        )

    return first_suitable(learner_id, "two-scores", draw, suitable)


def weights_and_jacobians(learner_id: str) -> WeightsAndJacobians:
    """Return four rows of weights, and their Jacobians, which look different in a picture.

    The rows are, in a personal order: equal weights, two keys with nearly all the weight, one
    key that leads, and one key with nearly all the weight.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> weights, jacobians, row, key = weights_and_jacobians("ada")
    >>> weights.shape, jacobians.shape
    ((4, 5), (4, 5, 5))
    """

    def draw(rng: np.random.Generator) -> WeightsAndJacobians:
        first = int(rng.integers(420, 500))
        leading = int(rng.integers(640, 781))
        rows = [
            np.full(N_KEYS, 200),
            _thousandths(rng, first, 920 - first + int(rng.integers(0, 30))),
            _thousandths(rng, leading),
            np.array([996, 1, 1, 1, 1]),
        ]
        order = rng.permutation(4)
        weights = np.stack([rng.permutation(rows[i]) for i in order]) / 1000
        jacobians = softmax_jacobian(weights[rng.permutation(4)])
        row = int(np.flatnonzero(order == 2)[0])
        return WeightsAndJacobians(weights, jacobians, row, int(rng.integers(N_KEYS)))

    def suitable(numbers: WeightsAndJacobians) -> bool:
        weights, _, row, key = numbers
        asked = {"softmax_jacobian": (weights[row],), "softmax_jacobian_norm": (weights,)}
        lower = np.sort(weights[row])[:-1]
        return (
            0.05 < weights[row, key] < 0.25
            and len(set(lower.tolist())) == N_KEYS - 1
            and lower.min() > 0.01
            and none_accepted(misreadings.of_weights_and_jacobians(numbers))
            and mistakes_show(asked, SHOWN_BY_WEIGHTS)
        )

    return first_suitable(learner_id, "weights-and-jacobians", draw, suitable)


def random_scores(learner_id: str) -> RandomScores:
    """Return raw scores of 50 random queries, each with different random keys.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> random_scores("ada").scores.shape[0]
    50
    """

    def draw(rng: np.random.Generator) -> RandomScores:
        d_k, n_k = int(rng.choice([36, 49, 64, 81, 100])), int(rng.integers(7, 16))
        q, k = rng.normal(size=(N_ROWS, 1, d_k)), rng.normal(size=(N_ROWS, n_k, d_k))
        return RandomScores(d_k, (q @ k.swapaxes(-1, -2))[:, 0].round(2))

    def suitable(numbers: RandomScores) -> bool:
        d_k, scores = numbers
        largest = softmax(scores).max(axis=-1)
        return (
            np.abs(largest - 0.99).min() > 0.0005
            and 5 <= (largest > 0.99).sum() <= N_ROWS - 5
            and none_accepted(misreadings.of_random_scores(numbers))
            and all(
                mistakes_show({"mean_largest_weight": (some,)}, SHOWN_BY_RANDOM_SCORES, margin=0.03)
                for some in (scores, scores / np.sqrt(d_k))
            )
        )

    return first_suitable(learner_id, "random-scores", draw, suitable)


def _thousandths(rng: np.random.Generator, *given: int) -> NDArray[np.int64]:
    """Divide 1000 among the keys: the first get `given`, the others the rest, at random."""
    left = 1000 - sum(given)
    others = rng.multinomial(left, rng.dirichlet(np.ones(N_KEYS - len(given))))
    return np.concatenate([given, others])
