"""The page's mathematics computes what attn_lib computes.

Differences are measured relative to the size of what is compared: for an output, the largest
value; for scores, the product of the lengths of query and key.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import attn_lib
from attn_lib import masks
from attn_lib.complexity import cache_bytes, crossover, layer_flops, weights_bytes
from attn_lib.figures.chapters.masked_weights import WAYS, way_to_mask
from attn_lib.model import draw_sentences, encode, forward, generate, trained_model, without_head
from attn_lib.softmax import entropy, softmax_backward, softmax_jacobian_norm
from tests.book.live.script import Script

N_CASES = 1000
SAME = 1e-6
SAME_PROBABILITY = 1e-5
WIDTHS = (1, 2, 3, 7, 16, 64, 256, 1024)

ATTENTION = """({q, k, v, mask = null, scale = null, softcap = null}) => {
  const t = attn.attention(q, k, v, {mask, scale, softcap});
  return [t.raw, t.scaled, t.masked, t.weights, t.output];
}"""
STREAMING = """({q, k, v, mask = null, scale = null, softcap = null, block}) =>
  attn.streamingAttention(q, k, v, {mask, scale, softcap, block})"""
PROBABILITIES = """({ids, without = [], ...options}) =>
  model.forward(trainedModel, ids, {...options, without: new Set(without)})
    .logits.map(attn.softmax)"""


@pytest.fixture(scope="module")
def script(tabs):
    watched = tabs.open()
    yield Script(watched.page)
    assert watched.problems == []
    tabs.close(watched)


def attention_cases(number, seed=0):
    """Inputs of attention of all widths, with scores up to ±1e4, and masks of every kind."""
    rng = np.random.default_rng(seed)
    for i in range(number):
        n_q, n_k, d_v = rng.integers(1, 5), rng.integers(1, 7), rng.integers(1, 5)
        d_k = WIDTHS[i % len(WIDTHS)]
        size = 10 ** rng.uniform(-2, 4) if i % 3 else 1.0
        q = rng.normal(size=(n_q, d_k)) * size
        case = {"q": q, "k": rng.normal(size=(n_k, d_k)), "v": rng.normal(size=(n_k, d_v)) * 10}
        kind = i % 5
        if kind == 1:
            case["mask"] = rng.random((n_q, n_k)) < 0.5
        elif kind == 2:
            case["mask"] = masks.causal_mask(n_q, n_k, "bottom-right")
        elif kind == 3:
            case["mask"] = np.where(
                rng.random((n_q, n_k)) < 0.3, -np.inf, rng.normal(size=(n_q, n_k))
            )
        if i % 7 == 0:
            case["scale"] = float(rng.uniform(0.01, 2))
        if i % 11 == 0:
            case["softcap"] = float(rng.uniform(1, 50))
        yield case


def sizes_of(case):
    """The sizes to measure differences by: of raw scores, scaled ones, weights and outputs."""
    lengths = np.linalg.norm(case["q"], axis=-1).max() * np.linalg.norm(case["k"], axis=-1).max()
    scale = case.get("scale", 1 / math.sqrt(case["q"].shape[-1]))
    added = np.abs(case["mask"][np.isfinite(case["mask"])]).max(initial=0) if "mask" in case else 0
    return lengths, lengths * scale, lengths * scale + added, 1.0, np.abs(case["v"]).max()


def difference(found, expected, size=1.0):
    """The largest difference, relative to a size; infinite where only one is finite or NaN."""
    found, expected = np.asarray(found), np.asarray(expected, dtype=float)
    assert found.size == expected.size
    equal = found == expected.ravel()
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - expected.ravel())
    return np.where(equal, 0, np.where(np.isnan(apart), np.inf, apart)).max(initial=0) / size


def attention_difference(script, number):
    cases = list(attention_cases(number))
    largest = 0.0
    for case, found in zip(cases, script.call(ATTENTION, cases), strict=True):
        trace = attn_lib.scaled_dot_product_attention(**case, return_trace=True)
        parts = np.split(found, np.cumsum([a.size for a in trace])[:-1])
        for part, expected, size in zip(parts, trace, sizes_of(case), strict=True):
            largest = max(largest, difference(part, expected, size))
    return largest


def test_attention(script):
    largest = attention_difference(script, N_CASES)
    assert largest < SAME


def test_the_cases_contain_what_is_difficult():
    cases = list(attention_cases(N_CASES))
    traces = [attn_lib.scaled_dot_product_attention(**c, return_trace=True) for c in cases]
    empty = [~np.isfinite(t.masked).any(axis=-1) for t in traces]
    assert sum(rows.any() for rows in empty) > 50
    assert max(np.abs(t.scaled).max() for t in traces) > 1e4
    assert {c["q"].shape[-1] for c in cases} == set(WIDTHS)
    assert sum("softcap" in c for c in cases) > 50


@pytest.mark.parametrize("block", [1, 2, 5])
def test_streaming(script, block):
    cases = [{**case, "block": block} for case in attention_cases(N_CASES // 3 + 1, seed=block)]
    for case, found in zip(cases, script.call(STREAMING, cases), strict=True):
        arguments = {name: value for name, value in case.items() if name != "block"}
        expected = attn_lib.scaled_dot_product_attention(**arguments, method="streaming")
        assert difference(found, expected, sizes_of(case)[-1]) < SAME


def score_cases(number):
    rng = np.random.default_rng(1)
    for i in range(number):
        scores = rng.normal(size=rng.integers(1, 9)) * 10 ** rng.uniform(-2, 4)
        scores[rng.random(scores.shape) < (0.2 if i % 4 else 1.0)] = -np.inf
        yield {"scores": scores, "grad": rng.normal(size=scores.shape)}


def test_entropy_and_the_norm_of_the_jacobian(script):
    cases = list(score_cases(N_CASES))
    source = """({scores}) => {
      const weights = attn.softmax(scores);
      return [attn.entropy(weights), attn.jacobianNorm(weights)];
    }"""
    certain = 0
    for case, found in zip(cases, script.call(source, cases), strict=True):
        weights = attn_lib.softmax(case["scores"])
        assert difference(found, [entropy(weights), softmax_jacobian_norm(weights)]) < SAME
        certain += weights.max(initial=0) == 1
    assert certain > 50


def test_softmax_its_derivative_and_what_goes_back(script):
    cases = list(score_cases(N_CASES))
    source = """({scores, grad}) => {
      const weights = attn.softmax(scores);
      return [weights, attn.jacobian(weights), attn.softmaxBackward(weights, grad)];
    }"""
    for case, found in zip(cases, script.call(source, cases), strict=True):
        weights = attn_lib.softmax(case["scores"])
        expected = [
            weights,
            attn_lib.softmax_jacobian(weights).ravel(),
            softmax_backward(weights, case["grad"]),
        ]
        assert difference(found, np.concatenate(expected), np.abs(case["grad"]).max()) < SAME


def test_masks(script):
    rng = np.random.default_rng(2)
    cases, expected = [], []
    for _ in range(N_CASES):
        n_q, n_k, left, right, length = (int(n) for n in rng.integers(1, 9, 5))
        offset = int(rng.integers(-4, 5))
        length = min(length, n_k)
        cases.append({"nQ": n_q, "nK": n_k, "left": left, "right": right, "offset": offset})
        cases[-1]["length"] = length
        window = masks.sliding_window_mask(n_q, n_k, left, right, offset=offset)
        padding = np.broadcast_to(masks.padding_mask(length, n_k), (n_q, n_k))
        top, bottom = (masks.causal_mask(n_q, n_k, a) for a in ("top-left", "bottom-right"))
        every = [window, padding, top, bottom, masks.combine_masks(top, padding)]
        expected.append(np.concatenate([mask.ravel() for mask in every]))
    source = """({nQ, nK, left, right, offset, length}) => {
      const padding = attn.paddingMask(length, nQ, nK);
      const top = attn.causalMask(nQ, nK);
      return [attn.windowMask(nQ, nK, {left, right, offset}), padding, top,
              attn.causalMask(nQ, nK, "bottom-right"), attn.combineMasks(top, padding)];
    }"""
    for found, right in zip(script.call(source, cases), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def scores_under_masks(number):
    rng = np.random.default_rng(5)
    for _ in range(number):
        scores = rng.normal(size=rng.integers(1, 9)) * 10 ** rng.uniform(-1, 4)
        yield {"scores": scores, "allowed": (rng.random((1, scores.size)) < rng.random())}


@pytest.mark.parametrize(
    ("dtype", "rounded"), [(np.float64, "x => x"), (np.float32, "Math.fround")]
)
def test_right_and_wrong_ways_to_mask(script, dtype, rounded):
    ways = script.page.evaluate("Object.keys(attn.MASKING)")
    assert ways == [*WAYS]
    functions = [way_to_mask(way) for way in ways]
    cases = list(scores_under_masks(N_CASES))
    source = f"""({{scores, allowed}}) => Object.values(attn.MASKING).map((way) =>
      attn.maskRow(scores, allowed[0], {{...way, round: {rounded}}}).weights)"""
    empty, largest = 0, 0.0
    for case, found in zip(cases, script.call(source, cases), strict=True):
        scores, allowed = case["scores"].astype(dtype), case["allowed"][0]
        empty += not allowed.any()
        with np.errstate(all="ignore"):
            expected = [masked(scores, allowed) for masked in functions]
        assert {row.dtype for row in expected} == {np.dtype(dtype)}
        largest = max(largest, weights_apart(found, np.concatenate(expected)))
    assert largest < SAME
    assert empty > 50


def weights_apart(found, expected):
    """The largest difference of weights; NaN equals NaN."""
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~numbers)
    return difference(found[numbers], expected[numbers])


def test_what_a_layer_costs(script):
    rng = np.random.default_rng(6)
    cases, expected = [], []
    for _ in range(N_CASES):
        heads, n_cached, size = (int(n) for n in rng.integers(0, [129, 200_000, 3]))
        heads, size = max(heads, 1), 2**size
        n, d_model = int(10 ** rng.uniform(0, 6)), heads * int(rng.integers(1, 257))
        cases.append({"n": n, "d": d_model, "heads": heads, "cached": n_cached, "bytes": size})
        layer = layer_flops(n, d_model, heads, n_cached=n_cached)
        dtype = {1: "int8", 2: "float16", 4: "float32"}[size]
        expected.append(
            [
                *(layer.projections, layer.feed_forward, layer.attention, layer.softmax),
                weights_bytes(heads, n, n + n_cached, dtype),
                cache_bytes(n, d_model, dtype),
            ]
        )
    source = """({n, d, heads, cached, bytes}) => {
      const layer = attn.layerFlops(n, d, heads, cached);
      return [layer.projections, layer.feedForward, layer.attention, layer.softmax,
              attn.weightsBytes(heads, n, n + cached, bytes), attn.cacheBytes(n, d, bytes)];
    }"""
    found = np.array(script.call(source, cases))
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-12)


def test_where_costs_cross(script):
    rng = np.random.default_rng(7)
    cases = [
        {"d": int(d), "share": float(s)}
        for d, s in zip(
            rng.integers(1, 20_000, N_CASES), 10 ** rng.uniform(-3, 3, N_CASES), strict=True
        )
    ]
    source = """({d, share}) => attn.crossover((n) => attn.layerFlops(n, d).attention,
      (n) => share * attn.layerFlops(n, d).projections)"""
    for case, found in zip(cases, script.call(source, cases), strict=True):
        d, share = case["d"], case["share"]
        assert found[0] == crossover(
            lambda n, d=d: layer_flops(n, d).attention,
            lambda n, d=d, share=share: share * layer_flops(n, d).projections,
        )


def sentences():
    return [str(s) for s in draw_sentences(N_CASES, np.random.default_rng(3))]


def probabilities(text, model=None):
    return attn_lib.softmax(forward(model or trained_model(), encode(text))["logits"].astype(float))


def test_the_next_words_of_the_model(script):
    texts = sentences()
    cases = [{"ids": [int(i) for i in encode(text)]} for text in texts]
    found = script.call(PROBABILITIES, cases)
    pairs = zip(found, map(probabilities, texts), strict=True)
    largest = max(difference(one, other) for one, other in pairs)
    assert largest < SAME_PROBABILITY


@pytest.mark.parametrize(("layer", "head"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_model_without_a_head(script, layer, head):
    texts = sentences()[:25]
    without = [f"layer{layer}.{head}"]
    cases = [{"ids": [int(i) for i in encode(text)], "without": without} for text in texts]
    changed = without_head(trained_model(), layer, head)
    for text, found in zip(texts, script.call(PROBABILITIES, cases), strict=True):
        assert difference(found, probabilities(text, changed)) < SAME_PROBABILITY
        assert difference(found, probabilities(text)) > 100 * SAME_PROBABILITY


@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.5])
def test_words_are_drawn_as_by_the_library(script, temperature):
    source = """({ids, temperature, seed}) =>
      [...model.generate(trainedModel, ids, 8, {temperature, seed})].map((step) => step.id)"""
    prompts = ["ada tea bob milk ada", "the cats near the dog", "the fox"]
    cases = [
        {"ids": [int(i) for i in encode(prompt)], "temperature": temperature, "seed": seed}
        for prompt in prompts
        for seed in range(40)
    ]
    for case, found in zip(cases, script.call(source, cases), strict=True):
        prompt = prompts[cases.index(case) // 40]
        options = {"temperature": temperature, "seed": case["seed"]}
        text = generate(trained_model(), prompt, 8, **options).text
        assert [*case["ids"], *found.astype(int)] == encode(text).tolist()


def test_the_generator_is_numpys(script):
    rng = np.random.default_rng(4)
    seeds = [0, 1, 2**32, 2**64 - 1, 2**200 + 7, *(int(s) for s in rng.integers(2**62, size=995))]
    source = """({seed}) => { const draw = generator(seed); return [draw(), draw(), draw()]; }"""
    found = script.call(source, [{"seed": str(seed)} for seed in seeds])
    expected = [np.random.default_rng(seed).random(3) for seed in seeds]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 / Math.sqrt(dK)", "1 / dK"),
        ("softcap * Math.tanh(score / softcap)", "Math.tanh(score / softcap)"),
        ("return entry ? score : -Infinity", "return entry ? score : -1e4"),
        ("score + entry;", "score * entry;"),
        ("total === 0 && !plain ? 1 : total", "total"),
        ("round(Math.exp(round(score - shift)))", "round(Math.exp(round(score)))"),
    ],
)
def test_an_error_in_the_script_is_found(tabs, old, new):
    watched = tabs.open()
    wrong = Script(watched.page, {"mathematics": (old, new)})
    assert not attention_difference(wrong, 150) < SAME
    tabs.close(watched)
