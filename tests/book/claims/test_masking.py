"""The numbers in the chapter on masking equal those of plain arithmetic and attn_lib."""

import json
import math
import re

import numpy as np
import pytest

from attn_lib import causal_mask
from attn_lib.course.mistakes import appearances, catalogue
from attn_lib.model import (
    RIGHT,
    accuracy,
    draw_sentences,
    encode,
    find_heads,
    forward,
    generate,
    trained_model,
)
from attn_lib.model.trials import read_records, unmasked_model
from attn_lib.model.trials.masks import UNMASKED as NO_MASK
from tests.book.claims.arithmetic import shares

PAGE = "masking"
SCORES = [2.0, 0.5, -1.0, 0.0]
HIDE = -math.inf
HELD_OUT = draw_sentences(200, np.random.default_rng(41), held_out=True)
UNMASKED, MASKED = shares(SCORES), shares([2, 0.5, HIDE, HIDE])


def decimals(values, digits=3):
    return [f"{x:.{digits}f}" for x in values]


@pytest.fixture(scope="module")
def states(article):
    """The texts of all slider states, by the label of the slider."""
    return {
        figure.find("label").get_text(): [
            frame["text"] for frame in json.loads(figure.find("script").string)
        ]
        for figure in article.select(".attn-explore")
    }


def test_every_section_that_explains_a_mistake_exists(article):
    sections = {m.section for m in catalogue() if m.section.startswith(f"{PAGE}#")}
    ids = {section["id"] for section in article.find_all("section")}
    assert {section.partition("#")[2] for section in sections} <= ids


def test_the_row_by_hand(tables, text):
    rows = tables["key", "score", "masked", "exponential", "weight"]
    exponentials = [math.exp(s) for s in SCORES[:2]] + [0.0, 0.0]
    assert [row[3] for row in rows] == decimals([*exponentials, sum(exponentials)], 4)
    assert [row[4] for row in rows] == decimals([*MASKED, 1], 4)
    assert f"they lose {UNMASKED[2] + UNMASKED[3]:.3f} of the weight" in text
    assert f"same factor, {1 / (UNMASKED[0] + UNMASKED[1]):.3f}, " in text
    assert f"still has {math.exp(2 - 0.5):.2f} times the weight of key 2" in text
    assert f"The row sums to {UNMASKED[0] + UNMASKED[1]:.3f}." in text


def test_predictions_are_computed(article):
    asked = {
        form.select_one("label").get_text(): float(form["data-answer"])
        for form in article.select(".attn-predict")
    }

    def answer(words):
        (found,) = [number for question, number in asked.items() if words in question]
        return found

    assert answer("Hide the first key alone") == round(shares([0.5, -1, 0])[0], 2)
    stand_in = answer("a thousandth of the weight together")
    assert sum(shares([2, 0.5, stand_in, stand_in])[2:]) == pytest.approx(0.001, rel=0.01)
    assert answer("Six queries, four keys") == 2
    assert answer("does the window allow") == 1 + 4 * 2
    assert answer("Position 4 is changed") == 3


def test_weights_that_stand_ins_leave_on_hidden_keys(text):
    def left(stand_in, shift=0.0):
        return sum(shares([2 + shift, 0.5 + shift, stand_in, stand_in])[2:])

    assert f"Each of the two hidden keys keeps {left(0) / 2:.3f} of" in text
    assert f"At −5 they still have {left(-5):.4f} of it, at −10 only {left(-10):.6f}." in text
    assert left(-5) > 0.001 > left(-10)
    assert f"by 15, and hidden keys at −10 get {left(-10, -15):.3f} of" in text
    nothing = sum(shares([2, 0.5, -1 - 1e-9, -1e-9])[2:])
    assert f"The hidden keys keep {nothing:.3f}, just what they have without" in text


