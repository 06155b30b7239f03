"""The numbers in the chapter on complexity equal those that attn_lib computes."""

import math

import numpy as np
import pytest

from attn_lib import causal_mask, figures, scaled_dot_product_attention, softmax
from attn_lib.complexity import (
    additive_cost,
    cache_bytes,
    crossover,
    dot_product_cost,
    layer_flops,
    weights_bytes,
)
from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from attn_lib.figures.architectures import ARCHITECTURES
from attn_lib.model import encode, forward, trained_model
from attn_lib.streaming import BLOCKS, MAX_BARE_SCORE

PAGE = "complexity"

SCORES = np.array([1.0, 2.0, 0.5, 4.0, -1.0, 1.0, 3.0, 2.0])
VALUES = np.array([10.0, 20.0, 30.0, 40.0, 5.0, 25.0, 15.0, 35.0])


@pytest.fixture(scope="module")
def rows(article):
    """All rows of all tables, with ASCII apostrophes and minus signs."""
    plain = str.maketrans("’−", "'-")
    return [
        [cell.get_text().translate(plain) for cell in row.find_all(["td", "th"])]
        for row in article.find_all("tr")
    ]


@pytest.fixture(scope="module")
def alternatives(article):
    """The alternative texts of all pictures, and of all slider states."""
    frames = "".join(script.string for script in article.select("script.attn-explore-frames"))
    return "\n".join([*(image["alt"] for image in article.find_all("img")), frames])


def test_the_questions_from_before():
    assert math.sqrt(400) == 20
    assert causal_mask(2, 6, "bottom-right").sum(axis=1).tolist() == [5, 6]
    assert causal_mask(2, 6, "top-left").sum(axis=1)[0] == 1


def test_the_formulas_of_the_chapter():
    n, d, heads, d_hidden = 96, 24, 3, 5
    layer = layer_flops(n, d, heads)
    assert layer.scores == layer.mix == 2 * n**2 * d
    assert layer.softmax == heads * 5 * n**2
    assert layer.projections == 8 * n * d**2
    assert layer.feed_forward == 16 * n * d**2
    assert layer_flops(1, d, n_cached=n - 1).attention == 4 * n * d
    steps = sum(layer_flops(1, d, n_cached=t).attention for t in range(n))
    assert steps == 2 * n * (n + 1) * d
    assert additive_cost(n, n, d, d_hidden) == (
        2 * d * d_hidden + d_hidden,
        4 * n**2 * d_hidden + 4 * n * d * d_hidden,
        n**2 * d_hidden,
    )
    assert dot_product_cost(n, n, d) == (0, 2 * n**2 * d, n**2)
    assert cache_bytes(n, d, "float16") == 2 * 2 * n * d  # the number of operations per step


def test_the_cache_of_the_model(text, tables):
    past = None
    for n, word in enumerate(encode("ada tea bob juice bob juice ada"), start=1):
        past = forward(trained_model(), [word], past=past)
        kept = sum(past[f"layer{layer}.{name}"].size for layer in (1, 2) for name in "kv")
        assert kept == 128 * n
    assert f"{kept} numbers" in text
    assert "That is 128 numbers a word" in text
    assert "learned positions for 17 words only" in text
    rows = tables["word", "count, cache", "count, again", "ms, cache", "ms, again"]
    for word, *counts, cached, again in rows:
        n = int(word)
        projections, attention, logits = 4 * 32 * 32, 2 * 32, 32 * 49
        one = 2 * (projections + n * attention) + logits
        whole = n * (2 * (projections + n * attention) + logits)
        assert counts == [f"{count:,}".replace(",", " ") for count in (one, whole)]
        assert float(cached) > 0
        assert float(again) > 0
    assert [row[0] for row in rows] == ["16", "64", "256", "1024"]
    for n in (16, 1024):
        assert f"For word {n}" in text
        assert f"{n} times the multiplications" in text


