"""The pictures of the trained model show its arrays, its heads and its positions."""

import numpy as np
import pytest

from attn_lib import figures
from attn_lib.model import Config, encode, forward, initialise, trained_model
from tests.attn_lib.figures.drawn import line, titles, words

TEXT = ["ada", "tea", "bob", "juice", "ada"]
#: Sizes that all differ, so that no axis can be taken for another.
SMALL = initialise(
    Config(n_words=49, max_length=11, d_model=12, n_layers=3, n_heads=4, d_k=7), seed=1
)


@pytest.fixture(scope="module")
def trace():
    return forward(SMALL, encode(TEXT))


def test_every_layer_reads_the_stream_and_adds_to_it():
    figure, text = figures.residual_stream(5, SMALL.config)
    drawn = words(figure.axes[0])
    layers = [f"layer {i}: norm, attention  (5, 12)" for i in (1, 2, 3)]
    assert [word for word in drawn if word.startswith("layer")] == layers
    assert drawn.count("reads") == drawn.count("adds") == drawn.count("+") == 3
    assert {"ids (5,)", "embedding + position  (5, 12)"} <= set(drawn)
    assert "norm, unembedding: logits  (5, 49)" in drawn
    assert "Each of 3 layers reads" in text
    assert text.endswith("(5, 49).")


def test_every_array_of_a_text_can_be_drawn(trace):
    for name, array in trace.items():
        figure, text = figures.traced_array(name, trace, TEXT)
        heads = array if array.ndim == 3 else [array]
        assert len(figure.axes) == len(heads)
        for axes, numbers in zip(figure.axes, heads, strict=True):
            drawn = np.asarray(axes.images[0].get_array())
            np.testing.assert_array_equal(drawn, np.where(np.isfinite(numbers), numbers, 0))
        finite = array[np.isfinite(array)]
        low, high = (f"{round(float(x), 2) + 0.0:.2f}" for x in (finite.min(), finite.max()))
        assert text.startswith(f"{name}, {array.shape}: ")
        assert text.endswith(f"From {low} to {high}.".replace("-", "−"))
        assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == TEXT


def test_an_array_of_heads_has_a_panel_for_each(trace):
    figure, _ = figures.traced_array("layer2.k", trace, TEXT)
    assert titles(figure) == ["head 1", "head 2", "head 3", "head 4"]
    assert figure.get_suptitle() == "layer2.k  (4, 5, 7)"
    figure, _ = figures.traced_array("layer2.added", trace, TEXT)
    assert titles(figure) == ["layer2.added  (5, 12)"]


def test_words_are_beside_words_where_they_meet_and_nowhere_else(trace):
    columns = {
        name: [
            tick.get_text()
            for tick in figures.traced_array(name, trace, TEXT)[0].axes[0].get_xticklabels()
        ]
        for name in ("layer1.weights", "layer1.scores", "layer1.q", "logits")
    }
    assert columns == {
        "layer1.weights": TEXT,
        "layer1.scores": TEXT,
        "layer1.q": ["1", "7"],
        "logits": ["0", "48"],
    }


def test_only_scores_hide_cells(trace):
    def hatched(name):
        axes = figures.traced_array(name, trace, TEXT)[0].axes[0]
        return sum(len(c.get_paths()) for c in axes.collections if c.get_hatch())

    assert hatched("layer1.scores") == 10
    assert hatched("layer1.weights") == 0


def test_an_unknown_array_is_refused(trace):
    with pytest.raises(ValueError, match=r"expected one of tokens, places, .*got 'layer4.q'"):
        figures.traced_array("layer4.q", trace, TEXT)


@pytest.mark.parametrize("head", [(1, 2), (3, 4)])
def test_a_map_shows_the_weights_of_its_head(trace, head):
    figure, text = figures.word_weights(SMALL, head, " ".join(TEXT))
    layer, number = head
    weights = trace[f"layer{layer}.weights"][number - 1]
    axes = figure.axes[0]
    drawn = axes.images[0].get_array()
    np.testing.assert_array_equal(drawn.mask, np.triu(np.ones((5, 5), dtype=bool), k=1))
    np.testing.assert_array_equal(drawn.filled(0), weights)
    assert sorted(words(axes)) == sorted(f"{w:.2f}" for w in weights[weights >= 0.1])
    most = [f"{TEXT[i]} → {TEXT[row.argmax()]} {row.max():.2f}" for i, row in enumerate(weights)]
    assert text == f"Layer {layer}, head {number}: {', '.join(most)}."


