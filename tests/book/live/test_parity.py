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
from attn_lib.course.effects import PLACES
from attn_lib.course.mistakes import catalogue
from attn_lib.estimates import Estimate
from attn_lib.experiments import Entries, score_moments
from attn_lib.figures.ways_to_mask import WAYS, way_to_mask
from attn_lib.model import (
    RIGHT,
    answer_logits,
    draw_sentences,
    encode,
    forward,
    generate,
    multiplications,
    replacement,
    scaled_attention,
    shares_right,
    trained_model,
    without_head,
)
from attn_lib.softmax import entropy, softmax_jacobian_norm
from tests.book.live.script import Script

N_CASES = 1000
SAME = 1e-6
SAME_PROBABILITY = 1e-5
#: A statistic of a right program is so many standard errors off once in 8 million times.
BOUND = 5.3
WIDTHS = (1, 2, 3, 7, 16, 64, 256, 1024)

ATTENTION = """({q, k, v, mask = null, scale = null, softcap = null}) => {
  const t = attn.attention(q, k, v, {mask, scale, softcap});
  return [t.raw, t.scaled, t.masked, t.weights, t.output];
}"""
STREAMING = """({q, k, v, mask = null, scale = null, softcap = null, block}) =>
  attn.scoreRows(q, k, {mask, scale, softcap}).masked.map((row) =>
    attn.streamOutput([...attn.streamRow(row, v, block)].at(-1)))"""
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


def test_right_and_wrong_ways_to_stream(script):
    rng = np.random.default_rng(8)
    catalogued = {mistake.id: mistake.wrong for mistake in catalogue("streaming_attention")}
    ways = script.page.evaluate("Object.keys(attn.STREAMING)")
    wrong = [catalogued[way] for way in ways[1:]]
    assert len(wrong) == 3
    cases = []
    for _ in range(N_CASES):
        n_k, d_v, block = (int(n) for n in rng.integers(1, [9, 4, 5]))
        scores = rng.normal(size=n_k) * 10 ** rng.uniform(-1, 2)
        cases.append({"scores": scores, "v": rng.normal(size=(n_k, d_v)), "block": block})
    source = """({scores, v, block}) => Object.values(attn.STREAMING).map((kept) => {
      const { total, mixture } = [...attn.streamRow(scores, v, block, kept)].at(-1);
      return mixture.map((entry) => entry / total);
    })"""
    apart = np.zeros(len(ways))
    for case, found in zip(cases, script.call(source, cases), strict=True):
        arguments = np.ones((1, 1)), case["scores"][:, None], case["v"]
        right = attn_lib.scaled_dot_product_attention(*arguments)[0]
        expected = [right, *(stream(*arguments, case["block"])[0] for stream in wrong)]
        for i, one in enumerate(np.split(found, len(ways))):
            assert difference(one, expected[i], np.abs([expected[i], case["v"][0]]).max()) < SAME
            apart[i] += difference(one, right) > 0.01
    assert apart[0] == 0
    assert (apart[1:] > 100).all()


def score_cases(number):
    rng = np.random.default_rng(1)
    for i in range(number):
        scores = rng.normal(size=rng.integers(1, 9)) * 10 ** rng.uniform(-2, 4)
        scores[rng.random(scores.shape) < (0.2 if i % 4 else 1.0)] = -np.inf
        yield {"scores": scores}


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


def test_softmax_and_its_derivative(script):
    cases = list(score_cases(N_CASES))
    source = """({scores}) => {
      const weights = attn.softmax(scores);
      return [weights, attn.jacobian(weights)];
    }"""
    for case, found in zip(cases, script.call(source, cases), strict=True):
        weights = attn_lib.softmax(case["scores"])
        expected = np.concatenate([weights, attn_lib.softmax_jacobian(weights).ravel()])
        assert difference(found, expected) < SAME


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


LOGITS = """({ids, ...options}) => model.logits(trainedModel, ids, options)"""


def logits_of(text, model, parts=RIGHT, reading="whole"):
    """Every row of logits, of a text that is read whole or with a cache."""
    ids = encode(text)
    if reading == "whole":
        return forward(model, ids, parts=parts)["logits"]
    past, rows = None, []
    for id in ids:
        past = forward(model, [id], past=past, parts=parts)
        rows.append(past["logits"][0])
    return np.array(rows)


@pytest.mark.parametrize(
    ("part", "option"), [("positions", False), ("scale", 1), ("mask", False), ("wordByWord", True)]
)
def test_the_model_without_a_part(script, part, option):
    texts = sentences()[:50]
    cases = [{"ids": [int(i) for i in encode(text)], part: option} for text in texts]
    model = trained_model().astype(float)
    variants = {
        "positions": (model._replace(parameters=without_positions(model)),),
        "scale": (model, RIGHT._replace(attention=scaled_attention(1))),
        "mask": (model, replacement("causal_mask", lambda n_q, n_k: np.ones((n_q, n_k), bool))),
        "wordByWord": (model, RIGHT, "word by word"),
    }
    for text, found in zip(texts, script.call(LOGITS, cases), strict=True):
        assert difference(found, logits_of(text, *variants[part])) < SAME_PROBABILITY


