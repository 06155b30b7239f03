"""Figures draw the right numbers, and their texts state the same numbers."""

import importlib
import inspect
import math
import pkgutil

import numpy as np
import pytest

from attn_lib import experiments, figures, scaled_dot_product_attention, softmax
from attn_lib.complexity import cache_bytes, layer_flops, weights_bytes
from attn_lib.estimates import Estimate
from attn_lib.experiments import score_samples
from attn_lib.figures import chapters
from attn_lib.figures.drawing import small_text
from tests.attn_lib.figures.drawn import bar_widths, line, titles, words

K = [[2, 1], [1, 0], [0, -1]]
V = [[10, 0], [0, 8], [1, 1]]


def steps(axes):
    """Return the heights of each histogram in `axes`."""
    return [patch.get_data().values for patch in axes.patches]


def test_the_package_exports_every_figure():
    exported = set(figures.__all__)
    for module in pkgutil.iter_modules(chapters.__path__, f"{chapters.__name__}."):
        members = vars(importlib.import_module(module.name)).items()
        drawn_there = {
            name
            for name, member in members
            if inspect.isfunction(member)
            and member.__module__ == module.name
            and not name.startswith("_")
        }
        assert drawn_there
        assert drawn_there <= exported
    assert all(callable(getattr(figures, name)) for name in figures.__all__)


def test_four_steps_draws_each_stage_of_the_worked_example():
    figure, text = figures.four_steps([[2, 1]], K, V)
    trace = scaled_dot_product_attention([[2, 1]], K, V, return_trace=True)
    stages = (trace.raw, trace.scaled, trace.weights, trace.output)
    for axes, stage in zip(figure.axes, stages, strict=True):
        np.testing.assert_allclose(bar_widths(axes), stage[0])
    assert text == (
        "Compare: scores 5, 2, −1. Scale: 3.536, 1.414, −0.707. "
        "Normalise: weights 0.882, 0.106, 0.013. Mix: output 8.829, 0.858."
    )


@pytest.mark.parametrize(
    ("angle", "dot", "cosine"), [(0, 6.0, 1.0), (60, 3.0, 0.5), (90, 0.0, 0.0), (180, -6.0, -1.0)]
)
def test_two_vectors_states_the_dot_product(angle, dot, cosine):
    figure, text = figures.two_vectors(angle, 3.0)
    signed = [f"{x:.2f}".replace("-", "−") for x in (dot, cosine)]
    assert text == f"Angle {angle}°, key of length 3: dot product {signed[0]}, cosine {signed[1]}."
    assert f"q·k = {signed[0]}" in figure.axes[0].get_title(loc="left")


def test_soft_lookup_between_two_keys_is_halfway_between_their_values():
    figure, text = figures.soft_lookup(45, key_angles=[0, 90], values=[10.0, 20.0], length=2.0)
    np.testing.assert_allclose(bar_widths(figure.axes[1]), [0.5, 0.5])
    assert "Output 15.00" in text


def test_projections_and_shape_flow_show_the_shapes():
    figure, _ = figures.projections(n=3, d_model=11, d_k=7, d_v=2)
    assert {"X  3×11", "W_Q\n11×7", "W_V\n11×2", "V\n3×2"} <= set(words(figure.axes[0]))
    figure, _ = figures.shape_flow(4, 6, 3, 5, 7, 2)
    assert {"weights  (4, 6, 3, 5)", "output  (4, 6, 3, 2)"} <= set(words(figure.axes[0]))


def test_weights_row_shows_the_row_and_its_sums():
    weights = [[0.75, 0.25], [0.5, 0.5]]
    figure, text = figures.weights_row(weights=weights, names=["the", "cat"], row=2)
    np.testing.assert_allclose(bar_widths(figure.axes[1]), [0.5, 0.5])
    assert text == (
        "Row 2, “cat”, gives 0.50 to the, 0.50 to cat. "
        "Before rounding, the row sums to 1.00 and column 2 to 0.75."
    )


def test_sharpness_keeps_the_ranking_and_nears_the_mean():
    figure, _ = figures.sharpness([5, 2, -1], factor=1e-6, values=V)
    np.testing.assert_allclose(bar_widths(figure.axes[0]), [1 / 3] * 3, atol=1e-5)
    for factor in (0.1, 1.0, 4.0):
        widths = bar_widths(figures.sharpness([5, 2, -1], factor=factor, values=V)[0].axes[0])
        assert widths == sorted(widths, reverse=True)
    with pytest.raises(ValueError, match="positive factor, got -1"):
        figures.sharpness([1, 2], factor=-1, values=[[1], [2]])


