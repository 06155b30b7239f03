"""Personal numbers of the assignment `from-text-to-next-word`: every mistake shows."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from attn_lib import multi_head_attention
from attn_lib.course.personal.from_text_to_next_word import (
    CLEAR_GAP,
    CLEAR_ROLE,
    LETTERS,
    PARTS_BEFORE_HEADS,
    SHOWN_BY_LEADS,
    SHOWN_BY_SHUFFLING,
    disguise,
    maps,
    parts_of_logits,
    role_scores,
    rotary_pairs,
    shuffled_note,
)
from attn_lib.course.targets import TARGETS
from attn_lib.model import (
    accuracy,
    draw_sentences,
    encode,
    find_heads,
    forward,
    rotate,
    trained_model,
    without_head,
)
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.in_one_test import in_one_test

DRAWS = [shuffled_note, rotary_pairs, disguise]
#: Returns a learner's texts, drawn once.
texts_of = functools.cache(disguise)


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_numbers_depend_on_the_id(draw):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) > 90


class TestMistakesShow:
    @pytest.mark.parametrize("target", SHOWN_BY_SHUFFLING)
    def test_in_a_shuffled_note(self, target):
        def arguments(learner):
            note = shuffled_note(learner)
            return {
                "output_after_shuffling": (note.output, note.order),
                "weight_after_shuffling": (note.weights, note.order, note.row, note.column),
            }[target]

        check_shown(target, arguments, SHOWN_BY_SHUFFLING[target])

    def test_in_the_lead(self):
        def arguments(learner):
            texts = texts_of(learner)
            return parts_of_logits(texts), PARTS_BEFORE_HEADS + fills(texts)[1]

        named = SHOWN_BY_LEADS["lead_without_head"]
        check_shown("lead_without_head", arguments, named, margin=0.1)


def fills(texts):
    """Return which of the letters A to D has each role, as a number."""
    return [int(scores.argmax()) for scores in role_scores(texts).values()]


@in_one_test("learner", LEARNERS)
class TestNumbers:
    def test_a_note_can_be_typed_and_read_in_one_way(self, learner):
        note = shuffled_note(learner)
        assert len(set(note.words)) == len(note.words) == 5
        np.testing.assert_allclose(note.weights.sum(axis=1), 1)
        np.testing.assert_array_equal(note.weights, note.weights.round(2))
        np.testing.assert_array_equal(note.output, note.output.round(2))
        assert np.diff(np.sort(note.output)).min() > 0.05
        assert note.row != note.column

    def test_one_pair_of_positions_has_the_same_score(self, learner):
        query, key, pairs = rotary_pairs(learner)
        q, k = np.random.default_rng(1).normal(size=(2, 1, 8))

        def score(at_q, at_k):
            return (rotate(q, [at_q]) @ rotate(k, [at_k]).T).item()

        same = [np.isclose(score(*pair), score(query, key)) for pair in pairs.values()]
        assert list(pairs) == ["A", "B", "C", "D"]
        assert sum(same) == 1
        assert (query, key) not in pairs.values()
        assert min(min(pair) for pair in pairs.values()) >= 0

    def test_three_heads_can_be_told_by_their_texts(self, learner):
        texts = texts_of(learner)
        words = texts.orders.split()
        assert len(set(words[:6])) == 6
        assert words[-1] in words[:3]
        scores = list(role_scores(texts).values())
        assert min(of_heads.max() for of_heads in scores) > CLEAR_ROLE
        gaps = [np.diff(np.sort(of_heads))[-1] for of_heads in scores]
        assert min(gaps) > CLEAR_GAP
        assert len(set(fills(texts))) == 3
        assert LETTERS.index(texts.left_out) in fills(texts)
        for text in (texts.orders, texts.sentence):
            np.testing.assert_allclose(maps(texts, text).sum(axis=-1), 1, atol=1e-5)

    def test_the_right_words_find_a_head_and_those_beside_them_another(self, learner):
        texts = texts_of(learner)
        orders, sentence = maps(texts, texts.orders), maps(texts, texts.sentence)
        words, (previous, induction, subject) = texts.orders.split(), fills(texts)
        asked = words.index(words[-1])
        for shift in (-1, 0, 2):
            if asked + shift >= 0:
                assert orders[:, -1, asked + shift].argmax() != induction
        for key in (0, 2):
            assert sentence[:, -1, key].argmax() != subject
        assert orders[:, [1, 3, 5], [1, 3, 5]].mean(axis=1).argmax() != previous
        assert orders[:, [3, 5], [1, 3]].mean(axis=1).argmax() != previous

    def test_the_lead_needs_the_right_head(self, learner):
        texts = texts_of(learner)
        parts, own = parts_of_logits(texts), PARTS_BEFORE_HEADS + fills(texts)[1]
        np.testing.assert_array_equal(parts, parts.round(2))
        of_parts = [float(TARGETS["lead_without_head"](parts, row)) for row in range(len(parts))]
        right = of_parts.pop(own)
        assert np.abs(np.array(of_parts) - right).min() > 0.1
        logits = forward(trained_model(), encode(texts.orders))["logits"][-1, encode(texts.drinks)]
        assert parts.sum(axis=0)[0] - parts.sum(axis=0)[1] == pytest.approx(
            float(logits[0] - logits[1]), abs=0.08
        )


def test_letters_go_with_the_roles_that_many_sentences_show():
    sentences = draw_sentences(100, np.random.default_rng(0), held_out=True)
    found = find_heads(trained_model(), sentences)
    for learner in LEARNERS[:10]:
        texts = texts_of(learner)
        named = {
            role: texts.heads[i] for role, i in zip(role_scores(texts), fills(texts), strict=True)
        }
        assert named == {role: (head.layer - 1, head.head - 1) for role, head in found.items()}


def test_without_a_head_one_skill_falls_below_two_thirds():
    """The exercise asks which; the answer A is recall, B is agreement."""
    sentences = draw_sentences(400, np.random.default_rng(2), held_out=True)
    for role, (layer, head, _) in find_heads(trained_model(), sentences).items():
        left = accuracy(without_head(trained_model(), layer, head), sentences)
        broken = {skill for skill, share in left.items() if share < 2 / 3}
        assert broken == ({"agreement"} if role == "subject" else {"recall"}), role
        assert max(left.values()) > 0.9


def test_every_letter_is_right_for_some_learner():
    same = [
        letter
        for learner in LEARNERS
        for letter, (q, k) in rotary_pairs(learner).pairs.items()
        if q - k == rotary_pairs(learner).query - rotary_pairs(learner).key
    ]
    letters = [LETTERS[i] for learner in LEARNERS for i in fills(texts_of(learner))]
    left_out = [texts_of(learner).left_out for learner in LEARNERS]
    assert all(same.count(letter) > 10 for letter in LETTERS)
    assert all(letters.count(letter) > 40 for letter in LETTERS)
    assert all(left_out.count(letter) > 10 for letter in LETTERS)


def test_a_shuffled_note_is_what_attention_would_give():
    """The task says that nothing is computed again: outputs and weights move along."""
    x, w = (
        np.random.default_rng(3).normal(size=(5, 4)),
        np.random.default_rng(4).normal(size=(4, 4)),
    )
    order = shuffled_note("ada").order
    before = multi_head_attention(x, w, w, w, np.eye(4), n_heads=1)
    after = multi_head_attention(x[order], w, w, w, np.eye(4), n_heads=1)
    np.testing.assert_allclose(TARGETS["output_after_shuffling"](before, order), after)