def test_where_the_costs_cross(text, alternatives):
    def cost(*parts, width=512):
        return lambda n: sum(getattr(layer_flops(n, width), part) for part in parts)

    rest = ("projections", "feed_forward")
    assert crossover(cost("attention"), cost("projections")) == 2 * 512
    assert crossover(cost("scores"), cost("projections")) == 4 * 512
    for width in (512, 4096):
        n = crossover(cost("attention", width=width), cost(*rest, width=width))
        assert n == 6 * width
        assert str(n) in text
    assert "projections at n = 1024, as much as projections and feed-forward part at n = 3072" in (
        alternatives
    )
    short = layer_flops(128, 512)
    ratio = short.projections / short.attention
    assert ratio == 8
    assert (
        f"the projections cost {ratio:.0f} times what attention's two products cost".replace(
            "'", "’"
        )
        in text
    )
    middle = layer_flops(2048, 512, heads=8)
    total = middle.projections + middle.feed_forward + middle.attention + middle.softmax
    assert middle.attention == 2 * middle.projections
    assert middle.attention < middle.projections + middle.feed_forward
    assert f"the share is {100 * middle.attention / total:.1f} %" in text


def test_the_softmax_is_two_percent_of_the_operations(text, rows):
    layer = layer_flops(2048, 64)
    counts = {part: getattr(layer, part) for part in ("scores", "softmax", "mix")}
    share = 100 * layer.softmax / sum(counts.values())
    assert share == pytest.approx(2, abs=0.1)
    assert f"% of the time with {share:.1f} % of the operations" in text
    measured = [row for row in rows if row[0] in counts and row[1].endswith("%")]
    assert {row[0]: row[1] for row in measured} == {
        part: f"{100 * count / sum(counts.values()):.1f} %" for part, count in counts.items()
    }
    assert sum(int(row[3].split()[0]) for row in measured) in (99, 100, 101)


def test_measured_times_say_where_they_were_measured(text, article):
    captions = [caption.get_text() for caption in article.select(".attn-picture figcaption")]
    assert [c for c in captions if "of the machine that built this page" in c] == captions
    assert len(captions) == 2
    assert "seconds, on the machine that built this page" in text


@pytest.mark.parametrize(
    ("heads", "n", "dtype", "size"),
    [
        (8, 2048, "float32", "128 MiB"),
        (32, 8192, "float16", "4 GiB"),
        (32, 32768, "float16", "64 GiB"),
    ],
)
def test_the_memory_of_the_weights(rows, heads, n, dtype, size):
    number, unit = size.split()
    assert weights_bytes(heads, n, n, dtype) == int(number) * 2 ** {"MiB": 20, "GiB": 30}[unit]
    assert [str(heads), str(n), dtype, size] in rows


def test_two_blocks_merge_to_the_output_of_all_keys(rows, text):
    scores, values = np.array([1.0, 2.0, 4.0, 0.0]), np.array([10.0, 20.0, 30.0, 40.0])
    states = []
    for name, keys in (("A: scores 1, 2", slice(2)), ("B: scores 4, 0", slice(2, 4))):
        largest = scores[keys].max()
        total = np.exp(scores[keys] - largest).sum()
        output = softmax(scores[keys]) @ values[keys]
        assert [name, f"{largest:.4f}", f"{total:.4f}", f"{output:.4f}"] in rows
        states += [np.array([largest]), np.array([total]), np.array([[output]])]
    whole = softmax(scores) @ values
    assert TARGETS["merge_outputs"](*states)[0, 0] == pytest.approx(whole, rel=1e-12)
    assert f"array([{whole:.4f}, {whole:.4f}])" in text
    for mistake in catalogue("merge_outputs"):
        assert [mistake.sentence, f"{mistake.wrong(*states)[0, 0]:.2f}"] in rows
    assert ["right", f"{whole:.2f}"] in rows


