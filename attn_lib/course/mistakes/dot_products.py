"""Wrong ways of the chapter `dot-products`."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.course.targets import output_shape, scaled_scores, score_matrix, weights_shape
from attn_lib.softmax import softmax


@mistake(
    "keys-times-queries",
    "score_matrix",
    "It multiplies keys by queries, so rows stand for keys and columns for queries.",
    "dot-products#the-score-matrix",
)
def _keys_times_queries(q, k):
    return k @ np.swapaxes(q, -1, -2)


@mistake(
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


@mistake(
    "scores-already-scaled",
    "score_matrix",
    "It already divides by √d_k; the raw scores are the plain dot products.",
    "dot-products#a-scorecard-by-hand",
)
def _scores_already_scaled(q, k):
    return score_matrix(q, k) / np.sqrt(np.shape(q)[-1])


@mistake(
    "softmax-over-queries",
    "softmax",
    "It normalises down each column; each query's row has to sum to 1, so normalise over the keys "
    "(the last axis).",
    "dot-products#reading-a-row-of-weights",
    also=lambda scores: softmax(scores, axis=0),
)
def _softmax_over_queries(scores):
    return softmax(scores, axis=-2)


@mistake(
    "softmax-over-everything",
    "softmax",
    "It normalises the whole array at once; each query's row has to sum to 1 by itself.",
    "dot-products#reading-a-row-of-weights",
)
def _softmax_over_everything(scores):
    return softmax(np.ravel(scores)).reshape(np.shape(scores))


@mistake(
    "softmax-over-each-matrix",
    "softmax",
    "It normalises over the last two axes at once; each query's row has to sum to 1 by itself.",
    "dot-products#reading-a-row-of-weights",
)
def _softmax_over_each_matrix(scores):
    exponentials = np.exp(scores - np.max(scores, axis=(-2, -1), keepdims=True))
    return exponentials / exponentials.sum(axis=(-2, -1), keepdims=True)


@mistake(
    "exponentials-not-normalised",
    "softmax",
    "It leaves out the division by the row's sum, so the weights do not sum to 1.",
    "dot-products#a-scorecard-by-hand",
)
def _exponentials_not_normalised(scores):
    return np.exp(scores)


@mistake(
    "normalised-without-exponential",
    "softmax",
    "It divides the scores themselves by their sum; without the exponential a negative score "
    "becomes a negative weight.",
    "dot-products#a-scorecard-by-hand",
)
def _normalised_without_exponential(scores):
    return scores / np.sum(scores, axis=-1, keepdims=True)


@mistake(
    "softmax-that-overflows",
    "softmax",
    "It exponentiates large scores directly, which overflows; subtract the row's largest score "
    "first.",
    "dot-products#large-scores",
)
def _softmax_that_overflows(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@mistake(
    "softmax-shifted-by-overall-maximum",
    "softmax",
    "It subtracts the largest score of the whole array, so rows far below it become 0/0; "
    "subtract each row's own largest.",
    "dot-products#large-scores",
)
def _softmax_shifted_by_overall_maximum(scores):
    exponentials = np.exp(scores - np.max(scores))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@mistake(
    "no-scale",
    "attention",
    "It leaves out the division by √d_k, so the weights are too sharp.",
    "variance-growth#why-the-root",
    scaled=score_matrix,
)
def _no_scale(q, k, v):
    return softmax(score_matrix(q, k)) @ v


@mistake(
    "divide-by-d_k",
    "attention",
    "It divides the scores by d_k instead of √d_k, so the weights are too flat.",
    "variance-growth#why-the-root",
    scaled=lambda q, k: score_matrix(q, k) / q.shape[-1],
)
def _divide_by_d_k(q, k, v):
    return softmax(score_matrix(q, k) / q.shape[-1]) @ v


@mistake(
    "multiply-by-root-d_k",
    "attention",
    "It multiplies the scores by √d_k where it has to divide.",
    "variance-growth#why-the-root",
    scaled=lambda q, k: score_matrix(q, k) * np.sqrt(q.shape[-1]),
)
def _multiply_by_root_d_k(q, k, v):
    return softmax(score_matrix(q, k) * np.sqrt(q.shape[-1])) @ v


@mistake(
    "scale-by-number-of-keys",
    "attention",
    "It divides by √n_k, the square root of the number of keys; "
    "the scale comes from d_k, the width of a key.",
    "variance-growth#what-the-scale-is-not-for",
    scaled=lambda q, k: score_matrix(q, k) / np.sqrt(k.shape[-2]),
)
def _scale_by_number_of_keys(q, k, v):
    return softmax(score_matrix(q, k) / np.sqrt(k.shape[-2])) @ v


@mistake(
    "scale-by-width-of-values",
    "attention",
    "It divides by √d_v, the root of a value's width; a score sums over d_k, the width of a key.",
    "variance-growth#what-the-scale-is-not-for",
)
def _scale_by_width_of_values(q, k, v):
    return softmax(score_matrix(q, k) / np.sqrt(v.shape[-1])) @ v


@mistake(
    "scale-after-softmax",
    "attention",
    "It divides by √d_k after the softmax, so the weights no longer sum to 1.",
    "dot-products#a-scorecard-by-hand",
)
def _scale_after_softmax(q, k, v):
    return softmax(score_matrix(q, k)) / np.sqrt(q.shape[-1]) @ v


@mistake(
    "attention-over-queries",
    "attention",
    "Its softmax normalises over the queries; each query's weights over the keys have to sum to 1.",
    "dot-products#reading-a-row-of-weights",
)
def _attention_over_queries(q, k, v):
    return softmax(scaled_scores(q, k), axis=-2) @ v


@mistake(
    "no-softmax",
    "attention",
    "It mixes the values with the scaled scores themselves; the softmax between them is missing.",
    "dot-products#a-scorecard-by-hand",
)
def _no_softmax(q, k, v):
    return scaled_scores(q, k) @ v


@mistake(
    "hard-attention",
    "attention",
    "It hands over the value of the best key alone; attention returns a mixture of all values.",
    "dot-products#it-is-a-mixture",
)
def _hard_attention(q, k, v):
    best = score_matrix(q, k).argmax(axis=-1)  # (..., n_q)
    n_k = k.shape[-2]
    return np.eye(n_k)[best] @ v


@mistake(
    "keys-for-values",
    "attention",
    "It mixes the keys; keys only decide the weights, and the values are what is mixed.",
    "dot-products#a-scorecard-by-hand",
)
def _keys_for_values(q, k, v):
    return softmax(scaled_scores(q, k)) @ k


@mistake(
    "softmax-of-values",
    "attention",
    "It applies the softmax to the values; softmax belongs on the scores.",
    "dot-products#a-scorecard-by-hand",
)
def _softmax_of_values(q, k, v):
    return scaled_scores(q, k) @ softmax(v)


@mistake(
    "weights-rounded-midway",
    "attention",
    "It rounds the weights to two decimals before mixing; round only what you print.",
    "dot-products#never-round-midway",
)
def _weights_rounded_midway(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights.round(2) @ v


@mistake(
    "equal-weights",
    "attention",
    "It returns the plain mean of the values; the weights have to come from the scores.",
    "dot-products#it-is-a-mixture",
)
def _equal_weights(q, k, v):
    return softmax(np.zeros_like(score_matrix(q, k))) @ v


@mistake(
    "row-for-column",
    "weight_at",
    "It takes the row for the column: row i belongs to query i, column j to key j.",
    "dot-products#reading-a-row-of-weights",
)
def _row_for_column(weights, query, key):
    return weights[key, query]


@mistake(
    "weights-shape-transposed",
    "weights_shape",
    "It has a row for each key; the weights have a row for each query and a column for each key.",
    "dot-products#shapes-in-general",
)
def _weights_shape_transposed(q, k, v):
    return np.array([*q[:-2], k[-2], q[-2]])


@mistake(
    "weights-shape-as-queries",
    "weights_shape",
    "It is the shape of q; the comparison sums over d_k, so that axis is gone from the weights.",
    "dot-products#shapes-in-general",
)
def _weights_shape_as_queries(q, k, v):
    return np.array(q)


@mistake(
    "weights-shape-as-output",
    "weights_shape",
    "It is the shape of the output; the weights are still over the keys, before the values are "
    "mixed.",
    "dot-products#shapes-in-general",
)
def _weights_shape_as_output(q, k, v):
    return output_shape(q, k, v)


@mistake(
    "output-shape-as-weights",
    "output_shape",
    "It is the shape of the weights; mixing the values sums over the keys, so that axis is gone "
    "from the output.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_weights(q, k, v):
    return weights_shape(q, k, v)


@mistake(
    "output-shape-as-queries",
    "output_shape",
    "It is as wide as the queries, d_k; the output is a mixture of values, so it is as wide as a "
    "value, d_v.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_queries(q, k, v):
    return np.array(q)


@mistake(
    "output-shape-as-values",
    "output_shape",
    "It has a row for each key; the output has a row for each query.",
    "dot-products#shapes-in-general",
)
def _output_shape_as_values(q, k, v):
    return np.array(v)


@mistake(
    "output-shape-without-positions",
    "output_shape",
    "It has no axis for the positions; each query gets an output of its own.",
    "dot-products#shapes-in-general",
)
def _output_shape_without_positions(q, k, v):
    return np.array([*q[:-2], k[-1], v[-1]])