def test_score_histogram_shows_the_samples_and_the_normal_curve():
    figure, text = figures.score_histogram(8, n=500, seed=3)
    raw = score_samples(8, 500, rng=3)
    for axes, scores, sd, reach in (
        (figure.axes[0], raw, math.sqrt(8), 80),
        (figure.axes[1], raw / math.sqrt(8), 1, 5),
    ):
        (heights,) = steps(axes)
        width = 2 * reach / len(heights)
        assert width == pytest.approx(sd / 8, rel=0.01)
        assert heights.sum() * width == pytest.approx(np.mean(np.abs(scores) <= reach))
        middle = len(heights) // 2
        above = scores + reach - middle * width
        share = np.mean((above >= 0) & (above < width))
        assert heights[middle] * width == pytest.approx(share)
        assert share > 0.02
        x, normal = line(axes, 0)
        assert normal.sum() * (x[1] - x[0]) == pytest.approx(1, abs=1e-5)
        assert normal.max() == pytest.approx(1 / (sd * math.sqrt(2 * math.pi)))
        assert f"standard deviation {scores.std():.2f}" in axes.get_title(loc="left")
    inside = np.mean(np.abs(raw) <= 2 * math.sqrt(8))
    assert f"in theory 2.83; {100 * inside:.3g} % lie within ±5.7. Divided by √8" in text


def test_variance_against_width_shows_theory_and_measurement():
    figure, text = figures.variance_against_width([1, 4, 16], n=2000)
    axes = figure.axes[0]
    for i, power in enumerate((1, 0, -1)):
        theory, measured = line(axes, 2 * i), line(axes, 2 * i + 1)
        np.testing.assert_allclose(theory, [[1, 4, 16], np.power([1.0, 4, 16], power)])
        np.testing.assert_allclose(measured[1], theory[1], rtol=0.2)
        assert not np.array_equal(measured[1], theory[1])
    raw, scaled, over = (line(axes, i)[1][1] for i in (1, 3, 5))
    assert f"4: {raw:.3g} (4), {scaled:.3g} (1), {over:.3g} (0.25)" in text
    assert {"raw scores", "÷ √d_k", "÷ d_k"} == set(words(axes))


@pytest.mark.parametrize("gap", [4.0, -3.0])
def test_softmax_gap_shows_the_weight_and_its_slope(gap):
    figure, text = figures.softmax_gap(gap)
    axes = figure.axes[0]
    (gaps, curve), (_, slopes) = line(axes, 0), line(axes, 1)
    np.testing.assert_allclose(curve, 1 / (1 + np.exp(-gaps)))
    np.testing.assert_allclose(slopes, np.gradient(curve, gaps), atol=2e-3)
    weight = 1 / (1 + math.exp(-gap))
    np.testing.assert_allclose(line(axes, 3), [[gap], [weight]])
    np.testing.assert_allclose(line(axes, 4), [[gap], [weight * (1 - weight)]])
    assert titles(figure) == [f"weights {1 - weight:.3f} and {weight:.3f}"]
    assert f"Gap {gap:g}".replace("-", "−") in text


def test_scores_to_gradient_goes_against_the_loss():
    figure, text = figures.scores_to_gradient([3.0, 1.0, 2.0, 0.0], d_k=4, right=1)
    shown = [label.split("\n") for label in words(figure.axes[0]) if label.count("\n") == 1]
    gradients = [[*map(float, row.replace("−", "-").split(", "))] for _, row in shown[2::3]]
    for row, gradient in zip(([3, 1, 2, 0], [1.5, 0.5, 1, 0]), gradients, strict=True):
        step = 1e-6
        slopes = [
            -(softmax(row + step * e) - softmax(row - step * e))[1] / (2 * step) for e in np.eye(4)
        ]
        np.testing.assert_allclose(gradient, slopes, atol=0.0005)
        assert slopes[1] < -0.05 < 0 < min(slopes[0], *slopes[2:])
    assert shown[0] == ["scores", "3, 1, 2, 0"]
    assert shown[3] == ["scores", "1.500, 0.500, 1, 0"]
    assert text.count("gradient at the scores") == 2