def test_slips_in_streaming_and_counting_match_the_catalogue(rows, text, alternatives):
    right = softmax(SCORES) @ VALUES
    assert f"The right output is {right:.2f}." in text
    assert f"All keys at once: {right:.2f}." in alternatives
    assert f"{math.exp(2 - 4):.3f}. The blocks after it bring nothing larger" in text
    arguments = (np.ones((1, 1)), SCORES[:, None], VALUES[:, None], 3)
    np.testing.assert_allclose(scaled_dot_product_attention(*arguments[:3])[0, 0], right)
    for mistake in catalogue("streaming_attention"):
        wrong = mistake.wrong(*arguments)[0, 0]
        assert abs(wrong - right) > 1
        assert [mistake.sentence, f"{wrong:.2f}"] in rows
    sizes = {
        "score_flops": (3, 5, 7),
        "attention_flops": (3, 5, 7, 2, 4),
        "projection_flops": (3, 8),
    }
    for target, arguments in sizes.items():
        for mistake in catalogue(target):
            given, wanted = mistake.wrong(*arguments), TARGETS[target](*arguments)
            assert [mistake.sentence, str(given), str(wanted)] in [row[1:] for row in rows]


def test_streaming_is_shown_to_be_exact(text):
    assert text.count("keys a block: True") == 8
    assert "queries times 1: bound in range True, same True" in text
    assert "queries times 8: bound in range False, same True" in text
    assert "keys a block: False" not in text
    # The purpose of the limit: a sum of a million terms with large values stays within float32.
    assert math.exp(MAX_BARE_SCORE) * 1e6 * 1e15 < np.finfo(np.float32).max
    block = BLOCKS.queries * BLOCKS.keys
    assert f"at most {block} scores ({4 * block / 1024:.0f} KiB)" in text


@pytest.mark.parametrize("blocks", [2, 4, 8, 16, 32])
def test_causal_blocks_are_those_with_allowed_pairs(alternatives, blocks):
    figure, said = figures.causal_blocks(blocks)
    size = 3
    tiles = causal_mask(blocks * size, blocks * size).reshape(blocks, size, blocks, size)
    allowed = tiles.sum(axis=(1, 3))
    whole, skipped = int((allowed == size**2).sum()), int((allowed == 0).sum())
    partly = blocks**2 - whole - skipped
    assert (whole + partly) / blocks**2 == (blocks + 1) / (2 * blocks)
    drawn = np.asarray(figure.axes[0].collections[0].get_array()).reshape(blocks, blocks)
    np.testing.assert_array_equal(drawn == 1, allowed == size**2)
    np.testing.assert_array_equal(drawn == -1, allowed == 0)
    assert f"{whole} whole, {partly} masked in part, {skipped} skipped" in said
    assert said in alternatives


def test_pairs_draws_a_cell_for_each():
    figure, said = figures.pairs([3, 5])
    meshes = figure.axes[0].collections
    assert [mesh.get_array().size for mesh in meshes] == [9, 25]
    assert said.endswith("3 tokens make 9 pairs, 5 tokens make 25 pairs.")


