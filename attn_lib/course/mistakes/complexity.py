"""Wrong ways of the chapter `complexity`: counting operations and memory."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake


@mistake(
    "flops-without-the-two",
    "score_flops",
    "It counts the multiplications alone; each comes with an addition, which makes it twice that.",
    "complexity#counting-operations",
)
def _flops_without_the_two(n_q, n_k, d_k):
    return n_q * n_k * d_k


@mistake(
    "flops-linear-in-length",
    "score_flops",
    "It compares each query with one key; there are n_k of them.",
    "complexity#counting-operations",
)
def _flops_linear_in_length(n_q, n_k, d_k):
    return 2 * n_q * d_k


@mistake(
    "flops-without-the-width",
    "score_flops",
    "It leaves out d_k: every score is a sum of d_k products.",
    "complexity#counting-operations",
)
def _flops_without_the_width(n_q, n_k, d_k):
    return 2 * n_q * n_k


@mistake(
    "flops-width-squared",
    "score_flops",
    "It squares the width, as a projection does; here every query meets every key.",
    "complexity#counting-operations",
)
def _flops_width_squared(n_q, n_k, d_k):
    return 2 * n_q * d_k**2


@mistake(
    "flops-of-one-head",
    "attention_flops",
    "It counts one head; every head has its own two products.",
    "complexity#counting-operations",
)
def _flops_of_one_head(n_q, n_k, d_k, d_v, heads):
    return 2 * n_q * n_k * (d_k + d_v)


@mistake(
    "mix-counted-with-d_k",
    "attention_flops",
    "It counts both products with d_k; mixing adds up values, which are d_v wide.",
    "complexity#counting-operations",
)
def _mix_counted_with_d_k(n_q, n_k, d_k, d_v, heads):
    return 4 * heads * n_q * n_k * d_k


@mistake(
    "scores-counted-with-d_v",
    "attention_flops",
    "It counts both products with d_v; a score sums over queries and keys, which are d_k wide.",
    "complexity#counting-operations",
)
def _scores_counted_with_d_v(n_q, n_k, d_k, d_v, heads):
    return 4 * heads * n_q * n_k * d_v


@mistake(
    "mix-not-counted",
    "attention_flops",
    "It counts the scores alone; the product of weights and values is missing.",
    "complexity#counting-operations",
)
def _mix_not_counted(n_q, n_k, d_k, d_v, heads):
    return 2 * heads * n_q * n_k * d_k


@mistake(
    "scores-not-counted",
    "attention_flops",
    "It counts the mixing alone; the product of queries and keys is missing.",
    "complexity#counting-operations",
)
def _scores_not_counted(n_q, n_k, d_k, d_v, heads):
    return 2 * heads * n_q * n_k * d_v


@mistake(
    "output-projection-not-counted",
    "projection_flops",
    "It counts the projections to q, k and v; the one of the output is missing.",
    "complexity#the-projections",
)
def _output_projection_not_counted(n, d_model):
    return 6 * n * d_model**2


@mistake(
    "projections-without-the-two",
    "projection_flops",
    "It counts the multiplications alone; each comes with an addition, which makes it twice that.",
    "complexity#the-projections",
)
def _projections_without_the_two(n, d_model):
    return 4 * n * d_model**2


@mistake(
    "one-projection-counted",
    "projection_flops",
    "It counts one projection; there are four.",
    "complexity#the-projections",
)
def _one_projection_counted(n, d_model):
    return 2 * n * d_model**2


@mistake(
    "projections-squared-in-length",
    "projection_flops",
    "It squares n; a projection handles each token by itself, and squares the width.",
    "complexity#the-projections",
)
def _projections_squared_in_length(n, d_model):
    return 8 * n**2 * d_model


@mistake(
    "crossover-of-the-scores-alone",
    "crossover_length",
    "It sets the scores alone equal to the projections; attention also mixes, at the same cost.",
    "complexity#where-the-costs-cross",
)
def _crossover_of_the_scores_alone(d_model):
    return 4 * d_model


@mistake(
    "crossover-with-feed-forward",
    "crossover_length",
    "It counts the feed-forward layer along with the projections.",
    "complexity#where-the-costs-cross",
)
def _crossover_with_feed_forward(d_model):
    return 6 * d_model


@mistake(
    "crossover-at-the-width",
    "crossover_length",
    "It sets n equal to d; four projections, 8·n·d², stand against two products, 4·n²·d.",
    "complexity#where-the-costs-cross",
)
def _crossover_at_the_width(d_model):
    return d_model


@mistake(
    "everything-computed-again",
    "decoding_flops",
    "It computes all queries again; one step of decoding has one query.",
    "complexity#decoding-with-a-cache",
)
def _everything_computed_again(n_cached, d_model):
    return 4 * (n_cached + 1) ** 2 * d_model


@mistake(
    "own-key-not-counted",
    "decoding_flops",
    "It counts the cached keys alone; the new token also attends to itself.",
    "complexity#decoding-with-a-cache",
)
def _own_key_not_counted(n_cached, d_model):
    return 4 * n_cached * d_model


@mistake(
    "decoding-without-the-mix",
    "decoding_flops",
    "It counts the scores alone; mixing the values costs as much again.",
    "complexity#decoding-with-a-cache",
)
def _decoding_without_the_mix(n_cached, d_model):
    return 2 * (n_cached + 1) * d_model


@mistake(
    "cache-for-free",
    "decoding_flops",
    "It counts the new token's own key alone; the cached keys are looked at in every step.",
    "complexity#decoding-with-a-cache",
)
def _cache_for_free(n_cached, d_model):
    return 4 * d_model


@mistake(
    "weights-of-one-head",
    "weights_bytes",
    "It counts one head; every head has weights of its own.",
    "complexity#memory",
)
def _weights_of_one_head(heads, n_q, n_k, dtype=np.float32):
    return n_q * n_k * np.dtype(dtype).itemsize


@mistake(
    "bits-for-bytes",
    "weights_bytes",
    "It counts bits; a byte has 8 of them, so a float32 takes 4 bytes.",
    "complexity#memory",
)
def _bits_for_bytes(heads, n_q, n_k, dtype=np.float32):
    return heads * n_q * n_k * 8 * np.dtype(dtype).itemsize


@mistake(
    "entries-for-bytes",
    "weights_bytes",
    "It counts the weights; each takes several bytes.",
    "complexity#memory",
)
def _entries_for_bytes(heads, n_q, n_k, dtype=np.float32):
    return heads * n_q * n_k


@mistake(
    "bytes-linear-in-length",
    "weights_bytes",
    "It counts one weight for each query; each query has one for each key.",
    "complexity#memory",
)
def _bytes_linear_in_length(heads, n_q, n_k, dtype=np.float32):
    return heads * n_q * np.dtype(dtype).itemsize


@mistake(
    "keys-cached-alone",
    "cache_bytes",
    "It keeps the keys alone; the values are needed in every step too.",
    "complexity#decoding-with-a-cache",
)
def _keys_cached_alone(n, d_model, dtype=np.float32):
    return n * d_model * np.dtype(dtype).itemsize


@mistake(
    "cache-squared-in-length",
    "cache_bytes",
    "It squares n, as the weights do; each token has one key and one value.",
    "complexity#decoding-with-a-cache",
)
def _cache_squared_in_length(n, d_model, dtype=np.float32):
    return 2 * n**2 * np.dtype(dtype).itemsize


@mistake(
    "cache-in-bits",
    "cache_bytes",
    "It counts bits; a byte has 8 of them, so a float32 takes 4 bytes.",
    "complexity#memory",
)
def _cache_in_bits(n, d_model, dtype=np.float32):
    return 2 * n * d_model * 8 * np.dtype(dtype).itemsize


@mistake(
    "megabytes",
    "mebibytes",
    "It divides by a million, which gives MB; a MiB has 2²⁰ bytes.",
    "complexity#memory",
)
def _megabytes(n_bytes):
    return n_bytes / 1e6


@mistake(
    "kibibytes",
    "mebibytes",
    "It divides by 1024 once, which gives KiB; divide twice.",
    "complexity#memory",
)
def _kibibytes(n_bytes):
    return n_bytes / 1024


@mistake(
    "score-vector-not-counted",
    "additive_parameters",
    "It counts the two matrices; the vector that makes a score of the hidden numbers is missing.",
    "complexity#additive-attention",
)
def _score_vector_not_counted(d_k, d_hidden):
    return 2 * d_k * d_hidden


@mistake(
    "one-matrix-for-both",
    "additive_parameters",
    "It counts one matrix; queries and keys have one each.",
    "complexity#additive-attention",
)
def _one_matrix_for_both(d_k, d_hidden):
    return d_k * d_hidden + d_hidden


@mistake(
    "dot-product-has-no-parameters",
    "additive_parameters",
    "It is right for the dot product; additive attention learns two matrices and a vector.",
    "complexity#additive-attention",
)
def _dot_product_has_no_parameters(d_k, d_hidden):
    return 0
