"""What mistakes do to the trained model, measured again and put into words."""

import math
from collections import Counter

import numpy as np
import pytest

from attn_lib.course.effects import (
    PLACES,
    TRAINABLE,
    WHY_INVISIBLE,
    Effect,
    Retraining,
    held_out_sentences,
    insertion_effect,
    insertion_in_words,
    measure,
    measured,
    outcome,
    percent,
    repair,
    retraining_in_words,
    train_with,
    wording,
)
from attn_lib.course.effects.measured import Measured, read, write
from attn_lib.course.effects.retraining import FIRST
from attn_lib.course.effects.wording import REPAIRED, UNMOVED
from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from attn_lib.model import (
    RIGHT,
    accuracy,
    answer_logits,
    encode_batch,
    forward,
    is_held_out,
    trained_model,
)

MISTAKES = {mistake.id: mistake for mistake in catalogue()}
INSERTED, RETRAINED = measured().inserted, measured().retrained
FEW = held_out_sentences()[:30]
AGAIN = "measure again: python -m attn_lib.course.effects.measure --train"


@pytest.mark.parametrize("target", PLACES)
def test_a_right_function_in_its_place_changes_nothing(target):
    logits = answer_logits(trained_model(), FEW, parts=PLACES[target](TARGETS[target]))
    np.testing.assert_allclose(logits, answer_logits(trained_model(), FEW), atol=1e-4)


def test_every_mistake_that_has_a_place_is_measured():
    expected = [id for id, mistake in MISTAKES.items() if mistake.target in PLACES]
    assert INSERTED.keys() == set(expected), AGAIN
    assert RETRAINED.keys() == TRAINABLE.keys(), AGAIN
    assert measured().provenance.keys() == measure.provenance().keys()
    for name in ("command", "training", "held_out"):
        assert measured().provenance[name] == measure.provenance()[name], AGAIN


@pytest.mark.parametrize("id", INSERTED)
def test_an_effect_measured_again_is_the_committed_one(id):
    effect, committed = insertion_effect(MISTAKES[id]), INSERTED[id]
    assert outcome(effect) == outcome(committed), AGAIN
    # On another machine, a few logits may be rounded to the other side of a tie.
    assert effect.accuracy == pytest.approx(committed.accuracy, abs=0.011), AGAIN
    if effect.moved > UNMOVED:
        assert effect.moved == pytest.approx(committed.moved, rel=0.01), AGAIN


@pytest.mark.parametrize("id", TRAINABLE)
def test_the_first_steps_of_a_training_are_those_of_the_committed_one(id):
    losses = train_with(id, stop_after=FIRST).losses
    np.testing.assert_allclose(losses, RETRAINED[id].losses, rtol=1e-5, err_msg=AGAIN)


def test_the_committed_trainings_differ_from_the_right_one():
    right = np.array(measured().right.losses)
    assert len(right) == FIRST
    for retraining in RETRAINED.values():
        assert not np.allclose(retraining.losses, right, rtol=1e-5)
    assert measured().right.reading == measured().right.corrected
    assert measured().right.reading == accuracy(trained_model(), held_out_sentences())


def test_only_a_mask_or_a_sum_over_queries_can_show_the_future():
    for id, retraining in RETRAINED.items():
        if "queries" in id or "everything" in id or "mask" in id or "infinity" in id:
            continue
        assert retraining.reading == pytest.approx(retraining.writing, abs=0.011), id
    assert {MISTAKES[id].target for id in RETRAINED if "mask" in id} <= {
        *("causal_mask", "masked_scores", "masked_softmax"),
    }


def test_a_mistake_without_a_place_cannot_be_inserted():
    mistake = MISTAKES["flops-without-the-two"]
    with pytest.raises(ValueError, match=r"in one of attention, .* got one in score_flops"):
        insertion_effect(mistake)
    assert insertion_in_words(mistake.id) is None
    assert retraining_in_words(mistake.id) is None


def test_sentences_are_held_out_and_of_both_skills():
    assert all(map(is_held_out, held_out_sentences()))
    answers = Counter(s.skill for s in held_out_sentences() for _ in s.answers)
    assert min(answers["recall"], answers["agreement"]) >= 200


