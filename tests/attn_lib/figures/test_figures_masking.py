"""Figures of masks draw the right masks and weights."""

import numpy as np
import pytest

from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from attn_lib.figures.chapters import masking
from tests.attn_lib.figures.drawn import titles

MASKING = [
    mistake
    for mistake in catalogue()
    if mistake.section.startswith("masking#")
    and mistake.target not in ("mask_from_key_padding", "visible_keys")
]


def drawn(axes):
    return axes.images[0].get_array().filled(np.nan)


def numbers(axes, shape):
    """Return the texts in the cells of a grid, "" for an empty cell."""
    cells = np.full(shape, "", dtype=object)
    for text in axes.texts:
        x, y = text.get_position()
        cells[y, x] = text.get_text()
    return cells


def hatched(axes, shape):
    cells = np.zeros(shape, dtype=bool)
    (collection,) = [c for c in axes.collections if c.get_hatch()]
    for path in collection.get_paths():
        x, y = path.vertices[:4].mean(axis=0)
        cells[round(y), round(x)] = True
    return cells


def two_decimals(rows):
    return np.array([[f"{x:.2f}" for x in row] for row in rows])


def test_combination():
    figure, text = masking.mask_combination(n=5, length=3)
    causal, padding, both = (drawn(axes) for axes in figure.axes)
    np.testing.assert_array_equal(causal, np.tril(np.ones((5, 5))))
    np.testing.assert_array_equal(padding, np.tile([1, 1, 1, 0, 0], (5, 1)))
    np.testing.assert_array_equal(both, causal * padding)
    assert text.endswith(f"both {int(both.sum())}.")


def test_window():
    figure, text = masking.window_masks(n=6, width=3)
    _, window = (drawn(axes) for axes in figure.axes)
    expected = [[i - 3 < j <= i for j in range(6)] for i in range(6)]
    np.testing.assert_array_equal(window, expected)
    assert f"{np.sum(expected)} of the 21 pairs" in text


def test_scores_become_weights():
    scores = np.array([[2.0, 0.5, -1.0], [0.0, -0.01, 0.5]])
    mask = np.array([[True, True, False], [False, False, False]])
    figure, text = masking.mask_to_weights(scores, mask)
    raw, masked, weights = figure.axes
    assert numbers(raw, (2, 3)).tolist() == [["2.0", "0.5", "−1.0"], ["0.0", "0.0", "0.5"]]
    assert numbers(masked, (2, 3)).tolist() == [["2.0", "0.5", "−∞"], ["−∞"] * 3]
    np.testing.assert_array_equal(hatched(masked, (2, 3)), ~mask)
    share = np.exp(2) / (np.exp(2) + np.exp(0.5))
    expected = [[share, 1 - share, 0], [0, 0, 0]]
    np.testing.assert_allclose(drawn(weights), expected)
    written = np.where(mask, two_decimals(expected), "")
    np.testing.assert_array_equal(numbers(weights, (2, 3)), written)
    on_hidden = np.exp(-1) / np.exp(scores[0]).sum()
    assert f"Without the mask, {on_hidden:.2f}, 1.00 of" in text
    assert text.endswith("rows sum to 1.00, 0.00.")


@pytest.mark.parametrize(("n", "length"), [(5, 3), (7, 2), (4, 4)])
def test_padding_on_both_sides(n, length):
    scores = np.random.default_rng(n).normal(size=(n, n))
    figure, text = masking.padding_sides(scores, length)
    as_keys, as_queries = (drawn(axes) for axes in figure.axes)
    np.testing.assert_allclose(as_keys.sum(axis=1), 1)
    assert (as_keys[:, length:] == 0).all()
    np.testing.assert_allclose(as_queries.sum(axis=1), [1] * length + [0] * (n - length))
    unmasked = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(as_queries[:length], unmasked[:length])
    leaked = ", ".join(f"{x:.2f}" for x in as_queries[:length, length:].sum(axis=1))
    assert f"Hidden as queries, it gets {leaked} of" in text
    for axes in figure.axes:
        assert hatched(axes, (n, n)).sum(axis=0).tolist() == [0] * length + [n] * (n - length)


