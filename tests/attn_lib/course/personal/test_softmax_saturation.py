"""Personal numbers of the assignment `softmax-saturation`: each mistake shows for every learner."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.personal.softmax_saturation import (
    SHOWN_BY_A_GAP,
    SHOWN_BY_RANDOM_SCORES,
    SHOWN_BY_WEIGHTS,
    random_scores,
    two_scores,
    weights_and_jacobians,
)
from attn_lib.softmax import softmax, softmax_jacobian, softmax_jacobian_norm
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.attn_lib.course.personal.left_out import IN_SMALL_ROWS
from tests.in_one_test import in_one_test


@pytest.mark.parametrize("draw", [two_scores, weights_and_jacobians, random_scores])
class TestDraws:
    def test_they_depend_only_on_the_id(self, draw):
        assert [repr(draw(learner)) for learner in LEARNERS[:5]] == [
            repr(draw(f" {learner.upper()} ")) for learner in LEARNERS[:5]
        ]

    def test_learners_rarely_share_them(self, draw):
        assert len({repr(draw(learner)) for learner in LEARNERS}) > 95


class TestTwoScores:
    def test_every_mistake_shows(self):
        def with_temperature(learner):
            own = two_scores(learner)
            return (own.gap / own.temperature,)

        for arguments in (lambda learner: (two_scores(learner).gap,), with_temperature):
            named = SHOWN_BY_A_GAP["two_key_weight"]
            check_shown("two_key_weight", arguments, named, margin=0.003)

    def test_the_scores_are_too_large_for_an_exponential_and_the_gap_is_short(self):
        for learner in LEARNERS:
            own = two_scores(learner)
            with np.errstate(over="ignore"):
                assert np.isinf(np.exp(own.low))
            assert own.gap == pytest.approx(own.high - own.low)
            assert own.gap == round(own.gap, 1)


class TestWeightsAndJacobians:
    def test_every_mistake_shows(self):
        def weights_of_the_row(learner):
            weights, _, row, _ = weights_and_jacobians(learner)
            return (weights[row],)

        check_shown(
            "softmax_jacobian",
            weights_of_the_row,
            SHOWN_BY_WEIGHTS["softmax_jacobian"],
            margin=0.003,
            part=lambda learner: weights_and_jacobians(learner).key,
        )
        check_shown(
            "softmax_jacobian_norm",
            lambda learner: (weights_and_jacobians(learner).weights,),
            SHOWN_BY_WEIGHTS["softmax_jacobian_norm"],
            left_out={"jacobian-with-the-wrong-sign": "A norm has no sign."},
            margin=0.003,
        )

    @in_one_test("learner", LEARNERS)
    def test_the_rows_are_what_the_task_says(self, learner):
        own = weights_and_jacobians(learner)
        np.testing.assert_allclose(own.weights.sum(axis=1), 1)
        np.testing.assert_allclose(own.weights, own.weights.round(3), atol=1e-12)
        norms = softmax_jacobian_norm(own.weights)
        equal = np.ptp(own.weights, axis=1) == 0
        assert equal.sum() == 1
        assert (norms < 0.01).sum() == 1
        assert norms.max() > norms[equal][0] + 0.03  # the row with the largest norm is another one

    @in_one_test("learner", LEARNERS)
    def test_each_picture_belongs_to_one_row(self, learner):
        own = weights_and_jacobians(learner)
        assert sorted(own.row_of_jacobian) == [0, 1, 2, 3]
        right = softmax_jacobian(own.weights)
        np.testing.assert_array_equal(own.jacobians, right[own.row_of_jacobian])
        apart = np.abs(right[:, None] - right).max(axis=(-1, -2)) + np.eye(4)
        assert apart.min() > 0.06  # visible in a picture

    @in_one_test("learner", LEARNERS)
    def test_each_row_has_a_different_picture(self, learner):
        order = weights_and_jacobians(learner).row_of_jacobian
        assert np.argsort(order).tolist() != order

    def test_the_order_gives_no_hint(self):
        orders = [tuple(weights_and_jacobians(one).row_of_jacobian) for one in LEARNERS]
        assert max(map(orders.count, orders)) < 15


class TestRandomScores:
    def test_every_mistake_shows(self):
        def scaled(learner):
            d_k, scores = random_scores(learner)
            return (scores / np.sqrt(d_k),)

        for arguments in (lambda learner: (random_scores(learner).scores,), scaled):
            check_shown(
                "mean_largest_weight",
                arguments,
                SHOWN_BY_RANDOM_SCORES["mean_largest_weight"],
                left_out=IN_SMALL_ROWS,
                margin=0.03,
            )

    @in_one_test("learner", LEARNERS)
    def test_some_rows_without_the_scale_are_one_hot(self, learner):
        d_k, scores = random_scores(learner)
        largest = softmax(scores).max(axis=-1)
        assert 5 <= (largest > 0.99).sum() <= 45
        # No row is so close to 0.99 that rounding could move it to the other side.
        assert np.abs(largest - 0.99).min() > 0.0005
        assert largest.mean() - softmax(scores / np.sqrt(d_k)).max(axis=-1).mean() > 0.3
