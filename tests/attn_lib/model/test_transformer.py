"""The forward pass equals the same model written in loops, with and without a cache."""

import math

import numpy as np
import pytest

from attn_lib.model import Config, forward, initialise, trained_model
from attn_lib.model.layers import EPSILON

CONFIG = Config(n_words=9, max_length=6, d_model=5, n_layers=2, n_heads=3, d_k=2, d_ff=4)


def model_of(config, seed=0):
    model = initialise(config, seed).astype(np.float64)
    rng = np.random.default_rng(seed)
    for array in model.parameters.values():
        array += 0.3 * rng.standard_normal(array.shape)
    return model


def norm_in_loops(x, gain, bias):
    mean = sum(x) / len(x)
    variance = sum((entry - mean) ** 2 for entry in x) / len(x)
    deviation = math.sqrt(variance + EPSILON)
    return np.array([(e - mean) / deviation * g + b for e, g, b in zip(x, gain, bias, strict=True)])


def logits_in_loops(model, ids):
    """Compute the logits by the papers' formulas, one word and one head at a time."""
    config, p = model
    stream = [p["embedding"][i] + p["positions"][place] for place, i in enumerate(ids)]
    for layer in ("layer1", "layer2"):
        normed = [norm_in_loops(x, p[f"{layer}.gain"], p[f"{layer}.bias"]) for x in stream]
        after = []
        for i, x in enumerate(stream):
            heads = []
            for h in range(config.n_heads):
                own = slice(h * config.d_k, (h + 1) * config.d_k)
                query = normed[i] @ p[f"{layer}.w_q"][:, own]
                scores = [
                    query @ (normed[j] @ p[f"{layer}.w_k"][:, own]) / math.sqrt(config.d_k)
                    for j in range(i + 1)
                ]
                exponentials = [math.exp(score) for score in scores]
                weights = [e / sum(exponentials) for e in exponentials]
                heads += [
                    sum(w * (normed[j] @ p[f"{layer}.w_v"][:, own]) for j, w in enumerate(weights))
                ]
            x = x + np.concatenate(heads) @ p[f"{layer}.w_o"]
            inner = norm_in_loops(x, p[f"{layer}.ff.gain"], p[f"{layer}.ff.bias"])
            hidden = [max(0.0, h) for h in inner @ p[f"{layer}.ff.w_in"] + p[f"{layer}.ff.b_in"]]
            after.append(x + hidden @ p[f"{layer}.ff.w_out"] + p[f"{layer}.ff.b_out"])
        stream = after
    final = [norm_in_loops(x, p["final.gain"], p["final.bias"]) for x in stream]
    return np.array(final) @ p["unembedding"]


def test_the_logits_follow_the_formulas():
    model, ids = model_of(CONFIG), [3, 8, 3, 0, 5]
    np.testing.assert_allclose(forward(model, ids)["logits"], logits_in_loops(model, ids))


def test_the_trace_lists_every_array_in_order():
    trace = forward(model_of(CONFIG), [[3, 8, 3, 0], [1, 2, 4, 5]])
    shapes = {name: array.shape for name, array in trace.items()}
    stream, heads, scores = (2, 4, 5), (2, 3, 4, 2), (2, 3, 4, 4)
    layer = {
        "stream": stream,
        "normed": stream,
        "q": heads,
        "k": heads,
        "v": heads,
        "scores": scores,
        "weights": scores,
        "mixed": heads,
        "merged": (2, 4, 6),
        "added": stream,
        "ff.stream": stream,
        "ff.normed": stream,
        "ff.added": stream,
    }
    assert list(shapes.items()) == [
        ("tokens", stream),
        ("places", (4, 5)),
        *((f"layer1.{name}", shape) for name, shape in layer.items()),
        *((f"layer2.{name}", shape) for name, shape in layer.items()),
        ("final.stream", stream),
        ("final.normed", stream),
        ("logits", (2, 4, 9)),
    ]


def test_the_residual_stream_is_the_sum_of_its_parts():
    trace = forward(model_of(CONFIG), [3, 8, 3, 0])
    parts = [name for name in trace if name.endswith("added")]
    total = trace["tokens"] + trace["places"] + sum(trace[name] for name in parts)
    assert len(parts) == 4
    np.testing.assert_allclose(trace["final.stream"], total)


