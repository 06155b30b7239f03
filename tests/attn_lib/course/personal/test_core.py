"""Personal numbers depend on the id and suit their task."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from attn_lib.course import personal
from attn_lib.course.personal import checked_id, personal_rng, sizes, two_keys, weights_to_read
from attn_lib.course.personal.core import (
    AT_ONCE,
    first_suitable_of_many,
    mistakes_show,
    wrong_functions,
)
from attn_lib.course.personal.dot_products import SHOWN_BY_TWO_KEYS
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.attn_lib.course.personal.left_out import BY_TWO_KEYS, IN_SCORES_OF_TWO_KEYS

#: Each learner's keys, drawn once for several tests.
keys_of = cache(two_keys)


@pytest.fixture(scope="module", autouse=True)
def _numbers_drawn_once():
    """Nothing is kept here, because these tests change how numbers are drawn."""


def as_text(learner: str) -> str:
    keys = [array.tolist() for array in two_keys(learner)]
    return repr([keys, tuple(sizes(learner)), weights_to_read(learner).tolist()])


class TestId:
    @pytest.mark.parametrize("same", ["Ada", " ada ", "ADA\n"])
    def test_case_and_space_do_not_matter(self, same):
        assert checked_id(same) == "ada"
        assert as_text(same) == as_text("ada")

    @pytest.mark.parametrize("learner_id", ["Søren Ødegård", "Đặng 1", "李", "a,b", "=1+1", "7"])
    def test_any_text_is_an_id(self, learner_id):
        assert two_keys(learner_id).q.shape == (2,)

    @pytest.mark.parametrize("learner_id", [7, None, ..., b"ada", ["ada"]])
    def test_anything_else_is_not_an_id(self, learner_id):
        with pytest.raises(TypeError, match=r"learner_id: expected a string, got .* in quotes"):
            two_keys(learner_id)

    @pytest.mark.parametrize("learner_id", ["", "  \t"])
    def test_an_empty_text_is_not_an_id(self, learner_id):
        with pytest.raises(ValueError, match="expected your id, got '' without a letter"):
            sizes(learner_id)


class TestDraws:
    def test_tasks_and_learners_have_separate_streams(self):
        draws = {
            tuple(personal_rng(learner, task).integers(0, 2**31, size=4))
            for learner in ("ada", "grace", "ada grace")
            for task in ("one", "two", "one ada")
        }
        assert len(draws) == 9

    def test_they_do_not_depend_on_the_process(self):
        code = (
            "import numpy as np; from attn_lib.course.personal import *; np.random.seed(3);"
            "keys = [array.tolist() for array in two_keys('ada')];"
            "print(repr([keys, tuple(sizes('ada')), weights_to_read('ada').tolist()]))"
        )
        other = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert other.stdout.strip() == as_text("ada")

    def test_learners_rarely_share_them(self):
        assert len({repr(keys_of(learner)) for learner in LEARNERS}) == len(LEARNERS)
        assert len({sizes(learner) for learner in LEARNERS}) == len(LEARNERS)


class TestManyDrawsAtOnce:
    @staticmethod
    def draw(rng, number):
        return rng.integers(100, size=number), rng.integers(10, size=(number, 3))

    @staticmethod
    def is_found(one, three):
        return one == 42 and bool((three < 8).all())

    def test_the_first_suitable_one_is_found_in_whichever_block(self):
        rng = personal_rng("ada", "pairs")
        ones, threes = self.draw(rng, AT_ONCE)
        more, others = self.draw(rng, AT_ONCE)
        ones, threes = np.concatenate([ones, more]), np.concatenate([threes, others])
        index = next(i for i in range(len(ones)) if self.is_found(ones[i], threes[i]))
        found = first_suitable_of_many(
            "ada", "pairs", self.draw, lambda one, three: one == 42, self.is_found
        )
        assert found[0] == 42
        np.testing.assert_array_equal(found[1], threes[index])

    def test_a_number_of_draws_that_is_no_multiple_is_not_exceeded(self, monkeypatch):
        monkeypatch.setattr(personal.core, "MAX_DRAWS", AT_ONCE + 3)
        drawn = []

        def draw(rng, number):
            drawn.append(number)
            return self.draw(rng, number)

        with pytest.raises(RuntimeError, match=f"pairs: none of {AT_ONCE + 3} draws is suitable"):
            first_suitable_of_many(
                "ada", "pairs", draw, lambda one, _: one < 50, lambda *numbers: False
            )
        assert drawn == [AT_ONCE, 3]


class TestTwoKeys:
    @pytest.mark.parametrize(
        ("target", "takes", "left_out"),
        [
            ("score_matrix", 2, {}),
            ("scaled_scores", 2, IN_SCORES_OF_TWO_KEYS),
            ("attention", 3, BY_TWO_KEYS),
        ],
    )
    def test_every_mistake_by_hand_shows(self, target, takes, left_out):
        def arguments(learner):
            q, k, v = (array.astype(float) for array in keys_of(learner))
            return (q[None], k, v)[:takes]

        check_shown(target, arguments, SHOWN_BY_TWO_KEYS[target], left_out=left_out)

    @pytest.mark.parametrize("name", BY_TWO_KEYS)
    def test_mistakes_in_left_out_cannot_show(self, name):
        q, k, v = (array.astype(float) for array in two_keys("ada"))
        (wrong,) = wrong_functions("attention", [name])
        right = scaled_dot_product_attention(q[None], k, v)
        np.testing.assert_allclose(wrong(q[None], k, v), right)

    def test_one_key_leads_and_the_numbers_are_small(self):
        for learner in LEARNERS:
            q, k, v = keys_of(learner)
            weights = scaled_dot_product_attention(q[None], k, np.eye(2))[0]
            assert weights.max() > 0.6
            assert all(array.dtype.kind == "i" for array in (q, k, v))
            assert max(np.abs(array).max() for array in (q, k, v)) < 10

    def test_a_mistake_that_cannot_show_is_reported(self, monkeypatch):
        monkeypatch.setattr(personal.core, "MAX_DRAWS", 20)
        shown = SHOWN_BY_TWO_KEYS | {"attention": ("softmax-that-overflows",)}
        monkeypatch.setattr(personal.dot_products, "SHOWN_BY_TWO_KEYS", shown)
        with pytest.raises(RuntimeError, match="two-keys: none of 20 draws is suitable"):
            two_keys("ada")


class TestMistakesShow:
    def test_only_named_mistakes_count(self):
        width_one = {"score_range": (1,)}
        assert not mistakes_show(width_one, {"score_range": ["range-from-the-variance"]})
        assert mistakes_show(width_one, {"score_range": ["range-of-one-sd"]})
        assert mistakes_show(width_one, {"score_range": []})

    def test_a_difference_counts_beyond_the_margin(self):
        asked, named = {"score_range": (4,)}, {"score_range": ["range-of-one-sd"]}
        assert mistakes_show(asked, named, margin=1.9)
        assert not mistakes_show(asked, named, margin=4)

    @pytest.mark.parametrize("name", ["range-of-two-sds", "range-of-one-sd"])
    def test_a_name_that_cannot_appear_at_the_target_is_reported(self, name):
        told = rf"score_matrix: expected ids .* \(keys-times-queries, .*, got '{name}'; correct"
        with pytest.raises(ValueError, match=told):
            mistakes_show({"score_matrix": (np.eye(2), np.eye(2))}, {"score_matrix": [name]})

    @pytest.mark.parametrize("named", [{}, {"score_sd": []}, {"score_range": [], "score_sd": []}])
    def test_each_requested_target_must_have_names(self, named):
        with pytest.raises(ValueError, match="expected mistakes named for score_range, got them"):
            mistakes_show({"score_range": (64,)}, named)


class TestOthers:
    def test_sizes_are_all_different(self):
        for learner in LEARNERS:
            assert len(set(sizes(learner))) == 6
            assert all(type(size) is int and 2 <= size <= 20 for size in sizes(learner))

    def test_weights_can_be_interpreted_in_only_one_way(self):
        for learner in LEARNERS:
            weights = weights_to_read(learner)
            np.testing.assert_allclose(weights.sum(axis=1), 1)
            ordered = np.sort(weights, axis=1)
            assert (ordered[:, -1] - ordered[:, -2] > 0.1).all()
            assert len(set(weights.argmax(axis=1))) == 3
            assert abs(weights[2, 0] - weights[0, 2]) > 0.1


def test_weights_that_never_fit_raise_an_error(monkeypatch):
    def same_for_every_key(q, k, v):
        return np.full((len(q), 3, 4), 0.25)

    monkeypatch.setattr(personal.core, "MAX_DRAWS", 20)
    monkeypatch.setattr(personal.dot_products, "scaled_dot_product_attention", same_for_every_key)
    with pytest.raises(RuntimeError, match="weights-to-read: none of 20 draws is suitable"):
        personal.weights_to_read("ada")
