"""Figures of masked weights draw the right weights."""

import math

import numpy as np
import pytest

from attn_lib.figures import masked_weights
from attn_lib.figures.ways_to_mask import WAYS

SCORES = np.random.default_rng(3).normal(size=(5, 4))
ROW = [[2.0, 0.5, -1.0, 0.0]]


def shares(scores):
    exponentials = [math.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


def drawn(figure):
    return figure.axes[1].images[0].get_array().filled(np.nan)


# Whether query i may attend to key j, of which 2 are real, with a window of 3 and the last of
# `n_q` queries at the position of the last of 4 keys.
RULES = {
    "none": lambda i, j, n_q: True,
    "padding": lambda i, j, n_q: j < 2,
    "causal": lambda i, j, n_q: j <= i + 4 - n_q,
    "causal and padding": lambda i, j, n_q: j <= i + 4 - n_q and j < 2,
    "window": lambda i, j, n_q: i - 3 < j - 4 + n_q <= i,
}


@pytest.mark.parametrize("n_q", [3, 5])
@pytest.mark.parametrize("kind", RULES)
def test_weights_lie_on_allowed_keys(kind, n_q):
    figure, text = masked_weights(SCORES, kind, n_q, 2, 3, "bottom-right")
    weights = drawn(figure)
    allowed = [[j for j in range(4) if RULES[kind](i, j, n_q)] for i in range(n_q)]
    for i, keys in enumerate(allowed):
        expected = np.zeros(4)
        expected[keys] = shares(SCORES[i, keys])
        np.testing.assert_allclose(weights[i], expected)
    pairs = sum(map(len, allowed))
    assert text.startswith(f"{pairs} of {4 * n_q} pairs are allowed. −∞ for a hidden score")
    sums = ", ".join("1.00" if keys else "0.00" for keys in allowed)
    assert text.endswith(f"Hidden keys get 0 of a row at most. The rows sum to {sums}.")
    hidden = [c for c in figure.axes[1].collections if c.get_hatch()]
    assert sum(len(c.get_paths()) for c in hidden) == 4 * n_q - pairs


UNMASKED = shares(ROW[0])
NAN = [math.nan] * 4


@pytest.mark.parametrize(
    ("way", "dtype", "masked", "empty"),
    [
        ("right", "float64", [*shares(ROW[0][:2]), 0, 0], [0] * 4),
        ("empty-rows-become-nan", "float64", [*shares(ROW[0][:2]), 0, 0], NAN),
        ("zero-for-minus-infinity", "float64", shares([2, 0.5, 0, 0]), [0.25] * 4),
        ("large-negative-fill", "float64", [*shares(ROW[0][:2]), 0, 0], [0.25] * 4),
        ("large-negative-added", "float64", [*shares(ROW[0][:2]), 0, 0], UNMASKED),
        ("large-negative-added", "float32", [*shares(ROW[0][:2]), 0, 0], [0.25] * 4),
        ("mask-after-softmax", "float64", [*UNMASKED[:2], 0, 0], [0] * 4),
    ],
)
def test_ways_to_apply_a_mask(way, dtype, masked, empty):
    for length, expected in ((2, masked), (0, empty)):
        figure, text = masked_weights(ROW, length=length, way=way, dtype=dtype)
        np.testing.assert_allclose(drawn(figure)[0], np.nan_to_num(expected), rtol=1e-6)
        assert WAYS[way] in text
        leaked = sum(x for x in expected[length:] if not math.isnan(x))
        assert f"Hidden keys get {leaked:.3f}".rstrip("0").rstrip(".") in text
        total = "NaN" if math.isnan(sum(expected)) else f"{sum(expected):.2f}"
        assert text.endswith(f"The rows sum to {total}.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "alibi"}, r"expected one of none, .*window, got 'alibi'"),
        ({"n_q": 2}, "expected 1 to 1 queries, got 2"),
        ({"way": "hope"}, r"expected one of right, .*, got 'hope'"),
    ],
)
def test_misuse_is_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        masked_weights(ROW, **arguments)
