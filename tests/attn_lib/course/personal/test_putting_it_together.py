"""Personal numbers of the assignment `putting-it-together`: every mistake shows."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib import softmax
from attn_lib.backward import attention_backward
from attn_lib.course.personal.core import HAND_MARGIN
from attn_lib.course.personal.putting_it_together import (
    COARSE_STEP,
    SHOWN_BY_DIFFERENCES,
    SHOWN_BY_GRADIENTS,
    gradients_by_hand,
    layer_sizes,
    suspects,
)
from attn_lib.course.targets import TARGETS
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.in_one_test import in_one_test

DRAWS = [layer_sizes, gradients_by_hand, suspects]


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_numbers_depend_on_the_id(draw):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) == len(LEARNERS)


class TestMistakesShow:
    def test_shapes_in_a_layer(self):
        def shapes(learner):
            n_q, n_k, _, H, d_k, d_v, _ = layer_sizes(learner)
            return (H, n_q, d_k), (H, n_k, d_k), (H, n_k, d_v)

        check_shown("weights_shape", shapes)

    @in_one_test("learner", LEARNERS)
    def test_sizes_of_a_layer(self, learner):
        _, n_k, d_model, H, d_k, d_v, d_out = layer_sizes(learner)
        divisors = {d_k, d_model, H * d_k, d_model / H, d_v, n_k, H}
        assert len(divisors) == 7
        assert len({d_model, H * d_k, H * d_v, d_out}) == 4

    @pytest.mark.parametrize("target", SHOWN_BY_GRADIENTS)
    def test_gradients_by_hand(self, target):
        def arguments(learner):
            weights, v, grad_output = gradients_by_hand(learner)
            return {
                "value_gradient": (weights, grad_output),
                "weights_gradient": (grad_output, v),
                "softmax_backward": (weights, grad_output @ v.T),
            }[target]

        check_shown(target, arguments, SHOWN_BY_GRADIENTS[target])

    def test_differences(self):
        def arguments(learner):
            given = suspects(learner)
            losses = [loss_at(given, step) for step in (COARSE_STEP, 0, -COARSE_STEP)]
            return *losses, COARSE_STEP

        named = SHOWN_BY_DIFFERENCES["central_difference"]
        check_shown("central_difference", arguments, named)


@in_one_test("learner", LEARNERS)
class TestNumbers:
    def test_by_hand_they_have_few_digits(self, learner):
        weights, v, grad_output = gradients_by_hand(learner)
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        grad_scores = TARGETS["softmax_backward"](weights, grad_output @ v.T)
        grad_values = TARGETS["value_gradient"](weights, grad_output)
        np.testing.assert_allclose(grad_scores, grad_scores.round(3), atol=1e-12)
        np.testing.assert_allclose(grad_values, grad_values.round(1), atol=1e-12)

    def test_one_of_four_gradients_is_right_and_identifiable(self, learner):
        given = suspects(learner)
        there = given.row, given.column
        right = attention_backward(given.grad_output, given.q, given.k, given.v).q
        agrees = [letter for letter, claim in given.claims.items() if np.allclose(claim, right)]
        assert len(agrees) == 1
        fine = (loss_at(given, 1e-5) - loss_at(given, -1e-5)) / 2e-5
        coarse = (loss_at(given, COARSE_STEP) - loss_at(given, -COARSE_STEP)) / (2 * COARSE_STEP)
        off = {letter: abs(claim[there] - fine) for letter, claim in given.claims.items()}
        assert off.pop(agrees[0]) < 1e-6
        assert min(off.values()) > 0.04
        assert min(abs(claim[there] - coarse) for claim in given.claims.values()) > HAND_MARGIN


def test_every_letter_is_right_for_some_learner():
    right = []
    for learner in LEARNERS:
        given = suspects(learner)
        gradient = attention_backward(given.grad_output, given.q, given.k, given.v).q
        right += [letter for letter, claim in given.claims.items() if np.allclose(claim, gradient)]
    assert all(right.count(letter) > 10 for letter in "ABCD")


def loss_at(given, step):
    q = given.q.copy()
    q[given.row, given.column] += step
    weights = softmax(q @ given.k.T / np.sqrt(q.shape[1]))
    return float((given.grad_output * (weights @ given.v)).sum())
