"""The backward passes of each layer and of the whole model equal central differences."""

import numpy as np
import pytest

from attn_lib.model import (
    RIGHT,
    Config,
    backward,
    cross_entropy,
    forward,
    initialise,
    scaled_attention,
    weights_attention,
)
from attn_lib.model.layers import (
    embed,
    embed_backward,
    feed_forward,
    feed_forward_backward,
    layer_norm,
    layer_norm_backward,
    matrix_gradient,
)
from tests.differences import central_differences


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def assert_gradients(function, arguments, gradients, grad):
    """Compare the gradients of sum(grad * function(*arguments)) with central differences."""
    for i, gradient in enumerate(gradients):

        def loss(moved, i=i):
            return float((grad * function(*arguments[:i], moved, *arguments[i + 1 :])).sum())

        expected = central_differences(loss, arguments[i])
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_layer_norm():
    x, gain, bias = draw(2, 3, 5), draw(5, seed=1), draw(5, seed=2)
    grad = draw(2, 3, 5, seed=3)
    assert_gradients(layer_norm, [x, gain, bias], layer_norm_backward(grad, x, gain), grad)


def test_layer_norm_of_equal_entries_is_the_bias():
    bias = draw(5)
    assert layer_norm(np.full((2, 5), 7.0), np.ones(5), bias).tolist() == [bias.tolist()] * 2


def test_product_with_a_matrix():
    x, w, grad = draw(2, 3, 5), draw(5, 4, seed=1), draw(2, 3, 4, seed=2)
    arguments = [w, x]
    assert_gradients(lambda w, x: x @ w, arguments, [matrix_gradient(x, grad)], grad)


def test_feed_forward():
    x, w_in, b_in = draw(2, 3, 5), draw(5, 7, seed=1), draw(7, seed=2)
    w_out, b_out, grad = draw(7, 5, seed=3), draw(5, seed=4), draw(2, 3, 5, seed=5)
    gradients = feed_forward_backward(grad, x, w_in, b_in, w_out)
    assert_gradients(feed_forward, [x, w_in, b_in, w_out, b_out], gradients, grad)


def test_embedding():
    table, ids = draw(6, 4), np.array([[1, 5, 1], [0, 5, 5]])
    grad = draw(2, 3, 4, seed=1)
    gradient = embed_backward(grad, ids, rows=6)
    assert_gradients(lambda table: embed(table, ids), [table], [gradient], grad)


def test_cross_entropy():
    logits, targets = draw(2, 3, 5), np.array([[4, 0, 2], [1, 1, 3]])
    word_weights = np.array([[1.0, 0.1, 0.0], [0.5, 0.0, 1.0]])
    loss, gradient = cross_entropy(logits, targets, word_weights)
    expected = 0.0
    for i in range(2):
        for j in range(3):
            p = np.exp(logits[i, j]) / np.exp(logits[i, j]).sum()
            expected -= word_weights[i, j] * np.log(p[targets[i, j]]) / word_weights.sum()
    assert loss == pytest.approx(expected)
    slope = central_differences(lambda x: cross_entropy(x, targets, word_weights)[0], logits)
    np.testing.assert_allclose(gradient, slope, atol=1e-9)


SMALL = Config(n_words=6, max_length=5, d_model=4, n_layers=2, n_heads=2, d_k=3)
KINDS = {
    "learned": SMALL,
    "sinusoidal": SMALL._replace(positions="sinusoidal"),
    "rotary": SMALL._replace(positions="rotary", d_k=4),
    "alibi": SMALL._replace(positions="alibi"),
    "none": SMALL._replace(positions="none"),
    "feed-forward": SMALL._replace(d_ff=5),
    "one layer, three heads": SMALL._replace(n_layers=1, n_heads=3),
}
IDS = np.array([[1, 4, 4, 2], [5, 3, 0, 0]])
TARGETS = np.array([[4, 4, 2, 3], [3, 1, 0, 0]])
WORD_WEIGHTS = np.array([[1.0, 0.1, 0.1, 1.0], [0.1, 1.0, 0.0, 0.0]])
LENGTHS = np.array([4, 2])


def model_of(config, seed=0):
    """Return a model with random gains and biases, so that a missing one changes the results."""
    model = initialise(config, seed).astype(np.float64)
    rng = np.random.default_rng(seed)
    for array in model.parameters.values():
        array += 0.3 * rng.standard_normal(array.shape)
    return model


def assert_model_gradients(model, parts=RIGHT):
    def loss_of(parameters):
        moved = model._replace(parameters=parameters)
        logits = forward(moved, IDS, LENGTHS, parts=parts)["logits"]
        return cross_entropy(logits, TARGETS, WORD_WEIGHTS)[0]

    trace = forward(model, IDS, LENGTHS, parts=parts)
    _, grad_logits = cross_entropy(trace["logits"], TARGETS, WORD_WEIGHTS)
    gradients = backward(model, IDS, trace, grad_logits, LENGTHS, parts=parts)
    assert gradients.keys() == model.parameters.keys()
    for name, array in model.parameters.items():
        expected = central_differences(
            lambda moved, name=name: loss_of({**model.parameters, name: moved}), array
        )
        np.testing.assert_allclose(gradients[name], expected, rtol=1e-5, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_model(kind):
    assert_model_gradients(model_of(KINDS[kind]))


@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_the_whole_model_at_another_scale(scale):
    parts = RIGHT._replace(attention=scaled_attention(scale))
    assert_model_gradients(model_of(SMALL), parts)


def test_the_whole_model_with_another_weight_function():
    attention = weights_attention(
        lambda scores, mask: np.tanh(scores) * mask,
        lambda d_weights, scores, mask, weights: d_weights * mask * (1 - weights**2),
    )
    assert_model_gradients(model_of(SMALL), RIGHT._replace(attention=attention))


def test_the_whole_model_without_a_mask():
    def no_mask(n_q, n_k):
        return np.ones((n_q, n_k), dtype=bool)

    assert_model_gradients(model_of(SMALL), RIGHT._replace(causal_mask=no_mask))


def test_a_single_text_has_the_gradients_of_a_batch_of_one():
    model = model_of(SMALL)
    trace, alone = forward(model, IDS[:1]), forward(model, IDS[0])
    grad = draw(1, 4, 6)
    batch = backward(model, IDS[:1], trace, grad)
    for name, gradient in backward(model, IDS[0], alone, grad[0]).items():
        np.testing.assert_allclose(gradient, batch[name], atol=1e-12)


def test_invalid_arguments_are_explained():
    model = model_of(SMALL)
    first = forward(model, [1, 2])
    cached = forward(model, [3], past=first)
    with pytest.raises(ValueError, match="trace of the 1 words alone, got one with 3 keys"):
        backward(model, [3], cached, np.zeros((1, 6)))
    attention = RIGHT.attention._replace(backward=None)
    with pytest.raises(ValueError, match="an attention with a backward pass, got one without"):
        backward(model, [1, 2], first, np.zeros((2, 6)), parts=RIGHT._replace(attention=attention))
    with pytest.raises(ValueError, match="a word of positive weight, got none"):
        cross_entropy(np.zeros((2, 3)), np.array([0, 1]), np.zeros(2))
    with pytest.raises(ValueError, match=r"got \(2, 3\), \(1,\) and \(2,\)"):
        cross_entropy(np.zeros((2, 3)), np.array([0]), np.ones(2))