def without_positions(model):
    return model.parameters | {"positions": 0 * model.parameters["positions"]}


MISTAKEN = """({ids, mistake}) => model.logits(trainedModel, ids, modelMistakes[mistake])"""


@pytest.fixture(scope="module")
def mistakes(script):
    """The mistakes that the page can put into the model, from the catalogue."""
    ids = script.page.evaluate("Object.keys(modelMistakes)")
    by_id = {mistake.id: mistake for mistake in catalogue()}
    return [by_id[id] for id in ids]


def mistaken_difference(script, mistakes, number):
    model = trained_model().astype(float)
    texts = [str(s) for s in draw_sentences(number, np.random.default_rng(5))]
    largest = {}
    for mistake in mistakes:
        parts = PLACES[mistake.target](mistake.wrong)
        reading = "word by word" if mistake.target == "cached_causal_mask" else "whole"
        cases = [{"ids": [int(i) for i in encode(text)], "mistake": mistake.id} for text in texts]
        with np.errstate(all="ignore"):
            expected = [logits_of(text, model, parts, reading) for text in texts]
        # Where the library's logits are NaN, so are the page's, which counts as no difference.
        pairs = list(zip(script.call(MISTAKEN, cases), expected, strict=True))
        same = all(np.isnan(a.ravel()).tolist() == np.isnan(b.ravel()).tolist() for a, b in pairs)
        apart = (difference(np.nan_to_num(a), np.nan_to_num(b)) for a, b in pairs)
        largest[mistake.id] = max(apart) if same else np.inf
    return largest


def test_mistakes_in_the_model(script, mistakes):
    assert len(mistakes) >= 12
    number = math.ceil(N_CASES / len(mistakes))
    largest = mistaken_difference(script, mistakes, number)
    assert max(largest.values()) < SAME_PROBABILITY, largest


@pytest.mark.parametrize(
    ("id", "old", "new"),
    [
        (
            "no-scale",
            '"no-scale": { attend: ofRow(softmax)',
            '"no-scale": { attend: attn.attention',
        ),
        (
            "mask-after-softmax",
            "softmax(row).map((w, j) => (mask[j] ? w : 0))) },",
            "softmax(row)) },",
        ),
        ("minus-infinity-times-zero", "(1 - mask[j]) * -Infinity", "(1 - mask[j]) * -1e9"),
    ],
)
def test_a_mistake_that_is_another_is_found(tabs, mistakes, id, old, new):
    watched = tabs.open()
    wrong = Script(watched.page, {"model-mistakes": (old, new)})
    [mistake] = (mistake for mistake in mistakes if mistake.id == id)
    assert not mistaken_difference(wrong, [mistake], 3)[id] < SAME_PROBABILITY
    tabs.close(watched)


def test_answers_are_judged_as_by_the_library(script):
    drawn = draw_sentences(300, np.random.default_rng(6), held_out=True)
    rng = np.random.default_rng(7)
    cases, expected = [], []
    for i, sentence in enumerate(drawn):
        rows = answer_logits(trained_model(), [sentence]).astype(float)
        rows += rng.normal(size=rows.shape) * (i % 4) * 3
        if i % 10 == 9:
            rows[0, rng.integers(49)] = np.nan
        expected.append(shares_right(rows, [sentence])[sentence.skill])
        answers = [int(encode([sentence.words[a.position]])[0]) for a in sentence.answers]
        cases.append({"rows": rows, "answers": answers, "skill": sentence.skill})
    source = """({rows, answers, skill}) => answers.filter((id, i) =>
      model.isRight(trainedModel, rows[i], id, skill)).length / answers.length"""
    found = np.concatenate(script.call(source, cases))
    np.testing.assert_allclose(found, expected)
    assert 0.2 < np.mean(expected) < 0.95


def test_multiplications_are_counted_as_by_the_library(script):
    sizes = [(n, past) for n in range(1, 18) for past in range(17)]
    source = "({n, past}) => model.multiplications(trainedModel.config, n, past)"
    found = script.call(source, [{"n": n, "past": past} for n, past in sizes])
    config = trained_model().config
    assert np.concatenate(found).tolist() == [multiplications(config, *pair) for pair in sizes]


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


