"""Wrong ways of the chapter `complexity`: additive scores, and attention block by block."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.course.targets import scaled_scores
from attn_lib.softmax import softmax


@mistake(
    "tanh-left-out",
    "additive_scores",
    "It leaves out the tanh, so the score is a sum of a query's part and a key's part.",
    "complexity#additive-attention",
)
def _tanh_left_out(q, k, w_q, w_k, w_score):
    return ((q @ w_q)[..., :, None, :] + (k @ w_k)[..., None, :, :]) @ w_score


@mistake(
    "tanh-of-the-score",
    "additive_scores",
    "It applies tanh to the score; tanh belongs on the hidden numbers, before w_score.",
    "complexity#additive-attention",
)
def _tanh_of_the_score(q, k, w_q, w_k, w_score):
    return np.tanh(((q @ w_q)[..., :, None, :] + (k @ w_k)[..., None, :, :]) @ w_score)


@mistake(
    "tanh-before-adding",
    "additive_scores",
    "It applies tanh to query and key by themselves; add them first, so that they can interact.",
    "complexity#additive-attention",
)
def _tanh_before_adding(q, k, w_q, w_k, w_score):
    return (np.tanh(q @ w_q)[..., :, None, :] + np.tanh(k @ w_k)[..., None, :, :]) @ w_score


@mistake(
    "multiplied-for-added",
    "additive_scores",
    "It multiplies the projected query and key; additive attention adds them.",
    "complexity#additive-attention",
)
def _multiplied_for_added(q, k, w_q, w_k, w_score):
    return np.tanh((q @ w_q)[..., :, None, :] * (k @ w_k)[..., None, :, :]) @ w_score


@mistake(
    "sums-not-rescaled",
    "merge_sums",
    "It adds the two sums as they are; each was taken with its own block's maximum.",
    "complexity#merging-two-blocks",
)
def _sums_not_rescaled(max_a, sum_a, max_b, sum_b):
    return np.stack([np.maximum(max_a, max_b), sum_a + sum_b])


@mistake(
    "old-sum-not-rescaled",
    "merge_sums",
    "It leaves the first sum as it was; a new maximum makes it smaller too.",
    "complexity#merging-two-blocks",
)
def _old_sum_not_rescaled(max_a, sum_a, max_b, sum_b):
    maximum = np.maximum(max_a, max_b)
    return np.stack([maximum, sum_a + sum_b * np.exp(max_b - maximum)])


@mistake(
    "new-sum-not-rescaled",
    "merge_sums",
    "It leaves the second sum as it was; if the first maximum is larger, it has to shrink too.",
    "complexity#merging-two-blocks",
)
def _new_sum_not_rescaled(max_a, sum_a, max_b, sum_b):
    maximum = np.maximum(max_a, max_b)
    return np.stack([maximum, sum_a * np.exp(max_a - maximum) + sum_b])


@mistake(
    "maximum-of-the-new-block",
    "merge_sums",
    "It forgets the first block's maximum; if that was larger, the exponentials can overflow.",
    "complexity#merging-two-blocks",
)
def _maximum_of_the_new_block(max_a, sum_a, max_b, sum_b):
    return np.stack([max_b, sum_a * np.exp(max_a - max_b) + sum_b])


@mistake(
    "rescaled-the-wrong-way",
    "merge_sums",
    "It turns the difference round: exp(block's maximum − common maximum), which is at most 1.",
    "complexity#merging-two-blocks",
)
def _rescaled_the_wrong_way(max_a, sum_a, max_b, sum_b):
    maximum = np.maximum(max_a, max_b)
    return np.stack([maximum, sum_a * np.exp(maximum - max_a) + sum_b * np.exp(maximum - max_b)])


@mistake(
    "outputs-averaged",
    "merge_outputs",
    "It takes the plain mean of the two outputs; a block counts as much as its exponentials.",
    "complexity#merging-two-blocks",
)
def _outputs_averaged(max_a, sum_a, out_a, max_b, sum_b, out_b):
    return (out_a + out_b) / 2


@mistake(
    "outputs-added",
    "merge_outputs",
    "It adds two outputs that are each normalised; their shares of the whole have to sum to 1.",
    "complexity#merging-two-blocks",
)
def _outputs_added(max_a, sum_a, out_a, max_b, sum_b, out_b):
    return out_a + out_b


@mistake(
    "shares-without-the-maxima",
    "merge_outputs",
    "It shares by the sums as they are; each was taken with its own block's maximum.",
    "complexity#merging-two-blocks",
)
def _shares_without_the_maxima(max_a, sum_a, out_a, max_b, sum_b, out_b):
    share_a = (sum_a / (sum_a + sum_b))[:, None]
    return share_a * out_a + (1 - share_a) * out_b


@mistake(
    "shares-without-the-sums",
    "merge_outputs",
    "It shares by the largest scores alone; a block counts with all its exponentials.",
    "complexity#merging-two-blocks",
)
def _shares_without_the_sums(max_a, sum_a, out_a, max_b, sum_b, out_b):
    share_a = (1 / (1 + np.exp(max_b - max_a)))[:, None]
    return share_a * out_a + (1 - share_a) * out_b


@mistake(
    "merged-but-not-normalised",
    "merge_outputs",
    "It does not divide by the common sum in the end.",
    "complexity#merging-two-blocks",
)
def _merged_but_not_normalised(max_a, sum_a, out_a, max_b, sum_b, out_b):
    maximum = np.maximum(max_a, max_b)
    weight_a, weight_b = sum_a * np.exp(max_a - maximum), sum_b * np.exp(max_b - maximum)
    return weight_a[:, None] * out_a + weight_b[:, None] * out_b


@mistake(
    "each-block-normalised",
    "streaming_attention",
    "It averages the outputs of the blocks; a block counts as much as its exponentials.",
    "complexity#streaming",
)
def _each_block_normalised(q, k, v, block):
    starts = range(0, len(k), block)
    outputs = [softmax(scaled_scores(q, k[i : i + block])) @ v[i : i + block] for i in starts]
    return np.mean(outputs, axis=0)


@mistake(
    "divided-in-each-block",
    "streaming_attention",
    "It divides by the sum after each block and adds to that; divide once, at the end.",
    "complexity#streaming",
)
def _divided_in_each_block(q, k, v, block):
    row_max, row_sum, output = np.full((len(q), 1), -np.inf), 0.0, 0.0
    for i in range(0, len(k), block):
        scores = scaled_scores(q, k[i : i + block])
        new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
        rescale, exponentials = np.exp(row_max - new_max), np.exp(scores - new_max)
        row_sum = rescale * row_sum + exponentials.sum(axis=-1, keepdims=True)
        output = (rescale * output + exponentials @ v[i : i + block]) / row_sum
        row_max = new_max
    return output


@mistake(
    "nothing-rescaled",
    "streaming_attention",
    "It rescales neither sum nor output when a block brings a larger score.",
    "complexity#streaming",
)
def _nothing_rescaled(q, k, v, block):
    row_max, row_sum, output = np.full((len(q), 1), -np.inf), 0.0, 0.0
    for i in range(0, len(k), block):
        scores = scaled_scores(q, k[i : i + block])
        row_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
        exponentials = np.exp(scores - row_max)
        row_sum = row_sum + exponentials.sum(axis=-1, keepdims=True)
        output = output + exponentials @ v[i : i + block]
    return output / row_sum


@mistake(
    "running-sum-not-rescaled",
    "streaming_attention",
    "It rescales the output but not the sum when a block brings a larger score.",
    "complexity#streaming",
)
def _running_sum_not_rescaled(q, k, v, block):
    row_max, row_sum, output = np.full((len(q), 1), -np.inf), 0.0, 0.0
    for i in range(0, len(k), block):
        scores = scaled_scores(q, k[i : i + block])
        new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
        exponentials = np.exp(scores - new_max)
        row_sum = row_sum + exponentials.sum(axis=-1, keepdims=True)
        output = output * np.exp(row_max - new_max) + exponentials @ v[i : i + block]
        row_max = new_max
    return output / row_sum


@mistake(
    "running-output-not-rescaled",
    "streaming_attention",
    "It rescales the sum but not the output when a block brings a larger score.",
    "complexity#streaming",
)
def _running_output_not_rescaled(q, k, v, block):
    row_max, row_sum, output = np.full((len(q), 1), -np.inf), 0.0, 0.0
    for i in range(0, len(k), block):
        scores = scaled_scores(q, k[i : i + block])
        new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
        exponentials = np.exp(scores - new_max)
        row_sum = row_sum * np.exp(row_max - new_max) + exponentials.sum(axis=-1, keepdims=True)
        output = output + exponentials @ v[i : i + block]
        row_max = new_max
    return output / row_sum


@mistake(
    "maximum-of-each-block",
    "streaming_attention",
    "It subtracts each block's own maximum, so the blocks are not comparable.",
    "complexity#streaming",
)
def _maximum_of_each_block(q, k, v, block):
    row_sum, output = 0.0, 0.0
    for i in range(0, len(k), block):
        scores = scaled_scores(q, k[i : i + block])
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        row_sum = row_sum + exponentials.sum(axis=-1, keepdims=True)
        output = output + exponentials @ v[i : i + block]
    return output / row_sum


@mistake(
    "last-block-left-out",
    "streaming_attention",
    "It stops before the last block when that is not full.",
    "complexity#streaming",
)
def _last_block_left_out(q, k, v, block):
    full = len(k) // block * block
    return softmax(scaled_scores(q, k[:full])) @ v[:full]