def test_score_bars_shows_weights_and_how_they_answer():
    scores, temperature, step = np.array([3.0, -2.0, 1.0, 0.5]), 2.0, 1e-5
    figure, text = figures.score_bars(scores, temperature, reach=5, jacobian=True)
    upper, lower, matrix = figure.axes
    weights = softmax(scores / temperature)
    assert [bar.get_height() for bar in upper.patches] == scores.tolist()
    np.testing.assert_allclose([bar.get_height() for bar in lower.patches], weights)
    moved = step * np.eye(4)
    up, down = (softmax(scores / temperature + sign * moved) for sign in (1, -1))
    answers = ((up - down) / (2 * step)).T
    np.testing.assert_allclose(matrix.images[0].get_array(), answers, atol=1e-9)
    assert words(matrix) == [f"{x:.2f}".replace("-", "−") for x in answers.ravel()]
    bits = -(weights * np.log2(weights)).sum()
    norm = math.sqrt((answers**2).sum())
    assert text.startswith("Scores 3, −2, 1, 0.500 at temperature 2: weights ")
    assert text.endswith(f"Entropy {bits:.2f} of 2.00 bits. Norm of the Jacobian {norm:.3f}.")
    alone, text = figures.score_bars(scores, temperature, reach=5, jacobian=False)
    assert len(alone.axes) == 2
    assert text.endswith("2.00 bits.")


def test_score_bars_needs_a_positive_temperature():
    with pytest.raises(ValueError, match="positive temperature, got 0"):
        figures.score_bars([1, 2], 0, reach=5, jacobian=False)


@pytest.mark.parametrize(
    ("draw", "measure"),
    [
        (figures.largest_weight_histogram, experiments.largest_weights),
        (figures.jacobian_histogram, experiments.jacobian_norms),
        (figures.query_gradient_histogram, experiments.query_gradient_norms),
    ],
)
def test_unscaled_above_scaled_with_median_and_mean(draw, measure):
    figure, text = draw(5, 512, n_rows=300, seed=2)
    for axes, scale in zip(figure.axes, (1.0, None), strict=True):
        sample = measure(5, 512, scale=scale, n_rows=300, rng=2)
        (heights,) = steps(axes)
        assert heights.sum() == pytest.approx(100)
        edges = axes.patches[0].get_data().edges
        assert heights[-1] == pytest.approx(100 * np.mean(sample >= edges[-2]))
        median, mean = line(axes, 0)[0][0], line(axes, 1)[0][0]
        assert median == pytest.approx(max(np.median(sample), edges[0]))
        assert mean == pytest.approx(sample.mean())
        written = f"median {small_text(np.median(sample))}, mean "
        assert f"{written}{small_text(mean)}" in axes.get_title(loc="left")
        assert f"{written}{Estimate.of_mean(sample)}" in text
    logarithmic = draw is figures.query_gradient_histogram
    assert (figure.axes[0].get_xscale() == "log") == logarithmic


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.25, "1.250"),
        (0.99961, ">0.999"),
        (0.8634, "0.863"),
        (0.1, "0.100"),
        (0.020961, "0.021"),
        (0.00018312, "0.000183"),
        (2.1e-12, "<0.000001"),
        (0.0, "0"),
    ],
)
def test_small_numbers_are_written_without_powers_of_ten(number, text):
    assert small_text(number) == text


def test_jacobian_histogram_counts_the_dead_rows():
    _, text = figures.jacobian_histogram(5, 512, n_rows=300, seed=2)
    dead = np.mean(experiments.jacobian_norms(5, 512, scale=1.0, n_rows=300, rng=2) < 0.01)
    assert f"{100 * dead:.3g} % of the rows are below 0.01. Divided by √512" in text
    assert text.endswith("0 % of the rows are below 0.01.")


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 11.1), ("float32", 88.7)])
def test_overflow_histogram_marks_the_limit_and_the_rows_beyond(dtype, limit):
    figure, text = figures.overflow_histogram(600, dtype, n_k=60, n_rows=400, seed=1)
    axes = figure.axes[0]
    everything, kept = steps(axes)
    lost = experiments.overflows(60, 600, dtype=dtype, n_rows=400, rng=1).sum()
    assert lost > 0
    assert (everything.sum(), kept.sum()) == (400, 400 - lost)
    assert line(axes, 0)[0][0] == pytest.approx(limit, abs=0.05)
    assert titles(figure) == [f"{100 * lost / 400:.3g} % of the rows overflow in {dtype}"]
    assert f"exp overflows beyond {limit}" in text


