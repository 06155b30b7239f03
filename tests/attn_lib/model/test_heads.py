"""Heads are identified by the positions they attend to, tested on known weights."""

import numpy as np
import pytest

from attn_lib.model import (
    CHANCE,
    CONFIG,
    Answer,
    Sentence,
    accuracy,
    draw_sentences,
    encode,
    find_heads,
    forward,
    head_scores,
    initialise,
    logit_parts,
    trained_model,
    without_head,
)

RECALL = Sentence(
    ("ada", "tea", "bob", "milk", "bob", "milk", "ada", "tea", "."),
    "recall",
    (Answer(position=5, source=3), Answer(position=7, source=1)),
)
AGREEMENT = Sentence(
    ("the", "cats", "near", "the", "dog", "sleep", "."), "agreement", (Answer(5, 1),)
)
WITHOUT_ATTRACTOR = Sentence(("the", "cats", "sleep", "."), "agreement", (Answer(2, 1),))


def test_scores_are_mean_weights_at_the_stated_positions():
    model = initialise(CONFIG, seed=3)
    scores = head_scores(model, [RECALL, AGREEMENT, WITHOUT_ATTRACTOR])
    recall, agreement = (forward(model, encode(s.words)) for s in (RECALL, AGREEMENT))
    for layer in (1, 2):
        for head in (1, 2):
            w = recall[f"layer{layer}.weights"][head - 1]
            expected = (w[1, 0] + w[3, 2]) / 2
            assert scores["previous word"][layer - 1, head - 1] == pytest.approx(expected, rel=1e-4)
            expected = (w[4, 3] + w[6, 1]) / 2
            assert scores["induction"][layer - 1, head - 1] == pytest.approx(expected, rel=1e-4)
            expected = agreement[f"layer{layer}.weights"][head - 1][4, 1]
            assert scores["subject"][layer - 1, head - 1] == pytest.approx(expected, rel=1e-4)
            found = find_heads(model, [RECALL, AGREEMENT])
            assert found["subject"].score >= expected - 1e-6


def test_a_head_with_equal_weights_scores_low():
    model = initialise(CONFIG, seed=0)
    for layer in ("layer1", "layer2"):
        model.parameters[f"{layer}.w_q"][:] = 0
    scores = head_scores(model, draw_sentences(1000, np.random.default_rng(0)))
    assert 0.2 < scores["previous word"].min() <= scores["previous word"].max() < 0.33
    assert scores["induction"].max() < 0.2
    assert scores["subject"].max() < 0.2


def test_the_trained_heads_have_the_textbook_roles():
    sentences = draw_sentences(500, np.random.default_rng(1), held_out=True)
    found = find_heads(trained_model(), sentences)
    assert found["previous word"].layer == 1
    assert found["induction"].layer == 2
    assert found["previous word"].score > 0.8
    assert found["induction"].score > 0.9
    assert found["subject"].score > 0.6


@pytest.mark.parametrize(
    ("role", "lost", "kept"),
    [
        ("previous word", "recall", "agreement"),
        ("induction", "recall", "agreement"),
        ("subject", "agreement", "recall"),
    ],
)
def test_without_a_head_what_it_is_for_is_lost_and_the_rest_is_not(role, lost, kept):
    sentences = draw_sentences(500, np.random.default_rng(2), held_out=True)
    head = find_heads(trained_model(), sentences)[role]
    left = accuracy(without_head(trained_model(), head.layer, head.head), sentences)
    assert left[lost] < CHANCE[lost] + 0.2
    assert left[kept] > 0.9


def test_a_removed_head_adds_nothing():
    model = initialise(CONFIG, seed=4)
    ids = [3, 11, 4, 12]
    whole = forward(model, ids)
    left = forward(without_head(model, layer=1, head=2), ids)
    own = whole["layer1.mixed"][1] @ model.parameters["layer1.w_o"][16:]
    np.testing.assert_allclose(left["layer1.added"], whole["layer1.added"] - own, atol=1e-5)
    assert np.abs(own).max() > 0.1
    again = forward(model, ids)["logits"]
    np.testing.assert_array_equal(again, whole["logits"])


def test_invalid_arguments_are_explained():
    with pytest.raises(ValueError, match='a place for "subject", got none'):
        head_scores(trained_model(), [RECALL, WITHOUT_ATTRACTOR])
    with pytest.raises(ValueError, match='a place for "previous word", got none'):
        head_scores(trained_model(), [AGREEMENT])
    with pytest.raises(ValueError, match="a layer from 1 to 2 and a head from 1 to 2, got 3 and 1"):
        without_head(trained_model(), 3, 1)
    with pytest.raises(ValueError, match="got 1 and 0"):
        without_head(trained_model(), 1, 0)


class TestLogitParts:
    @pytest.mark.parametrize("positions", ["learned", "rotary"])
    def test_they_sum_to_the_logits(self, positions):
        model = initialise(CONFIG._replace(positions=positions), seed=4).astype(np.float64)
        model.parameters["final.bias"][:] = np.linspace(-1, 1, CONFIG.d_model)
        trace = forward(model, np.array([[3, 11, 4, 12], [2, 25, 39, 1]]))
        parts = logit_parts(model, trace)
        logits = trace["logits"] - trace["logits"].mean(axis=-1, keepdims=True)
        np.testing.assert_allclose(sum(parts.values()), logits, atol=1e-10)
        assert len(parts) == 6 + (positions == "learned")

    def test_the_part_of_a_head_is_that_of_what_it_writes(self):
        model = initialise(CONFIG, seed=5).astype(np.float64)
        trace, silent = (
            forward(m, encode(RECALL.words)) for m in (model, without_head(model, 2, 1))
        )
        # Only layer 2 differs, so the difference of the streams is what its head 1 adds.
        added = trace["final.stream"] - silent["final.stream"]
        centred = added - added.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(trace["final.stream"].var(axis=-1, keepdims=True) + 1e-5)
        expected = centred / deviation @ model.parameters["unembedding"]
        expected -= expected.mean(axis=-1, keepdims=True)
        np.testing.assert_allclose(logit_parts(model, trace)["layer 2, head 1"], expected)

    def test_feed_forward_layers_are_refused(self):
        model = initialise(CONFIG._replace(d_ff=8), seed=0)
        with pytest.raises(ValueError, match="expected a model without feed-forward layers"):
            logit_parts(model, forward(model, [3, 11]))
