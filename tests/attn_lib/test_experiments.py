"""Random scores behave as theory and the book say, within their sampling errors."""

import math

import numpy as np
import pytest

from attn_lib import experiments, softmax
from attn_lib.estimates import Estimate, rejected_share, score_matrix_noise, variance_noise
from attn_lib.experiments import (
    Entries,
    cross_entropy_gradient_norms,
    jacobian_norms,
    largest_scores,
    largest_weights,
    overflows,
    query_gradient_norms,
    score_moments,
    score_samples,
    score_variance,
)

# In standard errors. A bound of 4 rejects one right number in 16 000; with fixed seeds, a test
# that has passed once always passes.
BOUND = 4


def assert_agree(one, other):
    error = math.hypot(one.standard_error, other.standard_error)
    assert abs(one.value - other.value) <= BOUND * error, (one, other)


def test_estimate_of_a_mean():
    mean = Estimate.of_mean([1, 2, 3, 6])
    assert mean.value == 3
    assert mean.standard_error == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3) / 2)
    share = Estimate.of_mean([True] * 30 + [False] * 70)
    assert share.value == pytest.approx(0.3)
    assert share.standard_error == pytest.approx(math.sqrt(0.3 * 0.7 / 99))


def test_estimate_of_a_median():
    sample = np.random.default_rng(1).standard_normal(100_001)
    median = Estimate.of_median(sample)
    assert median.value == np.sort(sample)[50_000]
    # The median of n normal numbers has variance π/(2n).
    assert median.standard_error == pytest.approx(math.sqrt(math.pi / 2 / 100_001), rel=0.1)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.86449, 0.0026), "0.864 ± 0.003"),
        (Estimate(511.7, 12.4), "512 ± 12"),
        (Estimate(2.0, 0.0), "2 ± 0"),
    ],
)
def test_an_estimate_is_printed_to_the_first_digit_of_its_error(estimate, text):
    assert str(estimate) == text


def test_an_estimate_needs_at_least_two_numbers():
    for sample in ([1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="at least two numbers, got shape"):
            Estimate.of_mean(sample)
        with pytest.raises(ValueError, match="at least two numbers, got shape"):
            Estimate.of_median(sample)
        with pytest.raises(ValueError, match="at least two numbers, got shape"):
            Estimate.of_variance(sample)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "q=k"])
def test_a_score_is_the_sum_of_d_k_products(distribution):
    rng = np.random.default_rng(3)
    draw = rng.random if distribution == "uniform" else rng.standard_normal
    q = draw((5, 7))
    k = q if distribution == "q=k" else draw((5, 7))
    expected = [sum(q[n, i] * k[n, i] for i in range(7)) for n in range(5)]
    np.testing.assert_allclose(score_samples(7, 5, 3, distribution), expected)


def test_experiments_in_pieces_have_the_same_size_and_accuracy(monkeypatch):
    monkeypatch.setattr(experiments, "_CHUNK", 10)
    assert score_samples(7, 23, rng=0).shape == (23,)
    assert len(set(score_samples(7, 23, rng=0))) == 23
    assert len(set(jacobian_norms(3, 7, n_rows=23, rng=0))) == 23
    # A row longer than a piece becomes a piece of one row.
    assert largest_weights(11, 7, n_rows=3, rng=0).shape == (3,)


def test_a_seed_equals_its_generator_and_a_generator_advances():
    generator = np.random.default_rng(5)
    first, second = (jacobian_norms(5, 7, n_rows=3, rng=generator) for _ in range(2))
    np.testing.assert_array_equal(first, jacobian_norms(5, 7, n_rows=3, rng=5))
    assert not np.any(first == second)


@pytest.mark.parametrize("d_k", [1, 2, 8, 64, 512])
def test_score_variance_with_three_scales(d_k):
    for scale, theory in ((1.0, d_k), (None, 1.0), (1 / d_k, 1 / d_k)):
        measured = score_variance(d_k, 4000, rng=d_k, scale=scale)
        noise = theory * variance_noise(d_k, 4000)
        assert abs(measured.value - theory) <= BOUND * noise
        # The measured error depends on the fourth moment, which is known to about 10 percent here.
        assert measured.standard_error == pytest.approx(noise, rel=0.3)


