"""Wrong ways of the chapter `from-text-to-next-word`: embedding, layer norm, block, rotation."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.course.targets import layer_norm
from attn_lib.masks import causal_mask
from attn_lib.multihead import multi_head_attention


def _attend(x, w_q, w_k, w_v, w_o, n_heads):
    mask = causal_mask(x.shape[-2], x.shape[-2])
    return multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads=n_heads, mask=mask)


@mistake(
    "positions-left-out",
    "embed",
    "It leaves out the positions, so the model cannot tell the order of the words.",
    "from-text-to-next-word#the-whole-way",
)
def _positions_left_out(ids, embedding, positions, n_past):
    return embedding[ids]


@mistake(
    "positions-counted-from-one",
    "embed",
    "It gives each word the position after its own; the first word has row 0.",
    "from-text-to-next-word#the-whole-way",
)
def _positions_counted_from_one(ids, embedding, positions, n_past):
    start = n_past + 1
    return embedding[ids] + positions[start : start + np.shape(ids)[-1]]


@mistake(
    "positions-from-the-start-again",
    "embed",
    "It starts at position 0 again, although n_past words come before.",
    "from-text-to-next-word#writing-word-by-word",
)
def _positions_from_the_start_again(ids, embedding, positions, n_past):
    return embedding[ids] + positions[: np.shape(ids)[-1]]


@mistake(
    "positions-by-id",
    "embed",
    "It takes the position from the id; a word's position is its place in the text.",
    "from-text-to-next-word#the-whole-way",
)
def _positions_by_id(ids, embedding, positions, n_past):
    return embedding[ids] + positions[ids]


@mistake(
    "positions-multiplied",
    "embed",
    "It multiplies by the positions; they are added.",
    "from-text-to-next-word#the-whole-way",
)
def _positions_multiplied(ids, embedding, positions, n_past):
    return embedding[ids] * positions[n_past : n_past + np.shape(ids)[-1]]


@mistake(
    "positions-side-by-side",
    "embed",
    "It puts the positions beside the embeddings; they are added, and the stream keeps its width.",
    "from-text-to-next-word#the-whole-way",
)
def _positions_side_by_side(ids, embedding, positions, n_past):
    tokens = embedding[ids]
    places = np.broadcast_to(positions[n_past : n_past + np.shape(ids)[-1]], tokens.shape)
    return np.concatenate([tokens, places], axis=-1)


@mistake(
    "embedding-times-the-root",
    "embed",
    "It multiplies embeddings by √d_model, as the first transformer did; this model does not.",
    "from-text-to-next-word#in-general",
)
def _embedding_times_the_root(ids, embedding, positions, n_past):
    tokens = embedding[ids] * np.sqrt(embedding.shape[-1])
    return tokens + positions[n_past : n_past + np.shape(ids)[-1]]


@mistake(
    "norm-over-the-words",
    "layer_norm",
    "It normalises each entry over the words; a layer norm treats each word by itself.",
    "from-text-to-next-word#in-general",
)
def _norm_over_the_words(x, gain, bias):
    centred = x - x.mean(axis=-2, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-2, keepdims=True) + 1e-5) * gain + bias


@mistake(
    "norm-over-everything",
    "layer_norm",
    "It takes one mean and one variance for all words; each word has its own.",
    "from-text-to-next-word#in-general",
)
def _norm_over_everything(x, gain, bias):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + bias


@mistake(
    "norm-by-the-variance",
    "layer_norm",
    "It divides by the variance; divide by its root, the standard deviation.",
    "from-text-to-next-word#in-general",
)
def _norm_by_the_variance(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / (x.var(axis=-1, keepdims=True) + 1e-5) * gain + bias


@mistake(
    "norm-of-the-sample",
    "layer_norm",
    "It divides the sum of squares by d − 1; the variance of a layer norm is their mean.",
    "from-text-to-next-word#in-general",
)
def _norm_of_the_sample(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + 1e-5) * gain + bias


@mistake(
    "norm-without-the-mean",
    "layer_norm",
    "It does not subtract the mean; that is another norm, the root mean square.",
    "from-text-to-next-word#in-general",
)
def _norm_without_the_mean(x, gain, bias):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) * gain + bias


@mistake(
    "norm-without-the-deviation",
    "layer_norm",
    "It subtracts the mean and does not divide by the standard deviation.",
    "from-text-to-next-word#in-general",
)
def _norm_without_the_deviation(x, gain, bias):
    return (x - x.mean(axis=-1, keepdims=True)) * gain + bias


@mistake(
    "gain-and-bias-left-out",
    "layer_norm",
    "It stops at mean 0 and variance 1; gain and bias come after.",
    "from-text-to-next-word#in-general",
)
def _gain_and_bias_left_out(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


@mistake(
    "bias-before-gain",
    "layer_norm",
    "It adds the bias before it multiplies by the gain; the bias comes last.",
    "from-text-to-next-word#in-general",
)
def _bias_before_gain(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) + bias) * gain


@mistake(
    "gain-and-bias-before-the-norm",
    "layer_norm",
    "It applies gain and bias first, and the norm undoes them in part; they come after it.",
    "from-text-to-next-word#in-general",
)
def _gain_and_bias_before_the_norm(x, gain, bias):
    x = x * gain + bias
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


@mistake(
    "norm-without-epsilon",
    "layer_norm",
    "It adds nothing to the variance, so a vector of equal entries is divided by 0.",
    "from-text-to-next-word#in-general",
)
def _norm_without_epsilon(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / x.std(axis=-1, keepdims=True) * gain + bias


@mistake(
    "epsilon-outside-the-root",
    "layer_norm",
    "It adds 0.00001 to the standard deviation; add it to the variance, below the root.",
    "from-text-to-next-word#in-general",
)
def _epsilon_outside_the_root(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / (x.std(axis=-1, keepdims=True) + 1e-5) * gain + bias


@mistake(
    "residual-left-out",
    "block",
    "It replaces the stream by the output of attention; the output is added to it.",
    "from-text-to-next-word#the-whole-way",
)
def _residual_left_out(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    return _attend(layer_norm(x, gain, bias), w_q, w_k, w_v, w_o, n_heads)


@mistake(
    "norm-left-out",
    "block",
    "It attends to the stream as it is; the layer norm comes first.",
    "from-text-to-next-word#in-general",
)
def _norm_left_out(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    return x + _attend(x, w_q, w_k, w_v, w_o, n_heads)


@mistake(
    "norm-after-the-sum",
    "block",
    "It normalises after the sum, as the first transformer did; here the norm comes first.",
    "from-text-to-next-word#in-general",
)
def _norm_after_the_sum(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    return layer_norm(x + _attend(x, w_q, w_k, w_v, w_o, n_heads), gain, bias)


@mistake(
    "norm-of-what-is-added",
    "block",
    "It normalises what attention gives; the norm is for what attention reads.",
    "from-text-to-next-word#in-general",
)
def _norm_of_what_is_added(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    return x + layer_norm(_attend(x, w_q, w_k, w_v, w_o, n_heads), gain, bias)


@mistake(
    "residual-of-the-norm",
    "block",
    "It adds to the normed stream; the stream itself goes on, as it came.",
    "from-text-to-next-word#the-whole-way",
)
def _residual_of_the_norm(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    normed = layer_norm(x, gain, bias)
    return normed + _attend(normed, w_q, w_k, w_v, w_o, n_heads)


@mistake(
    "future-seen-in-the-block",
    "block",
    "It leaves out the causal mask, so words see those that come after them.",
    "from-text-to-next-word#in-general",
)
def _future_seen_in_the_block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    normed = layer_norm(x, gain, bias)
    return x + multi_head_attention(normed, w_q, w_k, w_v, w_o, n_heads=n_heads)


@mistake(
    "one-wide-head-in-the-block",
    "block",
    "It runs one wide head; split queries, keys and values into n_heads.",
    "putting-it-together#splitting-into-heads",
)
def _one_wide_head_in_the_block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    return x + _attend(layer_norm(x, gain, bias), w_q, w_k, w_v, w_o, 1)


@mistake(
    "block-without-w_o",
    "block",
    "It adds the merged heads as they are; the product with w_o is missing.",
    "putting-it-together#multi-head-attention",
)
def _block_without_w_o(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    normed = layer_norm(x, gain, bias)
    return x + _attend(normed, w_q, w_k, w_v, np.eye(w_v.shape[1]), n_heads)
