"""Wrong ways of the chapter `from-text-to-next-word`: rotary positions, words in another order."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.model import sinusoidal


def _turned(x, angles):
    """Return x with each pair of neighbours turned by an angle."""
    cos, sin = np.cos(angles), np.sin(angles)
    across, up = x[..., 0::2], x[..., 1::2]
    pairs = np.stack([across * cos - up * sin, across * sin + up * cos], axis=-1)
    return pairs.reshape(x.shape)


def _frequencies(d):
    return 10000.0 ** (-np.arange(0, d, 2) / d)


@mistake(
    "rotated-backwards",
    "rotate",
    "It turns the other way; the new first entry is a·cos − b·sin.",
    "from-text-to-next-word#order",
)
def _rotated_backwards(x, positions):
    return _turned(x, -positions[:, None] * _frequencies(x.shape[-1]))


@mistake(
    "halves-for-pairs",
    "rotate",
    "It pairs entry i with entry i + d/2, as some models do; here neighbours are pairs.",
    "from-text-to-next-word#order",
)
def _halves_for_pairs(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] * _frequencies(x.shape[-1])
    across, up = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([across * cos - up * sin, across * sin + up * cos], axis=-1)


@mistake(
    "pairs-taken-apart",
    "rotate",
    "It puts all first entries of the pairs before all second ones; they stay neighbours.",
    "from-text-to-next-word#order",
)
def _pairs_taken_apart(x, positions):
    turned = _turned(x, positions[:, None] * _frequencies(x.shape[-1]))
    return np.concatenate([turned[..., 0::2], turned[..., 1::2]], axis=-1)


@mistake(
    "rotated-one-position-too-far",
    "rotate",
    "It counts positions from 1; a vector at position 0 is not turned.",
    "from-text-to-next-word#order",
)
def _rotated_one_position_too_far(x, positions):
    return _turned(x, (positions[:, None] + 1) * _frequencies(x.shape[-1]))


@mistake(
    "rotated-by-rows",
    "rotate",
    "It numbers the rows itself; their positions are given.",
    "from-text-to-next-word#order",
)
def _rotated_by_rows(x, positions):
    return _turned(x, np.arange(x.shape[-2])[:, None] * _frequencies(x.shape[-1]))


@mistake(
    "one-frequency-for-all-pairs",
    "rotate",
    "It turns all pairs by the same angle; each pair turns more slowly than the one before.",
    "from-text-to-next-word#order",
)
def _one_frequency_for_all_pairs(x, positions):
    return _turned(x, positions[:, None] * np.ones(x.shape[-1] // 2))


@mistake(
    "frequencies-growing",
    "rotate",
    "It leaves out the minus in the exponent, so later pairs turn faster, not more slowly.",
    "from-text-to-next-word#order",
)
def _frequencies_growing(x, positions):
    return _turned(x, positions[:, None] / _frequencies(x.shape[-1]))


@mistake(
    "exponent-without-the-two",
    "rotate",
    "It takes i/d for the exponent of pair i; it is 2i/d.",
    "from-text-to-next-word#order",
)
def _exponent_without_the_two(x, positions):
    return _turned(x, positions[:, None] * np.sqrt(_frequencies(x.shape[-1])))


@mistake(
    "second-entry-from-the-turned-first",
    "rotate",
    "It computes the second entry of a pair from the first one after its turn; take it before.",
    "from-text-to-next-word#order",
)
def _second_entry_from_the_turned_first(x, positions):
    angles = positions[:, None] * _frequencies(x.shape[-1])
    cos, sin = np.cos(angles), np.sin(angles)
    first = x[..., 0::2] * cos - x[..., 1::2] * sin
    return np.stack([first, first * sin + x[..., 1::2] * cos], axis=-1).reshape(x.shape)


@mistake(
    "angles-in-degrees",
    "rotate",
    "It gives cosine and sine the angles in degrees; they take radians.",
    "from-text-to-next-word#order",
)
def _angles_in_degrees(x, positions):
    return _turned(x, np.degrees(positions[:, None] * _frequencies(x.shape[-1])))


@mistake(
    "sinusoids-added",
    "rotate",
    "It adds sines and cosines; rotary positions add nothing, they turn each pair.",
    "from-text-to-next-word#order",
)
def _sinusoids_added(x, positions):
    return x + sinusoidal(positions, x.shape[-1])


@mistake(
    "output-left-in-place",
    "output_after_shuffling",
    "It leaves the outputs where they were; each word takes its output along.",
    "from-text-to-next-word#order",
)
def _output_left_in_place(output, order):
    return output


@mistake(
    "output-shuffled-back",
    "output_after_shuffling",
    "It moves the outputs the other way; place i gets that of the word that now stands there.",
    "from-text-to-next-word#order",
)
def _output_shuffled_back(output, order):
    return output[np.argsort(order)]


@mistake(
    "output-turned-round",
    "output_after_shuffling",
    "It turns the outputs round; each word takes its own along.",
    "from-text-to-next-word#order",
)
def _output_turned_round(output, order):
    return output[::-1]


@mistake(
    "weight-at-the-old-place",
    "weight_after_shuffling",
    "It reads the old matrix at the new places; first find the two words in the old text.",
    "from-text-to-next-word#order",
)
def _weight_at_the_old_place(weights, order, row, column):
    return weights[row, column]


@mistake(
    "weight-of-the-other-word",
    "weight_after_shuffling",
    "It swaps the two words; the row belongs to the word that looks.",
    "from-text-to-next-word#order",
)
def _weight_of_the_other_word(weights, order, row, column):
    return weights[order[column], order[row]]


@mistake(
    "weight-shuffled-back",
    "weight_after_shuffling",
    "It moves rows and columns the other way.",
    "from-text-to-next-word#order",
)
def _weight_shuffled_back(weights, order, row, column):
    back = np.argsort(order)
    return weights[back[row], back[column]]


@mistake(
    "weight-with-only-the-row-moved",
    "weight_after_shuffling",
    "It moves the rows alone; the columns are words as well, and move along.",
    "from-text-to-next-word#order",
)
def _weight_with_only_the_row_moved(weights, order, row, column):
    return weights[order[row], column]


@mistake(
    "weight-with-only-the-column-moved",
    "weight_after_shuffling",
    "It moves the columns alone; the rows are words as well, and move along.",
    "from-text-to-next-word#order",
)
def _weight_with_only_the_column_moved(weights, order, row, column):
    return weights[row, order[column]]