def test_score_variance_is_the_sample_variance():
    measured = score_variance(7, 50, rng=2, scale=0.5, distribution="uniform")
    expected = np.var(0.5 * score_samples(7, 50, 2, "uniform"), ddof=1)
    assert measured.value == pytest.approx(expected)
    with pytest.raises(ValueError, match="at least two"):
        score_variance(7, 1, rng=2)


@pytest.mark.parametrize(
    ("distribution", "mean", "sd"),
    [
        # E[u] = 1/2 and E[u²] = 1/3, so a product has mean 1/4 and variance 1/9 - 1/16.
        ("uniform", 2.0, math.sqrt(1 / 9 - 1 / 16)),
        # A squared normal number has mean 1 and variance 2.
        ("q=k", 8.0, math.sqrt(2)),
    ],
)
def test_scores_when_the_assumptions_fail(distribution, mean, sd):
    n = 10_000
    scaled = score_samples(64, n, 0, distribution) / 8
    assert abs(scaled.mean() - mean) <= BOUND * sd / math.sqrt(n)
    # The relative error of a standard deviation is half that of the variance.
    assert scaled.std() == pytest.approx(sd, rel=BOUND * variance_noise(64, n) / 2)


ODD_ENTRIES = [
    Entries(),
    Entries(mean=0.5),
    Entries(variance=3.0),
    Entries(correlation=0.3),
    Entries(agreement=-0.6),
    Entries(agreement=1.0),
    Entries(mean=-0.7, variance=2.0, correlation=0.2, agreement=0.4),
]


@pytest.mark.parametrize("entries", ODD_ENTRIES)
def test_score_moments_are_those_of_samples(entries):
    scores = score_samples(7, 60_000, 1, entries)
    mean, variance = score_moments(7, entries)
    for measured, theory in (
        (Estimate.of_mean(scores), mean),
        (Estimate.of_variance(scores), variance),
    ):
        assert abs(measured.value - theory) <= BOUND * measured.standard_error


def test_entries_have_the_moments_that_were_asked_for():
    """At width 1 the score of a key that equals its query is one squared entry."""
    squares = score_samples(1, 50_000, 2, Entries(mean=0.5, variance=4.0, agreement=1.0))
    measured = Estimate.of_mean(squares)
    assert abs(measured.value - (0.5**2 + 4)) <= BOUND * measured.standard_error
    # With all entries of a vector equal, a score is d_k times one product.
    equal = score_samples(7, 5, 3, Entries(correlation=1.0))
    rng = np.random.default_rng(3)
    _, u, _, v = (rng.standard_normal(shape) for shape in ((5, 7), (5, 1), (5, 7), (5, 1)))
    np.testing.assert_allclose(equal, 7 * (u * v)[:, 0])


@pytest.mark.parametrize(
    "entries", [Entries(variance=-1), Entries(correlation=-0.1), Entries(agreement=1.5)]
)
def test_entries_that_cannot_be_are_refused(entries):
    for measure in (score_moments, lambda d_k, e: score_samples(d_k, 3, 0, e)):
        with pytest.raises(ValueError, match="a correlation from 0 to 1 and an agreement"):
            measure(7, entries)


def test_unscaled_scores_at_64_lie_within_16_and_not_500():
    scores = score_samples(64, 100_000, rng=0)
    inside = Estimate.of_mean(np.abs(scores) <= 16)
    # A normal distribution gives .9545; an excess kurtosis of 6/64 changes that by less than .001.
    assert abs(inside.value - 0.9545) <= 0.001 + BOUND * inside.standard_error
    assert 30 < np.abs(scores).max() < 50


def relative_spread_of_variances(scores):
    """Return the relative spread of the variances of many experiments, one per row, with mean 0."""
    variances = (scores**2).reshape(len(scores), -1).mean(axis=1)
    return variances.std() / variances.mean()


def test_noise_of_a_variance_over_pairs():
    q, k = np.random.default_rng(0).standard_normal((2, 4000, 100, 3))
    spread = relative_spread_of_variances((q * k).sum(axis=-1))
    # With 4000 repetitions, a standard deviation has an error of about 1.5 percent.
    assert spread == pytest.approx(variance_noise(3, 100), rel=0.06)
    assert variance_noise(64, 1000) == pytest.approx(0.0458, abs=5e-5)


