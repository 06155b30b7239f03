"""Figures of heads, gradients and finite differences draw the right numbers."""

import numpy as np
import pytest

from attn_lib import figures
from attn_lib.figures.style import KEY, MUTED, QUERY
from tests.attn_lib.figures.drawn import bar_widths, words

B, N_Q, N_K, D_MODEL, D_CONTEXT, H, D_K, D_V, D_OUT = 4, 3, 5, 12, 10, 6, 7, 2, 9


def test_the_shapes_of_multi_head_attention_one_by_one():
    figure, text = figures.multi_head_shapes(B, N_Q, N_K, D_MODEL, D_CONTEXT, H, D_K, D_V, D_OUT)
    boxes = {
        "x  (4, 3, 12)",
        "context c  (4, 5, 10)",
        "$xW_Q$  (4, 3, 42)",
        "$cW_K$  (4, 5, 42)",
        "$cW_V$  (4, 5, 12)",
        "Q  (4, 6, 3, 7)",
        "K  (4, 6, 5, 7)",
        "V  (4, 6, 5, 2)",
        "weights  (4, 6, 3, 5)",
        "O  (4, 6, 3, 2)",
        "merged  (4, 3, 12)",
        "output  (4, 3, 9)",
    }
    drawn = set(words(figure.axes[0]))
    assert boxes <= drawn
    assert {"project", "split", "attend", "merge", "W_Q", "W_K", "W_V", "W_O"} <= drawn
    for part in boxes - {"context c  (4, 5, 10)"}:
        assert part[part.index("(") :] in text


# The head that gets entry c of position i, for 3 positions and 2 heads of width 4.
OWNERS = {
    "right": lambda i, c: c // 4,
    "heads-interleaved": lambda i, c: c % 2,
    "heads-by-reshape-alone": lambda i, c: (8 * i + c) // 12,
    "heads-behind-positions": lambda i, c: i,
}


@pytest.mark.parametrize("way", OWNERS)
def test_each_entry_shows_the_number_of_its_head(way):
    figure, text = figures.head_split(way)
    axes = figure.axes[0]
    owners = np.array([[OWNERS[way](i, c) for c in range(8)] for i in range(3)])
    numbers = np.array([cell.get_text() for cell in axes.texts], dtype=int).reshape(3, 8)
    np.testing.assert_array_equal(numbers, owners + 1)
    np.testing.assert_array_equal(axes.images[0].get_array(), owners)
    shape = (3, 2, 4) if way == "heads-behind-positions" else (2, 3, 4)
    assert axes.get_title(loc="left") == f"which head takes it; shape {shape}"
    first = [
        f"{', '.join(str(c + 1) for c in range(8) if owners[i, c] == 0)} of position {i + 1}"
        for i in range(3)
        if 0 in owners[i]
    ]
    assert text.startswith(f"Shape {shape}. Head 1 takes entries {'; '.join(first)}. Head 2")


def test_an_unknown_way_to_split_is_rejected():
    with pytest.raises(ValueError, match=r"expected one of right, heads-.*, got 'nonsense'"):
        figures.head_split("nonsense")


@pytest.mark.parametrize(("n_heads", "named"), [(1, "1 head of"), (4, "4 heads of")])
def test_more_heads_cost_only_memory_for_weights(n_heads, named):
    figure, text = figures.heads_at_fixed_width(n_heads, 40, 28, 33, n=6, n_rows=4000)
    cost, sharp = figure.axes
    assert bar_widths(cost) == [1, 1, n_heads]
    assert cost.get_title(loc="left") == (
        f"H = {n_heads}, d_k = {40 // n_heads}, d_v = {28 // n_heads}: times one head"
    )
    assert text.startswith(f"{named} widths")
    assert f"{n_heads} times the weights to keep" in text

    rng = np.random.default_rng(1)
    q = rng.normal(size=(4000, 40 // n_heads))
    k = rng.normal(size=(4000, 6, 40 // n_heads))
    scores = np.einsum("rc,rjc->rj", q, k)
    for width, shown in zip((40 // n_heads, 40, 33), bar_widths(sharp), strict=True):
        powers = np.exp(scores / np.sqrt(width))
        largest = powers.max(axis=1) / powers.sum(axis=1)
        noise = largest.std() / np.sqrt(4000)
        assert shown == pytest.approx(largest.mean(), abs=5 * np.sqrt(2) * noise)
        assert f"{shown:.3f}"[:5] in text
    assert sharp.lines[-1].get_xdata()[0] == 1 / 6


@pytest.mark.parametrize("n_heads", [0, 3])
def test_the_number_of_heads_must_divide_the_widths(n_heads):
    with pytest.raises(ValueError, match=f"n_heads to divide 40 and 28, got {n_heads}"):
        figures.heads_at_fixed_width(n_heads, 40, 28)


FLOW = {
    1: ({"W", "dO"}, "dV"),
    2: ({"V", "dO"}, "dW"),
    3: ({"W", "dW"}, "dS"),
    4: ({"K", "dS"}, "dQ"),
    5: ({"Q", "dS"}, "dK"),
}
SHAPES = {"Q": (3, 7), "K": (5, 7), "S": (3, 5), "W": (3, 5), "V": (5, 2), "O": (3, 2)}


@pytest.mark.parametrize("step", FLOW)
def test_a_backward_step_highlights_its_inputs_and_outputs(step):
    figure, text = figures.gradient_flow(step)
    axes = figure.axes[0]
    read, made = FLOW[step]
    names = [label.get_text().split("\n") for label in axes.texts if "\n" in label.get_text()]
    assert dict(names) == {
        f"{d}{name}": f"{shape}" for name, shape in SHAPES.items() for d in ("", "d")
    }
    # Each box consists of two patches: a pale background and its frame.
    colours = dict(zip((name for name, _ in names), axes.patches[1::2], strict=True))
    for name, frame in colours.items():
        expected = KEY if name == made else QUERY if name in read else MUTED
        red, green, blue = (int(expected[i : i + 2], 16) / 255 for i in (1, 3, 5))
        assert frame.get_edgecolor()[:3] == pytest.approx((red, green, blue)), name
    assert text.startswith(f"Step {step} of 5: {made} = ")
    assert all(f"{name} {SHAPES[name[-1]]}" in text for name in read)
    assert text.endswith(f"{made} has the shape of {made[-1]}, {SHAPES[made[-1]]}.")


@pytest.mark.parametrize("step", [0, 6])
def test_the_backward_pass_has_five_steps(step):
    with pytest.raises(ValueError, match=f"a step from 1 to 5, got {step}"):
        figures.gradient_flow(step)


def test_errors_are_drawn_and_stated_as_powers_of_ten():
    errors = {"central": [2e-5, 3e-3, 0.2], "wrong": [1.6, 1.6, 40]}
    figure, text = figures.difference_errors(-2, [-3, -2, -1], errors)
    axes = figure.axes[0]
    for i, curve in enumerate(errors.values()):
        exponents, powers = axes.lines[2 * i].get_data()
        np.testing.assert_array_equal(exponents, [-3, -2, -1])
        np.testing.assert_allclose(powers, np.log10(curve))
        np.testing.assert_allclose(axes.lines[2 * i + 1].get_data(), [[-2], [np.log10(curve[1])]])
    assert axes.get_title(loc="left") == "step 10⁻²"
    assert text == "Step 10⁻². Relative error: central about 10⁻³; wrong 1 or more."
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10⁻³", "10⁻¹"]
