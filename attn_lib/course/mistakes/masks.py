"""Wrong ways of the chapter `masking`: making a mask."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.masks import causal_mask, padding_mask


@mistake(
    "causal-mask-inverted",
    "causal_mask",
    "It says True for the future; True has to mean that the query may attend.",
    "masking#two-conventions",
)
def _causal_mask_inverted(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), dtype=bool), k=1)


@mistake(
    "causal-mask-transposed",
    "causal_mask",
    "It keeps the future and hides the past: row i, the query, may use the keys j ≤ i.",
    "masking#the-causal-mask",
)
def _causal_mask_transposed(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), dtype=bool))


@mistake(
    "causal-mask-without-itself",
    "causal_mask",
    "It also hides each position from itself, so the first row is empty; the diagonal is allowed.",
    "masking#the-causal-mask",
)
def _causal_mask_without_itself(n_q, n_k):
    return ~np.triu(np.ones((n_q, n_k), dtype=bool), k=0)


@mistake(
    "causal-mask-one-too-far",
    "causal_mask",
    "It lets every query see one key too many, the next one.",
    "masking#the-causal-mask",
)
def _causal_mask_one_too_far(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=1)


@mistake(
    "causal-mask-aligned-at-the-end",
    "causal_mask",
    "It puts the last query beside the last key; here query i and key i stand side by side.",
    "masking#more-keys-than-queries",
)
def _causal_mask_aligned_at_the_end(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=n_k - n_q)


@mistake(
    "causal-mask-of-ones",
    "causal_mask",
    "It hides nothing; keys after the query's own position have to be False.",
    "masking#the-causal-mask",
)
def _causal_mask_of_ones(n_q, n_k):
    return np.ones((n_q, n_k), dtype=bool)


@mistake(
    "cache-mask-aligned-at-the-start",
    "cached_causal_mask",
    "It puts the first query beside the first key; with a cache the last ones stand side by side.",
    "masking#more-keys-than-queries",
)
def _cache_mask_aligned_at_the_start(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool))


@mistake(
    "cache-mask-shifted-the-wrong-way",
    "cached_causal_mask",
    "It shifts by n_q − n_k, which hides more of the past; the offset is n_k − n_q.",
    "masking#more-keys-than-queries",
)
def _cache_mask_shifted_the_wrong_way(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=n_q - n_k)


@mistake(
    "cache-mask-without-itself",
    "cached_causal_mask",
    "It hides each query's own key; the offset is n_k − n_q, and the diagonal is allowed.",
    "masking#more-keys-than-queries",
)
def _cache_mask_without_itself(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=n_k - n_q - 1)


@mistake(
    "cache-mask-one-too-far",
    "cached_causal_mask",
    "It lets queries see one key too many, the next one; the offset is n_k − n_q.",
    "masking#more-keys-than-queries",
)
def _cache_mask_one_too_far(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=n_k - n_q + 1)


@mistake(
    "cache-mask-inverted",
    "cached_causal_mask",
    "It says True for the future and hides the cache; True means that the query may attend.",
    "masking#two-conventions",
)
def _cache_mask_inverted(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), dtype=bool), k=n_k - n_q + 1)


@mistake(
    "padding-mask-inverted",
    "padding_mask",
    "It says True for the padding; True has to mean that the key may be attended to.",
    "masking#two-conventions",
)
def _padding_mask_inverted(lengths, n_k):
    return np.arange(n_k) >= np.asarray(lengths)[..., None, None]


@mistake(
    "padding-mask-one-too-long",
    "padding_mask",
    "It lets one padded key through: keys are counted from 0, so the last real one is length − 1.",
    "masking#the-padding-mask",
)
def _padding_mask_one_too_long(lengths, n_k):
    return np.arange(n_k) <= np.asarray(lengths)[..., None, None]


@mistake(
    "padding-mask-from-the-wrong-end",
    "padding_mask",
    "It takes the padding to come before the tokens; here it comes after them.",
    "masking#the-padding-mask",
)
def _padding_mask_from_the_wrong_end(lengths, n_k):
    return np.arange(n_k) >= n_k - np.asarray(lengths)[..., None, None]


@mistake(
    "padding-mask-on-the-queries",
    "padding_mask",
    "It hides rows, the queries; padding is hidden as a key, in the columns.",
    "masking#queries-or-keys",
)
def _padding_mask_on_the_queries(lengths, n_k):
    return np.arange(n_k)[:, None] < np.asarray(lengths)[..., None, None]


@mistake(
    "padding-mask-of-the-longest",
    "padding_mask",
    "It gives every sequence the length of the longest; each has its own.",
    "masking#the-padding-mask",
)
def _padding_mask_of_the_longest(lengths, n_k):
    longest = np.full_like(lengths, np.max(lengths))
    return np.arange(n_k) < longest[..., None, None]


@mistake(
    "masks-joined-by-or",
    "combined_mask",
    "It allows what either mask allows; a key has to be allowed by both.",
    "masking#combining-masks",
)
def _masks_joined_by_or(lengths, n):
    return causal_mask(n, n) | padding_mask(lengths, n)


@mistake(
    "padding-alone",
    "combined_mask",
    "It hides the padding and leaves the future visible.",
    "masking#combining-masks",
)
def _padding_alone(lengths, n):
    return padding_mask(lengths, n) & np.ones((n, n), dtype=bool)


@mistake(
    "causality-alone",
    "combined_mask",
    "It hides the future and leaves the padding visible to the queries after it.",
    "masking#combining-masks",
)
def _causality_alone(lengths, n):
    return np.broadcast_to(causal_mask(n, n), (*np.shape(lengths), n, n))


@mistake(
    "padded-queries-hidden",
    "combined_mask",
    "It empties the rows of padded queries; padding is hidden as a key, in the columns.",
    "masking#queries-or-keys",
)
def _padded_queries_hidden(lengths, n):
    return causal_mask(n, n) & np.swapaxes(padding_mask(lengths, n), -1, -2)


@mistake(
    "window-one-too-wide",
    "window_mask",
    "It keeps one key too many: the query's own key counts among those of the window.",
    "masking#the-sliding-window",
)
def _window_one_too_wide(n, width):
    behind = np.arange(n)[:, None] - np.arange(n)
    return (behind >= 0) & (behind <= width)


@mistake(
    "window-to-both-sides",
    "window_mask",
    "It reaches as far ahead as back; a causal window ends at the query.",
    "masking#the-sliding-window",
)
def _window_to_both_sides(n, width):
    behind = np.arange(n)[:, None] - np.arange(n)
    return np.abs(behind) < width


@mistake(
    "window-that-shows-the-future",
    "window_mask",
    "It hides only what lies before the window; the future has to be hidden as well.",
    "masking#the-sliding-window",
)
def _window_that_shows_the_future(n, width):
    behind = np.arange(n)[:, None] - np.arange(n)
    return behind < width


@mistake(
    "window-without-itself",
    "window_mask",
    "It ends before the query, so the first row is empty; the query's own key is in the window.",
    "masking#the-sliding-window",
)
def _window_without_itself(n, width):
    behind = np.arange(n)[:, None] - np.arange(n)
    return (behind > 0) & (behind <= width)


@mistake(
    "blocks-for-a-window",
    "window_mask",
    "It cuts the sequence into fixed blocks; the window moves along with the query.",
    "masking#the-sliding-window",
)
def _blocks_for_a_window(n, width):
    block = np.arange(n) // width
    return (block[:, None] == block) & np.tril(np.ones((n, n), dtype=bool))


@mistake(
    "convention-not-converted",
    "mask_from_key_padding",
    "It keeps True for the padding; here True means that the key may be attended to.",
    "masking#two-conventions",
)
def _convention_not_converted(blocked):
    return blocked[:, None, :]


@mistake(
    "key-padding-on-the-queries",
    "mask_from_key_padding",
    "It hides rows, the queries; padding is hidden as a key, in the columns.",
    "masking#queries-or-keys",
)
def _key_padding_on_the_queries(blocked):
    return ~blocked[:, :, None]


@mistake(
    "key-padding-without-query-axis",
    "mask_from_key_padding",
    "It has no axis for the queries, so NumPy would take the sequences of the batch for them.",
    "masking#the-padding-mask",
)
def _key_padding_without_query_axis(blocked):
    return ~blocked


@mistake(
    "hidden-keys-counted",
    "visible_keys",
    "It counts the keys that are hidden; True marks the visible ones.",
    "masking#two-conventions",
)
def _hidden_keys_counted(mask):
    return np.sum(~mask, axis=-1)


@mistake(
    "seeing-queries-counted",
    "visible_keys",
    "It counts for each key the queries that see it; a query's keys stand in its row.",
    "masking#queries-or-keys",
)
def _seeing_queries_counted(mask):
    return np.sum(mask, axis=-2)