def test_padding_needs_a_real_position():
    with pytest.raises(ValueError, match="expected a length from 1 to 5, got 0"):
        masking.padding_sides(np.zeros((5, 5)), 0)


@pytest.mark.parametrize("mistake", MASKING, ids=lambda mistake: mistake.id)
def test_every_masking_mistake_is_drawn_next_to_the_right_weights(mistake):
    figure, text = masking.masking_mistake(mistake.id)
    assert titles(figure) == ["right", "wrong"]
    assert text.startswith(mistake.sentence)
    weights = drawn(figure.axes[0])
    shape = weights.shape
    right, wrong = (numbers(axes, shape) for axes in figure.axes)
    assert (right != wrong).any()
    empty = weights.sum(axis=1) == 0
    np.testing.assert_allclose(weights[~empty].sum(axis=1), 1)
    # In examples where a mask is applied, the first query has nothing to attend to.
    applied = mistake.target in ("additive_mask", "masked_scores", "masked_softmax")
    assert empty.tolist() == [applied] + [False] * (shape[0] - 1)
    for axes in figure.axes:
        np.testing.assert_array_equal(hatched(axes, shape), weights == 0)
    assert ((right == "") == (weights == 0)).all()
    assert (weights[wrong == ""] == 0).all()


def test_a_mistake_in_numbers():
    figure, text = masking.masking_mistake("mask-after-softmax")
    wrong = drawn(figure.axes[1])
    scores = 1.5 * np.random.default_rng(0).normal(size=(5, 5))
    mask = np.tril(np.ones((5, 5))) * [0, 1, 1, 1, 1]
    exponentials = np.exp(scores)
    expected = exponentials / exponentials.sum(axis=1, keepdims=True) * mask
    np.testing.assert_allclose(wrong, expected)
    sums = ", ".join(f"{x:.2f}" for x in expected.sum(axis=1))
    assert text.endswith(f"The rows sum to {sums}.")


def test_nan_is_written_as_such():
    figure, text = masking.masking_mistake("empty-rows-become-nan")
    assert set(numbers(figure.axes[1], (5, 5))[0]) == {"NaN"}
    assert "get NaN, 0.00" in text
    figure, text = masking.masking_mistake("minus-infinity-after-softmax")
    assert set(numbers(figure.axes[1], (5, 5))[0]) == {"−∞"}


def test_other_mistakes_are_not_drawn():
    for other in ("no-scale", "hidden-keys-counted", "nonsense"):
        with pytest.raises(ValueError, match=rf"expected one of .*, got '{other}'"):
            masking.masking_mistake(other)


class TestFutureChange:
    INPUTS = np.random.default_rng(1).normal(size=(3, 6, 4))
    CHANGED = np.random.default_rng(2).normal(size=(2, 6, 4))
    LOWER = np.tri(6) > 0
    ATTENTIONS = (("causal", LOWER, "right"), ("late", LOWER, "mask-after-softmax"))

    @pytest.mark.parametrize("position", [1, 4, 6])
    def test_bars_are_the_distances_between_outputs(self, position):
        figure, text = masking.future_change(position, self.INPUTS, self.CHANGED, self.ATTENTIONS)
        changed = self.INPUTS.copy()
        changed[1, position - 1], changed[2, position - 1] = self.CHANGED[:, position - 1]
        causal, late = ([bar.get_height() for bar in axes.patches] for axes in figure.axes)
        before, after = (TARGETS["causal_attention"](*qkv) for qkv in (self.INPUTS, changed))
        expected = np.sqrt(((before - after) ** 2).sum(axis=1))
        np.testing.assert_allclose(causal, expected, atol=1e-12)
        assert max(causal[: position - 1], default=0) == 0
        assert min(late) > 0.001  # through the denominator
        numbers = ", ".join(f"{x:.2f}" for x in expected)
        assert text.startswith(f"Position {position} gets another key and value.")
        assert f"causal {numbers}; late " in text

    def test_misuse_is_explained(self):
        with pytest.raises(ValueError, match="expected a position from 1 to 6, got 0"):
            masking.future_change(0, self.INPUTS, self.CHANGED, self.ATTENTIONS)
