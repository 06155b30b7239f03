"""A model trained with a mistake computes the mistake, and follows the derivative of that."""

import numpy as np
import pytest

from attn_lib import causal_mask, scaled_dot_product_attention
from attn_lib.course.effects import PLACES, TRAINABLE, measure_training, parts_to_train, train_with
from attn_lib.course.effects.retraining import FIRST, N_WORDS, PROMPT
from attn_lib.course.mistakes import catalogue
from attn_lib.model import (
    CONFIG,
    Training,
    accuracy,
    draw_sentences,
    encode,
    forward,
    generate,
    initialise,
    trained_model,
)
from attn_lib.softmax import softmax_backward
from tests.differences import central_differences

MISTAKES = {mistake.id: mistake for mistake in catalogue()}
WRONG_DERIVATIVES = {id for id in TRAINABLE if MISTAKES[id].target == "softmax_backward"}
WRONG_MASKS = {id for id in TRAINABLE if MISTAKES[id].target == "causal_mask"}
WRONG_ATTENTION = sorted(set(TRAINABLE) - WRONG_DERIVATIVES - WRONG_MASKS)
MASK = causal_mask(3, 3)


def draw(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


# Some mistakes contain the model's own d_k.
Q, K = draw(2, 3, CONFIG.d_k, seed=0), draw(2, 3, CONFIG.d_k, seed=1)
V, GRAD = draw(2, 3, 5, seed=2), draw(2, 3, 5, seed=3)


def output_of(attention, *inputs):
    result = attention.forward(*inputs, MASK)
    return getattr(result, "output", result)


def test_every_kind_of_mistake_is_trained_with():
    assert TRAINABLE.keys() <= MISTAKES.keys()
    assert len(WRONG_DERIVATIVES) == len(catalogue("softmax_backward")) > 0
    assert len(WRONG_MASKS) >= 3
    assert len(WRONG_ATTENTION) >= 12


@pytest.mark.parametrize("id", sorted(set(TRAINABLE) - WRONG_DERIVATIVES))
def test_it_computes_what_the_mistake_does_in_the_trained_model(id):
    mistake = MISTAKES[id]
    model = trained_model().astype(np.float64)
    ids = encode("eve milk dan tea dan tea eve")
    inserted = forward(model, ids, parts=PLACES[mistake.target](mistake.wrong))
    trained_with = forward(model, ids, parts=parts_to_train(id))
    np.testing.assert_allclose(trained_with["logits"], inserted["logits"], atol=1e-9)
    right = forward(model, ids)["logits"]
    assert np.abs(trained_with["logits"] - right).max() > 0.1


@pytest.mark.parametrize("id", WRONG_ATTENTION)
def test_it_has_the_derivative_of_what_it_computes(id):
    attention = parts_to_train(id).attention
    for i, gradient in enumerate(attention.backward(GRAD, Q, K, V, MASK)):

        def loss(moved, i=i):
            inputs = [moved if i == j else array for j, array in enumerate((Q, K, V))]
            return float((output_of(attention, *inputs) * GRAD).sum())

        expected = central_differences(loss, (Q, K, V)[i])
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("id", sorted(WRONG_DERIVATIVES))
def test_a_wrong_derivative_belongs_to_the_right_attention(id):
    attention = parts_to_train(id).attention
    right = scaled_dot_product_attention(Q, K, V, mask=MASK, return_trace=True)
    np.testing.assert_allclose(output_of(attention, Q, K, V), right.output)
    d_weights = GRAD @ V.swapaxes(-1, -2)
    d_q, _, d_v = attention.backward(GRAD, Q, K, V, MASK)
    np.testing.assert_allclose(d_v, right.weights.swapaxes(-1, -2) @ GRAD)
    wrong, true = (
        f(right.weights, d_weights) @ K / 4 for f in (MISTAKES[id].wrong, softmax_backward)
    )
    np.testing.assert_allclose(d_q, wrong)
    assert np.abs(d_q - true).max() > 0.1


def test_other_mistakes_cannot_be_trained_with():
    with pytest.raises(ValueError, match=r"expected one of no-scale, .* got 'softmax-of-values'"):
        parts_to_train("softmax-of-values")


def test_a_model_is_measured_with_the_mistake_and_without():
    model = trained_model()
    sentences = draw_sentences(20, np.random.default_rng(3), held_out=True)
    parts = parts_to_train("causal-mask-of-ones")
    losses = np.arange(200.0)
    measured = measure_training(Training(model, losses), parts, sentences)
    assert measured.losses == tuple(losses[:FIRST])
    assert measured.curve == (49.5, 149.5)
    as_trained = [sentence._replace(words=sentence.words[:16]) for sentence in sentences]
    assert measured.reading == accuracy(model, as_trained, parts=parts)
    assert measured.reading != accuracy(model, sentences, parts=parts)
    assert measured.writing == accuracy(model, sentences, parts=parts, reading="so far")
    assert measured.corrected == accuracy(model, sentences) == {"recall": 1.0, "agreement": 1.0}
    assert measured.reading["recall"] < 0.8
    assert measured.text == generate(model, PROMPT, N_WORDS, use_cache=False, parts=parts).text


def test_training_starts_where_the_trained_model_started():
    training = train_with("no-scale", stop_after=1)
    start = initialise(CONFIG, 0)
    for name, array in training.model.parameters.items():
        assert 0 < np.abs(array - start.parameters[name]).max() < 1e-4
