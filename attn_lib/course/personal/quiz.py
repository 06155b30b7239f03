"""Personal numbers for the assignment `quiz`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.core import (
    HAND_MARGIN,
    first_suitable,
    mistakes_show,
    personal_rng,
    wrong_functions,
)
from attn_lib.course.personal.misreadings import none_accepted
from attn_lib.course.personal.misreadings import quiz as misreadings
from attn_lib.course.targets import TARGETS
from attn_lib.masks import causal_mask
from attn_lib.softmax import softmax

#: The mistakes that must change the variance of wide scores, for either wrong divisor.
SHOWN_BY_A_DIVISOR = {
    "scaled_variance": ("variance-divided-once", "variance-left-alone", "variance-always-one"),
}

#: The mistakes that must change the weights of wide scores.
SHOWN_BY_WIDE_SCORES = {
    "attention": (
        "no-scale",
        "divide-by-d_k",
        "multiply-by-root-d_k",
        "scale-by-number-of-keys",
        "scale-after-softmax",
        "attention-over-queries",
        "no-softmax",
        "hard-attention",
        "softmax-of-values",
        "equal-weights",
        "cosine-scores",
        "scores-already-scaled",
        "softmax-over-queries",
        "exponentials-not-normalised",
        "normalised-without-exponential",
    ),
}

#: The mistakes that must change the answer for a width and variances.
SHOWN_BY_A_SPREAD = {
    "score_variance": (
        "sd-for-variance",
        "variance-grows-squared",
        "variance-does-not-grow",
        "variance-of-the-average",
        "variances-added",
        "variances-squared",
        "sds-multiplied",
        "mean-for-variance",
    ),
}

_IN_FLOPS = (
    "flops-without-the-two",
    "flops-linear-in-length",
    "flops-without-the-width",
    "flops-width-squared",
)

#: The miscounts that must change the answer for the sizes of self-attention, by target.
SHOWN_BY_A_COST = {
    "score_flops": _IN_FLOPS,
    "attention_flops": (
        *_IN_FLOPS,
        "flops-of-one-head",
        "mix-counted-with-d_k",
        "scores-counted-with-d_v",
        "mix-not-counted",
        "scores-not-counted",
    ),
}

#: The mistakes in `masked_softmax` that must change a row of causal weights.
SHOWN_BY_A_CAUSAL_ROW = (
    "scores-times-mask",
    "mask-after-softmax",
    "minus-infinity-after-softmax",
    "zero-for-minus-infinity",
    "mask-inverted",
    "mask-transposed",
    "mask-not-used",
    "nearly-zero-for-minus-infinity",
    "zeros-and-ones-added",
    "additive-mask-inverted",
    "minus-infinity-times-zero",
    "softmax-over-queries",
    "softmax-over-everything",
    "exponentials-not-normalised",
    "normalised-without-exponential",
)

#: What the four papers did, two sentences for each.
CLAIMS = (
    "It scores a query and a key with a small network that has a tanh in it.",
    "It let a translation model look back at all source words; the preprint is of 2014.",
    'It compared several multiplicative scores, two of them called "dot" and "general".',
    "It used the plain dot product as a score, and did not scale it.",
    "It divides the dot product by √d_k.",
    "It built a whole network from attention, and called it the transformer.",
    "It trained an encoder on plain text, in which every position sees the whole text.",
    "It took scaled dot-product attention over unchanged, in a preprint of 2018.",
)


class WideScores(NamedTuple):
    """A row of raw scores, whose spread is typical of the width."""

    d_k: int  #: a square number
    divisor: int  #: something else to divide by
    scores: NDArray[np.int64]  #: shape (5,)


class Spread(NamedTuple):
    """The numbers that determine the variance of a score."""

    d_k: int  #: numbers in a query and in a key
    var_q: float  #: variance of an entry of a query
    var_k: float  #: variance of an entry of a key


class BatchSizes(NamedTuple):
    """The sizes of self-attention and of cross-attention, no two of them equal."""

    b: int  #: sequences in the batch
    n: int  #: positions
    d_k: int  #: numbers in a query and in a key
    d_v: int  #: numbers in a value
    m: int  #: positions of the other sequence, in cross-attention


class FoundMatrix(NamedTuple):
    """Weights of five positions, with the queries as rows or as columns."""

    table: NDArray[np.floating]  #: shape (5, 5)
    query: int  #: the query whose share is asked for
    key: int  #: the key it goes to
    looked_at: int  #: the key that all queries look at


class Cost(NamedTuple):
    """The sizes of self-attention, and how they grow."""

    n: int  #: positions
    d_k: int  #: numbers in a query and in a key
    d_v: int  #: numbers in a value
    heads: int  #: heads
    longer: int  #: how many times as many positions
    wider: int  #: how many times as wide queries, keys and values


class CausalScores(NamedTuple):
    """Scaled scores of a short text."""

    scores: NDArray[np.float64]  #: shape (5, 5), one decimal
    row: int  #: the query that is asked for
    n: int  #: positions of a longer text
    changed: int  #: the position in it whose word is exchanged


def wide_scores(learner_id: str) -> WideScores:
    """Return raw scores spread far too widely for a softmax, and what to divide them by.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> wide_scores("ada").scores.shape
    (5,)
    """

    def draw(rng: np.random.Generator) -> WideScores:
        root = int(rng.integers(5, 12))
        scores = (root * rng.normal(size=5)).round().astype(int)
        return WideScores(root**2, int(rng.choice([3, 5, 6, 7, 8, 9])), scores)

    def suitable(numbers: WideScores) -> bool:
        d_k, divisor, scores = numbers
        root = np.sqrt(d_k)
        row = scores[None].astype(float)
        shares, raw_shares = softmax(row / root), softmax(row)
        return bool(
            divisor != root
            and len(set(scores.tolist())) == 5
            and 0.3 < shares.max() < 0.6
            and 0.9 < raw_shares.max() < 0.995
            and all(
                mistakes_show({"scaled_variance": (d_k, by)}, SHOWN_BY_A_DIVISOR)
                for by in (d_k, divisor)
            )
            and none_accepted(misreadings.of_wide_scores(numbers))
            and mistakes_show({"attention": as_attention(numbers)}, SHOWN_BY_WIDE_SCORES)
        )

    return first_suitable(learner_id, "quiz-wide-scores", draw, suitable)


def as_attention(numbers: WideScores) -> tuple[NDArray[np.float64], ...]:
    """Return a query, keys and values whose attention is the row of scaled weights.

    Parameters
    ----------
    numbers : WideScores

    Examples
    --------
    >>> query, keys, values = as_attention(wide_scores("ada"))
    >>> bool(np.all(keys @ query[0] == wide_scores("ada").scores))
    True
    """
    one = np.eye(1, numbers.d_k)
    return one, numbers.scores[:, None] * one, np.eye(len(numbers.scores))


def spread(learner_id: str) -> Spread:
    """Return a width and the variances of the entries, for the variance of a score.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> spread("ada").d_k > 10
    True
    """

    def draw(rng: np.random.Generator) -> Spread:
        var_q, var_k = rng.choice([0.2, 0.5, 1.5, 2.0, 3.0, 4.0, 5.0], size=2, replace=False)
        return Spread(int(rng.integers(11, 100)), float(var_q), float(var_k))

    def suitable(numbers: Spread) -> bool:
        return none_accepted(misreadings.of_spread(numbers)) and mistakes_show(
            {"score_variance": numbers}, SHOWN_BY_A_SPREAD
        )

    return first_suitable(learner_id, "quiz-spread", draw, suitable)


def batch_sizes(learner_id: str) -> BatchSizes:
    """Return five sizes, all different, so that no two axes can be mistaken for each other.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> len(set(batch_sizes("ada")))
    5
    """
    rng = personal_rng(learner_id, "quiz-batch-sizes")
    return BatchSizes(*rng.choice(np.arange(3, 31), size=5, replace=False).tolist())


def found_matrix(learner_id: str) -> FoundMatrix:
    """Return the weights of five positions, the queries as rows or as columns.

    The sums show which of the two it is: along the other axis no sum is near 1.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> found_matrix("ada").table.shape
    (5, 5)
    """

    def draw(rng: np.random.Generator) -> FoundMatrix:
        weights = softmax(1.5 * rng.normal(size=(5, 5)))
        query, key, looked_at = rng.permutation(5)[:3].tolist()
        table = weights if rng.random() < 0.5 else weights.T.copy()
        return FoundMatrix(table, query, key, looked_at)

    def suitable(found: FoundMatrix) -> bool:
        table, query, key, _ = found
        clear = any(np.abs(table.sum(axis=axis) - 1).min() > 0.12 for axis in (0, 1))
        turned = abs(table[query, key] - table[key, query])
        return bool(clear and turned > 0.1) and none_accepted(misreadings.of_found_matrix(found))

    return first_suitable(learner_id, "quiz-found-matrix", draw, suitable)


def cost(learner_id: str) -> Cost:
    """Return the sizes of self-attention and how many times as large they become.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> cost("ada").longer != cost("ada").wider
    True
    """

    def draw(rng: np.random.Generator) -> Cost:
        n, (d_k, d_v) = 10 * rng.integers(11, 60), 8 * rng.choice(range(2, 13), 2, replace=False)
        longer, wider = rng.choice(range(3, 10), 2, replace=False)
        heads = rng.integers(2, 17)
        return Cost(*map(int, (n, d_k, d_v, heads, longer, wider)))

    def suitable(numbers: Cost) -> bool:
        n, d_k, d_v, heads, longer, wider = numbers
        asked: dict[str, Sequence[Any]] = {
            "score_flops": (n, n, d_k),
            "attention_flops": (n, n, d_k, d_v, heads),
        }
        return (
            longer**2 != wider
            and wider**2 != longer
            and none_accepted(misreadings.of_cost(numbers))
            and mistakes_show(asked, SHOWN_BY_A_COST)
        )

    return first_suitable(learner_id, "quiz-cost", draw, suitable)


def causal_scores(learner_id: str) -> CausalScores:
    """Return the scaled scores of five positions, one of which has a past and a future.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> causal_scores("ada").scores.shape
    (5, 5)
    """

    def draw(rng: np.random.Generator) -> CausalScores:
        scores = (1.2 * rng.normal(size=(5, 5))).round(1) + 0.0  # no −0.0
        n = int(rng.integers(12, 31))
        return CausalScores(scores, int(rng.integers(1, 4)), n, int(rng.integers(3, n - 3)))

    def suitable(numbers: CausalScores) -> bool:
        scores, row, *_ = numbers
        visible = causal_mask(5, 5)
        leak = softmax(np.where(visible, scores, 0.0))[row, row + 1 :].sum()
        return bool(
            0.1 < leak < 0.9
            and none_accepted(misreadings.of_causal_scores(numbers))
            and _shows_in_row(row, (scores, visible))
        )

    return first_suitable(learner_id, "quiz-causal-scores", draw, suitable)


def claims(learner_id: str) -> list[str]:
    """Return six sentences about four papers, at least one for each, in a personal order.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> len(claims("ada"))
    6
    """

    def draw(rng: np.random.Generator) -> list[int]:
        return rng.permutation(len(CLAIMS))[:6].tolist()

    def suitable(numbers: list[int]) -> bool:
        papers = [number // 2 for number in numbers]
        return len(set(papers)) == 4 and len(set(papers[:3])) == len(set(papers[3:])) == 3

    return [CLAIMS[number] for number in first_suitable(learner_id, "quiz-claims", draw, suitable)]


def _shows_in_row(row: int, args: Sequence[Any]) -> bool:
    """Say whether each mistake changes this row of the weights; NaN counts as a change."""
    right = TARGETS["masked_softmax"](*args)[row]
    for wrong in wrong_functions("masked_softmax", SHOWN_BY_A_CAUSAL_ROW):
        with np.errstate(all="ignore"):
            answer = wrong(*args)[row]
        if not np.any(~(np.abs(answer - right) <= HAND_MARGIN)):
            return False
    return True
