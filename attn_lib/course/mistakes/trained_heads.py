"""Wrong ways of the chapter `from-text-to-next-word`: roles of heads, writing."""

from __future__ import annotations

import numpy as np

from attn_lib.course.given import read
from attn_lib.course.mistakes.core import mistake


def _best(scores):
    return np.array(np.unravel_index(np.argmax(scores), np.shape(scores)))


def _again(ids):
    """Return the places of words that come again, and of their first occurrences."""
    first = np.array([np.flatnonzero(ids == word)[0] for word in ids])
    again = np.flatnonzero(first < np.arange(len(ids)))
    return again, first[again]


@mistake(
    "same-word-for-induction",
    "induction_head",
    "It looks for weight on the first occurrence itself; what counts is the word after it.",
    "from-text-to-next-word#what-each-head-does",
)
def _same_word_for_induction(weights, ids):
    again, first = _again(ids)
    return _best(weights[..., again, first].mean(axis=-1))


@mistake(
    "word-before-for-word-after",
    "induction_head",
    "It looks for weight on the word before the first occurrence; what counts is the word after.",
    "from-text-to-next-word#what-each-head-does",
)
def _word_before_for_word_after(weights, ids):
    again, first = _again(ids)
    return _best(weights[..., again, np.maximum(first - 1, 0)].mean(axis=-1))


@mistake(
    "previous-word-for-induction",
    "induction_head",
    "It measures how much each word looks at the one before it; that is the previous-word head.",
    "from-text-to-next-word#what-each-head-does",
)
def _previous_word_for_induction(weights, ids):
    places = np.arange(1, len(ids))
    return _best(weights[..., places, places - 1].mean(axis=-1))


@mistake(
    "keys-for-queries-in-a-map",
    "induction_head",
    "It swaps the axes of the map: the row is the word that looks, the column is looked at.",
    "from-text-to-next-word#what-each-head-does",
)
def _keys_for_queries_in_a_map(weights, ids):
    again, first = _again(ids)
    return _best(weights[..., first + 1, again].mean(axis=-1))


@mistake(
    "sharpest-for-induction",
    "induction_head",
    "It takes the head with the largest weight anywhere; what counts is where it looks.",
    "from-text-to-next-word#what-each-head-does",
)
def _sharpest_for_induction(weights, ids):
    return _best(weights.max(axis=-1).mean(axis=-1))


@mistake(
    "least-induction",
    "induction_head",
    "It takes the head that looks there least; the induction head looks there most.",
    "from-text-to-next-word#what-each-head-does",
)
def _least_induction(weights, ids):
    again, first = _again(ids)
    return _best(-weights[..., again, first + 1].mean(axis=-1))


@mistake(
    "layer-and-head-counted-from-one",
    "induction_head",
    "It counts layers and heads from 1; as indices of an array they count from 0.",
    "from-text-to-next-word#what-each-head-does",
)
def _layer_and_head_counted_from_one(weights, ids):
    again, first = _again(ids)
    return _best(weights[..., again, first + 1].mean(axis=-1)) + 1


@mistake(
    "head-before-layer",
    "induction_head",
    "It gives the head before the layer.",
    "from-text-to-next-word#what-each-head-does",
)
def _head_before_layer(weights, ids):
    again, first = _again(ids)
    return _best(weights[..., again, first + 1].mean(axis=-1))[::-1]


@mistake(
    "heads-divided-by-layers",
    "induction_head",
    "It divides the running number of the head by the number of layers, not of heads in a layer.",
    "from-text-to-next-word#what-each-head-does",
)
def _heads_divided_by_layers(weights, ids):
    again, first = _again(ids)
    running = weights[..., again, first + 1].mean(axis=-1).argmax()
    return np.array(divmod(running, len(weights)))


@mistake(
    "columns-of-the-head",
    "without_head",
    "It sets columns to 0; the head's numbers go in by rows.",
    "from-text-to-next-word#leaving-a-head-out",
)
def _columns_of_the_head(w_o, n_heads, head):
    left, width = w_o.copy(), w_o.shape[1] // n_heads
    left[:, head * width : (head + 1) * width] = 0
    return left


@mistake(
    "the-head-before",
    "without_head",
    "It counts heads from 1; the first is head 0.",
    "from-text-to-next-word#leaving-a-head-out",
)
def _the_head_before(w_o, n_heads, head):
    left, width = w_o.copy(), len(w_o) // n_heads
    left[max(head - 1, 0) * width : head * width] = 0
    return left


@mistake(
    "rows-in-turn",
    "without_head",
    "It takes every n_heads-th row; a head has a run of neighbours.",
    "putting-it-together#merging-the-heads",
)
def _rows_in_turn(w_o, n_heads, head):
    left = w_o.copy()
    left[head::n_heads] = 0
    return left


@mistake(
    "number-of-heads-for-their-width",
    "without_head",
    "It takes n_heads rows; a head has as many rows as it is wide.",
    "putting-it-together#merging-the-heads",
)
def _number_of_heads_for_their_width(w_o, n_heads, head):
    left = w_o.copy()
    left[head * n_heads : (head + 1) * n_heads] = 0
    return left


