"""Wrong ways of the chapter `softmax-saturation`: weights and how to compute them safely."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.softmax import softmax


@mistake(
    "odds-for-weight",
    "two_key_weight",
    "It gives how many times as large the larger weight is; divide by the sum of both.",
    "softmax-saturation#only-differences-matter",
)
def _odds_for_weight(gap):
    return np.exp(gap)


@mistake(
    "weight-of-the-other-key",
    "two_key_weight",
    "It gives the weight of the key with the lower score; the sign of the gap is turned round.",
    "softmax-saturation#only-differences-matter",
)
def _weight_of_the_other_key(gap):
    return 1 / (1 + np.exp(gap))


@mistake(
    "gap-shared-without-exponential",
    "two_key_weight",
    "It shares by the gap itself; exponentiate the scores before sharing.",
    "softmax-saturation#only-differences-matter",
)
def _gap_shared_without_exponential(gap):
    return gap / (1 + gap)


@mistake(
    "temperature-multiplied",
    "tempered_softmax",
    "It multiplies by the temperature; a high temperature divides the scores and flattens.",
    "softmax-saturation#temperature",
)
def _temperature_multiplied(scores, temperature):
    return softmax(scores * temperature)


@mistake(
    "temperature-after-softmax",
    "tempered_softmax",
    "It divides the weights, which then no longer sum to 1; divide the scores.",
    "softmax-saturation#temperature",
)
def _temperature_after_softmax(scores, temperature):
    return softmax(scores) / temperature


@mistake(
    "root-of-the-temperature",
    "tempered_softmax",
    "It divides by the root of the temperature; √d_k is the temperature itself.",
    "softmax-saturation#temperature",
)
def _root_of_the_temperature(scores, temperature):
    return softmax(scores / np.sqrt(temperature))


@mistake(
    "temperature-ignored",
    "tempered_softmax",
    "It does not use the temperature.",
    "softmax-saturation#temperature",
)
def _temperature_ignored(scores, temperature):
    return softmax(scores)


@mistake(
    "log-sum-exp-that-overflows",
    "log_sum_exp",
    "It exponentiates large scores directly, which overflows; subtract the row's largest first.",
    "softmax-saturation#numerical-stability",
)
def _log_sum_exp_that_overflows(scores):
    return np.log(np.sum(np.exp(scores), axis=-1))


@mistake(
    "maximum-not-added-back",
    "log_sum_exp",
    "It does not add the row's largest score back after the logarithm.",
    "softmax-saturation#numerical-stability",
)
def _maximum_not_added_back(scores):
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(shifted), axis=-1))


@mistake(
    "maximum-for-log-sum-exp",
    "log_sum_exp",
    "It gives the largest score; the other scores add to it.",
    "softmax-saturation#numerical-stability",
)
def _maximum_for_log_sum_exp(scores):
    return np.max(scores, axis=-1)


@mistake(
    "log-mean-exp",
    "log_sum_exp",
    "It averages the exponentials; log-sum-exp sums them.",
    "softmax-saturation#numerical-stability",
)
def _log_mean_exp(scores):
    row_max = np.max(scores, axis=-1, keepdims=True)
    return row_max[..., 0] + np.log(np.mean(np.exp(scores - row_max), axis=-1))


@mistake(
    "log-sum-exp-over-queries",
    "log_sum_exp",
    "It sums down each column; sum over the keys, the last axis.",
    "softmax-saturation#numerical-stability",
)
def _log_sum_exp_over_queries(scores):
    column_max = np.max(scores, axis=-2, keepdims=True)
    return column_max[..., 0, :] + np.log(np.sum(np.exp(scores - column_max), axis=-2))


@mistake(
    "logarithm-of-a-lost-weight",
    "log_softmax",
    "It takes the logarithm of weights too small for their type; subtract log-sum-exp instead.",
    "softmax-saturation#numerical-stability",
)
def _logarithm_of_a_lost_weight(scores):
    return np.log(softmax(scores))


@mistake(
    "maximum-for-the-normaliser",
    "log_softmax",
    "It subtracts only the row's largest score; the logarithm of the sum is still missing.",
    "softmax-saturation#numerical-stability",
)
def _maximum_for_the_normaliser(scores):
    return scores - np.max(scores, axis=-1, keepdims=True)


@mistake(
    "logarithm-to-base-two",
    "log_softmax",
    "It takes a logarithm to base 2; that of an exponential is np.log, to base e.",
    "softmax-saturation#numerical-stability",
)
def _logarithm_to_base_two(scores):
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=-1, keepdims=True))


@mistake(
    "limit-of-the-type",
    "overflow_limit",
    "It gives the largest number of the type; exp reaches that at its logarithm.",
    "softmax-saturation#numerical-stability",
)
def _limit_of_the_type(dtype):
    return float(np.finfo(dtype).max)


@mistake(
    "limit-in-powers-of-two",
    "overflow_limit",
    "It counts powers of 2; exp raises e, so take the natural logarithm.",
    "softmax-saturation#numerical-stability",
)
def _limit_in_powers_of_two(dtype):
    return np.log2(float(np.finfo(dtype).max))


@mistake(
    "limit-in-powers-of-ten",
    "overflow_limit",
    "It counts powers of 10; exp raises e, so take the natural logarithm.",
    "softmax-saturation#numerical-stability",
)
def _limit_in_powers_of_ten(dtype):
    return np.log10(float(np.finfo(dtype).max))


@mistake(
    "largest-weight-of-all",
    "mean_largest_weight",
    "It takes the largest weight of the whole array; take each row's own, then the average.",
    "softmax-saturation#how-sharp-the-weights-are",
)
def _largest_weight_of_all(scores):
    return softmax(scores).max()


@mistake(
    "largest-average-weight",
    "mean_largest_weight",
    "It averages over the rows first, which hides how sharp each row is.",
    "softmax-saturation#how-sharp-the-weights-are",
)
def _largest_average_weight(scores):
    return softmax(scores).mean(axis=-2).max()


@mistake(
    "largest-weight-of-a-column",
    "mean_largest_weight",
    "It takes the largest weight of each column; a query's weights are a row.",
    "softmax-saturation#how-sharp-the-weights-are",
)
def _largest_weight_of_a_column(scores):
    return softmax(scores).max(axis=-2).mean()
