"""The numbers on the page on variance growth equal those of theory and attn_lib."""

import functools
import math
import re
from statistics import NormalDist

import numpy as np
import pytest

from attn_lib.course.mistakes import catalogue
from attn_lib.course.museum import wing
from attn_lib.course.targets import TARGETS
from attn_lib.model import CONFIG, draw_sentences, encode, forward, initialise, trained_model
from tests.book.claims import reading
from tests.book.claims.measured import ERRORS
from tests.book.claims.reading import MEASURED, options_of
from tests.book.claims.reading import read_measured as read

PAGE = "variance-growth"

after = functools.partial(reading.after, read=read)


def noise(d_k, n):
    """Return the relative standard error of a variance measured on `n` pairs."""
    return math.sqrt((2 + 6 / d_k) / n)


def outside(tolerance, error):
    return 2 * (1 - NormalDist(0, error).cdf(tolerance))


def largest_weights(n_k, d_k, divisor, n_rows=3000):
    """Return the mean of the largest weight and its error, measured with explicit products."""
    rng = np.random.default_rng(17)
    q, k = rng.normal(size=(n_rows, 1, d_k)), rng.normal(size=(n_rows, n_k, d_k))
    exponentials = np.exp((q * k).sum(axis=-1) / divisor)
    largest = exponentials.max(axis=-1) / exponentials.sum(axis=-1)
    return largest.mean(), largest.std() / math.sqrt(n_rows)


def test_the_totals_of_coins_are_counted(tables, text):
    rows = tables["term 1", "term 2", "total", "total squared"]
    assert sorted(row[2:] for row in rows[:-1]) == [("0", "0"), ("0", "0"), ("2", "4"), ("−2", "4")]
    assert rows[-1] == ("mean", "", "0", "2")
    squares = [(2 * ups - 5) ** 2 * math.comb(5, ups) for ups in range(6)]
    assert f"32 0.0 {sum(squares) / 32}" in text


def test_the_untrained_model_has_scores_of_variance_d_k(tables, text):
    rows = tables["d_k", "raw scores, squared", "÷ √d_k, squared"]
    assert [row[0] for row in rows] == ["4", "16", "64", "256"]
    own = draw_sentences(20, np.random.default_rng(9), held_out=True)

    def squares(model):
        """The mean of all squared raw scores that a word after the first may use."""
        traces = (forward(model, encode(sentence.words)) for sentence in own)
        found = [
            (q[i] @ k[: i + 1].T) ** 2
            for trace in traces
            for layer in ("layer1", "layer2")
            for q, k in zip(trace[f"{layer}.q"], trace[f"{layer}.k"], strict=True)
            for i in range(1, len(q))
        ]
        return float(np.concatenate(found).mean())

    for width, raw, scaled in rows:
        d_k = int(width)
        assert read(raw)[0] == pytest.approx(d_k, rel=0.15)
        assert read(scaled)[0] == pytest.approx(read(raw)[0] / d_k, rel=0.06)
        of_others = [squares(initialise(CONFIG._replace(d_k=d_k), seed)) for seed in (50, 51, 52)]
        assert np.mean(of_others) == pytest.approx(d_k, rel=0.25)
    spread = math.sqrt(squares(trained_model()) / CONFIG.d_k)
    said = re.search(r"scaled scores are typically (\d\.\d) away from 0", text)[1]
    assert float(said) == pytest.approx(spread, rel=0.15)
    assert f"{CONFIG.d_k}, the scaled scores are typically" in text
    assert spread > 2


def test_variances_are_measured_and_compared_with_theory(tables):
    rows = tables["d_k", "raw", "÷ √d_k", "÷ d_k"]
    assert [row[0] for row in rows] == ["1", "2", "8", "64", "512"]
    for width, *cells in rows:
        d_k = int(width)
        for cell, theory in zip(cells, (d_k, 1, 1 / d_k), strict=True):
            value, error = read(cell)
            assert cell.endswith(f"({theory:.3g})")
            assert value == pytest.approx(theory, rel=ERRORS * noise(d_k, 10_000))
            assert error == pytest.approx(theory * noise(d_k, 10_000), rel=0.4)


def test_the_first_experiment_and_its_slips(text):
    assert abs(after(text, "The measured variance is")[0] - 64) < ERRORS * 64 * noise(64, 10_000)
    assert abs(after(text, "of a single product:")[0] - 1) < ERRORS * noise(1, 640_000)
    assert abs(after(text, "is the standard deviation,")[0] - 8) < ERRORS * 4 * noise(64, 10_000)
    over_pairs = int(re.search(r"their variance is (\d+) (\d+) here", text).expand(r"\1\2"))
    # A variance estimated from 64 sums of 10 000 products each.
    assert abs(over_pairs / 10_000 - 1) < ERRORS * math.sqrt(2 / 64)


