"""The quick comparisons of arrays give what NumPy's own give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from attn_lib.course.checks.comparison import all_near, difference

NUMBERS = [0.0, -0.0, 1.0, 1.00005, 1.0005, -1.0, 1e-6, 1e-4, 3e200, np.inf, -np.inf, np.nan]
TOLERANCES = [(0.0, 0.0), (1e-4, 1e-5), (0.0, 1e-3), (1e-9, 1e-12)]
PAIRS = list(itertools.product(NUMBERS, repeat=2))


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("nan_equal", [False, True])
def test_all_near_is_allclose(tolerance, nan_equal):
    relative, absolute = tolerance
    decided = set()
    for (one, two), (three, four) in itertools.product(PAIRS, PAIRS[::7]):
        array, other = np.array([one, three]), np.array([two, four])
        right = np.allclose(array, other, rtol=relative, atol=absolute, equal_nan=nan_equal)
        assert all_near(array, other, tolerance, nan_equal=nan_equal) is right, (array, other)
        decided.add(right)
    assert decided == {False, True}


@pytest.mark.parametrize(
    ("array", "other"),
    [
        (np.array([True, False]), np.array([True, False])),
        (np.array([True, False]), np.array([True, True])),
        (np.array([3, 7]), np.array([3.0, 7.0])),
        (np.array([3.0, 7.5]), np.array([3, 7])),
        (np.array([2**63 - 1, 0]), np.array([-(2**63), 0])),
        (np.array([0.1, 0.7], np.float32), np.array([0.1, 0.7])),
        (np.array(0.25), np.array(0.25)),
        (np.array(0.25), np.array(0.5)),
        (np.zeros((0, 3)), np.ones((0, 3))),
    ],
)
def test_all_near_takes_arrays_of_any_real_numbers(array, other):
    for relative, absolute in TOLERANCES:
        right = np.allclose(array, other, rtol=relative, atol=absolute)
        assert all_near(array, other, (relative, absolute)) is right


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_an_answer_differs_where_it_is_not_close(tolerance):
    relative, absolute = tolerance
    for one, two in PAIRS:
        got, expected = np.array([5.0, one]), np.array([5.0, two])
        close = bool(np.isclose(one, two, rtol=relative, atol=absolute))
        assert (difference(got, expected, tolerance) == "") == close, (one, two)
