import math

import numpy as np
import pytest

from attn_lib import softmax
from attn_lib.softmax import (
    entropy,
    log_softmax,
    log_sum_exp,
    softmax_backward,
    softmax_jacobian,
    softmax_jacobian_norm,
)


def test_worked_example():
    scaled = np.array([5, 2, -1]) / np.sqrt(2)
    np.testing.assert_allclose(softmax(scaled), [0.8816, 0.1057, 0.0127], atol=5e-5)


def test_ratios_are_exponentials_of_differences():
    weights = softmax(np.log([[1.0, 2.0, 5.0]]))
    np.testing.assert_allclose(weights, [[1 / 8, 2 / 8, 5 / 8]], rtol=1e-14)


def test_axis_normalises_columns_when_asked():
    scores = np.log([[1.0, 3.0], [3.0, 1.0], [4.0, 4.0]])  # (3, 2)
    expected = [[1 / 8, 3 / 8], [3 / 8, 1 / 8], [4 / 8, 4 / 8]]
    np.testing.assert_allclose(softmax(scores, axis=0), expected, rtol=1e-14)


@pytest.mark.parametrize("shift", [-1e4, -3.0, 7.0, 1e4])
def test_a_shift_of_the_whole_row_changes_nothing(shift):
    scores = np.random.default_rng(3).normal(size=(3, 5))
    np.testing.assert_allclose(softmax(scores + shift), softmax(scores), rtol=1e-10)


def test_minus_infinity_gets_exactly_zero():
    weights = softmax([0.0, -np.inf, 0.0])
    assert weights.tolist() == [0.5, 0.0, 0.5]


def test_a_row_of_minus_infinity_gives_zeros_and_leaves_other_rows_alone():
    weights = softmax([[-np.inf, -np.inf], [0.0, 0.0]])
    assert weights.tolist() == [[0.0, 0.0], [0.5, 0.5]]


