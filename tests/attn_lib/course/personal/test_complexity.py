"""Personal numbers of the assignment `complexity`: every miscount and every wrong merge shows."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.complexity import weights_bytes
from attn_lib.course.personal.complexity import (
    SHOWN_BY_A_LAYER,
    SHOWN_IF_A_IS_LARGER,
    SHOWN_IF_B_IS_LARGER,
    SHOWN_IN_EITHER_ORDER,
    SHOWN_IN_MERGED_OUTPUTS,
    Layer,
    layer,
    running_scores,
    shown_in_sums,
    two_blocks,
)
from attn_lib.course.targets import merge_outputs, merge_sums
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown, hidden_mistakes
from tests.in_one_test import in_one_test


@pytest.mark.parametrize("draw", [layer, two_blocks, running_scores])
def test_numbers_depend_on_the_id(draw):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) > 98


def asked_of_a_layer(learner, target):
    heads, d_model, n, dtype = layer(learner)
    return {
        "weights_bytes": (heads, n, n, dtype),
        "mebibytes": (weights_bytes(heads, n, n, dtype),),
        "cache_bytes": (n, d_model, dtype),
        "decoding_flops": (n, d_model),
        "crossover_length": (d_model,),
    }[target]


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("weights_bytes", 0.5),
        ("mebibytes", 0.1),
        ("cache_bytes", 0.5),
        ("decoding_flops", 0.5),
        ("crossover_length", 1),
    ],
)
def test_every_miscount_shows(target, allowed):
    def arguments(learner):
        return asked_of_a_layer(learner, target)

    check_shown(target, arguments, SHOWN_BY_A_LAYER[target], margin=2 * allowed)


@in_one_test("learner", LEARNERS)
class TestLayer:
    def test_its_sizes_fit_together(self, learner):
        heads, d_model, n, dtype = layer(learner)
        assert isinstance(layer(learner), Layer)
        assert d_model % heads == 0
        assert len({heads, d_model, n, 2 * d_model}) == 4
        assert dtype in ("float16", "float32")


def test_every_detectable_mistake_in_merging_shows():
    check_shown(
        "merge_sums",
        lambda learner: two_blocks(learner).sums,
        SHOWN_IN_EITHER_ORDER,
        left_out={
            "old-sum-not-rescaled": "The old sum stays as it is if block A is larger.",
            "new-sum-not-rescaled": "The new sum stays as it is if block B is larger.",
            "maximum-of-the-new-block": "Of block B, it is right if that is larger.",
        },
    )
    check_shown(
        "merge_outputs",
        lambda learner: two_blocks(learner).outputs,
        SHOWN_IN_MERGED_OUTPUTS["merge_outputs"],
    )


@in_one_test("learner", LEARNERS)
class TestTwoBlocks:
    def test_each_block_order_shows_what_the_other_cannot(self, learner):
        blocks = two_blocks(learner)
        hidden = hidden_mistakes("merge_sums", blocks.sums)
        a_is_larger = blocks.max_a > blocks.max_b
        assert hidden >= set(SHOWN_IF_B_IS_LARGER if a_is_larger else SHOWN_IF_A_IS_LARGER)
        assert hidden & set(shown_in_sums(blocks)) == set()

    def test_the_printed_numbers_are_exact(self, learner):
        blocks = two_blocks(learner)
        assert all(round(largest, 1) == largest for largest in (blocks.max_a, blocks.max_b))
        assert all(round(total, 2) == total > 1 for total in (blocks.sum_a, blocks.sum_b))
        assert np.array_equal(blocks.out_a, blocks.out_a.round())

    def test_by_the_formula(self, learner):
        max_a, sum_a, out_a, max_b, sum_b, out_b = blocks = two_blocks(learner)
        a, b = sum_a * np.exp(max_a), sum_b * np.exp(max_b)
        common, total = merge_sums(*blocks.sums)
        np.testing.assert_allclose(total * np.exp(common), a + b)
        output = merge_outputs(*blocks.outputs)[0]
        np.testing.assert_allclose(output, (a * out_a + b * out_b) / (a + b))


def test_either_block_may_have_the_larger_score():
    larger = [two_blocks(learner).max_a > two_blocks(learner).max_b for learner in LEARNERS]
    assert 30 < sum(larger) < 70


def test_each_mistake_shows_for_some_learner():
    shown = [set(shown_in_sums(two_blocks(learner))) for learner in LEARNERS]
    assert set.union(*shown) == {
        *SHOWN_IN_EITHER_ORDER,
        *SHOWN_IF_A_IS_LARGER,
        *SHOWN_IF_B_IS_LARGER,
    }


@in_one_test("learner", LEARNERS)
def test_some_blocks_of_running_scores_raise_the_maximum(learner):
    scores = running_scores(learner)
    factors = np.exp(-np.diff(np.maximum.accumulate(scores.max(axis=1))))
    assert 1 <= (factors < 0.75).sum() <= 2
    assert (factors == 1).sum() == 3 - (factors < 0.75).sum()
    assert factors.min() > 0.04
    assert np.array_equal(scores, scores.round(1))


@in_one_test("learner", LEARNERS)
def test_factors_between_other_maxima_differ(learner):
    of_block = running_scores(learner).max(axis=1)
    running = np.maximum.accumulate(of_block)
    factors = np.exp(running[:-1] - running[1:])
    from_block_to_block = np.minimum(1, np.exp(of_block[:-1] - of_block[1:]))
    to_the_last = np.exp(running[:-1] - running[-1])
    for wrong in (from_block_to_block, to_the_last):
        assert np.abs(wrong - factors).max() > 0.01
