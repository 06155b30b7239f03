"""Figures of masked weights draw the right weights."""

import math

import numpy as np
import pytest

from attn_lib.figures import kind_of_mask, row_under_mask

SCORES = [2.0, 0.5, -1.0, 0.0]


def shares(scores):
    exponentials = [math.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


def widths(figure):
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    return bars[: len(SCORES)], bars[len(SCORES) :]


class TestRowUnderMask:
    @pytest.mark.parametrize("visible", [1, 2, 3, 4])
    def test_the_visible_keys_share_the_weight(self, visible):
        figure, text = row_under_mask(SCORES, visible)
        unmasked, masked = widths(figure)
        expected = shares(SCORES[:visible]) + [0] * (4 - visible)
        np.testing.assert_allclose(unmasked, shares(SCORES))
        np.testing.assert_allclose(masked, expected)
        assert text.startswith(f"{visible} of 4 keys visible, hidden scores set to −∞.")
        assert text.endswith("Hidden keys get 0 of the weight.")

    def test_a_stand_in_leaves_weight_on_hidden_keys(self):
        figure, text = row_under_mask(SCORES, visible=2, stand_in=-2.0)
        _, masked = widths(figure)
        expected = shares([2, 0.5, -2, -2])
        np.testing.assert_allclose(masked, expected)
        written = [f"{x:.3f}" for x in expected]
        assert [label.get_text() for label in figure.axes[0].texts] == written
        assert f"Weights {', '.join(written)}, without" in text
        assert text.endswith(f"Hidden keys get {sum(expected[2:]):.3f} of the weight.")

    def test_labels_show_the_scores_given_to_softmax(self):
        figure, _ = row_under_mask(SCORES, visible=3)
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert names == ["key 1: 2", "key 2: 0.5", "key 3: −1", "key 4: −∞"]

    @pytest.mark.parametrize("visible", [0, 5])
    def test_the_number_of_visible_keys_is_checked(self, visible):
        with pytest.raises(ValueError, match=f"expected 1 to 4 keys visible, got {visible}"):
            row_under_mask(SCORES, visible)


# Whether query i may attend to key j, for 5 keys of which 3 are real, and a window of 2.
RULES = {
    "none": lambda i, j: True,
    "padding": lambda i, j: j < 3,
    "causal": lambda i, j: j <= i,
    "causal and padding": lambda i, j: j <= i and j < 3,
    "window": lambda i, j: i - 2 < j <= i,
}


class TestKindOfMask:
    @pytest.mark.parametrize("kind", RULES)
    def test_weights_lie_on_allowed_keys(self, kind):
        scores = np.random.default_rng(3).normal(size=(5, 5))
        figure, text = kind_of_mask(scores, kind, length=3, width=2)
        (axes,) = figure.axes
        weights = axes.images[0].get_array().filled(np.nan)
        allowed = [[j for j in range(5) if RULES[kind](i, j)] for i in range(5)]
        for i, keys in enumerate(allowed):
            expected = np.zeros(5)
            expected[keys] = shares(scores[i, keys])
            np.testing.assert_allclose(weights[i], expected)
        assert axes.get_title(loc="left") == kind
        pairs = sum(map(len, allowed))
        assert text.startswith(f"Mask: {kind}. {pairs} of 25 pairs are allowed.")
        last = ", ".join(f"{x:.2f}" for x in weights[-1])
        assert text.endswith(f"The last query gives its keys {last}.")
        hidden = [c for c in axes.collections if c.get_hatch()]
        assert sum(len(c.get_paths()) for c in hidden) == 25 - pairs

    def test_unknown_kinds_are_rejected(self):
        with pytest.raises(ValueError, match=r"expected one of none, .*window, got 'alibi'"):
            kind_of_mask(np.zeros((2, 2)), "alibi", length=1, width=1)
