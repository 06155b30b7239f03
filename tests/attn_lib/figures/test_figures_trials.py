"""The pictures of trainings show the recorded numbers, and those of words the model's weights."""

import numpy as np
import pytest

from attn_lib import figures
from attn_lib.model import encode, forward
from attn_lib.model.trials import (
    UNMASKED,
    MaskTrial,
    ScaleTrial,
    SoftmaxRows,
    scales,
    unmasked_model,
)
from tests.attn_lib.figures.drawn import line, titles, words

ROWS = SoftmaxRows(spread=1.0, largest=0.5, dead=0.0)


def trial(divided, spread, seed, recall):
    return ScaleTrial(9, divided, spread, seed, [], recall, [], ROWS, ROWS)


def test_each_way_of_training_has_a_panel_and_each_seed_a_line():
    trials = [
        trial(divided, spread, seed, [0.0, 0.1 * seed, 0.2 + 0.3 * divided + 0.1 * spread])
        for seed in (0, 1)
        for divided in (False, True)
        for spread in (3.0, 1.0)
    ]
    figure, text = figures.recall_in_training([*trials, trials[0]._replace(d_k=4)], 9)
    ways = [(True, 1.0), (True, 3.0), (False, 1.0), (False, 3.0)]
    assert titles(figure) == [
        *("÷ √d_k, start 1", "÷ √d_k, start 3", "not divided, start 1", "not divided, start 3")
    ]
    for axes, (divided, spread) in zip(figure.axes, ways, strict=True):
        of_way = [t for t in trials if (t.divided, t.spread) == (divided, spread)]
        assert len(axes.lines) == len(of_way) == 2
        for i, one in enumerate(of_way):
            batches, percent = line(axes, i)
            np.testing.assert_array_equal(batches, scales.EVERY * np.arange(3))
            np.testing.assert_allclose(percent, 100 * np.array(one.recall))
    assert text == (
        "d_k = 9, recall after 200 batches: ÷ √d_k, start 1, 60 %, 60 %; "
        "÷ √d_k, start 3, 80 %, 80 %; not divided, start 1, 30 %, 30 %; "
        "not divided, start 3, 50 %, 50 %."
    )
    with pytest.raises(ValueError, match="expected a width of 4, 9, got 7"):
        figures.recall_in_training([*trials, trials[0]._replace(d_k=4)], 7)


def test_losses_are_drawn_after_the_batches_of_which_they_are_means():
    trials = [MaskTrial(True, [], [4.0, 2.0, 1.25]), MaskTrial(False, [], [4.0, 0.5, 0.02])]
    figure, text = figures.mask_losses(trials)
    for i, one in enumerate(trials):
        np.testing.assert_array_equal(line(figure.axes[0], i), [[50, 100, 150], one.losses])
    assert words(figure.axes[0]) == ["with the mask", "without"]
    assert text == "Mean loss of the last 50 of 150 batches: with the mask 1.25, without 0.02."


def test_a_look_back_has_a_bar_for_each_word():
    figure, text = figures.look_back(["the", "cats", "near"], [0.25, 0.7, 0.05])
    axes = figure.axes[0]
    # The last bar is drawn again, in the colour of the query.
    assert [bar.get_height() for bar in axes.patches] == [0.25, 0.7, 0.05, 0.05]
    assert words(axes) == ["0.25", "0.70", "0.05"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["the", "cats", "near"]
    assert text == "Where “near” looks: the 0.25, cats 0.70, near 0.05."


def test_without_the_mask_no_cell_is_hidden():
    sentence = "the cats near the dog"
    figure, text = figures.word_weights(unmasked_model(), (1, 1), sentence, UNMASKED)
    drawn = figure.axes[0].images[0].get_array()
    assert not np.ma.getmaskarray(drawn).any()
    weights = forward(unmasked_model(), encode(sentence), parts=UNMASKED)["layer1.weights"][0]
    np.testing.assert_allclose(np.asarray(drawn), weights)
    assert "the → cats" in text