def test_no_word_sees_a_later_one():
    model = model_of(CONFIG)
    logits = forward(model, [3, 8, 3, 0, 5])["logits"]
    other = forward(model, [3, 8, 3, 6, 1])["logits"]
    np.testing.assert_array_equal(logits[:3], other[:3])
    assert np.abs(logits[3:] - other[3:]).max() > 0.01


def test_padding_changes_nothing():
    model = model_of(CONFIG)
    logits = forward(model, [[3, 8, 3, 0, 5], [1, 2, 0, 0, 0]], [5, 2])["logits"]
    np.testing.assert_allclose(logits[0], forward(model, [3, 8, 3, 0, 5])["logits"])
    np.testing.assert_allclose(logits[1, :2], forward(model, [1, 2])["logits"])


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "alibi", "none"])
@pytest.mark.parametrize("cuts", [[1, 2, 3, 4], [3], [2, 4]])
def test_with_a_cache_the_same_words_have_the_same_logits(kind, cuts):
    model = model_of(CONFIG._replace(d_model=8, positions=kind))
    ids = np.array([[3, 8, 3, 0, 5], [7, 7, 1, 2, 4]])
    whole = forward(model, ids)
    past, pieces = None, []
    for piece in np.split(ids, cuts, axis=1):
        past = forward(model, piece, past=past)
        pieces.append(past["logits"])
    np.testing.assert_allclose(np.concatenate(pieces, axis=1), whole["logits"], atol=1e-12)
    np.testing.assert_allclose(past["layer2.k"], whole["layer2.k"], atol=1e-12)


def test_initial_parameters_have_the_stated_spread():
    model = initialise(Config(n_words=400, d_model=64, d_k=32, d_ff=128), seed=3)
    p = model.parameters
    for name, expected in {
        "embedding": 0.3,
        "layer1.w_q": 64**-0.5,
        "layer2.w_o": 64**-0.5,
        "layer2.ff.w_out": 128**-0.5,
        "unembedding": 64**-0.5,
    }.items():
        error = expected / math.sqrt(2 * p[name].size)
        assert abs(p[name].std() - expected) < 5 * error, name
    assert p["layer1.gain"].tolist() == [1.0] * 64
    assert p["final.bias"].tolist() == [0.0] * 64
    assert {array.dtype for array in p.values()} == {np.dtype(np.float32)}
    assert model.size == sum(array.size for array in p.values())
    again = initialise(model.config, seed=3).parameters
    other = initialise(model.config, seed=4).parameters
    np.testing.assert_array_equal(again["layer1.w_v"], p["layer1.w_v"])
    assert np.abs(other["layer1.w_v"] - p["layer1.w_v"]).max() > 0.1


def test_invalid_inputs_are_explained():
    model = model_of(CONFIG)
    with pytest.raises(ValueError, match="ids from 0 to 8, got 3 to 9; make them with encode"):
        forward(model, [3, 9])
    with pytest.raises(ValueError, match=r"at least one word, got \(0,\)"):
        forward(model, np.zeros(0, dtype=int))
    with pytest.raises(TypeError, match="ids: expected whole numbers"):
        forward(model, [0.5])
    with pytest.raises(ValueError, match=r"at most 6 words, .* got 7; cut the text"):
        forward(model, [1] * 7)
    first = forward(model, [1] * 6)
    with pytest.raises(ValueError, match=r"at most 6 words, .* got 7; cut the text"):
        forward(model, [1], past=first)
    assert forward(model_of(CONFIG._replace(positions="none")), [1] * 7)["logits"].shape == (7, 9)


def test_invalid_sizes_are_explained():
    with pytest.raises(ValueError, match="n_heads: expected 1 or more, got 0"):
        initialise(CONFIG._replace(n_heads=0), 0)
    with pytest.raises(ValueError, match="d_ff: expected 0 or more, got -1"):
        initialise(CONFIG._replace(d_ff=-1), 0)
    with pytest.raises(ValueError, match="learned, sinusoidal, rotary, alibi, none, got 'random'"):
        initialise(CONFIG._replace(positions="random"), 0)


def test_the_trained_model_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        trained_model().parameters["layer1.w_q"][0, 0] = 1
