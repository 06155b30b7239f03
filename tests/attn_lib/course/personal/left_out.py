"""Mistakes that learners' numbers cannot reveal, with reasons; the proofs use these too."""

from __future__ import annotations

_IN_SMALL_SCORES = {"softmax-that-overflows": "The scores are small enough for an exponential."}

#: Not visible in the weights of one query.
IN_ONE_ROW = {
    "softmax-over-everything": "The one row is everything.",
    "softmax-over-each-matrix": "The one row is the whole matrix.",
    "softmax-shifted-by-overall-maximum": "The one row has the overall maximum.",
    **_IN_SMALL_SCORES,
}

#: Not visible, by more than a hundredth, in the scaled weights of one query.
BY_WIDE_SCORES = {
    **IN_ONE_ROW,
    "weights-rounded-midway": "The weights are the answer, and two decimals are near three.",
}

#: Not visible in the scaled scores of one query and two keys, each of two numbers.
IN_SCORES_OF_TWO_KEYS = {"scale-by-number-of-keys": "There are as many keys as numbers in each."}

#: Not visible in the attention of one query to two keys, each of two numbers.
BY_TWO_KEYS = {
    **IN_SCORES_OF_TWO_KEYS,
    **IN_ONE_ROW,
    "scale-by-width-of-values": "A value is as wide as a key.",
}

#: Not visible in several rows of small scores.
IN_SMALL_ROWS = {
    "softmax-shifted-by-overall-maximum": "No row lies far below the others.",
    **_IN_SMALL_SCORES,
}

_OWN_KEY = "A query's own key is always visible, so no row is empty."

#: Not visible in a row of a causal matrix of small scores.
IN_A_CAUSAL_ROW = {
    "renormalised-after-the-mask": _OWN_KEY,
    "large-negative-fill": _OWN_KEY,
    "large-negative-added": _OWN_KEY,
    "empty-rows-become-nan": _OWN_KEY,
    **IN_SMALL_ROWS,
}
