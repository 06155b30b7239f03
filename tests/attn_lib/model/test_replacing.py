"""Replacing a step by the right function changes nothing; by a wrong one, what it computes."""

import numpy as np
import pytest

from attn_lib import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)
from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from attn_lib.model import (
    STEPS,
    Config,
    accuracy,
    answer_logits,
    draw_sentences,
    encode_batch,
    forward,
    initialise,
    replacement,
    softmax_vjp,
    train_model,
    trained_model,
)
from attn_lib.model.replacing import WEIGHTS
from tests.differences import central_differences

SENTENCES = draw_sentences(40, np.random.default_rng(0), held_out=True)
IDS, LENGTHS = encode_batch(sentence.words for sentence in SENTENCES)
MISTAKES = {mistake.id: mistake for mistake in catalogue() if mistake.target in STEPS}


def test_every_replaceable_step_is_a_target_of_the_course():
    assert set(STEPS) <= set(TARGETS)


@pytest.mark.parametrize("step", STEPS)
def test_replacing_a_step_by_the_right_function_changes_nothing(step):
    model = trained_model().astype(np.float64)
    parts = replacement(step, TARGETS[step])
    right = forward(model, IDS, LENGTHS)
    replaced = forward(model, IDS, LENGTHS, parts=parts)
    # Padding is not compared, because some steps do not mask it.
    real = np.arange(IDS.shape[1]) < LENGTHS[:, None]
    np.testing.assert_allclose(replaced["logits"][real], right["logits"][real], atol=1e-9)


@pytest.mark.parametrize("step", ["attention", "softmax", "masked_scores", "cached_causal_mask"])
@pytest.mark.parametrize("reading", ["whole", "so far", "word by word"])
def test_the_right_functions_change_no_accuracy(step, reading):
    parts = replacement(step, TARGETS[step])
    logits = answer_logits(trained_model(), SENTENCES, parts=parts, reading=reading)
    expected = answer_logits(trained_model(), SENTENCES)
    np.testing.assert_allclose(logits, expected, atol=1e-3)


def told(id, reading="whole"):
    mistake = MISTAKES[id]
    parts = replacement(mistake.target, mistake.wrong)
    return accuracy(trained_model(), SENTENCES, parts=parts, reading=reading)


def test_overflow_does_not_show_with_small_scores():
    assert told("softmax-that-overflows") == {"recall": 1.0, "agreement": 1.0}
    assert told("large-negative-fill") == {"recall": 1.0, "agreement": 1.0}


def test_with_equal_weights_recall_is_at_chance():
    assert told("equal-weights")["recall"] < 0.6


def test_a_nan_logit_is_not_an_answer():
    def nan(scores):
        return np.full(scores.shape, np.nan)

    parts = replacement("softmax", nan)
    assert accuracy(trained_model(), SENTENCES, parts=parts) == {"recall": 0.0, "agreement": 0.0}


def test_a_mistake_in_the_cached_mask_shows_only_with_a_cache():
    assert told("cache-mask-aligned-at-the-start") == {"recall": 1.0, "agreement": 1.0}
    assert told("cache-mask-aligned-at-the-start", "word by word")["recall"] < 0.6


def test_attention_gets_only_the_words_so_far():
    seen = []

    def attention(q, k, v):
        seen.append((q.shape, k.shape, v.shape))
        return scaled_dot_product_attention(q, k, v)

    model = initialise(Config(n_words=5, d_k=3, n_layers=1), seed=0)
    parts = replacement("attention", attention)
    forward(model, [1, 2, 3], parts=parts)
    assert seen == [((2, n, 3),) * 3 for n in (1, 2, 3)]
    seen.clear()
    past = forward(model, [1, 2], parts=parts)
    seen.clear()
    forward(model, [3], past=past, parts=parts)
    assert seen == [((2, 1, 3), (2, 3, 3), (2, 3, 3))]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("all_texts", [False, True])
