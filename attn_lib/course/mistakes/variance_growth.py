"""Wrong ways of the chapter `variance-growth`: what theory says."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake


@mistake(
    "sd-for-variance",
    "score_variance",
    "It gives the standard deviation; the variance is the square of that.",
    "variance-growth#the-variance-of-a-score",
)
def _sd_for_variance(d_k, var_q=1.0, var_k=1.0):
    return np.sqrt(d_k * var_q * var_k)


@mistake(
    "variance-grows-squared",
    "score_variance",
    "It squares d_k; the variances of d_k independent products add up to d_k times one of them.",
    "variance-growth#the-variance-of-a-score",
)
def _variance_grows_squared(d_k, var_q=1.0, var_k=1.0):
    return d_k**2 * var_q * var_k


@mistake(
    "variance-does-not-grow",
    "score_variance",
    "It leaves out d_k: that is the variance of one product, and a score is the sum of d_k.",
    "variance-growth#the-variance-of-a-score",
)
def _variance_does_not_grow(d_k, var_q=1.0, var_k=1.0):
    return var_q * var_k


@mistake(
    "variance-of-the-average",
    "score_variance",
    "It divides by d_k, as for the average of the products; a score is their sum.",
    "variance-growth#the-variance-of-a-score",
)
def _variance_of_the_average(d_k, var_q=1.0, var_k=1.0):
    return var_q * var_k / d_k


@mistake(
    "variances-added",
    "score_variance",
    "It adds the variances of query and key; they multiply in a product of independent numbers.",
    "variance-growth#the-variance-of-a-score",
)
def _variances_added(d_k, var_q=1.0, var_k=1.0):
    return d_k * (var_q + var_k)


@mistake(
    "variances-squared",
    "score_variance",
    "It squares the variances; they are the squares of standard deviations already.",
    "variance-growth#the-variance-of-a-score",
)
def _variances_squared(d_k, var_q=1.0, var_k=1.0):
    return d_k * var_q**2 * var_k**2


@mistake(
    "sds-multiplied",
    "score_variance",
    "It takes the roots of the two variances; their product is needed as it is.",
    "variance-growth#the-variance-of-a-score",
)
def _sds_multiplied(d_k, var_q=1.0, var_k=1.0):
    return d_k * np.sqrt(var_q * var_k)


@mistake(
    "mean-for-variance",
    "score_variance",
    "It gives the mean of the scores, 0; the variance says how far they spread around it.",
    "variance-growth#the-variance-of-a-score",
)
def _mean_for_variance(d_k, var_q=1.0, var_k=1.0):
    return 0.0


@mistake(
    "variance-for-sd",
    "score_sd",
    "It gives the variance; the standard deviation is the root of that.",
    "variance-growth#the-variance-of-a-score",
)
def _variance_for_sd(d_k, var_q=1.0, var_k=1.0):
    return d_k * var_q * var_k


@mistake(
    "sd-grows-with-the-width",
    "score_sd",
    "It adds up standard deviations; it is variances that add up, so the result grows with √d_k.",
    "variance-growth#the-variance-of-a-score",
)
def _sd_grows_with_the_width(d_k, var_q=1.0, var_k=1.0):
    return d_k * np.sqrt(var_q * var_k)


@mistake(
    "mean-always-zero",
    "score_mean",
    "It takes 0 for granted; the mean is 0 only if the entries of query or key have mean 0.",
    "variance-growth#when-the-assumptions-fail",
)
def _mean_always_zero(d_k, mean_q, mean_k):
    return 0.0


@mistake(
    "mean-does-not-grow",
    "score_mean",
    "It leaves out d_k: that is the mean of one product, and a score is the sum of d_k.",
    "variance-growth#when-the-assumptions-fail",
)
def _mean_does_not_grow(d_k, mean_q, mean_k):
    return mean_q * mean_k


@mistake(
    "mean-grows-with-the-root",
    "score_mean",
    "It takes √d_k, as for a standard deviation; means add up, so the mean grows with d_k.",
    "variance-growth#when-the-assumptions-fail",
)
def _mean_grows_with_the_root(d_k, mean_q, mean_k):
    return np.sqrt(d_k) * mean_q * mean_k


@mistake(
    "means-added",
    "score_mean",
    "It adds the means of query and key; they multiply in a product of independent numbers.",
    "variance-growth#when-the-assumptions-fail",
)
def _means_added(d_k, mean_q, mean_k):
    return d_k * (mean_q + mean_k)


@mistake(
    "range-from-the-variance",
    "score_range",
    "It takes twice the variance; 95 % lie within twice the standard deviation, √d_k.",
    "variance-growth#how-far-scores-range",
)
def _range_from_the_variance(d_k):
    return 2 * d_k


@mistake(
    "range-of-one-sd",
    "score_range",
    "It takes one standard deviation, within which only about 68 % lie; for 95 % take two.",
    "variance-growth#how-far-scores-range",
)
def _range_of_one_sd(d_k):
    return np.sqrt(d_k)


@mistake(
    "range-without-cancelling",
    "score_range",
    "It adds up d_k products that are all extreme; independent products mostly cancel.",
    "variance-growth#how-far-scores-range",
)
def _range_without_cancelling(d_k):
    extreme_product = 2 * 2
    return d_k * extreme_product


@mistake(
    "range-from-width-and-sd",
    "score_range",
    "It multiplies d_k by √d_k; √d_k is the standard deviation of the whole sum already.",
    "variance-growth#how-far-scores-range",
)
def _range_from_width_and_sd(d_k):
    return d_k * np.sqrt(d_k)


@mistake(
    "variance-divided-once",
    "scaled_variance",
    "It divides the variance by the divisor; the square of the divisor belongs there.",
    "variance-growth#why-the-root",
)
def _variance_divided_once(d_k, divisor):
    return d_k / divisor


@mistake(
    "variance-left-alone",
    "scaled_variance",
    "It leaves the variance as it was; it has to be divided by the square of the divisor.",
    "variance-growth#why-the-root",
)
def _variance_left_alone(d_k, divisor):
    return d_k


@mistake(
    "variance-always-one",
    "scaled_variance",
    "It takes 1 for granted; only dividing by √d_k brings the variance to 1.",
    "variance-growth#why-the-root",
)
def _variance_always_one(d_k, divisor):
    return 1.0


@mistake(
    "keys-equal-to-queries",
    "scaled_variance",
    "It is twice that, as where each key equals its query: draw both from one generator, in turn.",
    "variance-growth#when-the-assumptions-fail",
)
def _keys_equal_to_queries(d_k, divisor):
    return 2 * d_k / divisor**2


@mistake(
    "divisor-for-factor",
    "scale_for",
    "It gives the number to divide by; asked for is the factor, one over that.",
    "variance-growth#why-the-root",
)
def _divisor_for_factor(d_k, var_q=1.0, var_k=1.0):
    return np.sqrt(d_k * var_q * var_k)


@mistake(
    "scale-by-the-variance",
    "scale_for",
    "It divides by the variance, which flattens too much; divide by its root.",
    "variance-growth#why-the-root",
)
def _scale_by_the_variance(d_k, var_q=1.0, var_k=1.0):
    return 1 / (d_k * var_q * var_k)


@mistake(
    "scale-for-unit-variances",
    "scale_for",
    "It looks at d_k alone; 1/√d_k is enough only for entries of variance 1.",
    "variance-growth#when-the-assumptions-fail",
)
def _scale_for_unit_variances(d_k, var_q=1.0, var_k=1.0):
    return 1 / np.sqrt(d_k)


@mistake(
    "no-need-for-scale",
    "scale_for",
    "It leaves the scores as they are; softmax makes them sum to 1, but does not narrow them.",
    "variance-growth#what-the-scale-is-not-for",
)
def _no_need_for_scale(d_k, var_q=1.0, var_k=1.0):
    return 1.0


@mistake(
    "scale-by-model-width",
    "head_scale",
    "It takes the width of the model; a head compares vectors of width d_k = d_model / heads.",
    "variance-growth#what-the-scale-is-not-for",
)
def _scale_by_model_width(d_model, n_heads, n_k):
    return 1 / np.sqrt(d_model)


@mistake(
    "scale-by-sequence-length",
    "head_scale",
    "It takes the number of keys; a score sums over the width of a head, not over the keys.",
    "variance-growth#what-the-scale-is-not-for",
)
def _scale_by_sequence_length(d_model, n_heads, n_k):
    return 1 / np.sqrt(n_k)


@mistake(
    "scale-by-number-of-heads",
    "head_scale",
    "It takes the number of heads; a score sums over the width of one head, d_model / heads.",
    "variance-growth#what-the-scale-is-not-for",
)
def _scale_by_number_of_heads(d_model, n_heads, n_k):
    return 1 / np.sqrt(n_heads)


@mistake(
    "scale-by-head-width",
    "head_scale",
    "It divides by d_k instead of √d_k, which flattens the weights too much.",
    "variance-growth#why-the-root",
)
def _scale_by_head_width(d_model, n_heads, n_k):
    return n_heads / d_model
