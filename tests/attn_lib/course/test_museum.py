"""The museum exhibits every mistake, with the results that its code really gives."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attn_lib import softmax
from attn_lib.course.mistakes import Mistake, catalogue
from attn_lib.course.museum import Exhibit, Room, exhibit
from attn_lib.course.targets import TARGETS
from attn_lib.course.targets.examples import EXAMPLES
from tests.in_one_test import in_one_test

TARGETS_SHOWN = sorted({mistake.target for mistake in catalogue()})

for_each_room = in_one_test("target", TARGETS_SHOWN)


@cache
def room(target) -> Room:
    return Room(target)


@cache
def page_of(target) -> str:
    return room(target)._repr_markdown_()


def in_its_room(mistake: Mistake) -> Exhibit:
    """Return the exhibit of a mistake from its room."""
    return next(e for e in room(mistake.target).exhibits if e.mistake.id == mistake.id)


def section(shown) -> str:
    """Return the part of a room about one mistake."""
    page = page_of(shown.mistake.target)
    return page.partition(f"### {shown.mistake.id}\n")[2].partition("\n### ")[0]


def tables(shown):
    return BeautifulSoup(section(shown), "html.parser").find_all("table")


def texts(table):
    return [cell.get_text() for cell in table.find_all("td", class_=True)]


def call(function, shown):
    with np.errstate(all="ignore"):
        return np.asarray(function(*EXAMPLES[shown.mistake.target][shown.example]))


def test_every_mistake_is_exhibited_once():
    exhibited = [e.mistake.id for target in TARGETS_SHOWN for e in room(target).exhibits]
    assert sorted(exhibited) == sorted(m.id for m in catalogue())


@in_one_test("mistake", catalogue(), ids=lambda mistake: mistake.id)
class TestExhibit:
    def test_code_and_answers_shown_belong_to_the_mistake(self, mistake):
        shown = in_its_room(mistake)
        names = dict(shown.mistake.wrong.__globals__)
        exec(shown.code(), names)
        name = re.match(r"def ([a-z]\w+)\(", shown.code())[1]
        np.testing.assert_array_equal(call(names[name], shown), shown.wrong)
        np.testing.assert_array_equal(call(TARGETS[shown.mistake.target], shown), shown.right)
        if shown.right.shape != shown.wrong.shape:
            assert shown.kind == "shape"
        elif (np.isfinite(shown.right) != np.isfinite(shown.wrong)).any():
            assert shown.kind == "finite"
        else:
            assert shown.kind == "values"

    def test_the_difference_can_be_seen(self, mistake):
        shown = in_its_room(mistake)
        if shown.right.ndim == 0:
            (table,) = tables(shown)
            right, wrong = (texts(row)[shown.example] for row in table.find_all("tr")[1:])
            assert right != wrong
            return
        right, wrong = tables(shown)
        assert (len(texts(right)), len(texts(wrong))) == (shown.right.size, shown.wrong.size)
        if shown.kind != "shape":
            assert texts(right) != texts(wrong)
            counted = re.search(r"\((\d+) of \d+ entries", shown.finding)
            framed = len(wrong.find_all(class_="framed"))
            assert framed == int(counted[1]) or (
                shown.kind == "finite" and framed > int(counted[1])
            )

    def test_it_states_the_error_the_check_and_the_section(self, mistake):
        shown = in_its_room(mistake)
        text = section(shown)
        page, _, anchor = shown.mistake.section.partition("#")
        assert shown.mistake.sentence in text
        assert f"[]({page}.md#{anchor})" in text
        assert shown.code() in text
        assert shown.finding.replace("-", "−") in text.replace("-", "−")


@for_each_room
def test_the_printed_arrays_of_a_room_are_exact(target):
    folded = re.search(
        r":::\{dropdown\} The arrays\n```python\n(.*?)```\n:::", page_of(target), re.S
    )
    has_arrays = any(isinstance(a, np.ndarray) for example in EXAMPLES[target] for a in example)
    assert bool(folded) == has_arrays
    if not folded:
        return
    shown = {e.example for e in room(target).exhibits}
    blocks = folded[1].strip().split("\n\n")
    assert len(blocks) >= len(shown)
    for block in blocks:
        numbered = re.match(r"# Example (\d+)", block)
        example = EXAMPLES[target][int(numbered[1]) - 1 if numbered else 0]
        names = {"np": np, target: TARGETS[target]}
        *lines, last = block.splitlines()
        exec("\n".join(lines), names)
        given = eval(last, names)
        np.testing.assert_allclose(given, TARGETS[target](*example))


@for_each_room
def test_a_room_states_the_result_of_its_function(target):
    opening = page_of(target).partition("\n\n")[0]
    assert re.match(rf"`{target}\([\w, ]+\)` has to return (?![A-Z])[^`$]*", opening)
    assert "``" not in page_of(target).replace("```", "")
    assert ":math:" not in opening


def test_cells_are_shaded_by_size_and_sign():
    shown = exhibit(next(m for m in catalogue() if m.id == "mask-inverted"))
    right, wrong = tables(shown)
    cells = {cell.get_text(): cell["class"] for cell in right.find_all("td", class_=True)}
    assert cells["−∞"] == ["no"]
    assert cells["−2.4"] == ["n4"]  # the largest absolute value
    assert cells["0.8"] == ["p1"]  # a third of that
    assert "framed" in wrong.find("td", class_=True)["class"]


def test_single_numbers_are_written_in_a_cell():
    (table,) = tables(exhibit(next(m for m in catalogue() if m.id == "sd-for-variance")))
    head, right, wrong = (
        [cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")
    )
    assert head == ["", "64", "512", "7, 0.5, 3.0"]
    assert right == ["right", "64", "512", "10.5"]
    assert wrong == ["wrong", "8", "22.63", "3.24"]


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("nearly-zero-for-minus-infinity", "−1e−9"),
        ("large-negative-added", "−1e9"),
        ("limit-of-the-type", "1.798e308"),
        ("own-key-not-counted", "2.095e6"),
        ("noise-of-normal-numbers", "0.04472"),
        ("weights-gradient-transposed", "0.00"),
        ("empty-rows-become-nan", "NaN"),
        ("softmax-over-queries", "0.05"),
    ],
)
def test_how_odd_numbers_are_written(id, text):
    shown = exhibit(next(m for m in catalogue() if m.id == id))
    assert text in texts(tables(shown)[-1])


def test_a_vector_has_no_column_of_indices():
    (_, table) = tables(exhibit(catalogue("output_shape")[0]))
    assert [len(row.find_all(["td", "th"])) for row in table.find_all("tr")] == [4, 4]


def test_a_right_function_cannot_be_exhibited():
    right = Mistake("none", "softmax", softmax, "It is right.", "dot-products#large-scores")
    with pytest.raises(ValueError, match="a mistake that shows in an example of softmax"):
        exhibit(right)


def test_there_is_no_room_for_an_unknown_target():
    with pytest.raises(ValueError, match=r"expected one of .* got 'soft'"):
        Room("soft")


def test_examples_are_short_enough_to_type():
    for target, examples in EXAMPLES.items():
        for argument in (a for example in examples for a in example if isinstance(a, np.ndarray)):
            if argument.dtype != bool:
                np.testing.assert_array_equal(argument, argument.round(3), err_msg=target)


def test_weights_among_the_examples_are_weights():
    for target in ("weight_at", "softmax_jacobian", "softmax_jacobian_norm", "softmax_backward"):
        for weights, *_ in EXAMPLES[target]:
            assert (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(axis=-1), 1)
