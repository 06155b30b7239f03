import numpy as np
import pytest

from attn_lib import causal_mask, combine_masks, padding_mask


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


def test_padding_hides_keys_and_speaks_to_every_query_alike():
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