def test_one_word_can_be_looked_from(trace):
    figure, text = figures.word_weights(SMALL, (2, 3), " ".join(TEXT), word=4)
    row = trace["layer2.weights"][2, 3]
    assert text == f"Layer 2, head 3: {TEXT[3]} → {TEXT[row.argmax()]} {row.max():.2f}."
    (frame,) = figure.axes[0].patches
    assert frame.get_bbox().bounds == (-0.5, 2.5, 5, 1)


@pytest.mark.parametrize("word", [0, 3])
def test_a_word_that_is_not_there_is_refused(word):
    with pytest.raises(ValueError, match=f"expected a word from 1 to 2, got {word}"):
        figures.word_weights(SMALL, (1, 1), "ada tea", word=word)


@pytest.mark.parametrize("head", [(0, 1), (4, 1), (1, 5)])
def test_a_head_that_is_not_there_is_refused(head):
    with pytest.raises(ValueError, match=f"layer from 1 to 3 .* to 4, got {head[0]} and {head[1]}"):
        figures.word_weights(SMALL, head, "ada tea")


def test_matches_are_told_apart_from_mismatches():
    scores = np.array([[5.4, -1, 2], [0, 7, 3.2], [-4.6, 1, 6]])
    figure, text = figures.name_matches(scores, ["ada", "bob", "cleo"])
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), scores)
    assert words(figure.axes[0]) == ["5", "−1", "2", "0", "7", "3", "−5", "1", "6"]
    assert text == (
        "A name and the drink after it: scores from 5.4 to 7.0. "
        "A name and the drink after another: from −4.6 to 3.2."
    )


@pytest.fixture(scope="module")
def curves():
    """The four curves for each of eleven positions of the query."""
    p = trained_model().parameters
    vector, table = p["embedding"][3], p["positions"][:11]

    def at(position):
        figure, _ = figures.position_scores(position, vector, table)
        return {
            title: line(axes, 0)[1] for title, axes in zip(titles(figure), figure.axes, strict=True)
        }

    return {position: at(position) for position in range(1, 12)}


def test_learned_positions_are_added(curves):
    p = trained_model().parameters
    rows = p["embedding"][3] + p["positions"][:5].astype(float)
    np.testing.assert_allclose(curves[5]["learned"], rows @ rows[4] / np.sqrt(32), rtol=1e-6)


@pytest.mark.parametrize("kind", ["rotary", "ALiBi"])
def test_only_the_distance_counts(curves, kind):
    for position in range(1, 11):
        np.testing.assert_allclose(
            curves[position][kind], curves[11][kind][-position:], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("kind", ["learned", "sinusoidal"])
def test_the_place_counts_too(curves, kind):
    assert np.abs(curves[6][kind] - curves[11][kind][-6:]).max() > 0.1


def test_alibi_lowers_the_score_by_its_slope(curves):
    np.testing.assert_allclose(np.diff(curves[11]["ALiBi"]), 2.0**-4)


def test_all_curves_fit_into_their_panels(curves):
    p = trained_model().parameters
    figure, _ = figures.position_scores(3, p["embedding"][3], p["positions"][:11])
    for axes in figure.axes:
        low, high = axes.get_ylim()
        every = np.concatenate([c[axes.get_title(loc="left")] for c in curves.values()])
        assert low < every.min()
        assert every.max() < high


@pytest.mark.parametrize("position", [0, 3])
def test_a_position_beyond_the_table_is_refused(position):
    with pytest.raises(ValueError, match=f"a position from 1 to 2, got {position}"):
        figures.position_scores(position, [3, 4], [[1, 0], [0, 1]])