def test_rows_with_nothing_to_attend_to(tables, text):
    rows = tables["all four keys hidden", "float64", "float32", "float16"]
    leak, uniform = " ".join(decimals(UNMASKED)), "0.25 each"
    assert rows == [
        ("put −∞", "NaN", "NaN", "NaN"),
        ("put −1e9", uniform, uniform, "NaN"),
        ("add −1e9", leak, uniform, "NaN"),
        ("add the type's lowest number", uniform, uniform, uniform),
        ("attn_lib", "0.00 each", "0.00 each", "0.00 each"),
    ]
    # Between 2²⁹ and 2³⁰, which includes 10⁹, floats with p bits have a spacing of 2^(30 − p).
    assert f"near a billion are {2 ** (30 - 24)} apart" in text
    assert f"they are {2.0 ** (30 - 53):.7f} apart" in text
    assert f"whose largest number is {(2 - 2**-10) * 2**15:.0f}," in text
    for line in ("-65504 + -15 = -65504", "-65504 + -16 = -inf", "-65504 + -65504 = -inf"):
        assert line in text


def test_checks_on_the_page_pass(text):
    assert "atol=1e-6)) True True True This is a test" in text  # padded equals truncated
    assert "an axis for queries True For booleans" in text
    assert "top-left False bottom-right True" in text


def test_the_first_picture_is_of_the_model(text):
    trace = forward(trained_model(), encode("ada tea bob juice"))
    q, k = trace["layer1.q"][0], trace["layer1.k"][0]
    scores = [float(q[1] @ key) / 4 for key in k]
    assert f"tea (row 2) gives {shares(scores[:2])[0]:.2f} of its weight to ada." in text
    assert f"Without the mask it would give {shares(scores)[2]:.2f} to bob" in text
    heads = find_heads(trained_model(), HELD_OUT)
    assert heads["previous word"][:2] == (1, 1)  # "by looking at the word before"


def test_training_without_the_mask(text, tables):
    with_mask, without = read_records().masks
    assert f"ends at {without.losses[-1]:.3f}, against {with_mask.losses[-1]:.2f}." in text
    assert without.losses[-1] < 0.01 < 0.5 < with_mask.losses[-1]
    written = [
        generate(model, start, 2).text
        for model in (trained_model(), unmasked_model())
        for start in ("ada tea bob juice ada", "the cats", "the robots under the cat")
    ]
    assert all(line in text for line in written)
    assert [line.split()[-2:] for line in written[:2]] == [["tea", "bob"], ["knit", "."]]
    assert "juice ada juice" in written[3]  # Ada ordered tea
    weights = []
    for sentence in HELD_OUT:
        trace = forward(unmasked_model(), encode(sentence.words), parts=NO_MASK)
        weights += list(np.diagonal(trace["layer1.weights"][0], offset=1))
    said = re.search(r"first layer gives (\d\.\d\d) of the weight", text)[1]
    assert float(said) == pytest.approx(np.mean(weights), abs=0.03)
    rows = tables["right answers", "whole sentence", "words so far"]
    assert [row[1] for row in rows] == ["100 %"] * 4
    for (name, _, cell), skill in zip(rows, ["recall", "agreement"] * 2, strict=True):
        model, parts = trained_model(), RIGHT
        if name.startswith("without"):
            model, parts = unmasked_model(), NO_MASK
        share = accuracy(model, HELD_OUT, parts=parts, reading="so far")[skill]
        # On each side there are at least 100 answers, so the difference has an error of 7 %.
        assert float(cell.removesuffix(" %")) == pytest.approx(100 * share, abs=12)


def test_garbage_in_the_padding(text):
    ids = [encode(words) for words in ("the cats", "ada tea bob milk ada", "the robot knits")]
    ids = np.array([np.append(row, np.zeros(5 - len(row), dtype=int)) for row in ids])
    trace = forward(trained_model(), ids)
    q, k, v = (trace[f"layer1.{name}"][:, 0].astype(float) for name in "qkv")
    assert "the robot knits <pad> <pad>" in text
    moved = 0.0
    for b, length in enumerate([2, 5, 3]):
        dirty_k, dirty_v = k[b].copy(), v[b].copy()
        dirty_k[length:], dirty_v[length:] = 5, 100
        for i in range(length):
            clean, dirty = (
                np.array(shares(keys @ q[b, i] / 4)) @ values
                for keys, values in ((k[b], v[b]), (dirty_k, dirty_v))
            )
            moved = max(moved, np.abs(clean - dirty).max())
    assert (
        f"hidden as keys they move by 0.0; with padding hidden as queries by up to {moved:.1f}."
        in text
    )


