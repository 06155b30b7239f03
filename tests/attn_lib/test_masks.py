import numpy as np
import pytest

from attn_lib import causal_mask, combine_masks, padding_mask
from attn_lib.masks import additive_mask, allowed_from_blocked, sliding_window_mask


def test_a_square_causal_mask_is_the_lower_triangle():
    assert causal_mask(3, 3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize(
    ("n_q", "n_k", "alignment", "allowed"),
    [
        (2, 4, "top-left", [[1, 0, 0, 0], [1, 1, 0, 0]]),
        (2, 4, "bottom-right", [[1, 1, 1, 0], [1, 1, 1, 1]]),
        (3, 2, "top-left", [[1, 0], [1, 1], [1, 1]]),
        (3, 2, "bottom-right", [[0, 0], [1, 0], [1, 1]]),
        (1, 3, "bottom-right", [[1, 1, 1]]),
    ],
)
def test_a_rectangular_causal_mask_follows_its_alignment(n_q, n_k, alignment, allowed):
    mask = causal_mask(n_q, n_k, alignment)
    assert mask.dtype == np.bool_
    assert mask.astype(int).tolist() == allowed


@pytest.mark.parametrize("left", [None, 0, 2])
@pytest.mark.parametrize("right", [None, 0, 1])
@pytest.mark.parametrize("offset", [-2, 0, 3])
def test_a_window_counts_keys_before_and_after_the_query(left, right, offset):
    mask = sliding_window_mask(4, 6, left, right, offset=offset)
    assert mask.dtype == np.bool_
    assert mask.shape == (4, 6)
    for i in range(4):
        for j in range(6):
            before, after = max(i + offset - j, 0), max(j - i - offset, 0)
            near = (left is None or before <= left) and (right is None or after <= right)
            assert mask[i, j] == near, (i, j)


def test_a_window_of_three_keys_as_figure_1_of_mistral_draws_it():
    assert sliding_window_mask(5, 5, left=2).astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 0, 1, 1, 1],
    ]


def test_each_sequence_may_have_a_different_offset():
    offsets = np.array([[0, -1, 4], [2, 2, 7]], dtype=np.int8)
    mask = sliding_window_mask(4, 6, 1, 2, offset=offsets)
    assert mask.shape == (2, 3, 4, 6)
    for index, offset in np.ndenumerate(offsets):
        np.testing.assert_array_equal(mask[index], sliding_window_mask(4, 6, 1, 2, offset=offset))


def test_a_very_large_limit_has_no_effect():
    largest = np.iinfo(np.int64).max
    assert sliding_window_mask(3, 5, largest, largest).all()


@pytest.mark.parametrize(("n_q", "n_k"), [(0, 3), (3, 0), (0, 0)])
def test_a_window_of_nothing_is_empty(n_q, n_k):
    assert sliding_window_mask(n_q, n_k, 1, 1).shape == (n_q, n_k)
    assert sliding_window_mask(n_q, n_k, None, None).shape == (n_q, n_k)


def test_a_blocking_mask_is_inverted_into_a_new_array():
    blocked = np.array([[True, False, False], [False, False, True]])
    assert allowed_from_blocked(blocked).tolist() == [[False, True, True], [True, True, False]]
    assert blocked.tolist() == [[True, False, False], [False, False, True]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_additive_mask_is_zero_or_minus_infinity_in_the_dtype_asked_for(dtype):
    additive = additive_mask([[True, False, True], [False, False, True]], dtype)
    assert additive.dtype == dtype
    assert additive.tolist() == [[0.0, -np.inf, 0.0], [-np.inf, -np.inf, 0.0]]


def test_an_additive_mask_is_float64_by_default():
    assert additive_mask([True]).dtype == np.float64


def test_padding_hides_the_same_keys_from_every_query():
    mask = padding_mask([2, 0, 3], n_k=3)
    assert mask.shape == (3, 1, 3)
    assert mask[:, 0].astype(int).tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]]


def test_a_single_length_makes_a_mask_for_one_sequence():
    assert padding_mask(1, n_k=2).tolist() == [[True, False]]


def test_combining_allows_what_every_mask_allows():
    combined = combine_masks(causal_mask(3, 3), padding_mask([1, 3], n_k=3))
    assert combined.shape == (2, 3, 3)
    assert combined[0].astype(int).tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert combined[1].tolist() == causal_mask(3, 3).tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: causal_mask(-1, 2), ValueError, "n_q: expected 0 or more, got -1"),
        (lambda: causal_mask(2, 1.5), ValueError, "n_k: expected a whole number, got 1.5"),
        (lambda: causal_mask(2, 2, "left"), ValueError, "got 'left'"),
        (lambda: sliding_window_mask(2.5, 2, 1), ValueError, "n_q: expected a whole number"),
        (lambda: sliding_window_mask(2, -2, 1), ValueError, "n_k: expected 0 or more, got -2"),
        (
            lambda: sliding_window_mask(2, 2, -1),
            ValueError,
            r"left \(None: no limit\): expected 0 or more, got -1",
        ),
        (
            lambda: sliding_window_mask(2, 2, None, 0.5),
            ValueError,
            r"right \(None: no limit\): expected a whole number, got 0.5",
        ),
        (
            lambda: sliding_window_mask(2, 2, 1, offset=[0.0]),
            TypeError,
            "offset: expected whole numbers, got dtype float64",
        ),
        (lambda: allowed_from_blocked([0, 1]), TypeError, "got dtype int64; convert 0/1"),
        (lambda: additive_mask([0.0, 1.0]), TypeError, "got dtype float64; a float mask is"),
        (lambda: additive_mask([True], int), TypeError, "a floating-point dtype, got int64"),
        (lambda: padding_mask([4], n_k=3), ValueError, r"between 0 and n_k=3, got \[4\]"),
        (lambda: padding_mask([-1], n_k=3), ValueError, r"got \[-1\]"),
        (lambda: padding_mask([1.0], n_k=3), TypeError, "got dtype float64"),
        (lambda: combine_masks(), ValueError, "at least one mask"),
        (lambda: combine_masks(np.zeros((2, 2))), TypeError, "got dtype float64"),
        (
            lambda: combine_masks(np.ones((2, 3), bool), np.ones((2, 4), bool)),
            ValueError,
            r"got \(2, 3\) and \(2, 4\)",
        ),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()
