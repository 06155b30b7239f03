import numpy as np
import pytest

from attn_lib import softmax


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