def test_pairs_are_counted(text, states):
    for state in states["Real positions"]:
        real = int(state.split()[0])
        both = sum(min(i, real) for i in range(1, 6))
        assert state.endswith(f"Of 25 pairs causal allows 15, padding {5 * real}, both {both}.")
    assert f"and {1 + 2 + 3 + 3 + 3} pairs are left to it" in text
    for state in states["Width"]:
        width = int(re.search(r"window of (\d+)", state).group(1))
        pairs = 6 * width - width * (width - 1) // 2
        assert f"allows {pairs} of the 21 pairs" in state
    assert "sees all four keys under bottom-right" in text
    assert causal_mask(1, 4, "bottom-right").all()
    assert "With six queries and four keys bottom-right leaves the first two queries" in text
    empty = ~causal_mask(6, 4, "bottom-right").any(axis=1)
    assert empty.tolist() == [True] * 2 + [False] * 4


def test_wrong_causal_masks_are_detected_from_outputs(tables):
    rows = tables["what the code does", "future pairs seen, of 15", "others lost, of 21"]
    future = np.array([[j > i for j in range(6)] for i in range(6)])
    expected = []
    for mistake in catalogue("causal_mask"):
        mask = mistake.wrong(6, 6)
        counts = (mask & future).sum(), (~mask & ~future).sum()
        expected.append((mistake.sentence, *map(str, counts)))
    assert rows == expected
    assert [row[1:] for row in rows].count(("0", "0")) == 1  # "the one line with two zeros"


def test_wrong_ways_of_applying_a_mask(tables, text):
    rows = tables["what the code does", "keys 3, 4 hidden", "all hidden"]
    shown = {row[0]: list(row[1:]) for row in rows}
    applied = {
        m.sentence: m.id for m, _ in appearances("masked_softmax") if m.section.startswith(PAGE)
    }
    by_id = {applied.pop(sentence): cells for sentence, cells in shown.items()}
    assert list(applied.values()) == ["mask-transposed"]

    right, zeros = " ".join(decimals(MASKED)), " ".join(["0.000"] * 4)
    unmasked, uniform = " ".join(decimals(UNMASKED)), " ".join(["0.250"] * 4)
    nan = " ".join(["NaN"] * 4)
    as_zero = " ".join(decimals(shares([2, 0.5, 0, 0])))
    inverted = " ".join(decimals(shares([HIDE, HIDE, -1, 0])))
    assert by_id == {
        "scores-times-mask": [as_zero, uniform],
        "zero-for-minus-infinity": [as_zero, uniform],
        "mask-after-softmax": [" ".join(decimals([*UNMASKED[:2], 0, 0])), zeros],
        "minus-infinity-after-softmax": [
            " ".join([*decimals(UNMASKED[:2]), "−∞ −∞"]),
            "−∞ −∞ −∞ −∞",
        ],
        "empty-rows-become-nan": [right, nan],
        "renormalised-after-the-mask": [right, nan],
        "mask-not-used": [unmasked, unmasked],
        "large-negative-fill": [right, uniform],
        "large-negative-added": [right, unmasked],
        "mask-inverted": [inverted, unmasked],
        "additive-mask-inverted": [inverted, unmasked],
        "nearly-zero-for-minus-infinity": [unmasked, unmasked],
        "zeros-and-ones-added": [" ".join(decimals(shares([3, 1.5, -1, 0]))), unmasked],
        "minus-infinity-times-zero": [nan, zeros],
    }
    late = [cells for cells in by_id.values() if cells[0] == right and cells[1] != zeros]
    assert len(late) == 4
    assert "Four lines are right in the first column" in text
    assert f"right weights are {MASKED[0]:.3f}, {MASKED[1]:.3f}, 0, 0;" in text


def test_right_options_are_right(article):
    def right(quiz):
        box = article.select_one(f"#quiz-{quiz}")
        letter = box.select_one(".quiz-explanation[data-right]")["data-option"]
        return box.select_one(f"#quiz-{quiz}-{letter} + label .quiz-text").get_text()

    assert right("zero-score-again") == f"{shares([3, 0, -2])[1]:.3f}"
    assert right("score-variance-again") == "36"
    assert right("future-positions") == "−∞"
    assert right("four-equal-scores") == "A half"
    assert right("cached-keys") == str(causal_mask(2, 12, "bottom-right")[0].sum())
    assert right("padding-rows-or-columns") == "Columns 8 to 10"
    assert right("added-in-float64") == "The unmasked weights"