def test_noise_of_a_variance_over_one_score_matrix():
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((4000, 11, 5)), rng.standard_normal((4000, 17, 5))
    spread = relative_spread_of_variances(q @ k.swapaxes(-1, -2))
    assert spread == pytest.approx(score_matrix_noise(5, 11, 17), rel=0.06)
    assert score_matrix_noise(64, 128, 128) == pytest.approx(0.025, abs=5e-4)
    assert score_matrix_noise(64, 1, 1) == pytest.approx(variance_noise(64, 1))


def test_a_five_percent_check_rejects_a_quarter_of_right_answers():
    noise = variance_noise(64, 1000)
    assert rejected_share(0.05, noise) == pytest.approx(0.27, abs=0.01)
    normal = np.random.default_rng(0).standard_normal(40_000) * noise
    measured = Estimate.of_mean(np.abs(normal) > 0.05)
    assert abs(measured.value - rejected_share(0.05, noise)) <= BOUND * measured.standard_error
    assert rejected_share(0, noise) == 1
    for tolerance, bad in ((-0.1, 0.1), (0.1, 0.0), (math.nan, 0.1)):
        with pytest.raises(ValueError, match="positive noise, got"):
            rejected_share(tolerance, bad)


def by_hand(n_k, d_k, scale, n_rows):
    """Compute from explicit queries and keys what the experiments draw directly."""
    rng = np.random.default_rng(99)
    q = rng.standard_normal((n_rows, d_k))
    k = rng.standard_normal((n_rows, n_k, d_k))
    scores = (k @ q[:, :, None])[..., 0]
    w = softmax(scores * scale)
    jacobian = w[:, :, None] * np.eye(n_k) - w[:, :, None] * w[:, None, :]
    g = rng.standard_normal((n_rows, n_k, 1))
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    to_query = scale * (k.swapaxes(1, 2) @ jacobian @ g)[..., 0]
    target = np.eye(n_k)[rng.integers(n_k, size=n_rows)]
    return {
        largest_weights: w.max(axis=1),
        jacobian_norms: np.linalg.norm(jacobian, axis=(1, 2)),
        query_gradient_norms: np.linalg.norm(to_query, axis=1),
        cross_entropy_gradient_norms: np.linalg.norm(w - target, axis=1),
        largest_scores: scores.max(axis=1),
    }


@pytest.mark.parametrize(("n_k", "d_k", "scale"), [(5, 3, 1.0), (5, 7, None), (3, 1, 1.5)])
def test_drawing_scores_directly_matches_multiplying(n_k, d_k, scale):
    n_rows = 20_000
    written_out = by_hand(n_k, d_k, d_k**-0.5 if scale is None else scale, n_rows)
    for experiment, expected in written_out.items():
        options = {} if experiment is largest_scores else {"scale": scale}
        drawn = experiment(n_k, d_k, n_rows=n_rows, rng=1, **options)
        for power in (1, 2):
            assert_agree(Estimate.of_mean(drawn**power), Estimate.of_mean(expected**power))
        assert_agree(Estimate.of_median(drawn), Estimate.of_median(expected))


def test_overflow_matches_the_float_type():
    # exp(88.73) overflows float32. Below that, only the sum of several exponentials can overflow.
    largest = largest_scores(9, 1024, rng=4)
    np.testing.assert_array_equal(overflows(9, 1024, rng=4)[largest > 88.73], True)
    assert not np.any(overflows(9, 1024, rng=4)[largest < 88.72 - math.log(9)])
    assert not np.any(overflows(9, 1024, rng=4, dtype=np.float64))
    assert np.mean(overflows(9, 64, rng=4, dtype=np.float16)) > 0.3


mean, median = Estimate.of_mean, Estimate.of_median


def dead(norms):
    return Estimate.of_mean(norms < 0.01)


