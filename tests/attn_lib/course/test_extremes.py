"""The standard extreme inputs are as extreme, and as exact in float32, as their docstrings say."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.targets import extremes
from tests.in_one_test import in_one_test

SEEDS = range(20)


def rng_of(seed):
    return np.random.default_rng(seed)


def exact(array):
    return np.array_equal(np.asarray(array, np.float32).astype(np.float64), array)


@in_one_test("seed", SEEDS)
def test_scores_differ_both_ways_within_rows_and_between_them(seed):
    arrays = extremes.extreme_scores(rng_of(seed))
    assert all(exact(scores) for scores in arrays)
    assert arrays[2].dtype == np.int64
    shifted, spread = arrays[:2]
    assert shifted.max() > 4000
    assert shifted.min() < -4000
    assert np.ptp(shifted, axis=-1).max() <= 6
    for end in (0, -1):  # the first or last score lies far above others, and far below others
        assert (spread.max(axis=-1) - spread[:, end]).max() > 1500
        assert (spread[:, end] - spread.min(axis=-1)).max() > 1500


@in_one_test("seed", SEEDS)
def test_hidden_scores_would_decide(seed):
    found = extremes.extreme_masked_scores(rng_of(seed))
    assert all(mask.any(axis=-1).all() for _, mask in found)
    hidden = [scores[..., ~mask] for scores, mask in found]
    allowed = [scores[..., mask] for scores, mask in found]
    assert hidden[0].min() == extremes.HUGE > allowed[0].max() + 1e20
    assert hidden[1].max() == -extremes.HUGE
    assert allowed[2].max() == -extremes.HUGE < hidden[2].min() - 1e20


@pytest.mark.parametrize("leading", [(), (2,)])
@in_one_test("seed", SEEDS)
def test_attention_has_large_scores_that_float32_computes_exactly(seed, leading):
    sizes = []
    for q, k, v in extremes.extreme_attention(rng_of(seed), *leading):
        assert q.shape == (*leading, 3, 4)
        assert v.shape == (*k.shape[:-1], 2)
        scores = q @ np.swapaxes(k, -1, -2) / 2
        of_float32 = q.astype(np.float32) @ np.swapaxes(k, -1, -2).astype(np.float32) / 2
        np.testing.assert_array_equal(scores, of_float32)
        sizes.append(abs(scores).max())
    assert min(sizes[0], sizes[1], sizes[3]) > 2000


@pytest.mark.parametrize("at", ["q", "k"])
@in_one_test("seed", SEEDS)
def test_gradients_come_in_units_without_a_step_for_differences(seed, at):
    *_, tiny, _, _, dead = extremes.extreme_gradients(rng_of(seed), 2, at=at)
    own, other = (1, 2) if at == "q" else (2, 1)
    assert abs(tiny[own]).max() < 1e-5 < 1e5 < abs(tiny[other]).max()
    assert abs(dead[own]).max() > 1e6
    assert not dead[other][..., 0].any()
    for _, q, k, _ in (tiny, dead):
        assert 0 < abs(q @ np.swapaxes(k, -1, -2)).max() <= 4


@in_one_test("seed", SEEDS)
def test_weights_have_exact_zeros_and_rows_below_1(seed):
    one_hot, zeros, rounded, *_ = extremes.extreme_weights(rng_of(seed))
    assert set(np.unique(one_hot)) == {0.0, 1.0}
    np.testing.assert_array_equal((zeros == 0).sum(axis=-1), 1)
    np.testing.assert_allclose(zeros.sum(axis=-1), 1)
    assert rounded.sum(axis=-1).max() < 0.96


@in_one_test("seed", SEEDS)
def test_blocks_and_layers_have_maxima_that_overflow(seed):
    for max_a, _, _, max_b, _, _ in extremes.extreme_blocks(rng_of(seed)):
        assert abs(max_a - max_b).max() > 2 * 709  # even their mean is too far from one of them
    for x, w_q, w_k, w_v, w_o, n_heads in extremes.extreme_layers(rng_of(seed)):
        q, k = x @ w_q[:, :4], x @ w_k[:, :4]
        assert abs(q @ k.T).max() / 2 > 1500
        assert (w_v.shape[1], n_heads) == (w_o.shape[0], 2)
