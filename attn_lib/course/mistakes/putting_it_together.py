"""Wrong ways of the chapter `putting-it-together`: heads, gradients, the formula."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.course.targets import (
    merge_heads,
    scaled_scores,
    score_matrix,
    softmax_backward,
    split_heads,
)
from attn_lib.softmax import softmax


@mistake(
    "heads-by-reshape-alone",
    "split_heads",
    "It only reshapes, which deals out positions to the heads; each head takes part of every one.",
    "putting-it-together#splitting-into-heads",
)
def _heads_by_reshape_alone(x, n_heads):
    *batch, n, width = np.shape(x)
    return np.reshape(x, (*batch, n_heads, n, width // n_heads))


@mistake(
    "heads-behind-positions",
    "split_heads",
    "It leaves the heads after the positions; swap the two axes, so that each head is a matrix.",
    "putting-it-together#splitting-into-heads",
)
def _heads_behind_positions(x, n_heads):
    *batch, n, width = np.shape(x)
    return np.reshape(x, (*batch, n, n_heads, width // n_heads))


@mistake(
    "heads-interleaved",
    "split_heads",
    "It deals out the entries of a vector in turn; each head takes a run of neighbours.",
    "putting-it-together#splitting-into-heads",
)
def _heads_interleaved(x, n_heads):
    *batch, n, width = np.shape(x)
    return np.moveaxis(np.reshape(x, (*batch, n, width // n_heads, n_heads)), -1, -3)


@mistake(
    "merged-without-swapping-back",
    "merge_heads",
    "It only reshapes; first swap heads and positions back.",
    "putting-it-together#merging-the-heads",
)
def _merged_without_swapping_back(x):
    *batch, n_heads, n, d = np.shape(x)
    return np.reshape(x, (*batch, n, n_heads * d))


@mistake(
    "heads-merged-in-turn",
    "merge_heads",
    "It takes entries from the heads in turn; each head's vector stays in one piece.",
    "putting-it-together#merging-the-heads",
)
def _heads_merged_in_turn(x):
    *batch, n_heads, n, d = np.shape(x)
    return np.reshape(np.moveaxis(x, -3, -1), (*batch, n, n_heads * d))


@mistake(
    "heads-added",
    "merge_heads",
    "It adds up the heads; they stand side by side.",
    "putting-it-together#merging-the-heads",
)
def _heads_added(x):
    return np.sum(x, axis=-3)


@mistake(
    "heads-scaled-by-model-width",
    "multi_head_attention",
    "It divides by √d_model; a head's scores sum over d_k products.",
    "putting-it-together#which-width-goes-under-the-root",
)
def _heads_scaled_by_model_width(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(score_matrix(q, k) / np.sqrt(x.shape[-1]))
    return merge_heads(weights @ v) @ w_o


@mistake(
    "heads-scaled-by-their-joint-width",
    "multi_head_attention",
    "It divides by the root of the width of all heads together; a head is d_k wide.",
    "putting-it-together#which-width-goes-under-the-root",
)
def _heads_scaled_by_their_joint_width(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(score_matrix(q, k) / np.sqrt(w_q.shape[-1]))
    return merge_heads(weights @ v) @ w_o


@mistake(
    "heads-not-split",
    "multi_head_attention",
    "It runs one wide head; each head has weights of its own.",
    "putting-it-together#splitting-into-heads",
)
def _heads_not_split(x, w_q, w_k, w_v, w_o, n_heads):
    return softmax(scaled_scores(x @ w_q, x @ w_k)) @ (x @ w_v) @ w_o


@mistake(
    "output-not-projected",
    "multi_head_attention",
    "It stops after merging the heads; the product with w_o is missing.",
    "putting-it-together#multi-head-attention",
)
def _output_not_projected(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return merge_heads(softmax(scaled_scores(q, k)) @ v)


@mistake(
    "drawn-head-scaled-by-model-width",
    "head_weights",
    "It divides by √d_model; a head's scores sum over d_k products.",
    "putting-it-together#which-width-goes-under-the-root",
)
def _drawn_head_scaled_by_model_width(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    return softmax(score_matrix(q, k) / np.sqrt(x.shape[-1]))


@mistake(
    "drawn-head-scaled-by-joint-width",
    "head_weights",
    "It divides by the root of the width of all heads together; a head is d_k wide.",
    "putting-it-together#which-width-goes-under-the-root",
)
def _drawn_head_scaled_by_joint_width(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    return softmax(score_matrix(q, k) / np.sqrt(w_q.shape[-1]))


@mistake(
    "drawn-head-not-split",
    "head_weights",
    "It takes all heads as a single wide one; a head sees its own columns only.",
    "putting-it-together#splitting-into-heads",
)
def _drawn_head_not_split(x, w_q, w_k, n_heads, head):
    return softmax(scaled_scores(x @ w_q, x @ w_k))


@mistake(
    "drawn-heads-averaged",
    "head_weights",
    "It averages the weights of all heads; one head is asked for.",
    "putting-it-together#splitting-into-heads",
)
def _drawn_heads_averaged(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads) for w in (w_q, w_k))
    return softmax(scaled_scores(q, k)).mean(axis=0)


@mistake(
    "drawn-head-counted-backwards",
    "head_weights",
    "It counts the heads from the last; head 0 takes the first columns.",
    "putting-it-together#splitting-into-heads",
)
def _drawn_head_counted_backwards(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[n_heads - 1 - head] for w in (w_q, w_k))
    return softmax(scaled_scores(q, k))


@mistake(
    "drawn-head-counted-from-one",
    "head_weights",
    "It counts the heads from 1; they are counted from 0.",
    "putting-it-together#splitting-into-heads",
)
def _drawn_head_counted_from_one(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head - 1] for w in (w_q, w_k))
    return softmax(scaled_scores(q, k))


@mistake(
    "scores-drawn-for-weights",
    "head_weights",
    "It draws the scaled scores; the softmax is missing.",
    "putting-it-together#several-heads",
)
def _scores_drawn_for_weights(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    return scaled_scores(q, k)


@mistake(
    "head-drawn-transposed",
    "head_weights",
    "It draws a row for each key; a row belongs to a query.",
    "putting-it-together#multi-head-attention",
)
def _head_drawn_transposed(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    return np.swapaxes(softmax(scaled_scores(q, k)), -1, -2)


@mistake(
    "value-gradient-not-transposed",
    "value_gradient",
    "It does not transpose the weights; value j collects from all queries, down column j.",
    "putting-it-together#at-the-values",
)
def _value_gradient_not_transposed(weights, grad_output):
    return weights @ grad_output


@mistake(
    "value-gradient-averaged",
    "value_gradient",
    "It averages over the queries; what a value passes on to several queries adds up.",
    "putting-it-together#at-the-values",
)
def _value_gradient_averaged(weights, grad_output):
    return np.swapaxes(weights, -1, -2) @ grad_output / np.shape(weights)[-2]


@mistake(
    "gradient-passed-straight-through",
    "value_gradient",
    "It hands on the gradient of the output; a value gets a share from every query.",
    "putting-it-together#at-the-values",
)
def _gradient_passed_straight_through(weights, grad_output):
    return grad_output


@mistake(
    "weights-gradient-transposed",
    "weights_gradient",
    "It has a row for each key; like the weights it has a row for each query.",
    "putting-it-together#at-the-weights",
)
def _weights_gradient_transposed(grad_output, v):
    return v @ np.swapaxes(grad_output, -1, -2)


@mistake(
    "weights-gradient-of-sums",
    "weights_gradient",
    "It multiplies two sums; entry [i, j] is the dot product of row i and value j.",
    "putting-it-together#at-the-weights",
)
def _weights_gradient_of_sums(grad_output, v):
    return np.sum(grad_output, axis=-1)[..., :, None] * np.sum(v, axis=-1)[..., None, :]


@mistake(
    "query-gradient-without-scale",
    "query_gradient",
    "It leaves out the factor 1/√d_k; scaling the scores scales their gradient too.",
    "putting-it-together#at-the-queries-and-keys",
)
def _query_gradient_without_scale(grad_output, q, k, v):
    weights = softmax(scaled_scores(q, k))
    return softmax_backward(weights, grad_output @ np.swapaxes(v, -1, -2)) @ k


@mistake(
    "query-gradient-scaled-twice",
    "query_gradient",
    "It applies the factor 1/√d_k twice.",
    "putting-it-together#at-the-queries-and-keys",
)
def _query_gradient_scaled_twice(grad_output, q, k, v):
    weights = softmax(scaled_scores(q, k))
    return softmax_backward(weights, grad_output @ np.swapaxes(v, -1, -2)) @ k / q.shape[-1]


@mistake(
    "query-gradient-past-the-softmax",
    "query_gradient",
    "It goes from the weights to the scores without the softmax's derivative.",
    "putting-it-together#through-the-softmax",
)
def _query_gradient_past_the_softmax(grad_output, q, k, v):
    return grad_output @ np.swapaxes(v, -1, -2) @ k / np.sqrt(q.shape[-1])


@mistake(
    "key-gradient-without-scale",
    "key_gradient",
    "It leaves out the factor 1/√d_k; scaling the scores scales their gradient too.",
    "putting-it-together#at-the-queries-and-keys",
)
def _key_gradient_without_scale(grad_output, q, k, v):
    weights = softmax(scaled_scores(q, k))
    grad_scores = softmax_backward(weights, grad_output @ np.swapaxes(v, -1, -2))
    return np.swapaxes(grad_scores, -1, -2) @ q


@mistake(
    "key-gradient-not-transposed",
    "key_gradient",
    "It does not transpose the gradient of the scores; key j collects down column j.",
    "putting-it-together#at-the-queries-and-keys",
)
def _key_gradient_not_transposed(grad_output, q, k, v):
    weights = softmax(scaled_scores(q, k))
    grad_scores = softmax_backward(weights, grad_output @ np.swapaxes(v, -1, -2))
    return grad_scores @ q / np.sqrt(q.shape[-1])


@mistake(
    "key-gradient-past-the-softmax",
    "key_gradient",
    "It goes from the weights to the scores without the softmax's derivative.",
    "putting-it-together#through-the-softmax",
)
def _key_gradient_past_the_softmax(grad_output, q, k, v):
    return v @ np.swapaxes(grad_output, -1, -2) @ q / np.sqrt(q.shape[-1])


@mistake(
    "forward-difference",
    "central_difference",
    "It steps to one side only, so its error shrinks with the step and not with its square.",
    "putting-it-together#checking-by-differences",
)
def _forward_difference(above, here, below, step):
    return (above - here) / step


@mistake(
    "difference-over-one-step",
    "central_difference",
    "It divides by the step; from one side to the other it is two steps.",
    "putting-it-together#checking-by-differences",
)
def _difference_over_one_step(above, here, below, step):
    return (above - below) / step


@mistake(
    "difference-downhill",
    "central_difference",
    "It subtracts the other way round, which turns the sign.",
    "putting-it-together#checking-by-differences",
)
def _difference_downhill(above, here, below, step):
    return (below - above) / (2 * step)


@mistake(
    "second-difference",
    "central_difference",
    "It is the second derivative, the change of the slope.",
    "putting-it-together#checking-by-differences",
)
def _second_difference(above, here, below, step):
    return (above - 2 * here + below) / step**2


@mistake(
    "sum-of-queries-and-keys",
    "attention_formula",
    "It adds queries and keys; they are compared by their dot products, q @ kᵀ.",
    "putting-it-together#the-formula-line-by-line",
)
def _sum_of_queries_and_keys(q, k, v):
    return softmax(q + k) @ v


@mistake(
    "tanh-for-softmax",
    "attention_formula",
    "It squeezes each score by tanh; softmax makes the weights of a query sum to 1.",
    "putting-it-together#the-formula-line-by-line",
)
def _tanh_for_softmax(q, k, v):
    return np.tanh(score_matrix(q, k)) @ v


@mistake(
    "products-alone",
    "attention_formula",
    "It multiplies the three matrices; the scale and the softmax between them are missing.",
    "putting-it-together#the-formula-line-by-line",
)
def _products_alone(q, k, v):
    return score_matrix(q, k) @ v


@mistake(
    "values-inside-the-softmax",
    "attention_formula",
    "It closes the bracket too late; the values are mixed after the softmax.",
    "putting-it-together#the-formula-line-by-line",
)
def _values_inside_the_softmax(q, k, v):
    return softmax(scaled_scores(q, k) @ v)