def test_the_fast_generator_is_numpys(script):
    rng = np.random.default_rng(5)
    seeds = [0, 1, 2**31, 2**32 - 1, *(int(s) for s in rng.integers(2**32, size=96))]
    source = """({seed}) => {
      const [one, other] = [randomState(seed), randomState(seed)];
      const many = (draw) => Array.from({length: 1300}, draw);
      return [many(one.uniform), many(other.normal)];
    }"""
    found = script.call(source, [{"seed": seed} for seed in seeds])
    for seed, numbers in zip(seeds, found, strict=True):
        uniform, normal = numbers.reshape(2, -1)
        np.testing.assert_array_equal(uniform, np.random.RandomState(seed).random_sample(1300))
        expected = np.random.RandomState(seed).standard_normal(1300)
        np.testing.assert_allclose(normal, expected, rtol=1e-12)


def test_fast_normal_numbers_have_the_moments_and_tails_of_theory(script):
    n = 1_000_000
    source = """({n, ends}) => {
      const { normal } = randomState(20261129);
      const powers = [0, 0, 0, 0];
      const beyond = ends.map(() => 0);
      let before = 0, neighbours = 0;
      for (let i = 0; i < n; i++) {
        const x = normal();
        powers.forEach((_, p) => { powers[p] += x ** (p + 1) / n; });
        ends.forEach((end, e) => { beyond[e] += Math.abs(x) > end; });
        neighbours += before * x / n;
        before = x;
      }
      return [...powers, neighbours, ...beyond];
    }"""
    ends = [1, 2, 3, 4]
    (found,) = script.call(source, [{"n": n, "ends": ends}])
    # E[x²] = 1, E[x⁴] = 3, E[x⁶] = 15, E[x⁸] = 105; x⁴ has the variance 105 - 9.
    moments = np.array([0, 1, 0, 3, 0])
    errors = np.sqrt(np.array([1, 2, 15, 96, 1]) / n)
    assert (np.abs(found[:5] - moments) < BOUND * errors).all()
    tails = np.array([math.erfc(end / math.sqrt(2)) for end in ends])
    assert (np.abs(found[5:] - n * tails) < BOUND * np.sqrt(n * tails * (1 - tails))).all()


def odd_entries(number):
    rng = np.random.default_rng(6)
    for i in range(number):
        mean, variance = rng.normal() * 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-2, 2)
        edges = [0.0, 1.0, float(rng.uniform())]
        yield Entries(mean, variance, edges[i % 3], [-1.0, *edges][i % 4])


def test_the_theory_of_scores(script):
    cases, expected = [], []
    for i, entries in enumerate(odd_entries(N_CASES)):
        d_k = WIDTHS[i % len(WIDTHS)]
        cases.append({"dK": d_k, "entries": entries._asdict()})
        expected.append(score_moments(d_k, entries))
    source = "({dK, entries}) => attn.scoreMoments(dK, entries)"
    for found, right in zip(script.call(source, cases), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=SAME, atol=1e-9)


def test_scores_are_drawn_as_defined(script):
    """From NumPy's numbers of the same seed, with the covariances that Entries states."""
    cases, expected = [], []
    for i, entries in enumerate(odd_entries(N_CASES)):
        d_k = WIDTHS[i % len(WIDTHS)]
        cases.append({"dK": d_k, "seed": i, "entries": entries._asdict()})
        mean, variance, correlation, agreement = entries
        z = np.random.RandomState(i).standard_normal((d_k + 1, 2))
        u, v = np.sqrt(correlation) * z[:1].T + np.sqrt(1 - correlation) * z[1:].T
        q = mean + np.sqrt(variance) * u
        k = mean + np.sqrt(variance) * (agreement * u + np.sqrt(1 - agreement**2) * v)
        plain = np.random.RandomState(i).standard_normal((d_k, 2)).prod(axis=-1).sum()
        size = np.abs(q) @ np.abs(k) + d_k
        expected.append((q @ k / size, plain / size, size))
    source = """({dK, seed, entries}) => [
      attn.drawRelatedScore(randomState(seed).normal, dK, entries),
      attn.drawScore(randomState(seed).normal, dK)]"""
    for found, (related, plain, size) in zip(script.call(source, cases), expected, strict=True):
        assert difference(found / size, [related, plain]) < SAME


def test_means_and_variances_are_estimated_as_by_the_library(script):
    rng = np.random.default_rng(7)
    samples = [
        rng.normal(loc=10 ** rng.uniform(-3, 3), size=rng.integers(2, 40))
        * 10 ** rng.uniform(-3, 4)
        for _ in range(N_CASES)
    ]
    found = script.call("({sample}) => attn.estimates(sample)", [{"sample": s} for s in samples])
    for numbers, sample in zip(found, samples, strict=True):
        mean, variance = Estimate.of_mean(sample), Estimate.of_variance(sample)
        largest = np.abs(sample).max()
        assert difference(numbers[:2], mean, largest) < SAME
        assert difference(numbers[2:], variance, largest**2) < SAME


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
