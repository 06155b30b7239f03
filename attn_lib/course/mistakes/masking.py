"""Wrong ways of the chapter `masking`: applying a mask."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.course.targets import masked_attention
from attn_lib.softmax import softmax


@mistake(
    "nearly-zero-for-minus-infinity",
    "additive_mask",
    "It adds −1e-9, which is next to nothing; −inf is meant.",
    "masking#minus-infinity-and-its-stand-ins",
)
def _nearly_zero_for_minus_infinity(allowed):
    return np.where(allowed, 0.0, -1e-9)


@mistake(
    "large-negative-added",
    "additive_mask",
    "It adds −1e9: in a row with no key allowed the scores still decide, and padding leaks in.",
    "masking#rows-with-nothing-to-attend-to",
)
def _large_negative_added(allowed):
    return np.where(allowed, 0.0, -1e9)


@mistake(
    "zeros-and-ones-added",
    "additive_mask",
    "It adds 1 to allowed scores and 0 to the others; allowed scores get 0, the others −inf.",
    "masking#two-conventions",
)
def _zeros_and_ones_added(allowed):
    return np.asarray(allowed).astype(float)


@mistake(
    "additive-mask-inverted",
    "additive_mask",
    "It puts −inf where attention is allowed and 0 where it is not.",
    "masking#two-conventions",
)
def _additive_mask_inverted(allowed):
    return np.where(allowed, -np.inf, 0.0)


@mistake(
    "minus-infinity-times-zero",
    "additive_mask",
    "It multiplies −inf by 0 where attention is allowed, which gives NaN; choose with np.where.",
    "masking#minus-infinity-and-its-stand-ins",
)
def _minus_infinity_times_zero(allowed):
    return (1 - np.asarray(allowed).astype(float)) * -np.inf


@mistake(
    "zero-for-minus-infinity",
    "masked_scores",
    "It puts 0 for a hidden score; exp(0) is 1, so the hidden key keeps weight.",
    "masking#minus-infinity-and-its-stand-ins",
)
def _zero_for_minus_infinity(scores, mask):
    return np.where(mask, scores, 0.0)


@mistake(
    "large-negative-fill",
    "masked_scores",
    "It puts −1e9 for −inf: in a row with no key allowed, all hidden keys then share the weight.",
    "masking#rows-with-nothing-to-attend-to",
)
def _large_negative_fill(scores, mask):
    return np.where(mask, scores, -1e9)


@mistake(
    "mask-inverted",
    "masked_scores",
    "It hides what the mask allows; True means that the query may attend.",
    "masking#two-conventions",
)
def _mask_inverted(scores, mask):
    return np.where(mask, -np.inf, scores)


@mistake(
    "mask-transposed",
    "masked_scores",
    "It transposes the mask; rows are queries and columns are keys, as in the scores.",
    "masking#queries-or-keys",
)
def _mask_transposed(scores, mask):
    return np.where(np.swapaxes(mask, -1, -2), scores, -np.inf)


@mistake(
    "mask-not-used",
    "masked_scores",
    "It does not use the mask, so hidden keys keep their weight; a hidden score has to be −inf.",
    "masking#before-the-softmax",
)
def _mask_not_used(scores, mask):
    return scores


@mistake(
    "scores-times-mask",
    "masked_softmax",
    "It multiplies scores by the mask; that makes hidden scores 0, and exp(0) is 1.",
    "masking#minus-infinity-and-its-stand-ins",
)
def _scores_times_mask(scores, mask):
    return softmax(scores * mask)


@mistake(
    "mask-after-softmax",
    "masked_softmax",
    "It sets weights to 0 after the softmax, so rows no longer sum to 1; mask the scores before.",
    "masking#before-the-softmax",
)
def _mask_after_softmax(scores, mask):
    return softmax(scores) * mask


@mistake(
    "minus-infinity-after-softmax",
    "masked_softmax",
    "It puts −inf among the weights; −inf belongs among the scores, where softmax makes it 0.",
    "masking#before-the-softmax",
)
def _minus_infinity_after_softmax(scores, mask):
    return np.where(mask, softmax(scores), -np.inf)


@mistake(
    "empty-rows-become-nan",
    "masked_softmax",
    "It divides 0 by 0 in a row with no key allowed; such a row has to be all 0.",
    "masking#rows-with-nothing-to-attend-to",
)
def _empty_rows_become_nan(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    exponentials = np.exp(hidden - np.max(hidden, axis=-1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


@mistake(
    "renormalised-after-the-mask",
    "masked_softmax",
    "It masks after the softmax and normalises again, which gives 0/0 beside large hidden scores.",
    "masking#before-the-softmax",
)
def _renormalised_after_the_mask(scores, mask):
    allowed_weights = softmax(scores) * mask
    return allowed_weights / np.sum(allowed_weights, axis=-1, keepdims=True)


@mistake(
    "query-mask-for-key-mask",
    "padded_attention",
    "It hides the padded queries; padded keys, which all queries look at, have to be hidden.",
    "masking#queries-or-keys",
)
def _query_mask_for_key_mask(q, k, v, lengths):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    real = np.arange(q.shape[-2])[:, None] < np.asarray(lengths)[..., None, None]
    return softmax(np.where(real, scores, -np.inf)) @ v


@mistake(
    "padded-queries-hidden-too",
    "padded_attention",
    "It hides all keys from padded queries as well; only padded keys have to be hidden.",
    "masking#queries-or-keys",
)
def _padded_queries_hidden_too(q, k, v, lengths):
    ends = np.asarray(lengths)[..., None, None]
    real = np.arange(q.shape[-2])[:, None] < ends
    return masked_attention(q, k, v, real & (np.arange(k.shape[-2]) < ends))


@mistake(
    "padding-cut-from-the-values",
    "padded_attention",
    "It makes the padded values 0, but their keys keep weight; hide the keys before the softmax.",
    "masking#before-the-softmax",
)
def _padding_cut_from_the_values(q, k, v, lengths):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    real = np.arange(k.shape[-2])[:, None] < np.asarray(lengths)[..., None, None]
    return softmax(scores) @ (v * real)