class TestReasons:
    def test_every_invisible_mistake_has_one(self):
        invisible = {id for id, effect in INSERTED.items() if outcome(effect) == "invisible"}
        assert invisible == set(WHY_INVISIBLE)

    def test_no_score_is_large(self):
        ids, lengths = encode_batch(sentence.words for sentence in held_out_sentences())
        trace = forward(trained_model(), ids, lengths, parts=RIGHT)
        for layer in ("layer1", "layer2"):
            scores = trace[f"{layer}.scores"]
            # exp(88) is about the largest number of float32.
            assert np.abs(scores[np.isfinite(scores)]).max() < 60

    def test_no_row_is_without_an_allowed_key(self):
        ids, lengths = encode_batch(sentence.words for sentence in held_out_sentences())
        weights = forward(trained_model(), ids, lengths)["layer1.weights"]
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)

    def test_a_padding_mask_is_not_needed(self):
        parts = RIGHT._replace(padding_mask=lambda lengths, n_k: np.ones((1, n_k), dtype=bool))
        logits = answer_logits(trained_model(), FEW, parts=parts)
        np.testing.assert_allclose(logits, answer_logits(trained_model(), FEW), atol=1e-4)
        padding = {id for id, why in WHY_INVISIBLE.items() if "padding comes after" in why}
        masks = {"padding_mask", "combined_mask", "mask_from_key_padding"}
        assert {MISTAKES[id].target for id in padding} == masks

    def test_without_a_cache_a_mask_is_square_and_with_one_it_has_one_row(self):
        shapes = []

        def seen(n_q, n_k):
            shapes.append((n_q, n_k))
            return np.ones((n_q, n_k), dtype=bool)

        parts = RIGHT._replace(causal_mask=seen, cached_causal_mask=seen)
        answer_logits(trained_model(), FEW, parts=parts)
        assert all(n_q == n_k for n_q, n_k in shapes)
        shapes.clear()
        answer_logits(trained_model(), FEW, parts=parts, reading="word by word")
        assert {n_q for n_q, _ in shapes} == {1}


def plain(words):
    return words.replace("\u00a0", " ")


class TestWords:
    """Each kind of sentence, for made-up effects."""

    @pytest.fixture
    def say(self, monkeypatch):
        def say(recall, agreement, moved=1.0):
            effect = Effect({"recall": recall, "agreement": agreement}, moved)
            entries = measured()._replace(inserted={"overflows": effect})
            monkeypatch.setattr(wording, "measured", lambda: entries)
            monkeypatch.setitem(WHY_INVISIBLE, "overflows", "no score is large")
            return plain(insertion_in_words("overflows"))

        return say

    def test_of_answers_that_go_wrong(self, say):
        assert (
            say(0.12, 1.0)
            == "recall falls from 100 % to 12 % (chance 17 %), agreement stays 100 %."
        )
        assert (
            say(1.0, 0.5) == "recall stays 100 %, agreement falls from 100 % to 50 % (chance 50 %)."
        )
        assert say(0.004, 0.995) == (
            "recall falls from 100 % to 0.4 % (chance 17 %), "
            "agreement from 100 % to 99.5 % (chance 50 %)."
        )

    def test_of_answers_that_stay_right(self, say):
        assert say(1.0, 1.0, 4.321) == "no answer changes, although logits move by up to 4.3."
        assert say(1.0, 1.0, UNMOVED / 2) == "invisible, because no score is large."

    def test_of_nan(self, say):
        assert say(0.0, 0.0, math.nan) == "logits become NaN, and no answer is right."

    def test_of_an_error(self, monkeypatch):
        entries = measured()._replace(inserted={"misfit": Effect({}, math.nan)})
        monkeypatch.setattr(wording, "measured", lambda: entries)
        assert insertion_in_words("misfit") == "it stops with an error, because shapes do not fit."

    def test_of_trainings(self, monkeypatch):
        def say(reading, writing, corrected):
            shares = [
                dict.fromkeys(("recall", "agreement"), s) for s in (reading, writing, corrected)
            ]
            retraining = Retraining((4.0,), (0.5,), *shares, "ada tea")
            entries = measured()._replace(retrained={"slip": retraining})
            monkeypatch.setattr(wording, "measured", lambda: entries)
            return plain(retraining_in_words("slip"))

        learns = "the model learns both skills: recall 100 %, agreement 100 %."
        assert say(1, 1, 1) == learns
        assert say(1, 1, 0.671) == (
            f"{learns} But its weights then rely on the mistake: with the right function in its "
            "place, recall 67 %, agreement 67 %."
        )
        assert say(1, 0.25, 0.3) == (
            "the model learns to look ahead: recall 100 %, agreement 100 % in whole sentences, but "
            "recall 25 %, agreement 25 % where the next words are still to be written."
        )
        assert say(0.5, 0.5, 0.1) == (
            "the model does not learn both skills: recall 50 %, agreement 50 %."
        )

    def test_repair_begins_at_its_threshold(self):
        shares = {"recall": REPAIRED, "agreement": 1.0}
        lower = {"recall": 1.0, "agreement": REPAIRED - 0.001}
        assert repair(Retraining((), (), shares, shares, lower, "")) == "repaired"
        assert repair(Retraining((), (), shares, lower, lower, "")) == "looks ahead"
        assert repair(Retraining((), (), lower, shares, shares, "")) == "not repaired"

    def test_a_share_reads_as_none_or_all_only_if_it_is(self):
        shares = (0.0, 0.0004, 0.004, 0.126, 0.9949, 0.996, 0.99996, 1.0)
        expected = ["0 %", "0.04 %", "0.4 %", "13 %", "99 %", "99.6 %", "99.996 %", "100 %"]
        assert [plain(percent(share)) for share in shares] == expected


