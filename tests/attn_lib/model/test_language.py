"""Sentences follow the rules of the language, and answers are at the stated positions."""

import numpy as np
import pytest

from attn_lib.model import (
    WORDS,
    Answer,
    Sentence,
    agreement_sentence,
    decode,
    draw_sentences,
    encode,
    encode_batch,
    has_opposed_attractor,
    is_held_out,
    recall_sentence,
)
from attn_lib.model.language import (
    DRINKS,
    MAX_WORDS,
    NAMES,
    PLURAL_NOUNS,
    PLURAL_VERBS,
    PREPOSITIONS,
    SINGULAR_NOUNS,
    SINGULAR_VERBS,
)


@pytest.mark.parametrize("seed", range(20))
def test_a_name_has_one_drink_and_is_asked_once(seed):
    sentence = recall_sentence(np.random.default_rng(seed))
    *spoken, stop = sentence.words
    pairs = list(zip(spoken[::2], spoken[1::2], strict=True))
    first, second = pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]
    assert stop == "."
    assert 2 <= len(first) <= 4
    assert sorted(first) == sorted(second)
    assert len({name for name, _ in first}) == len(first)
    assert {name for name, _ in first} <= set(NAMES)
    assert {drink for _, drink in first} <= set(DRINKS)
    assert len(sentence.answers) == len(second)
    for answer, (name, drink) in zip(sentence.answers, second, strict=True):
        assert sentence.words[answer.position - 1 : answer.position + 1] == (name, drink)
        assert sentence.words[answer.source - 1 : answer.source + 1] == (name, drink)
        assert answer.source < len(sentence.words) // 2 < answer.position


@pytest.mark.parametrize("seed", range(20))
def test_the_verb_agrees_with_the_first_noun(seed):
    sentence = agreement_sentence(np.random.default_rng(seed))
    (answer,) = sentence.answers
    subject, verb = sentence.words[answer.source], sentence.words[answer.position]
    assert (subject, verb) in {
        *((noun, verb) for noun in SINGULAR_NOUNS for verb in SINGULAR_VERBS),
        *((noun, verb) for noun in PLURAL_NOUNS for verb in PLURAL_VERBS),
    }
    assert sentence.words[0] == "the"
    assert sentence.words[answer.position + 1 :] == (".",)
    between = sentence.words[2 : answer.position]
    assert set(between[0::3]) <= set(PREPOSITIONS)
    assert set(between[1::3]) <= {"the"}
    assert set(between[2::3]) <= {*SINGULAR_NOUNS, *PLURAL_NOUNS}
    assert len(between) % 3 == 0
    assert len(between) <= 9


def test_attractors_have_either_number_for_any_subject():
    sentences = draw_sentences(2000, np.random.default_rng(0), "agreement")
    with_one = [s for s in sentences if len(s.words) == 7]
    opposed = [has_opposed_attractor(s) for s in with_one]
    spread = (0.25 / len(opposed)) ** 0.5
    assert abs(np.mean(opposed) - 0.5) < 4 * spread
    for sentence, is_opposed in zip(with_one, opposed, strict=True):
        nouns = sentence.words[1], sentence.words[4]
        assert is_opposed == (len({noun in PLURAL_NOUNS for noun in nouns}) == 2)


def test_skills_alternate_unless_one_is_given():
    rng = np.random.default_rng(1)
    assert [s.skill for s in draw_sentences(5, rng)] == [
        *("recall", "agreement", "recall", "agreement", "recall"),
    ]
    assert {s.skill for s in draw_sentences(5, rng, "recall")} == {"recall"}
    assert [s.skill for s in draw_sentences(4, rng, "agreement", "recall", "agreement")] == [
        *("agreement", "recall", "agreement", "agreement"),
    ]
    again = draw_sentences(5, np.random.default_rng(7))
    assert draw_sentences(5, np.random.default_rng(7)) == again


def test_no_held_out_question_is_drawn_for_training():
    def questions(sentences):
        return {s.words[: s.answers[-1].position] for s in sentences}

    rng = np.random.default_rng(2)
    for_training = questions(draw_sentences(6000, rng))
    kept = draw_sentences(1000, rng, held_out=True)
    assert not questions(kept) & for_training
    assert all(map(is_held_out, kept))
    attractors = [s.answers[0].position for s in kept if s.skill == "agreement"]
    assert min(attractors) == 5
    drawn = [recall_sentence(rng) for _ in range(1000)]
    assert abs(np.mean([is_held_out(s) for s in drawn]) - 0.2) < 4 * (0.2 * 0.8 / 1000) ** 0.5


def test_no_sentence_is_longer_than_the_stated_maximum():
    sentences = draw_sentences(500, np.random.default_rng(3))
    assert max(len(s.words) for s in sentences) == MAX_WORDS == 17


def test_sentences_that_cannot_be_drawn_are_rejected():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="from 1 to 8, the number of names, got 9"):
        recall_sentence(rng, pairs=9)
    with pytest.raises(ValueError, match="0 or more attractors, got -1"):
        agreement_sentence(rng, attractors=-1)
    with pytest.raises(ValueError, match='"recall" or "agreement", got \'juggling\''):
        draw_sentences(1, rng, "juggling")
    with pytest.raises(ValueError, match="number: expected 1 or more, got 0"):
        draw_sentences(0, rng)


def test_words_have_distinct_ids():
    assert len(set(WORDS)) == len(WORDS) == 49
    for i, word in enumerate(WORDS):
        assert encode(word).tolist() == [i]
        assert decode([i]) == word
    assert decode(encode("the penguins near the wizard knit .")) == (
        "the penguins near the wizard knit ."
    )


def test_a_batch_is_padded_at_the_end():
    sentence = Sentence(("the", "owl", "sings", "."), "agreement", (Answer(2, 1),))
    ids, lengths = encode_batch(["eve cocoa eve cocoa .", sentence.words])
    assert lengths.tolist() == [5, 4]
    assert ids[0].tolist() == encode("eve cocoa eve cocoa .").tolist()
    assert decode(ids[1]) == "the owl sings . <pad>"


def test_unknown_words_are_rejected():
    with pytest.raises(ValueError, match=r"got gin, zoe; attn_lib.model.WORDS lists"):
        encode("zoe gin .")
    with pytest.raises(ValueError, match=r"ids from 0 to 48, got shape \(1,\) and \[49\]"):
        decode([49])
    with pytest.raises(ValueError, match=r"got shape \(1, 1\)"):
        decode([[3]])
    with pytest.raises(TypeError, match="whole numbers, got dtype float64"):
        decode([1.0])
    with pytest.raises(ValueError, match="at least one text, got none"):
        encode_batch([])
