"""The catalogue of wrong ways to compute attention.

Each entry is a wrong implementation that runs and looks plausible. The book shows what it
does, `attn_lib.checks` compares a learner's wrong answer with it to name the likely cause,
and the tests prove that no exercise gives it its points.

An entry imitates a *target*: one of the right functions in
`attn_lib.targets`, which takes the same
arguments. A mistake in one step also shows in what is computed from that step:
`appearances` gives every form that a mistake takes at a target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from attn_lib.softmax import softmax
from attn_lib.targets import (
    TARGETS,
    Array,
    output_shape,
    scaled_scores,
    score_matrix,
    weights_shape,
)


@dataclass(frozen=True)
class Mistake:
    """One wrong implementation and how to recognise it."""

    id: str
    target: str  #: the key in `TARGETS` of the function it imitates
    wrong: Callable[..., Array]
    sentence: str  #: what it gets wrong
    section: str  #: the place in the book that explains it, as page#heading
    scaled: Callable[..., Array] | None = None  #: how it shows in the scaled scores, if it does


_CATALOGUE: dict[str, Mistake] = {}


def catalogue(target: str | None = None) -> list[Mistake]:
    """Return every catalogued mistake, or those that imitate `target`.

    Parameters
    ----------
    target : str, optional
        A key of `TARGETS`.

    Raises
    ------
    ValueError
        If there is no such target.

    Examples
    --------
    >>> [mistake.id for mistake in catalogue("score_matrix")]
    ['keys-times-queries', 'cosine-scores', 'scores-already-scaled']
    """
    if target is not None and target not in TARGETS:
        raise ValueError(
            f"catalogue: expected one of {', '.join(TARGETS)} as target, got {target!r}."
        )
    return [m for m in _CATALOGUE.values() if target in (None, m.target)]


def appearances(target: str) -> Iterator[tuple[Mistake, Callable[..., Array]]]:
    """Yield each mistake that can show at `target`, with the wrong function it makes there.

    Parameters
    ----------
    target : str
        A key of `TARGETS`. Beside the mistakes that imitate it, those of an earlier step
        come through: in the scaled scores and in the output of attention.

    Examples
    --------
    >>> "softmax-over-everything" in [mistake.id for mistake, _ in appearances("attention")]
    True
    """
    for mistake in catalogue(target):
        yield mistake, mistake.wrong
    if target == "scaled_scores":
        for mistake in catalogue():
            if mistake.scaled:
                yield mistake, mistake.scaled
    if target in ("scaled_scores", "attention"):
        for mistake in catalogue("score_matrix"):
            yield mistake, _after_wrong_scores(mistake.wrong, target)
    if target == "attention":
        for mistake in catalogue("softmax"):
            yield mistake, _with_wrong_softmax(mistake.wrong)


def _after_wrong_scores(wrong: Callable[..., Array], target: str) -> Callable[..., Array]:
    def scaled(q, k):
        return wrong(q, k) / np.sqrt(np.shape(q)[-1])

    def attention(q, k, v):
        return softmax(scaled(q, k)) @ v

    return scaled if target == "scaled_scores" else attention


def _with_wrong_softmax(wrong: Callable[..., Array]) -> Callable[..., Array]:
    return lambda q, k, v: wrong(scaled_scores(q, k)) @ v


def _mistake(
    id: str,
    target: str,
    sentence: str,
    section: str,
    scaled: Callable[..., Array] | None = None,
):
    def register(wrong: Callable[..., Array]) -> Callable[..., Array]:
        _CATALOGUE[id] = Mistake(id, target, wrong, sentence, section, scaled)
        return wrong

    return register


@_mistake(
    "keys-times-queries",
    "score_matrix",
    "It multiplies keys by queries, so rows stand for keys and columns for queries.",
    "dot-products#the-score-matrix",
)
def _keys_times_queries(q, k):
    return k @ np.swapaxes(q, -1, -2)


@_mistake(
    "cosine-scores",
    "score_matrix",
    "It divides by the lengths of the vectors, which gives the cosine; "
    "a dot product also counts the lengths.",
    "dot-products#similarity-as-a-dot-product",
)
def _cosine_scores(q, k):
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return score_matrix(q, k)


@_mistake(
    "scores-already-scaled",
    "score_matrix",
    "It already divides by √d_k; the raw scores are the plain dot products.",
    "dot-products#a-scorecard-by-hand",
)
def _scores_already_scaled(q, k):
    return score_matrix(q, k) / np.sqrt(np.shape(q)[-1])


@_mistake(
    "softmax-over-queries",
    "softmax",
    "It normalises down each column; each query's row has to sum to 1, so normalise over the keys "
    "(the last axis).",
    "dot-products#reading-a-row-of-weights",
)
def _softmax_over_queries(scores):
    return softmax(scores, axis=-2)


@_mistake(
    "softmax-over-everything",
    "softmax",
    "It normalises the whole array at once; each query's row has to sum to 1 by itself.",
    "dot-products#reading-a-row-of-weights",
)
def _softmax_over_everything(scores):
    return softmax(np.ravel(scores)).reshape(np.shape(scores))


@_mistake(
    "exponentials-not-normalised",
    "softmax",
    "It leaves out the division by the row's sum, so the weights do not sum to 1.",
    "dot-products#a-scorecard-by-hand",
)
def _exponentials_not_normalised(scores):
    return np.exp(scores)


@_mistake(
    "normalised-without-exponential",
    "softmax",
    "It divides the scores themselves by their sum; without the exponential a negative score "
    "becomes a negative weight.",
    "dot-products#a-scorecard-by-hand",
)
def _normalised_without_exponential(scores):
    return scores / np.sum(scores, axis=-1, keepdims=True)


@_mistake(
    "softmax-that-overflows",
    "softmax",
    "It exponentiates large scores directly, which overflows; subtract the row's largest score "
    "first.",
    "dot-products#large-scores",
)
def _softmax_that_overflows(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@_mistake(
    "softmax-shifted-by-overall-maximum",
    "softmax",
    "It subtracts the largest score of the whole array, so rows far below it become 0/0; "
    "subtract each row's own largest.",
    "dot-products#large-scores",
)
def _softmax_shifted_by_overall_maximum(scores):
    exponentials = np.exp(scores - np.max(scores))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@_mistake(
    "no-scale",
    "attention",
    "It leaves out the division by √d_k, so the weights are too sharp.",
    "dot-products#sharpness-not-ranking",
    scaled=score_matrix,
)
def _no_scale(q, k, v):
    return softmax(score_matrix(q, k)) @ v


@_mistake(
    "divide-by-d_k",
    "attention",
    "It divides the scores by d_k instead of √d_k, so the weights are too flat.",
    "dot-products#sharpness-not-ranking",
    scaled=lambda q, k: score_matrix(q, k) / q.shape[-1],
)
def _divide_by_d_k(q, k, v):
    return softmax(score_matrix(q, k) / q.shape[-1]) @ v


@_mistake(
    "multiply-by-root-d_k",
    "attention",
    "It multiplies the scores by √d_k where it has to divide.",
    "dot-products#sharpness-not-ranking",
    scaled=lambda q, k: score_matrix(q, k) * np.sqrt(q.shape[-1]),
)
def _multiply_by_root_d_k(q, k, v):
    return softmax(score_matrix(q, k) * np.sqrt(q.shape[-1])) @ v


@_mistake(
    "scale-by-number-of-keys",
    "attention",
    "It divides by √n_k, the square root of the number of keys; "
    "the scale comes from d_k, the width of a key.",
    "dot-products#a-scorecard-by-hand",
    scaled=lambda q, k: score_matrix(q, k) / np.sqrt(k.shape[-2]),
)
def _scale_by_number_of_keys(q, k, v):
    return softmax(score_matrix(q, k) / np.sqrt(k.shape[-2])) @ v


@_mistake(
    "scale-after-softmax",
    "attention",
    "It divides by √d_k after the softmax, so the weights no longer sum to 1.",
    "dot-products#a-scorecard-by-hand",
)
def _scale_after_softmax(q, k, v):
    return softmax(score_matrix(q, k)) / np.sqrt(q.shape[-1]) @ v


@_mistake(
    "attention-over-queries",
    "attention",
    "Its softmax normalises over the queries; each query's weights over the keys have to sum to 1.",
    "dot-products#reading-a-row-of-weights",
)
def _attention_over_queries(q, k, v):
    return softmax(scaled_scores(q, k), axis=-2) @ v


@_mistake(
    "no-softmax",
    "attention",
    "It mixes the values with the scaled scores themselves; the softmax between them is missing.",
    "dot-products#a-scorecard-by-hand",
)
def _no_softmax(q, k, v):
    return scaled_scores(q, k) @ v


@_mistake(
    "hard-attention",
    "attention",
    "It hands over the value of the best key alone; attention returns a mixture of all values.",
    "dot-products#it-is-a-mixture",
)
def _hard_attention(q, k, v):
    best = score_matrix(q, k).argmax(axis=-1)  # (..., n_q)
    n_k = k.shape[-2]
    return np.eye(n_k)[best] @ v


@_mistake(
    "softmax-of-values",
    "attention",
    "It applies the softmax to the values; softmax belongs on the scores.",
    "dot-products#sharpness-not-ranking",
)
def _softmax_of_values(q, k, v):
    return scaled_scores(q, k) @ softmax(v)


@_mistake(
    "weights-rounded-midway",
    "attention",
    "It rounds the weights to two decimals before mixing; round only what you print.",
    "dot-products#never-round-midway",
)
def _weights_rounded_midway(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights.round(2) @ v


@_mistake(
    "equal-weights",
    "attention",
    "It returns the plain mean of the values; the weights have to come from the scores.",
    "dot-products#it-is-a-mixture",
)
def _equal_weights(q, k, v):
    return softmax(np.zeros_like(score_matrix(q, k))) @ v


@_mistake(
    "row-for-column",
    "weight_at",
    "It takes the row for the column: row i belongs to query i, column j to key j.",
    "dot-products#reading-a-row-of-weights",
)
def _row_for_column(weights, query, key):
    return weights[key, query]


@_mistake(
    "weights-shape-transposed",
    "weights_shape",
    "It has a row for each key; the weights have a row for each query and a column for each key.",
    "dot-products#shapes-in-general",
)
def _weights_shape_transposed(q, k, v):
    return np.array([*q[:-2], k[-2], q[-2]])


@_mistake(
    "weights-shape-as-queries",
    "weights_shape",
    "It is the shape of q; the comparison sums over d_k, so that axis is gone from the weights.",
    "dot-products#shapes-in-general",
)
def _weights_shape_as_queries(q, k, v):
    return np.array(q)


@_mistake(
    "weights-shape-as-output",
    "weights_shape",
    "It is the shape of the output; the weights are still over the keys, before the values are "
    "mixed.",
    "dot-products#shapes-in-general",
)
def _weights_shape_as_output(q, k, v):
    return output_shape(q, k, v)


@_mistake(
    "output-shape-as-weights",
    "output_shape",
    "It is the shape of the weights; mixing the values sums over the keys, so that axis is gone "
    "from the output.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_weights(q, k, v):
    return weights_shape(q, k, v)


@_mistake(
    "output-shape-as-queries",
    "output_shape",
    "It is as wide as the queries, d_k; the output is a mixture of values, so it is as wide as a "
    "value, d_v.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_queries(q, k, v):
    return np.array(q)


@_mistake(
    "output-shape-as-values",
    "output_shape",
    "It has a row for each key; the output has a row for each query.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_values(q, k, v):
    return np.array(v)


@_mistake(
    "output-shape-without-positions",
    "output_shape",
    "It has no axis for the positions; each query gets an output of its own.",
    "dot-products#shapes-in-general",
)
def _output_shape_without_positions(q, k, v):
    return np.array([*q[:-2], k[-1], v[-1]])
