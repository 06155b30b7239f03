"""The pictures of the trained model at work show its weights, its words and its answers."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib import figures
from attn_lib.figures.chapters.trained_model import Variant
from attn_lib.model import (
    RIGHT,
    WORDS,
    draw_sentences,
    encode,
    forward,
    generate,
    multiplications,
    replacement,
    trained_model,
    without_head,
)
from attn_lib.softmax import softmax
from tests.attn_lib.figures.drawn import titles, words

MODEL = trained_model()
TEXT = "ada tea bob milk ada"


@pytest.mark.parametrize("step", [0, 2])
def test_a_step_with_the_cache_shows_what_the_newest_word_reads(step):
    figure, text = figures.cached_step(step, TEXT, MODEL)
    *read, following = generate(MODEL, TEXT, step + 1).text.split()
    trace = forward(MODEL, encode(read))
    weights = np.concatenate([trace[f"layer{i}.weights"][:, -1] for i in (1, 2)])
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), weights.T)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == read
    frame = axes.patches[0]
    new = 1 if step else len(read)
    assert (frame.get_y(), frame.get_height()) == (len(read) - new - 0.5, new)
    cached = multiplications(MODEL.config, new, len(read) - new)
    assert f"{new} new key" in text
    assert f"{len(read) - new} from the cache, {cached} multiplications" in text
    assert text.endswith(f"Next comes “{following}”.")


def test_the_row_of_a_head_has_its_name():
    figure, text = figures.head_row((2, 1), 5, TEXT, MODEL, {"layer 2, head 1": "induction"})
    weights = forward(MODEL, encode(TEXT))["layer2.weights"][0]
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), weights)
    assert text.startswith("Layer 2, head 1 (induction). Row 5, “ada”, gives ")


def test_a_changed_model_stands_beside_the_right_one():
    tests = draw_sentences(4, np.random.default_rng(3), "recall", held_out=True)
    changed = without_head(MODEL, 2, 1)
    variants = {"nothing": Variant(MODEL), "induction": Variant(changed)}
    figure, text = figures.changed_model(
        "induction", variants, TEXT, tests, {"induction": "a head."}
    )
    axes = figure.axes[0]
    named = [tick.get_text() for tick in axes.get_yticklabels()]
    shares = [
        softmax(forward(model, encode(TEXT))["logits"][-1].astype(float))
        for model in (MODEL, changed)
    ]
    ids = [WORDS.index(word) for word in named]
    drawn = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(drawn, np.concatenate([s[ids] for s in shares]))
    assert min(np.maximum(*shares)[ids]) >= np.sort(np.maximum(*shares))[-len(ids)]
    right = sum(
        WORDS[forward(changed, encode(s.words))["logits"][a.position - 1].argmax()]
        == s.words[a.position]
        for s in tests
        for a in s.answers
    )
    asked = sum(len(s.answers) for s in tests)
    assert 0 < right < asked
    assert titles(figure) == ["induction"]
    assert text.startswith(f"induction: a head. After “{TEXT}” comes “")
    assert text.endswith(f"Right answers: recall {right} of {asked}.")


def test_a_model_whose_logits_are_nan_says_so():
    tests = draw_sentences(1, np.random.default_rng(3), "recall", held_out=True)
    parts = replacement("softmax", lambda scores: scores * np.nan)
    variants = {"nothing": Variant(MODEL), "NaN": Variant(MODEL, parts)}
    figure, text = figures.changed_model("NaN", variants, TEXT, tests)
    assert f"After “{TEXT}” comes NaN; in the right model, “tea”" in text
    assert "recall 0 of" in text
    assert "right model" in words(figure.axes[0].get_legend())


def test_a_variant_can_read_word_by_word():
    parts = RIGHT._replace(cached_causal_mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool))
    tests = draw_sentences(1, np.random.default_rng(3), "recall", held_out=True)
    variants = {"nothing": Variant(MODEL), "cache": Variant(MODEL, parts, "word by word")}
    _, text = figures.changed_model("cache", variants, TEXT, tests)
    past = None
    for id in encode(TEXT):
        past = forward(MODEL, [id], past=past, parts=parts)
    shares = softmax(past["logits"][-1].astype(float))
    assert f"comes “{WORDS[shares.argmax()]}” with {shares.max():.2f}" in text
