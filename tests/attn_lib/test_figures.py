"""The pictures show the numbers they claim: what stands in the axes is what the text says."""

import numpy as np
import pytest

from attn_lib import figures, scaled_dot_product_attention

K = [[2, 1], [1, 0], [0, -1]]
V = [[10, 0], [0, 8], [1, 1]]


def bar_widths(axes):
    return [bar.get_width() for bar in axes.patches]


def words(axes):
    return [text.get_text() for text in axes.texts]


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