@pytest.mark.parametrize("model", ARCHITECTURES, ids=lambda model: model.name)
def test_layer_costs_draws_shares_and_bytes(model):
    n = 2048
    figure, said = figures.layer_costs(n, model.name, ARCHITECTURES)
    layer = layer_flops(n, model.d_model, model.heads)
    parts = np.array([layer.feed_forward, layer.projections, layer.attention, layer.softmax])
    top, bottom = figure.axes
    np.testing.assert_allclose([bar.get_width() for bar in top.patches], parts / parts.sum())
    sizes = [float(line.get_xdata()[0]) for line in bottom.lines]
    kept = model.layers * cache_bytes(n, model.d_model // model.heads * model.kv_heads, "float16")
    assert sizes == [weights_bytes(model.heads, n, n, "float16"), kept]
    assert said.startswith(f"{model.name}, n = {n}: ")
    assert f" billion operations in all {model.layers} layers." in said


def test_layer_costs_names_the_models_it_has():
    with pytest.raises(ValueError, match=r"expected one of Transformer, base, .*, got 'HAL'"):
        figures.layer_costs(8, "HAL", ARCHITECTURES)


@pytest.mark.parametrize(
    ("name", "billions", "more_in_embeddings"),
    [("BERT, large", 0.34, 0.04), ("GPT-3", 175, 1), ("Llama 3, 405B", 405, 5)],
)
def test_sizes_of_models_give_the_parameters_that_their_papers_state(
    name, billions, more_in_embeddings
):
    """A layer has 12 d² parameters; grouped heads and Llama's feed-forward part make others."""
    (model,) = [model for model in ARCHITECTURES if model.name == name]
    shared = model.kv_heads / model.heads
    a_layer = 12 if shared == 1 else 2 + 2 * shared + 3 * 3.25  # 53,248 = 3.25 · 16,384
    counted = model.layers * a_layer * model.d_model**2 / 1e9
    assert counted + more_in_embeddings == pytest.approx(billions, rel=0.02)


def test_where_the_costs_of_gpt_3_cross(article, text):
    (model,) = [model for model in ARCHITECTURES if model.name == "GPT-3"]
    answers = [float(form["data-answer"]) for form in article.select(".attn-predict")]
    assert answers == [2 * model.d_model, round(math.exp(2 - 4), 3)]
    assert model.context < 2 * model.d_model
    assert f"it reads {model.context} tokens at most" in text


def test_additive_attention_costs_what_the_page_says(rows, text):
    dot, additive = dot_product_cost(256, 256, 64), additive_cost(256, 256, 64, 64)
    assert ["parameters of the score", "0", str(additive.parameters)] in rows
    assert ["largest array, in numbers", str(dot.numbers), str(additive.numbers)] in rows
    assert additive.numbers == 64 * dot.numbers
    assert f"a factor of {additive.flops / dot.flops:.1f}" in text
    small = np.random.default_rng(0)
    q, k = small.normal(size=(3, 7)), small.normal(size=(5, 7))
    arguments = (q, k, *small.normal(size=(2, 7, 4)), small.normal(size=4))
    separable = {"tanh-left-out", "tanh-before-adding"}
    for mistake in catalogue("additive_scores"):
        weights = softmax(mistake.wrong(*arguments))
        same_for_all = np.allclose(weights, weights[0])
        assert same_for_all == (mistake.id in separable)
        (row,) = [row for row in rows if row[0] == mistake.sentence]
        assert row[1] == ("no" if same_for_all else "yes")


def test_decoding(rows):
    n, d = 1024, 512

    def work(layer):
        return layer.projections + layer.attention

    cached = sum(work(layer_flops(1, d, n_cached=t)) for t in range(n)) / 1e9
    again = sum(8 * t * d**2 + 4 * t**2 * d for t in range(1, n + 1)) / 1e9
    assert cached == pytest.approx((8 * n * d**2 + 2 * n * (n + 1) * d) / 1e9)
    assert ["with a cache", f"{cached:.1f}"] in rows
    assert ["everything again in each step", f"{again:.1f}"] in rows
    for n in (1024, 8192, 131072):
        cache = cache_bytes(n, 4096, "float16") // 2**20
        million = [f"{4 * n * 4096 / 1e6:.0f}", f"{8 * 4096**2 / 1e6:.0f}"]
        assert [str(n), *million, f"{cache} MiB"] in rows


def test_the_quiz_on_bytes(text):
    right = weights_bytes(16, 4096, 4096, "float16") / 2**20
    for size in (f"{right / 16:.0f} MiB", f"{right / 2:.0f} MiB", f"{right:.0f} MiB"):
        assert size in text
    assert f"{right * 8 / 1024:.0f} GiB" in text