@pytest.mark.parametrize(
    ("summary", "experiment", "n_k", "d_k", "scale", "said"),
    [
        (mean, largest_weights, 10, 64, 1.0, 0.866),
        (mean, largest_weights, 64, 64, 1.0, 0.788),
        (mean, largest_weights, 10, 512, 1.0, 0.953),
        (mean, largest_weights, 64, 512, 1.0, 0.928),
        (mean, largest_weights, 10, 64, None, 0.32),
        (mean, largest_weights, 64, 512, None, 0.11),
        (mean, largest_weights, 10, 64, 1 / 64, 0.121),
        (median, jacobian_norms, 10, 64, 1.0, 0.076),
        (mean, jacobian_norms, 10, 64, 1.0, 0.157),
        (median, jacobian_norms, 10, 64, None, 0.347),
        (mean, jacobian_norms, 10, 64, None, 0.347),
        (median, jacobian_norms, 10, 512, 1.0, 0.0002),
        (mean, jacobian_norms, 10, 512, 1.0, 0.063),
        (median, jacobian_norms, 10, 512, None, 0.348),
        (median, jacobian_norms, 64, 64, 1.0, 0.206),
        (mean, jacobian_norms, 64, 64, 1.0, 0.214),
        (median, jacobian_norms, 64, 64, None, 0.179),
        (mean, jacobian_norms, 64, 64, None, 0.183),
        (median, jacobian_norms, 64, 512, 1.0, 0.0037),
        (mean, jacobian_norms, 64, 512, 1.0, 0.092),
        (median, jacobian_norms, 64, 512, None, 0.180),
        (median, jacobian_norms, 256, 64, 1.0, 0.265),
        (mean, jacobian_norms, 256, 64, 1.0, 0.236),
        (median, jacobian_norms, 256, 64, None, 0.097),
        (dead, jacobian_norms, 64, 64, 1.0, 0.16),
        (dead, jacobian_norms, 64, 512, 1.0, 0.56),
        (median, query_gradient_norms, 64, 64, 1.0, 0.105),
        (median, query_gradient_norms, 64, 64, None, 0.021),
        (median, query_gradient_norms, 64, 512, 1.0, 0.005),
        (median, query_gradient_norms, 64, 512, None, 0.021),
        (mean, query_gradient_norms, 64, 512, 1.0, 0.212),
        (mean, query_gradient_norms, 64, 512, None, 0.022),
        (mean, cross_entropy_gradient_norms, 10, 64, 1.0, 1.21),
        (mean, cross_entropy_gradient_norms, 10, 64, None, 0.99),
    ],
)
def test_the_numbers_stated_in_the_course(summary, experiment, n_k, d_k, scale, said):
    measured = summary(experiment(n_k, d_k, scale=scale, rng=0))
    # Both come from samples of about 4000 rows, so their difference has √2 times the error of
    # one; the stated number is also rounded.
    rounding = 0.5 * 10.0 ** -len(f"{said}".partition(".")[2])
    bound = BOUND * math.sqrt(2) * measured.standard_error + rounding
    assert abs(measured.value - said) <= bound, measured


@pytest.mark.parametrize(("d_k", "said"), [(512, 0.007), (1024, 0.29)])
def test_the_share_of_rows_that_overflow_float32(d_k, said):
    measured = Estimate.of_mean(overflows(128, d_k, rng=0))
    assert abs(measured.value - said) <= BOUND * math.sqrt(2) * measured.standard_error


def test_events_that_never_occur():
    assert not np.any(overflows(128, 64, rng=0))
    assert not np.any(jacobian_norms(64, 512, rng=0) < 0.01)


@pytest.mark.parametrize("experiment", [largest_weights, largest_scores, overflows])
def test_sizes_are_whole_and_positive(experiment):
    for n_k, d_k, n_rows in ((0, 7, 3), (5, 0, 3), (5, 7, 0)):
        with pytest.raises(ValueError, match="expected 1 or more, got 0"):
            experiment(n_k, d_k, n_rows=n_rows, rng=0)
    with pytest.raises(ValueError, match=r"d_k: expected a whole number, got 2\.5"):
        experiment(5, 2.5, rng=0)


def test_score_samples_lists_the_known_distributions():
    with pytest.raises(ValueError, match=r"\"uniform\", \"q=k\" or Entries, got 'gauss'"):
        score_samples(7, 5, 0, "gauss")
    with pytest.raises(ValueError, match="n: expected 1 or more, got 0"):
        score_samples(7, 0, 0)
    for noise in (variance_noise, lambda d_k, n: score_matrix_noise(d_k, n, 3)):
        with pytest.raises(ValueError, match="expected 1 or more, got 0"):
            noise(7, 0)