@pytest.mark.parametrize(("heads", "named"), [(1, "1 head"), (4, "4 heads")])
def test_flops_by_part_shows_the_counts_and_crossovers(heads, named):
    figure, text = figures.flops_by_part(64, heads)
    axes = figure.axes[0]
    for i, part in enumerate(("feed_forward", "projections", "attention", "softmax")):
        n, counts = line(axes, i)
        assert list(counts) == [getattr(layer_flops(int(x), 64, heads), part) for x in n]
    assert words(axes) == ["128", "384"]
    assert "at n = 128, as much as projections and feed-forward part at n = 384" in text
    assert f"With {named}, softmax takes {1.953125 * heads:.3g} %" in text
    assert titles(figure) == [f"one layer of width 64, {named}"]


def test_weights_memory_shows_bytes_in_units():
    figure, text = figures.weights_memory(3, d_head=7, dtype="float16")
    axes = figure.axes[0]
    n, weights = line(axes, 0)
    assert list(weights) == [weights_bytes(3, int(x), int(x), "float16") for x in n]
    assert list(line(axes, 1)[1]) == [cache_bytes(int(x), 21, "float16") for x in n]
    assert words(axes) == ["24 MiB", "384 MiB", "6 GiB"]
    assert text.endswith("The keys and values, 7 wide in each head, take 2.625 MiB there.")
    assert [label.get_text() for label in axes.get_yticklabels()][0::4] == ["1 MiB", "1 TiB"]


def test_seconds_against_length_names_each_slope():
    n = np.array([100, 200, 800])
    figure, text = figures.seconds_against_length(n, {"a": 1e-6 * n, "b": 1e-9 * n**2.5})
    axes = figure.axes[0]
    np.testing.assert_allclose(line(axes, 1), [n, 1e-9 * n**2.5])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["a: slope 1.00", "b: slope 2.50"]
    assert text == "From n = 100 to 800, time grows as n to the power of: a 1.00, b 2.50."


@pytest.mark.parametrize("blocks_seen", [1, 2, 3])
def test_streaming_softmax_equals_softmax_of_the_blocks_seen(blocks_seen):
    rng = np.random.default_rng(0)
    scores, values = rng.standard_normal((2, 7)) * 3
    figure, text = figures.streaming_softmax(blocks_seen, scores, values, block_size=3)
    top, left, right = figure.axes
    read = [min(3 * (i + 1), 7) for i in range(blocks_seen)]
    largest = scores[: read[-1]].max()
    np.testing.assert_allclose(line(top, 1)[1], largest)
    sums = [np.exp(scores[:m] - scores[:m].max()).sum() for m in read]
    outputs = [softmax(scores[:m]) @ values[:m] for m in read]
    np.testing.assert_allclose([bar.get_height() for bar in left.patches], sums)
    np.testing.assert_allclose(line(right, 2)[1], outputs)
    np.testing.assert_allclose(line(right, 0)[1], softmax(scores) @ values)
    filled = [bar.get_fill() for bar in top.patches]
    assert (filled.count(True), filled.count(False)) == (read[-1], 7 - read[-1])
    before = scores[: read[-2]].max() if blocks_seen > 1 else -math.inf
    assert f"earlier terms times {math.exp(before - largest):.3f}, running sum" in text
    assert f"{sums[-1]:.3f}, output {outputs[-1]:.2f}".replace("-", "−") in text


@pytest.mark.parametrize("blocks_seen", [0, 4])
def test_streaming_softmax_rejects_other_block_numbers(blocks_seen):
    with pytest.raises(ValueError, match=f"between 1 and 3 blocks seen, got {blocks_seen}"):
        figures.streaming_softmax(blocks_seen, range(7), range(7), block_size=3)


def test_streaming_softmax_keeps_its_axis_limits():
    scores, values = [1, 4, 2, 5, 0, 3, 6], [2, 9, 4, 1, 8, 3, 5]
    first, last = (
        [axes.get_ylim() for axes in figures.streaming_softmax(i, scores, values, 3)[0].axes]
        for i in (1, 3)
    )
    np.testing.assert_allclose(first, last)
