"""Queries learn to find their keys with gradients that equal the derivatives of the loss."""

import math

import numpy as np
import pytest

from attn_lib import (
    attention_backward,
    figures,
    scaled_dot_product_attention,
    softmax,
    training,
)
from attn_lib.training import Training, train_lookup
from tests.differences import central_differences

N, D_K = 5, 7


def start(seed):
    return np.random.default_rng(seed).standard_normal((2, N, D_K))


def loss_of(qk, scale, loss):
    """Return the loss summed over the queries, computed in loops."""
    q, k = qk
    total = 0.0
    for i in range(N):
        exponentials = [math.exp(scale * sum(q[i] * k[j])) for j in range(N)]
        weights = [e / sum(exponentials) for e in exponentials]
        if loss == "squared":
            total += 0.5 * sum((w - (i == j)) ** 2 for j, w in enumerate(weights))
        else:
            total -= math.log(weights[i])
    return total


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_a_step_follows_the_negative_gradient(loss, scale):
    rates, seeds = [0.5, 2.0], [3, 8, 4]
    run = train_lookup(rates, seeds, n=N, d_k=D_K, scale=scale, steps=1, loss=loss)
    c = D_K**-0.5 if scale is None else scale
    assert run.losses.shape == (2, 3, 2)
    assert run.rates.tolist() == rates
    for j, seed in enumerate(seeds):
        gradient = central_differences(lambda qk: loss_of(qk, c, loss), start(seed))
        for i, rate in enumerate(rates):
            before, after = start(seed), start(seed) - rate * gradient
            q, k = after
            np.testing.assert_allclose(run.weights[i, j], softmax(c * q @ k.T), atol=1e-6)
            losses = [loss_of(qk, c, "squared") / N for qk in (before, after)]
            np.testing.assert_allclose(run.losses[i, j], losses, rtol=1e-6)


def test_a_scale_equals_a_smaller_start_and_learning_rate():
    c, rate, steps = 0.2, 3.0, 25
    q, k = math.sqrt(c) * start(6)
    losses = []
    for _ in range(steps + 1):
        error = scaled_dot_product_attention(q, k, np.eye(N), scale=1.0) - np.eye(N)
        losses.append(0.5 * np.sum(error**2) / N)
        gradients = attention_backward(error, q, k, np.eye(N), scale=1.0)
        q, k = q - c * rate * gradients.q, k - c * rate * gradients.k
    run = train_lookup([rate], [6], n=N, d_k=D_K, scale=c, steps=steps)
    np.testing.assert_allclose(run.losses[0, 0], losses, rtol=1e-5)
    assert losses[-1] < losses[0] / 2


def test_rounding_errors_do_not_change_a_chaotic_run(monkeypatch):
    def train():
        return train_lookup([0.125], [2, 6, 10], scale=1.0).losses

    expected = train()
    noise = np.random.default_rng(0)

    def other_machine(scores):
        return softmax(scores) * (1 + 1e-15 * noise.uniform(-1, 1, scores.shape))

    monkeypatch.setattr(training, "softmax", other_machine)
    np.testing.assert_allclose(train(), expected, rtol=1e-12)


def test_a_query_has_found_its_key_if_that_weight_is_the_largest():
    weights = np.array([[[[0.6, 0.4], [0.7, 0.3]]]])
    run = Training(np.array([1.0]), np.zeros((1, 1, 3)), weights)
    assert run.found.tolist() == [[[True, False]]]


def test_invalid_arguments_are_explained():
    with pytest.raises(ValueError, match=r"positive rates, got \[1.0, 0.0\]"):
        train_lookup([1.0, 0.0], [0])
    with pytest.raises(ValueError, match="\"cross-entropy\", got 'hinge'"):
        train_lookup([1.0], [0], loss="hinge")
    for size in ("n", "d_k", "steps"):
        with pytest.raises(ValueError, match=f"{size}: expected 1 or more, got 0"):
            train_lookup([1.0], [0], **{size: 0})
    with pytest.raises(ValueError, match=r"keep the scores finite, got \[1e\+200\]; give smaller"):
        train_lookup([1e200], [0], loss="cross-entropy", steps=3)


def test_training_curves_shows_the_middle_start_and_all_of_them():
    runs = {
        name: train_lookup([0.5, 2.0], range(3), n=N, d_k=D_K, steps=4, scale=scale)
        for name, scale in (("unscaled", 1.0), ("÷ √7", None), ("÷ 7", 1 / D_K))
    }
    figure, text = figures.training_curves(runs, rate=2.0)
    axes = figure.axes[0]
    for line, band, run in zip(axes.lines, axes.collections, runs.values(), strict=True):
        losses = run.losses[1]
        np.testing.assert_allclose(line.get_ydata(), np.sort(losses, axis=0)[1])
        corners = band.get_paths()[0].vertices
        for step in range(5):
            heights = corners[corners[:, 0] == step, 1]
            expected = losses[:, step].min(), losses[:, step].max()
            np.testing.assert_allclose((heights.min(), heights.max()), expected)
    assert [entry.get_text() for entry in axes.get_legend().get_texts()] == list(runs)
    assert text.startswith("Rate 2, 3 starts, loss after 4 steps. unscaled: median ")
    share = 100 * runs["÷ 7"].found[1].mean()
    assert text.endswith(f"; {share:.3g} % of the queries found.")
    with pytest.raises(ValueError, match=r"one of \[0.5, 2.0\], got 1.0"):
        figures.training_curves(runs, rate=1.0)