class TestFile:
    def test_it_is_read_as_it_was_written(self, tmp_path):
        path = tmp_path / "measured.json"
        retraining = measured().right._replace(losses=(4.1234567, math.nan), curve=(0.5, math.nan))
        entries = Measured(
            {"one": Effect({"recall": 0.123456789}, 2e-9), "two": Effect({}, math.nan)},
            {"one": retraining},
            measured().right,
            {"numpy": "2.0"},
        )
        write(entries, path)
        again = read(path)
        assert again.inserted["one"] == Effect({"recall": 0.123457}, 2e-9)
        assert again.inserted["two"].accuracy == {}
        assert math.isnan(again.inserted["two"].moved)
        assert again.retrained["one"].losses[0] == 4.12346
        assert math.isnan(again.retrained["one"].losses[1])
        assert again.retrained["one"].curve[0] == 0.5
        assert math.isnan(again.retrained["one"].curve[1])
        assert again.right == measured().right
        assert again.provenance == {"numpy": "2.0"}
        assert "NaN" not in path.read_text(encoding="utf-8")

    def test_the_command_trains_what_is_asked_for_and_keeps_the_rest(self, monkeypatch, tmp_path):
        path = tmp_path / "measured.json"
        right, other = measured().right, measured().right._replace(curve=(9.0,))
        effect = Effect({"recall": 0.5, "agreement": 0.75}, 3.0)
        monkeypatch.setattr(measure, "insert_all", lambda: {"no-scale": effect})
        monkeypatch.setattr(measure, "train_rightly", lambda: right)
        monkeypatch.setattr(measure, "retrain", lambda id: right)
        monkeypatch.setattr("sys.argv", ["measure", "--to", str(path), "--train"])
        measure.main()
        whole = read(path)
        assert whole.inserted == {"no-scale": effect}
        assert whole.retrained == dict.fromkeys(TRAINABLE, right)
        assert whole.provenance == measure.provenance()
        monkeypatch.setattr(measure, "retrain", lambda id: other)
        monkeypatch.setattr("sys.argv", ["measure", "--to", str(path), "--train", "no-scale"])
        measure.main()
        assert read(path).retrained == {**whole.retrained, "no-scale": other}

    def test_the_command_measures_again(self, monkeypatch, tmp_path):
        path = tmp_path / "measured.json"
        write(measured()._replace(inserted={}, provenance={}), path)
        effect = Effect({"recall": 0.5, "agreement": 0.75}, 3.0)
        monkeypatch.setattr(measure, "insertion_effect", lambda mistake: effect)
        monkeypatch.setattr("sys.argv", ["measure", "--to", str(path)])
        measure.main()
        again = read(path)
        assert again.inserted == dict.fromkeys(INSERTED, effect)
        assert again.retrained.keys() == RETRAINED.keys()
        assert again.provenance == measure.provenance()
