"""Personal numbers of the assignment `masking`: each mistake shows, each mask has one kind."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.personal.masking import (
    SHOWN_BY_A_MASK,
    empty_row,
    mask_from_outside,
    mask_to_read,
    reading,
    unknown_attention,
)
from attn_lib.masks import causal_mask
from attn_lib.softmax import softmax
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.in_one_test import in_one_test


@pytest.mark.parametrize(
    ("draw", "different"), [(empty_row, 98), (reading, 20), (mask_from_outside, 20)]
)
def test_numbers_depend_on_the_id(draw, different):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) >= different


@in_one_test("learner", LEARNERS)
class TestEmptyRow:
    def test_the_remaining_scores_depend_on_how_they_are_hidden(self, learner):
        scores = empty_row(learner)
        uniform, unmasked = np.full(len(scores), 1 / len(scores)), softmax(scores)
        np.testing.assert_allclose(softmax(np.full_like(scores, -1e9)), uniform)
        np.testing.assert_allclose(softmax(scores - 1e9), unmasked, atol=1e-6)
        with np.errstate(all="ignore"):
            half = scores.astype(np.float16) + np.float16(-1e9)
            assert np.isnan(half - half.max()).all()
        assert np.abs(unmasked - uniform).min() > 0.03

    def test_the_last_key_has_weight_to_lose(self, learner):
        scores = empty_row(learner)
        assert 0.1 < softmax(scores)[-1] < 0.7
        assert np.array_equal(scores, scores.round(1))


def test_every_mistake_in_reading_a_mask_shows():
    named = SHOWN_BY_A_MASK["visible_keys"]
    check_shown("visible_keys", lambda learner: (mask_to_read(learner),), named)


@in_one_test("learner", LEARNERS)
class TestMaskToRead:
    def test_it_fits_its_kind_and_no_other(self, learner):
        mask, kind, number = reading(learner)
        n_q, n_k = mask.shape
        # A mask for a cache is wider than high. A window must be narrower than the mask.
        looks = {
            "A": n_q < n_k and mask[-1].all() and not mask[0, -1],
            "B": n_q == n_k and not mask[-1, 0] and mask[-1, -1],
            "C": n_q == n_k and bool((mask == mask[0]).all()),
            "D": n_q == n_k and not mask[-1, -1] and mask[0].sum() == 1,
        }
        assert [letter for letter, fits in looks.items() if fits] == [kind]
        assert number == (n_k - n_q if kind == "A" else mask.sum(axis=1).max())

    def test_the_number_differs_from_other_numbers_of_the_mask(self, learner):
        mask, _, number = reading(learner)
        n_q, n_k = mask.shape
        assert number not in (n_q, n_k, n_k - number)


@in_one_test("learner", LEARNERS)
class TestUnknownAttention:
    def test_the_mask_can_be_inferred_from_outputs(self, learner):
        """The test uses the numbers of the notebook."""
        attend, n = unknown_attention(learner)
        rng = np.random.default_rng(0)
        q, k, v = rng.normal(size=(3, n, 4))
        before = attend(q, k, v)
        seen = np.zeros((n, n), dtype=bool)
        for j in range(n):
            changed_k, changed_v = k.copy(), v.copy()
            changed_k[j], changed_v[j] = rng.normal(size=(2, 4))
            moves = np.abs(attend(q, changed_k, changed_v) - before).max(axis=-1)
            assert not ((moves > 1e-12) & (moves < 1e-5)).any()
            seen[:, j] = moves > 1e-6
        assert np.array_equal(seen, mask_from_outside(learner).mask)

    def test_counts_and_the_first_pair_identify_the_mistake(self, learner):
        mask, kind = mask_from_outside(learner)
        right = causal_mask(len(mask), len(mask))
        future, lost = (mask & ~right).sum(), (right & ~mask).sum()
        signs = {
            "A": future > 0 and lost == 0,
            "B": future == 0 and not mask[0, 0],
            "C": future == 0 and mask[0, 0] and lost > 0,
            "D": future > 0 and lost > 0 and mask[0, 0],
            "E": future > 0 and lost > 0 and not mask[0, 0],
        }
        assert [letter for letter, fits in signs.items() if fits] == [kind]


@pytest.mark.parametrize(
    ("kinds", "letters"),
    [
        ([reading(learner).kind for learner in LEARNERS], "ABCD"),
        ([mask_from_outside(learner).kind for learner in LEARNERS], "ABCDE"),
    ],
)
def test_no_letter_is_a_good_guess(kinds, letters):
    assert set(kinds) == set(letters)
    assert max(map(kinds.count, letters)) < 40