@pytest.mark.parametrize(("name", "divisor"), [("1", 1), ("√d_k", 8), ("d_k", 64)])
def test_the_largest_weight_with_each_divisor(tables, text, name, divisor):
    (row,) = (
        r for r in tables["divisor", "variance of a score", "mean largest weight"] if r[0] == name
    )
    assert row[1] == f"{64 / divisor**2:.3g}"
    value, error = read(row[2])
    expected, expected_error = largest_weights(10, 64, divisor)
    assert abs(value - expected) < ERRORS * math.hypot(error, expected_error)
    assert value == pytest.approx({1: 0.866, 8: 0.32, 64: 0.121}[divisor], abs=0.005)
    said = {1: "the largest weight was", 8: "without the scale, and", 64: "largest weight is"}
    assert f"{said[divisor]} {value:.2f}" in text


def test_the_answer_about_other_widths(text):
    for words, d_k in (("At width 1 it is lower,", 1), (read_to := "goes from", 64)):
        value, error = after(text, words)
        expected, expected_error = largest_weights(10, d_k, math.sqrt(d_k))
        assert abs(value - expected) < ERRORS * math.hypot(error, expected_error)
    widths = re.search(f"{read_to} {MEASURED} to {MEASURED}", text).groups()
    # For large widths a score is normal, so the limit can be computed without products.
    scores = np.random.default_rng(3).normal(size=(20_000, 10))
    limit = (np.exp(scores.max(axis=-1)) / np.exp(scores).sum(axis=-1)).mean()
    assert float(widths[2]) == pytest.approx(limit, abs=0.005)


def test_scores_do_not_range_over_500(tables, text):
    rows = tables["d_k", "sd", "within two sd", "all"]
    for row, d_k, furthest in zip(rows, (64, 512), (44, 120), strict=True):
        sd = math.sqrt(d_k)
        assert row[:2] == (str(d_k), f"{sd:.1f}")
        assert row[2].startswith(f"±{2 * sd:.0f}: 95.")
        # A sum of d_k products has wider tails than a normal number, so slightly fewer are inside.
        assert 95.3 < read(row[2])[0] < 100 * (1 - outside(2, 1)) + 0.05
        low, high = map(int, row[3].replace("−", "-").split(" to "))
        low_further, high_further = map(
            int,
            re.search(rf"(\d+) to (\d+) (?:away from it )?at width {d_k}\b", text).groups(),
        )
        for end in (-low, high, low_further, high_further):
            assert abs(end / furthest - 1) < 0.15
    assert f"is {500 / 8} standard deviations out" in text
    assert f"be {500 / 64:.1f} on average" in text


def test_scores_when_assumptions_fail(tables, text):
    rows = tables["entries", "mean of score ÷ 8 (theory)", "sd (theory)"]
    # Mean, variance and fourth central moment of one product, or of the whole score if all
    # entries are equal, because then it is 64 times one product.
    uniform = 1 / 3, 1 / 4, 1 / 5  # E[x²], E[x³], E[x⁴] between 0 and 1
    second, third, fourth = (moment**2 for moment in uniform)
    mean = 1 / 4
    variance = second - mean**2
    kurtosis = (fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4) / variance**2
    theory = {
        "as assumed": (0, 1, 3 + 6 / 64),
        "entries uniform between 0 and 1": (
            8 * mean,
            math.sqrt(variance),
            3 + (kurtosis - 3) / 64,
        ),
        "key = query": (8, math.sqrt(2), 3 + 12 / 64),
        "all entries equal, in each vector": (0, 8, 9),
    }
    assert [row[0] for row in rows] == list(theory)
    for name, mean_cell, sd_cell in rows:
        expected_mean, sd, kurtosis = theory[name]
        assert mean_cell.endswith(f"({expected_mean:g})")
        assert sd_cell.endswith(f"({sd:.3g})")
        assert abs(read(mean_cell)[0] - expected_mean) < ERRORS * sd / 100
        sd_error = sd * math.sqrt((kurtosis - 1) / 10_000) / 2
        assert abs(read(sd_cell)[0] - sd) < ERRORS * sd_error
    assert f"about {math.sqrt(variance):.2f}." in text
    assert f"has variance {64 * 4 * 9}" in text
    assert f"leaves {4 * 9}." in text


def test_the_questions_before_the_live_figures(article):
    wider, mean = (float(form["data-answer"]) for form in article.select(".attn-predict"))
    assert wider == math.sqrt(64 / 16)
    assert mean == 256 * (1 / 4) / math.sqrt(256)


def test_a_little_agreement_and_a_little_correlation(text):
    # A product r q² + √(1 - r²) q z has mean r, and the variance 2 r² + 1 - r².
    r = 1 / 4
    assert (
        f"of a scaled score is {1 + r**2:.2f}. But its mean is {r * 1024 / 32:.0f}, since" in text
    )
    # Each pair of different entries has the covariance r in both vectors, so r² in the products.
    assert f"grow with the width, to {(256 + 256 * 255 * r**2) / 256:.0f} at width 256" in text