@pytest.mark.parametrize("step", WEIGHTS)
def test_a_given_derivative_is_used_in_the_backward_pass(step, all_texts):
    shapes = []

    def derivative(d_weights, scores, mask, weights):
        shapes.append({array.shape for array in (d_weights, scores, mask, weights)})
        return softmax_vjp(d_weights, weights)

    attention = replacement(step, TARGETS[step], derivative, all_texts=all_texts).attention
    q, k, v = draw(2, 3, 4, 5), draw(2, 3, 4, 5, seed=1), draw(2, 3, 4, 2, seed=2)
    grad, mask = draw(2, 3, 4, 2, seed=3), causal_mask(4, 4)[None, None]
    gradients = attention.backward(grad, q, k, v, mask)
    assert shapes == ([{(2, 3, 4, 4)}] if all_texts else [{(3, 4, 4)}] * 2)
    for i, gradient in enumerate(gradients):

        def loss(moved, i=i):
            inputs = [moved if i == j else array for j, array in enumerate((q, k, v))]
            return float((attention.forward(*inputs, mask).output * grad).sum())

        expected = central_differences(loss, (q, k, v)[i])
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_the_right_softmax_and_derivative_train_like_the_library():
    parts = replacement("softmax", softmax, lambda d, scores, mask, w: softmax_vjp(d, w))
    start = initialise(Config(n_words=49, max_length=17, d_model=8, d_k=3), seed=1)
    ours = train_model(start, 1, steps=3, batch_size=6, parts=parts)
    theirs = train_model(start, 1, steps=3, batch_size=6)
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-6)


def test_a_model_trained_without_a_mask_looks_ahead():
    parts = replacement("causal_mask", MISTAKES["causal-mask-of-ones"].wrong)
    start = initialise(Config(n_words=49, max_length=17, d_model=16, d_k=8), seed=1)
    without = train_model(start, 1, steps=150, batch_size=32, rate=1e-2, parts=parts).losses
    with_mask = train_model(start, 1, steps=150, batch_size=32, rate=1e-2).losses
    assert without[-20:].mean() < 0.7 * with_mask[-20:].mean()


def test_a_replaced_mask_is_used():
    def only_itself(n_q, n_k):
        return np.eye(n_q, n_k, dtype=bool)

    parts = replacement("causal_mask", only_itself)
    weights = forward(trained_model(), [3, 11, 4], parts=parts)["layer1.weights"]
    np.testing.assert_array_equal(weights, np.broadcast_to(np.eye(3), (2, 3, 3)))
    parts = replacement("padding_mask", lambda lengths, n_k: padding_mask(lengths - 1, n_k))
    logits = forward(trained_model(), [[3, 11, 4]], [3], parts=parts)["logits"]
    expected = forward(trained_model(), [[3, 11, 4]], [2])["logits"]
    np.testing.assert_array_equal(logits, expected)


def test_steps_that_cannot_be_replaced_are_rejected():
    with pytest.raises(ValueError, match=r"a step among attention, .* got 'score_variance'"):
        replacement("score_variance", softmax)
    with pytest.raises(ValueError, match="no derivative for causal_mask, got one"):
        replacement("causal_mask", causal_mask, lambda *_: 0)
    with pytest.raises(ValueError, match="got one for attention, which says nothing about"):
        replacement("attention", scaled_dot_product_attention, lambda *_: 0)
    with pytest.raises(ValueError, match=r"all_texts for one of additive_mask, .* for attention"):
        replacement("attention", scaled_dot_product_attention, all_texts=True)
    model = initialise(Config(n_words=5, positions="alibi"), seed=0)
    with pytest.raises(ValueError, match='positions "alibi" attend with the right functions only'):
        forward(model, [1, 2], parts=replacement("softmax", softmax))
    start = initialise(Config(n_words=49, max_length=17), seed=0)
    with pytest.raises(ValueError, match="an attention with a backward pass, got one without"):
        train_model(start, 0, steps=1, parts=replacement("softmax", softmax))
    with pytest.raises(ValueError, match="at least one sentence, got none"):
        accuracy(trained_model(), [])
    with pytest.raises(ValueError, match=r'"whole", "so far", .* got .backwards.'):
        accuracy(trained_model(), SENTENCES, reading="backwards")
