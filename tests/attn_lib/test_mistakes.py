"""The catalogue: every entry is wrong, is wrong by value, and says so in a sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attn_lib.mistakes import appearances, catalogue
from attn_lib.targets import (
    TARGETS,
    output_shape,
    scaled_scores,
    score_matrix,
    weight_at,
    weights_shape,
)

RNG = np.random.default_rng(12)
Q, K, V = RNG.normal(size=(4, 6)), RNG.normal(size=(4, 6)), 10 * RNG.normal(size=(4, 3))
SHAPES = (2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)

#: Inputs on which every entry has to differ; as many queries as keys, so that no shape helps.
INPUTS = {
    "score_matrix": (Q, K),
    "scaled_scores": (Q, K),
    "softmax": (np.vstack([RNG.normal(size=(3, 4)), [[900.0, 901.0, 902.0, 903.0]]]),),
    "attention": (Q, K[:3], V[:3]),
    "weight_at": (RNG.random(size=(4, 4)), 2, 0),
    "weights_shape": SHAPES,
    "output_shape": SHAPES,
}


def differs(wrong, right) -> bool:
    return wrong.shape != right.shape or not np.allclose(wrong, right, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("mistake", catalogue(), ids=lambda m: m.id)
class TestEntry:
    def test_it_gives_other_numbers_than_the_right_way(self, mistake):
        args = INPUTS[mistake.target]
        with np.errstate(all="ignore"):
            assert differs(mistake.wrong(*args), TARGETS[mistake.target](*args))

    def test_it_is_told_in_sentences_that_say_it(self, mistake):
        assert re.fullmatch(r"It(s| |').*[^.]\.", mistake.sentence)
        assert len(mistake.sentence) <= 120

    def test_its_id_is_made_of_words(self, mistake):
        assert re.fullmatch(r"[a-z_]+(-[a-z_]+)*", mistake.id)

    def test_it_leaves_its_arguments_alone(self, mistake):
        args = INPUTS[mistake.target]
        before = [np.copy(arg) for arg in args]
        with np.errstate(all="ignore"):
            mistake.wrong(*args)
        assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))


def test_ids_are_unique():
    ids = [mistake.id for mistake in catalogue()]
    assert len(set(ids)) == len(ids) >= 20


def test_no_two_entries_of_a_target_give_the_same_numbers():
    """Else the cause that is named would depend on the order of the catalogue."""
    for target in TARGETS:
        answers = {}
        for mistake in catalogue(target):
            with np.errstate(all="ignore"):
                answers[mistake.id] = mistake.wrong(*INPUTS[target])
        for one in answers:
            for other in answers:
                if one < other:
                    assert differs(answers[one], answers[other]), (one, other)


def test_catalogue_by_target_is_complete():
    by_target = [mistake for target in TARGETS for mistake in catalogue(target)]
    assert {m.id for m in by_target} == {m.id for m in catalogue()}
    with pytest.raises(ValueError, match=r"expected one of score_matrix, .*, got 'soft'"):
        catalogue("soft")


@pytest.mark.parametrize("target", TARGETS)
def test_appearances_give_wrong_numbers(target):
    inputs = [INPUTS[target]]
    if target == "attention":  # what overflows shows only in large scores
        inputs.append((np.array([[9000.0], [1.0], [1.0], [-9000.0]]) * Q, K[:3], V[:3]))
    for mistake, wrong in appearances(target):
        try:
            with np.errstate(all="ignore"):
                shows = [differs(wrong(*args), TARGETS[target](*args)) for args in inputs]
        except ValueError:  # 3 keys do not fit to 4 queries
            assert (target, mistake.id) == ("attention", "keys-times-queries")
        else:
            assert any(shows), mistake.id


def test_mistakes_of_a_step_come_through_to_what_follows():
    ids = {target: [mistake.id for mistake, _ in appearances(target)] for target in TARGETS}
    scores = [mistake.id for mistake in catalogue("score_matrix")]
    for target in ("scaled_scores", "attention"):
        assert set(scores) < set(ids[target])
        assert {"no-scale", "divide-by-d_k"} < set(ids[target])
    assert {mistake.id for mistake in catalogue("softmax")} < set(ids["attention"])
    assert ids["score_matrix"] == scores


@pytest.mark.parametrize("mistake", [m for m in catalogue() if m.scaled], ids=lambda m: m.id)
def test_the_scaled_form_is_the_same_mistake(mistake):
    exponentials = np.exp(mistake.scaled(Q, K[:3]))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(mistake.wrong(Q, K[:3], V[:3]), weights @ V[:3], rtol=1e-9)


class TestTargets:
    def test_scores_of_the_worked_example(self):
        q, k = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
        np.testing.assert_array_equal(score_matrix(q, k), [[5, 2, -1]])
        np.testing.assert_allclose(scaled_scores(q, k), np.array([[5, 2, -1]]) / 2**0.5)

    def test_scores_of_a_batch_are_those_of_its_parts(self):
        q, k = RNG.normal(size=(2, 3, 4, 5)), RNG.normal(size=(2, 3, 6, 5))
        for index in np.ndindex(2, 3):
            np.testing.assert_allclose(score_matrix(q, k)[index], q[index] @ k[index].T)

    def test_shapes_are_those_of_attention(self):
        q, k, v = (RNG.normal(size=shape) for shape in SHAPES)
        trace = TARGETS["attention"](q, k, v, return_trace=True)
        assert tuple(weights_shape(*SHAPES)) == trace.weights.shape
        assert tuple(output_shape(*SHAPES)) == trace.output.shape

    def test_weight_at(self):
        assert weight_at(np.array([[0.7, 0.3], [0.4, 0.6]]), 1, 0) == 0.4
