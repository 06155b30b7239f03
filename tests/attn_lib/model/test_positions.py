"""Each kind of position encoding has its defining property, tested on random vectors."""

import math

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from attn_lib.model import RIGHT, Config, alibi_bias, forward, initialise, rotate, sinusoidal
from attn_lib.model.positions import frequencies


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_sinusoidal_positions_are_sines_and_cosines():
    table = sinusoidal([0, 3, 11], width=6)
    for row, p in zip(table, [0, 3, 11], strict=True):
        for i in range(3):
            angle = p / 10000 ** (2 * i / 6)
            assert row[2 * i] == pytest.approx(math.sin(angle))
            assert row[2 * i + 1] == pytest.approx(math.cos(angle))


@pytest.mark.parametrize("shift", [1, 5, -2])
def test_a_shift_of_sinusoidal_positions_is_linear(shift):
    width = 8
    shifting = np.zeros((width, width))
    for i, omega in enumerate(frequencies(width)):
        cos, sin = math.cos(shift * omega), math.sin(shift * omega)
        shifting[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, -sin], [sin, cos]]
    before, after = (sinusoidal(np.arange(2, 30) + moved, width) for moved in (0, shift))
    np.testing.assert_allclose(before @ shifting, after, atol=1e-12)


def test_rotary_scores_depend_on_differences_only():
    q, k = draw(5, 6, seed=1), draw(5, 6, seed=2)
    positions = np.array([0, 1, 4, 9, 30])
    scores = rotate(q, positions) @ rotate(k, positions).T
    for shift in (1, 17, 400):
        moved = rotate(q, positions + shift) @ rotate(k, positions + shift).T
        np.testing.assert_allclose(moved, scores, atol=1e-10)
    other = rotate(q, positions) @ rotate(k, positions + 1).T
    assert np.abs(other - scores).max() > 0.1


def test_rotating_keeps_lengths_and_is_undone_by_the_negated_positions():
    x, positions = draw(2, 3, 7, 4), np.arange(5, 12)
    turned = rotate(x, positions)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1))
    np.testing.assert_allclose(rotate(turned, -positions), x, atol=1e-12)
    omega = 10000 ** (-2 / 4)
    a, b = x[0, 0, 6, 2:]
    angle = 11 * omega
    expected = a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)
    np.testing.assert_allclose(turned[0, 0, 6, 2:], expected)
    assert rotate(x.astype(np.float32), positions).dtype == np.float32


def test_alibi_subtracts_a_slope_per_word_of_distance():
    bias = alibi_bias(n_heads=4, n_q=3, n_k=5)
    for h in range(4):
        for i in range(3):
            for j in range(5):
                assert bias[h, i, j] == -(2.0 ** (-2 * (h + 1))) * abs(i + 2 - j)
    # The paper's slopes for 8 heads: 1/2, 1/4 and so on.
    assert (-alibi_bias(8, 1, 2)[:, 0, 0]).tolist() == [2.0**-i for i in range(1, 9)]


def test_attention_without_positions_is_permutation_equivariant():
    q, k, v = draw(6, 4, seed=3), draw(6, 4, seed=4), draw(6, 2, seed=5)
    order = np.array([3, 0, 5, 1, 4, 2])
    output = scaled_dot_product_attention(q, k, v)
    moved = scaled_dot_product_attention(q[order], k[order], v[order])
    np.testing.assert_allclose(moved, output[order])


def no_mask(n_q, n_k):
    return np.ones((n_q, n_k), dtype=bool)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "alibi", "none"])
def test_only_a_model_without_positions_ignores_the_order(kind):
    config = Config(n_words=9, max_length=6, d_model=8, d_k=4, positions=kind)
    model = initialise(config, seed=1).astype(np.float64)
    order = np.array([3, 0, 5, 1, 4, 2])
    ids = np.array([7, 1, 3, 8, 2, 5])
    parts = RIGHT._replace(causal_mask=no_mask)
    logits = forward(model, ids, parts=parts)["logits"]
    moved = forward(model, ids[order], parts=parts)["logits"]
    difference = np.abs(moved - logits[order]).max()
    assert difference < 1e-12 if kind == "none" else difference > 1e-3


@pytest.mark.parametrize("kind", ["rotary", "alibi", "none"])
def test_relative_positions_do_not_depend_on_where_the_text_starts(kind):
    config = Config(n_words=9, d_model=8, d_k=4, n_layers=1, positions=kind)
    model = initialise(config, seed=2).astype(np.float64)
    padded = np.array([0, 0, 0, 7, 1, 3, 8])

    def only_words(n_q, n_k):
        return np.tri(n_q, n_k, dtype=bool) & (np.arange(n_k) >= 3)

    later = forward(model, padded, parts=RIGHT._replace(causal_mask=only_words))["logits"][3:]
    np.testing.assert_allclose(later, forward(model, padded[3:])["logits"], atol=1e-12)


def test_invalid_arguments_are_explained():
    with pytest.raises(ValueError, match="an even width, a pair for each, got 5"):
        frequencies(5)
    with pytest.raises(TypeError, match="sinusoidal: positions: expected whole numbers"):
        sinusoidal([0.5], 4)
    with pytest.raises(ValueError, match=r"got \(3, 4\) and \(2,\); give one position"):
        rotate(draw(3, 4), [0, 1])
    with pytest.raises(ValueError, match="n_heads: expected 1 or more, got 0"):
        alibi_bias(0, 1, 1)
