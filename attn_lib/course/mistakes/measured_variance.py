"""Wrong ways of the chapter `variance-growth`: measuring, and how far to trust it."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake


@mistake(
    "noise-without-the-root",
    "variance_noise",
    "It gives the variance of the estimate; its standard deviation is the root of that.",
    "variance-growth#sampling-noise",
)
def _noise_without_the_root(d_k, n):
    return (2 + 6 / d_k) / n


@mistake(
    "noise-of-normal-numbers",
    "variance_noise",
    "It holds for normal numbers; a sum of d_k products has wider tails, hence 6/d_k more.",
    "variance-growth#sampling-noise",
)
def _noise_of_normal_numbers(d_k, n):
    return np.sqrt(2 / n)


@mistake(
    "noise-of-a-mean",
    "variance_noise",
    "It is the noise of a measured mean, 1/√n; a measured variance scatters more.",
    "variance-growth#sampling-noise",
)
def _noise_of_a_mean(d_k, n):
    return np.sqrt(1 / n)


@mistake(
    "entries-taken-for-independent",
    "score_matrix_noise",
    "It takes the entries for independent; those of a row share a query, those of a column a key.",
    "variance-growth#sampling-noise",
)
def _entries_taken_for_independent(d_k, n_q, n_k):
    return np.sqrt((2 + 6 / d_k) / (n_q * n_k))


@mistake(
    "queries-taken-for-the-sample",
    "score_matrix_noise",
    "It counts one score for each query; the scores with other keys tell something too.",
    "variance-growth#sampling-noise",
)
def _queries_taken_for_the_sample(d_k, n_q, n_k):
    return np.sqrt((2 + 6 / d_k) / n_q)


@mistake(
    "variance-of-single-products",
    "measured_variance",
    "It takes the variance of the single products; first sum each pair's products to its score.",
    "variance-growth#measured-beside-theory",
)
def _variance_of_single_products(q, k):
    return np.var(q * k)


@mistake(
    "variance-of-all-pairs",
    "measured_variance",
    "It compares every query with every key; those scores share vectors and are not independent.",
    "variance-growth#sampling-noise",
)
def _variance_of_all_pairs(q, k):
    return np.var(q @ np.swapaxes(k, -1, -2))


@mistake(
    "measured-sd",
    "measured_variance",
    "It measures the standard deviation; the variance is the square of that.",
    "variance-growth#measured-beside-theory",
)
def _measured_sd(q, k):
    return np.std(np.sum(q * k, axis=-1))


@mistake(
    "summed-over-pairs",
    "measured_variance",
    "It sums over the pairs; a score sums over the entries of one pair, along the last axis.",
    "variance-growth#measured-beside-theory",
)
def _summed_over_pairs(q, k):
    return np.var(np.sum(q * k, axis=0))


@mistake(
    "variance-over-one-less",
    "measured_variance",
    "It divides by n − 1; asked for is the mean squared distance, which divides by n.",
    "variance-growth#measured-beside-theory",
)
def _variance_over_one_less(q, k):
    return np.var(np.sum(q * k, axis=-1), ddof=1)