@mistake(
    "only-the-head-left",
    "without_head",
    "It keeps this head and leaves out the others.",
    "from-text-to-next-word#leaving-a-head-out",
)
def _only_the_head_left(w_o, n_heads, head):
    left, width = np.zeros_like(w_o), len(w_o) // n_heads
    rows = slice(head * width, (head + 1) * width)
    left[rows] = w_o[rows]
    return left


@mistake(
    "rows-cut-out",
    "without_head",
    "It cuts the rows out; the merged heads are as wide as before, so set them to 0.",
    "from-text-to-next-word#leaving-a-head-out",
)
def _rows_cut_out(w_o, n_heads, head):
    width = len(w_o) // n_heads
    return np.delete(w_o, slice(head * width, (head + 1) * width), axis=0)


@mistake(
    "lead-with-the-head",
    "lead_without_head",
    "It is the lead with all heads; subtract what the head adds to it.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _lead_with_the_head(parts, head):
    return (parts[:, 0] - parts[:, 1]).sum()


@mistake(
    "lead-of-the-head-alone",
    "lead_without_head",
    "It is what the head adds to the lead; the other parts remain.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _lead_of_the_head_alone(parts, head):
    return parts[head, 0] - parts[head, 1]


@mistake(
    "logit-for-lead",
    "lead_without_head",
    "It is a logit; the lead is the difference of two.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _logit_for_lead(parts, head):
    return parts[:, 0].sum() - parts[head, 0]


@mistake(
    "half-a-head-left-out",
    "lead_without_head",
    "It takes away what the head adds to the first word and forgets what it adds to the second.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _half_a_head_left_out(parts, head):
    return (parts[:, 0] - parts[:, 1]).sum() - parts[head, 0]


@mistake(
    "lead-the-other-way",
    "lead_without_head",
    "It is the lead of the second word over the first.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _lead_the_other_way(parts, head):
    leads = parts[:, 1] - parts[:, 0]
    return leads.sum() - leads[head]


@mistake(
    "new-words-at-position-zero",
    "write",
    "It reads each new word at position 0; its position is the number of words before it.",
    "from-text-to-next-word#writing-word-by-word",
)
def _new_words_at_position_zero(ids, n_words):
    text, new, cache = [*ids], ids, None
    for _ in range(n_words):
        logits, cache = read(new, 0, cache)
        new = [logits[-1].argmax()]
        text += new
    return np.array(text)


@mistake(
    "new-words-one-place-too-far",
    "write",
    "It leaves a gap before each new word; its position is the number of words before it.",
    "from-text-to-next-word#writing-word-by-word",
)
def _new_words_one_place_too_far(ids, n_words):
    logits, cache = read(ids, 0)
    text = [*ids, logits[-1].argmax()]
    while len(text) < len(ids) + n_words:
        logits, cache = read(text[-1:], len(text), cache)
        text.append(logits[-1].argmax())
    return np.array(text)


@mistake(
    "new-words-without-the-cache",
    "write",
    "It reads each new word without the cache, so that the model has forgotten all words before.",
    "from-text-to-next-word#writing-word-by-word",
)
def _new_words_without_the_cache(ids, n_words):
    text, new, start = [*ids], ids, 0
    for _ in range(n_words):
        logits, _ = read(new, start)
        start = len(text)
        new = [logits[-1].argmax()]
        text += new
    return np.array(text)


@mistake(
    "cache-of-the-prompt-alone",
    "write",
    "It keeps the cache of the prompt; keep the one that each call returns, new word included.",
    "from-text-to-next-word#writing-word-by-word",
)
def _cache_of_the_prompt_alone(ids, n_words):
    logits, cache = read(ids, 0)
    text = [*ids, logits[-1].argmax()]
    while len(text) < len(ids) + n_words:
        logits, _ = read(text[-1:], len(text) - 1, cache)
        text.append(logits[-1].argmax())
    return np.array(text)


@mistake(
    "logits-after-the-first-word",
    "write",
    "It takes the logits after the first word that was read; those after the last one count.",
    "from-text-to-next-word#from-logits-to-the-next-word",
)
def _logits_after_the_first_word(ids, n_words):
    text, new, start, cache = [*ids], ids, 0, None
    for _ in range(n_words):
        logits, cache = read(new, start, cache)
        start = len(text)
        new = [logits[0].argmax()]
        text += new
    return np.array(text)


@mistake(
    "prompt-not-returned",
    "write",
    "It returns the new words alone; the text begins with the prompt.",
    "from-text-to-next-word#writing-word-by-word",
)
def _prompt_not_returned(ids, n_words):
    text, new, start, cache = [*ids], ids, 0, None
    for _ in range(n_words):
        logits, cache = read(new, start, cache)
        start = len(text)
        new = [logits[-1].argmax()]
        text += new
    return np.array(text[len(ids) :])
