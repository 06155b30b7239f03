"""Figures of variance growth draw the right numbers."""

import math

import numpy as np
import pytest

from attn_lib.estimates import Estimate, variance_noise
from attn_lib.experiments import Entries, largest_weights, score_samples
from attn_lib.figures.chapters import variance_growth
from tests.attn_lib.figures.drawn import line, titles, words


def histogram(axes):
    return axes.patches[-1].get_data()


def test_sign_totals_counts_every_case():
    figure, text = variance_growth.sign_totals(3, 4)
    for axes, terms in zip(figure.axes, (3, 4), strict=True):
        cases = np.array(np.meshgrid(*[[-1, 1]] * terms)).reshape(terms, -1).sum(axis=0)
        totals, counts = np.unique(cases, return_counts=True)
        shaded, *bars = axes.patches
        assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx(totals)
        assert [bar.get_height() for bar in bars] == pytest.approx(counts / 2**terms)
        assert [label.get_text() for label in axes.texts] == [str(count) for count in counts]
        assert shaded.get_width() == pytest.approx(2 * cases.std())
        title = f"{terms} terms: variance {terms}, standard deviation {cases.std():.2f}"
        assert axes.get_title(loc="left") == title
        shown = ", ".join(map(str, counts))
        assert f"to {terms}, in {shown} of {2**terms} cases; variance {terms}." in text


def test_width_to_spread_shows_what_signs_of_that_width_do():
    figure, text = variance_growth.width_to_spread(3, 7)
    shown = [label for label in words(figure.axes[0]) if label]  # arrows have none
    for width, column in ((3, shown[:6]), (7, shown[6:12])):
        signs = np.array(np.meshgrid(*[[-1, 1]] * width)).reshape(width, -1)
        totals = signs.sum(axis=0)  # entries ±1 of variance 1: every product is a sign
        scaled = totals / math.sqrt(width)
        assert column == [
            f"d_k = {width}",
            f"entries of a key\n{width}",
            f"products in a score\n{len(signs)}",
            f"variance\n{totals.var():g}",
            f"standard deviation\n{totals.std():.3g}",
            f"after the division\n{scaled.std():g}",
        ]
        assert (
            f"Width {width}: {width} products in a score, variance {totals.var():g}, "
            f"standard deviation {totals.std():.3g}; divided by √{width}, 1."
        ) in text


def test_score_histogram_states_the_error_of_the_standard_deviation():
    figure, text = variance_growth.score_histogram(d_k=16, n=500, seed=3)
    sds = [score_samples(16, 500, seed, "normal").std() for seed in range(300)]
    error = float(titles(figure)[0].partition("± ")[2].partition(",")[0])
    assert error == pytest.approx(np.std(sds), abs=0.02)
    assert f"Divided by √16: standard deviation {sds[3] / 4:.2f} ± {error / 4:.2f}." in text


def test_variance_against_width_states_its_error():
    _, text = variance_growth.variance_against_width([3, 12], n=100)
    first, last = (100 * math.sqrt((2 + 6 / d_k) / 100) for d_k in (3, 12))
    assert text.endswith(f"is {first:.3g} % at width 3 and {last:.3g} % at width 12.")


def test_failed_assumptions_draws_scaled_scores_beside_theory():
    broken = {"mean": -0.5, "variance": 2.0, "correlation": 0.25, "agreement": 0.5}
    figure, text = variance_growth.failed_assumptions(d_k=9, **broken, n=700, seed=2)
    (axes,) = figure.axes
    scores = score_samples(9, 700, 2, Entries(**broken)) / 3
    drawn = histogram(axes)
    counts, _ = np.histogram(scores, bins=drawn.edges)
    np.testing.assert_allclose(drawn.values, counts / (700 * np.diff(drawn.edges)))
    assert counts.sum() > 690
    # mean: 9 (1/4 + 1) / 3; variance: 4 · 5/4 (9 + 72/16) + 2 · 1/4 · 2 · 3/2 (9 + 72/4), over 9.
    mean, variance = 3.75, (67.5 + 40.5) / 9
    for curve, centre, sd in ((0, mean, math.sqrt(variance)), (1, 0, 1)):
        x, heights = line(axes, curve)
        assert heights.max() == pytest.approx(1 / (sd * math.sqrt(2 * math.pi)), rel=1e-2)
        assert x[heights.argmax()] == pytest.approx(centre, abs=0.05)
    measured = Estimate.of_mean(scores), Estimate.of_variance(scores)
    assert axes.get_title(loc="left") == f"mean {measured[0]}, variance {measured[1]}"
    assert text == (
        "Width 9, scores divided by √9, 700 pairs. Entries of mean −0.5 and variance 2; "
        "correlation in a vector 0.25, of query with key 0.5. "
        f"Mean {measured[0]}, in theory {mean:g}; variance {measured[1]}, in theory {variance:g}. "
        "As assumed they would be 0 and 1."
    )


def test_weights_by_divisor_averages_sorted_rows():
    figure, text = variance_growth.weights_by_divisor(d_k=25, n_k=4, n_rows=300, seed=1)
    for axes, name, divisor in zip(
        figure.axes, ("raw", "÷ √d_k", "÷ d_k"), (1, 5, 25), strict=True
    ):
        heights = np.array([bar.get_height() for bar in axes.patches])
        largest = Estimate.of_mean(largest_weights(4, 25, scale=1 / divisor, n_rows=300, rng=1))
        assert heights[0] == pytest.approx(largest.value)
        assert heights.sum() == pytest.approx(1)
        assert (np.diff(heights) < 0).all()
        np.testing.assert_allclose(line(axes)[1], 1 / 4)
        assert axes.get_title(loc="left") == f"{name}: {largest.value:.3f}"
        assert f"{name} {largest}" in text
    assert text.endswith("Equal weights would be 0.25.")


def test_measured_variances_counts_what_a_check_rejects():
    figure, text = variance_growth.measured_variances(n=200, d_k=4, tolerance=0.1, repeats=300)
    (axes,) = figure.axes
    shaded = axes.patches[0]
    assert (shaded.get_x(), shaded.get_width()) == pytest.approx((0.9, 0.2))
    heights, edges, _ = histogram(axes)
    shares = heights * np.diff(edges)
    centres = (edges[1:] + edges[:-1]) / 2
    drawn = shares[np.abs(centres - 1) > 0.1].sum() + 1 - shares.sum()
    noise = math.sqrt((2 + 6 / 4) / 200)
    assert abs(shares @ centres / shares.sum() - 1) < 4 * noise / math.sqrt(300)
    theory = math.erfc(0.1 / noise / math.sqrt(2))
    error = math.sqrt(theory * (1 - theory) / 300)
    assert abs(drawn - theory) < 4 * error
    assert titles(figure) == [
        f"{100 * drawn:.0f} ± {100 * error:.0f} % rejected, in theory {100 * theory:.0f} %"
    ]
    x, curve = line(axes)
    assert curve.max() == pytest.approx(1 / (noise * math.sqrt(2 * math.pi)), rel=1e-3)
    assert x[curve.argmax()] == pytest.approx(1, abs=1e-9)
    assert f"{100 * variance_noise(4, 200):.3g} % in theory. {drawn:.2f} ± {error:.2f} of" in text
    assert text.endswith(f"differ by more than 10 %, in theory {theory:.2f}.")
