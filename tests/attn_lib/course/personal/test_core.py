"""Personal numbers: the same for the same id, different between ids, and fit for their task."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from attn_lib.course import personal
from attn_lib.course.mistakes import appearances
from attn_lib.course.personal import checked_id, personal_rng, sizes, two_keys, weights_to_read
from attn_lib.course.personal.core import HAND_MARGIN
from attn_lib.course.personal.dot_products import INVISIBLE_BY_HAND
from attn_lib.course.targets import TARGETS
from tests.attn_lib.course.personal.learners import LEARNERS


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
    def test_anything_else_is_not(self, learner_id):
        with pytest.raises(TypeError, match=r"learner_id: expected a string, got .* in quotes"):
            two_keys(learner_id)

    @pytest.mark.parametrize("learner_id", ["", "  \t"])
    def test_nor_is_an_empty_text(self, learner_id):
        with pytest.raises(ValueError, match="expected your id, got '' without a letter"):
            sizes(learner_id)


class TestDraws:
    def test_tasks_and_learners_have_streams_of_their_own(self):
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
        assert len({repr(two_keys(learner)) for learner in LEARNERS}) == len(LEARNERS)
        assert len({sizes(learner) for learner in LEARNERS}) == len(LEARNERS)


class TestTwoKeys:
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_every_mistake_by_hand_shows(self, learner):
        q, k, v = (array.astype(float) for array in two_keys(learner))
        for target in ("score_matrix", "scaled_scores", "attention"):
            args = (q[None], k, v) if target == "attention" else (q[None], k)
            right = TARGETS[target](*args)
            for mistake, wrong in appearances(target):
                with np.errstate(all="ignore"):
                    try:
                        answer = wrong(*args)
                    except ValueError:
                        assert mistake.id == "keys-times-queries"
                        continue
                if answer.shape != right.shape:
                    assert mistake.id == "keys-times-queries"
                elif mistake.id not in INVISIBLE_BY_HAND:
                    assert np.abs(answer - right).max() > HAND_MARGIN, mistake.id

    @pytest.mark.parametrize("name", INVISIBLE_BY_HAND)
    def test_what_is_left_out_cannot_show(self, name):
        q, k, v = (array.astype(float) for array in two_keys("ada"))
        (wrong,) = (wrong for mistake, wrong in appearances("attention") if mistake.id == name)
        right = scaled_dot_product_attention(q[None], k, v)
        np.testing.assert_allclose(wrong(q[None], k, v), right)

    def test_one_key_leads_and_the_numbers_are_small(self):
        for learner in LEARNERS:
            q, k, v = two_keys(learner)
            weights = scaled_dot_product_attention(q[None], k, np.eye(2))[0]
            assert weights.max() > 0.6
            assert all(array.dtype.kind == "i" for array in (q, k, v))
            assert max(np.abs(array).max() for array in (q, k, v)) < 10

    def test_a_mistake_that_cannot_show_is_reported(self, monkeypatch):
        monkeypatch.setattr(personal.core, "MOST_DRAWS", 20)
        monkeypatch.setattr(personal.dot_products, "INVISIBLE_BY_HAND", ())
        with pytest.raises(RuntimeError, match="two-keys: none of 20 draws will do"):
            two_keys("ada")


class TestOthers:
    def test_sizes_are_all_different(self):
        for learner in LEARNERS:
            assert len(set(sizes(learner))) == 6
            assert all(type(size) is int and 2 <= size <= 20 for size in sizes(learner))

    def test_weights_can_be_read_in_one_way_only(self):
        for learner in LEARNERS:
            weights = weights_to_read(learner)
            np.testing.assert_allclose(weights.sum(axis=1), 1)
            ordered = np.sort(weights, axis=1)
            assert (ordered[:, -1] - ordered[:, -2] > 0.1).all()
            assert len(set(weights.argmax(axis=1))) == 3
            assert abs(weights[2, 0] - weights[0, 2]) > 0.1


def test_weights_that_never_fit_end_in_an_error_and_not_in_an_endless_loop(monkeypatch):
    def same_for_every_key(q, k, v):
        return np.full((3, 4), 0.25)

    monkeypatch.setattr(personal.core, "MOST_DRAWS", 20)
    monkeypatch.setattr(personal.dot_products, "scaled_dot_product_attention", same_for_every_key)
    with pytest.raises(RuntimeError, match="weights-to-read: none of 20 draws will do"):
        personal.weights_to_read("ada")
