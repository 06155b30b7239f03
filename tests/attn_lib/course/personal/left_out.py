"""Mistakes that learners' numbers cannot show, each with the reason; the proofs argue them too."""

from __future__ import annotations

_IN_SMALL_SCORES = {"softmax-that-overflows": "The scores are small enough for an exponential."}

#: In the weights of one query.
IN_ONE_ROW = {
    "softmax-over-everything": "The one row is everything.",
    "softmax-shifted-by-overall-maximum": "The one row has the overall maximum.",
    **_IN_SMALL_SCORES,
}

#: In the scaled scores of one query and two keys of two numbers.
IN_SCORES_OF_TWO_KEYS = {"scale-by-number-of-keys": "There are as many keys as numbers in each."}

#: In their attention.
BY_TWO_KEYS = IN_SCORES_OF_TWO_KEYS | IN_ONE_ROW

#: In several rows of scores, all small.
IN_SMALL_ROWS = {
    "softmax-shifted-by-overall-maximum": "No row lies far below the others.",
    **_IN_SMALL_SCORES,
}

_OWN_KEY = "A query's own key is always visible, so no row is empty."

#: In a row of a causal matrix of small scores.
IN_A_CAUSAL_ROW = {
    "renormalised-after-the-mask": _OWN_KEY,
    "large-negative-fill": _OWN_KEY,
    "large-negative-added": _OWN_KEY,
    "empty-rows-become-nan": _OWN_KEY,
    **IN_SMALL_ROWS,
}