def test_uniform_entries_give_nearly_equal_weights(text):
    rng = np.random.default_rng(29)
    q, k = rng.random((3000, 1, 64)), rng.random((3000, 10, 64))
    exponentials = np.exp((q * k).sum(axis=-1) / 8)
    largest = (exponentials.max(axis=-1) / exponentials.sum(axis=-1)).mean()
    assert after(text, "come out nearly equal, the largest")[0] == pytest.approx(largest, abs=0.002)


def test_the_noise_of_a_measured_variance(text):
    assert re.search(f"At [^.]* it is {100 * noise(64, 1000):.1f} %. Mind the root", text)
    for sentence, n, digits in (
        ("With 1000 pairs {} % of right programs fail", 1000, 0),
        ("With 4000 it is still {} %", 4000, 1),
        ("with 10 000 pairs {} %", 10_000, 2),
    ):
        share = 100 * outside(0.05, noise(64, n))
        assert sentence.format(f"{share:.{digits}f}") in text
    assert f"the standard error is {100 * noise(64, 1000):.1f} %" in text
    assert f"60 is {(64 - 60) / 64 / noise(64, 1000):.1f} standard errors below 64" in text


def test_the_entries_of_a_score_matrix_are_not_independent(tables, text):
    def matrix_noise(n):
        return math.hypot(noise(64, n * n), math.sqrt(2 * (2 * n - 2) / (64 * n * n)))

    assert f"promises a noise of {100 * noise(64, 128 * 128):.1f} %" in text
    assert f"the noise is then {100 * matrix_noise(128):.1f} %" in text
    measured, _ = after(text, "Over 200 such matrices it is")
    # A standard deviation estimated from 200 matrices.
    assert measured / 100 == pytest.approx(matrix_noise(128), rel=ERRORS / math.sqrt(400))
    for tokens, cell in tables["tokens", "variance of raw scores"]:
        value, error = read(cell)
        assert error == pytest.approx(64 * matrix_noise(int(tokens)), rel=0.3)
        assert abs(value - 64) < ERRORS * 64 * matrix_noise(int(tokens))


def test_softmax_of_unscaled_scores_is_sharp(text):
    for words, scores, digits in (
        ("[8, 16, 24] the largest weight is", (8, 16, 24), 4),
        ("which are [1, 2, 3], it is", (1, 2, 3), 3),
        ("The scores of a row are [1, 4, 2]. The largest weight is", (1, 4, 2), 2),
        ("It falls to", (0.5, 2, 1), 2),
    ):
        weight = math.exp(max(scores)) / sum(map(math.exp, scores))
        assert f"{words} {weight:.{digits}f}" in text


QUESTIONS = {
    "score_variance": ((8, 0.5, 3), 12),
    "score_sd": ((8, 0.5, 3), math.sqrt(12)),
    "score_mean": ((64, 0.5, 0.5), 16),
    "score_range": ((64,), 16),
    "scaled_variance": ((64, 16), 1 / 4),
    "scale_for": ((64, 4, 9), 1 / 48),
    "head_scale": ((512, 8, 100), 1 / 8),
    "variance_noise": ((64, 1000), noise(64, 1000)),
    "score_matrix_noise": (
        (64, 128, 128),
        math.hypot(noise(64, 128**2), math.sqrt(2 * 254 / (64 * 128**2))),
    ),
}


def test_the_tables_of_mistakes_show_right_and_wrong_results(tables):
    rows = iter(tables["asked for, then wrong ways", "result"])
    for target, (arguments, right) in QUESTIONS.items():
        assert TARGETS[target](*arguments) == pytest.approx(right)
        _, shown = next(rows)
        assert shown == f"{right:.4g}"
        for mistake in catalogue(target):
            wrong = float(mistake.wrong(*arguments))
            assert next(rows) == (mistake.sentence, f"{wrong:.4g}")
            assert wrong != pytest.approx(right, rel=0.02)
    assert list(rows) == []


def test_every_mistake_of_this_page_is_shown_or_explained():
    explained_in_words = {"measured_variance"}
    here = {m.target for m in catalogue() if wing(m.target) == PAGE}
    assert here == {*QUESTIONS, *explained_in_words}


@pytest.mark.parametrize(
    ("quiz", "answer"),
    [
        ("unscaled-variance", f"{TARGETS['score_variance'](64):g}"),
        ("divide-by-the-width", f"$1/{1 / TARGETS['scaled_variance'](64, 64):g}$"),
        ("which-width", f"{1 / TARGETS['head_scale'](768, 12, 1000):g}"),
        ("output-shape-again", "(2, 3, 4)"),
    ],
)
def test_the_key_of_a_quiz_is_computed(root, quiz, answer):
    assert options_of(root, PAGE, quiz)[1] == answer