def test_an_empty_row_stays_empty():
    assert softmax(np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_float_type_is_kept_and_the_sum_is_right(dtype):
    scores = np.linspace(-8, 8, 4000).astype(dtype)
    weights = softmax(scores)
    assert weights.dtype == dtype
    exact = np.exp(scores.astype(np.float64))
    tolerance = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(weights, exact / exact.sum(), rtol=tolerance, atol=6e-8)


def test_integers_give_float64():
    weights = softmax([0, 0, 0, 0])
    assert weights.dtype == np.float64
    assert weights.tolist() == [0.25] * 4


def test_the_input_is_not_changed():
    scores = np.array([[1.0, 2.0], [3.0, 5.0]])
    softmax(scores)
    assert scores.tolist() == [[1.0, 2.0], [3.0, 5.0]]


@pytest.mark.parametrize(
    ("scores", "axis", "error", "message"),
    [
        (["a"], -1, TypeError, "expected real numbers, got dtype <U1"),
        ([1j], -1, TypeError, "expected real numbers, got dtype complex128"),
        ([[1.0], [1.0, 2.0]], -1, ValueError, "rows of equal length"),
        (3.0, -1, ValueError, r"an axis -1, got shape \(\)"),
        ([1.0], 1, ValueError, r"an axis 1, got shape \(1,\)"),
    ],
)
def test_misuse_is_explained(scores, axis, error, message):
    with pytest.raises(error, match=message):
        softmax(scores, axis=axis)


SCORES = np.random.default_rng(8).normal(size=(3, 5), scale=3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_log_sum_exp_matches_its_definition(axis):
    lines = SCORES.T if axis == 0 else SCORES
    expected = [math.log(sum(math.exp(score) for score in line)) for line in lines]
    np.testing.assert_allclose(log_sum_exp(SCORES, axis=axis), expected, rtol=1e-14)


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_log_sum_exp_moves_with_its_scores(shift):
    expected = log_sum_exp(SCORES) + shift
    np.testing.assert_allclose(log_sum_exp(SCORES + shift), expected, rtol=1e-15)


def test_log_sum_exp_of_one_row_is_a_scalar():
    total = log_sum_exp([0, 0, 0, 0])
    assert type(total) is np.float64
    assert total == pytest.approx(math.log(4), rel=1e-15)


@pytest.mark.parametrize("axis", [0, 1])
def test_log_softmax_is_the_logarithm_of_the_weights(axis):
    np.testing.assert_allclose(log_softmax(SCORES, axis), np.log(softmax(SCORES, axis)), rtol=1e-13)


def test_log_softmax_stays_exact_where_the_weight_underflows():
    assert softmax([0.0, 2000.0])[0] == 0
    assert log_softmax([0.0, 2000.0]).tolist() == [-2000.0, 0.0]
    # With large scores log_sum_exp is rounded to 1e-12, but log_softmax must not be.
    far = log_softmax(np.array([1.0, 3.0]) + 2.0**14)
    np.testing.assert_allclose(far, log_softmax([1.0, 3.0]), rtol=1e-15)


def test_logarithms_of_an_empty_row():
    scores = [[-np.inf, -np.inf], [0.0, -np.inf]]
    assert log_sum_exp(scores).tolist() == [-np.inf, 0.0]
    assert log_softmax(scores).tolist() == [[-np.inf, -np.inf], [0.0, -np.inf]]
    assert log_sum_exp(np.zeros((3, 0))).tolist() == [-np.inf] * 3
    assert log_softmax(np.zeros((3, 0))).shape == (3, 0)


def test_jacobian_is_the_derivative():
    step = 1e-5
    jacobian = softmax_jacobian(softmax(SCORES))
    assert jacobian.shape == (3, 5, 5)
    for j in range(5):
        change = step * np.eye(5)[j]
        slope = (softmax(SCORES + change) - softmax(SCORES - change)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, :, j], slope, atol=1e-10)


def test_jacobian_by_its_definition():
    w = softmax(SCORES[0])
    for i in range(5):
        for j in range(5):
            expected = w[i] * ((i == j) - w[j])
            assert softmax_jacobian(w)[i, j] == pytest.approx(expected, rel=1e-14)


def test_norm_is_the_norm_of_the_jacobian():
    weights = softmax(np.random.default_rng(4).normal(size=(2, 3, 7), scale=4))
    expected = np.linalg.norm(softmax_jacobian(weights), axis=(-2, -1))
    assert expected.shape == (2, 3)
    np.testing.assert_allclose(softmax_jacobian_norm(weights), expected, rtol=1e-13)


def test_norm_by_sums_of_powers():
    w = softmax(SCORES)
    squared = (w**2).sum(-1) - 2 * (w**3).sum(-1) + (w**2).sum(-1) ** 2
    np.testing.assert_allclose(softmax_jacobian_norm(w) ** 2, squared, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_norm_for_equal_weights_and_for_one_weight(n):
    norm = softmax_jacobian_norm(np.full(n, 1 / n))
    assert norm == pytest.approx(math.sqrt(n - 1) / n, rel=1e-12)
    assert softmax_jacobian_norm(np.eye(n)).tolist() == [0.0] * n


@pytest.mark.parametrize(("dtype", "exponent"), [(np.float64, 50), (np.float32, 21)])
@pytest.mark.parametrize("largest_first", [True, False])
def test_norm_stays_exact_near_a_single_weight(dtype, exponent, largest_first):
    small = 2.0**-exponent
    weights = np.array([1 - small, small, 0][:: 1 if largest_first else -1], dtype)
    expected = 2 * small * (1 - small)  # the entries of J are ± small · (1 - small)
    rtol = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(softmax_jacobian_norm(weights), expected, rtol=rtol)


def test_zero_weights_have_a_zero_derivative():
    weights = np.zeros((3, 5))
    assert not softmax_jacobian(weights).any()
    assert softmax_jacobian_norm(weights).tolist() == [0.0] * 3
    assert softmax_jacobian(np.zeros((3, 0))).shape == (3, 0, 0)
    assert softmax_jacobian_norm(np.zeros((3, 0))).tolist() == [0.0] * 3


def test_entropy_is_the_mean_length_of_a_code():
    """With weights that are powers of 1/2, key i has a code word of −log₂ of its weight in bits."""
    assert entropy([1 / 2, 1 / 4, 1 / 8, 1 / 8, 0]) == 1.75
    np.testing.assert_allclose(entropy(np.full((2, 3, 7), 1 / 7)), np.full((2, 3), math.log2(7)))
    certain = entropy([[1.0, 0.0], [0.0, 0.0]])
    assert certain.tolist() == [0, 0]
    assert not np.signbit(certain).any()


FUNCTIONS = [
    softmax,
    log_sum_exp,
    log_softmax,
    softmax_jacobian,
    softmax_jacobian_norm,
    entropy,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_function_keeps_the_float_type_and_its_input(function, dtype):
    weights = softmax(SCORES).astype(dtype)
    weights.flags.writeable = False
    result = function(weights)
    assert result.dtype == dtype
    rtol = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(result, function(weights.astype(np.float64)), rtol=rtol, atol=6e-8)


def test_half_precision_is_summed_in_single():
    n = 8192
    norm = softmax_jacobian_norm(np.full(n, 1 / n, np.float16))  # its squares are 0 in float16
    assert norm == pytest.approx(math.sqrt(n - 1) / n, rel=1e-3)
    scores = np.full(n, 10.0, np.float16)
    assert log_sum_exp(scores) == pytest.approx(10 + math.log(n), rel=1e-3)
    np.testing.assert_allclose(log_softmax(scores), -math.log(n), rtol=1e-3)


@pytest.mark.parametrize("function", [softmax_jacobian, softmax_jacobian_norm, entropy])
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([5.0, 2.0, -1.0], ValueError, r"smallest of -1 and .* sum of 6; pass softmax\(scores\)"),
        ([1.5, -0.5], ValueError, r"a smallest of -0\.5"),
        ([0.5, 0.6], ValueError, r"a largest sum of 1\.1"),
        (1.0, ValueError, "expected weights with an axis -1"),
        (["a"], TypeError, "weights: expected real numbers"),
    ],
)
def test_invalid_weights_are_rejected(function, weights, error, message):
    with pytest.raises(error, match=message):
        function(weights)


@pytest.mark.parametrize("function", [log_sum_exp, log_softmax])
def test_misuse_of_the_logarithms_is_explained(function):
    with pytest.raises(ValueError, match=f"{function.__name__}: .* an axis 2, got shape"):
        function(SCORES, axis=2)
    with pytest.raises(TypeError, match="scores: expected real numbers"):
        function(["a"])


class TestBackward:
    def test_it_is_the_jacobian_times_the_gradient(self):
        rng = np.random.default_rng(11)
        weights, grad_weights = softmax(rng.normal(size=(2, 3, 5))), rng.normal(size=(2, 3, 5))
        expected = (softmax_jacobian(weights) @ grad_weights[..., None])[..., 0]
        given = softmax_backward(weights, grad_weights)
        np.testing.assert_allclose(given, expected, rtol=1e-13, atol=1e-15)

    def test_it_is_the_slope_of_a_loss(self):
        rng = np.random.default_rng(12)
        scores, grad_weights, step = rng.normal(size=5), rng.normal(size=5), 1e-5
        steps = step * np.eye(5)
        losses = [softmax(scores + sign * steps) @ grad_weights for sign in (1, -1)]
        given = softmax_backward(softmax(scores), grad_weights)
        np.testing.assert_allclose(given, (losses[0] - losses[1]) / (2 * step), atol=1e-9)

    def test_leading_axes_broadcast(self):
        rng = np.random.default_rng(13)
        weights, grad_weights = softmax(rng.normal(size=(3, 5))), rng.normal(size=(2, 1, 5))
        given = softmax_backward(weights, grad_weights)
        for i, j in np.ndindex(2, 3):
            expected = softmax_backward(weights[j], grad_weights[i, 0])
            np.testing.assert_allclose(given[i, j], expected, rtol=1e-14)

    def test_a_row_of_zero_weights_has_zero_gradient(self):
        assert softmax_backward([[0, 0], [0.5, 0.5]], [3, 1]).tolist() == [[0, 0], [0.5, -0.5]]

    def test_float16_is_computed_in_float32(self):
        rng = np.random.default_rng(14)
        weights = softmax(rng.normal(size=2000)).astype(np.float16)
        grad_weights = (100 + rng.normal(size=2000)).astype(np.float16)
        given = softmax_backward(weights, grad_weights)
        exact = softmax_backward(weights.astype(float), grad_weights.astype(float))
        assert given.dtype == np.float16
        np.testing.assert_allclose(given, exact, rtol=2**-10, atol=1e-6)

    @pytest.mark.parametrize(
        ("weights", "grad_weights", "message"),
        [
            (
                1.0,
                [1.0],
                r"expected weights and gradients of shape \(..., n\), got \(\) and \(1,\)",
            ),
            ([0.5, 0.5], [1.0], r"got \(2,\) and \(1,\); pass one derivative for each weight"),
            (np.ones((3, 2)), np.ones((5, 2)), r"got weights \(3, 2\) and gradients \(5, 2\)"),
        ],
    )
    def test_shapes_that_do_not_fit(self, weights, grad_weights, message):
        with pytest.raises(ValueError, match=message):
            softmax_backward(weights, grad_weights)
