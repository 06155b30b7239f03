"""The figures of the first chapters and of the heads show what attn_lib and NumPy compute."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from tests.book.live.shown import number

Q, K, V = (
    np.array([[2, 1]]),
    np.array([[2, 1], [1, 0], [0, -1]]),
    np.array([[10, 0], [0, 8], [1, 1]]),
)


@pytest.fixture
def figure(watch, built_book):
    """A function that opens a page and returns one of its live figures."""
    opened = []

    def open_figure(page, name):
        watched = watch()
        watched.page.goto((built_book / "book" / f"{page}.html").as_uri())
        found = watched.page.locator(f'figure[data-live="{name}"]')
        found.locator(".attn-live-now").wait_for()
        opened.append(watched)
        return found

    yield open_figure
    for watched in opened:
        assert watched.problems == []


def numbers(locator):
    return [number(text) for text in locator.all_inner_texts()]


@pytest.mark.parametrize("page", ["index", "orientation"])
def test_the_lookup_follows_the_query_and_the_values(figure, page):
    lookup = figure(page, "soft-lookup")
    directions = np.deg2rad([0, 90, 200])
    keys = 2.0 * np.stack([np.cos(directions), np.sin(directions)], axis=-1)
    lookup.get_by_label("Value of key B").fill("-7")
    tip = lookup.get_by_label("Tip of the query")
    for _ in range(5):
        tip.press("Shift+ArrowLeft")
    # Five times half a unit to the left of the start, in steps of a twentieth.
    query = np.array([[np.sqrt(2) - 2.5, np.sqrt(2)]])
    shown = lookup.locator("tbody td:not(:last-child)")
    trace = scaled_dot_product_attention(query, keys, [[10], [-7], [40]], return_trace=True)
    rows = [trace.raw[0], trace.scaled[0], np.exp(trace.scaled[0]), trace.weights[0]]
    found = np.reshape(numbers(shown), (3, 4)).T
    np.testing.assert_allclose(found[:3], rows[:3], rtol=0.04, atol=0.08)
    np.testing.assert_allclose(found[3], rows[3], atol=0.02)
    assert number(lookup.locator("tfoot td").inner_text()) == pytest.approx(
        (found[3] * [10, -7, 40]).sum(), abs=0.05
    )
    lookup.get_by_role("button", name="Start again").click()
    at_start = scaled_dot_product_attention(
        [[np.sqrt(2), np.sqrt(2)]], keys, [[10], [20], [40]], return_trace=True
    )
    assert numbers(shown)[3::4] == pytest.approx(at_start.weights[0], abs=5e-4)
    assert lookup.get_by_label("Value of key B").input_value() == "20"


#: Moves tips to places, in steps of half a unit, and counts letters that cover a letter or a tip.
COVERED = """
(figure, places) => {
  const handles = [...figure.querySelectorAll(".live-handle")];
  const at = (handle) => handle.getAttribute("aria-valuetext").replaceAll("−", "-")
    .match(/[-.\\d]+/g).map(Number);
  const press = (handle, key) => handle.dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey: true, bubbles: true, cancelable: true }));
  function move(handle, place) {
    for (const [axis, keys] of [["ArrowLeft", "ArrowRight"], ["ArrowDown", "ArrowUp"]].entries()) {
      const off = () => place[axis] - at(handle)[axis];
      while (Math.abs(off()) > 0.3) press(handle, keys[off() > 0 ? 1 : 0]);
    }
  }
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  // A letter without the space of its line above and below.
  const inner = ({ left, right, top, bottom }) => {
    const margin = (bottom - top) / 5;
    return { left, right, top: top + margin, bottom: bottom - margin };
  };
  return places.map((wanted) => {
    wanted.forEach((place, i) => move(handles[i], place));
    const box = (element) => element.getBoundingClientRect();
    const letters = [...figure.querySelectorAll(".live-plane text")].map((e) => inner(box(e)));
    const tips = handles.map((handle) => box(handle.querySelector(".live-grip")));
    return letters.flatMap((letter, i) =>
      [...letters.slice(0, i), ...tips].filter((other) => meet(letter, other))).length;
  });
}
"""


@pytest.mark.parametrize(
    ("page", "name", "tips", "limit"),
    [("orientation", "soft-lookup", 4, 3), ("dot-products", "two-vectors", 2, 4)],
)
def test_letters_cover_neither_each_other_nor_a_tip(figure, page, name, tips, limit):
    rng = np.random.default_rng(6)
    together = [[place] * tips for place in ((0, 0), (0, 1), (-2, 1), (limit, limit))]
    near = [[[1, 1 + i / 2] for i in range(tips)], [[limit, -i / 2] for i in range(tips)]]
    anywhere = rng.integers(-2, 3, size=(12, tips, 2)).tolist()
    covered = figure(page, name).evaluate(COVERED, [*together, *near, *anywhere])
    assert covered == [0] * 18


@pytest.mark.parametrize("typed", ["", "12345"])
def test_a_field_goes_back_to_the_last_number_that_could_be_read(figure, typed):
    lookup = figure("orientation", "soft-lookup")
    field = lookup.get_by_label("Value of key B")
    field.fill("-7")
    output = lookup.locator("tfoot td").inner_text()
    field.fill(typed)
    assert field.get_attribute("aria-invalid") is not None
    field.press("Tab")
    assert field.input_value() == "-7"
    assert field.get_attribute("aria-invalid") is None
    assert lookup.locator("tfoot td").inner_text() == output
    lookup.get_by_role("button", name="Start again").click()
    assert field.input_value() == "20"


def test_the_lookup_announces_its_state_once_it_has_settled(figure):
    lookup = figure("orientation", "soft-lookup")
    lookup.get_by_label("Tip of key A").press("ArrowUp")
    said = lookup.get_by_role("status")
    said.filter(has_text="The output is").wait_for(state="attached")
    assert said.inner_text() == lookup.locator(".live-sentence").inner_text()


def test_two_vectors_at_a_right_angle_have_the_product_0(figure):
    vectors = figure("dot-products", "two-vectors")
    cells = vectors.locator("tbody td")
    assert number(cells.nth(3).inner_text()) == pytest.approx(3.0, abs=0.01)
    key = vectors.get_by_label("Tip of the key")
    for _ in range(3):
        key.press("Shift+ArrowLeft")  # half a unit each: from 1.5 to 0
    assert cells.nth(1).inner_text() == "[0.0, 2.6]"
    assert [cells.nth(i).inner_text() for i in (3, 5, 7, 8)] == ["0.00", "0.00", "90°", "0.00"]
    key.press("Shift+ArrowLeft")
    assert number(cells.nth(3).inner_text()) == -1.0
    query = vectors.get_by_label("Tip of the query")
    for _ in range(4):
        query.press("Shift+ArrowLeft")
    assert cells.nth(7).inner_text() == "none"


def test_the_scorecard_shows_every_step_of_the_readers_numbers(figure):
    card = figure("dot-products", "scorecard")
    card.get_by_label("Key B, number 2").fill("3")
    card.get_by_label("Query, number 1").fill("-1.5")
    keys = K.astype(float).copy()
    keys[1, 1] = 3
    trace = scaled_dot_product_attention([[-1.5, 1]], keys, V, return_trace=True)
    compare, scale, mix = card.locator("table").all()
    assert numbers(compare.locator("tbody td:last-child")) == pytest.approx(trace.raw[0], abs=0.005)
    shown = np.reshape(numbers(scale.locator("tbody td")), (3, 3)).T
    np.testing.assert_allclose(shown[0], trace.scaled[0], atol=5e-4)
    np.testing.assert_allclose(shown[1], np.exp(trace.scaled[0]), atol=5e-4)
    np.testing.assert_allclose(shown[2], trace.weights[0], atol=5e-5)
    assert numbers(mix.locator("tfoot td")) == pytest.approx(trace.output[0], abs=5e-5)
    card.get_by_label("B", exact=True).check()
    assert card.locator("dd").first.inner_text() == "(−1.50)·1 + 1·3 = 1.50"


def test_the_scorecard_checks_results_that_the_reader_types(figure):
    card = figure("dot-products", "scorecard")
    card.get_by_label("Hide the results").check()
    trace = scaled_dot_product_attention(Q, K, V, return_trace=True)
    right = {
        "q·k of key": trace.raw[0],
        "Scaled score of key": trace.scaled[0],
        "Exponential of key": np.exp(trace.scaled[0]),
        "Weight of key": trace.weights[0],
    }
    fields = {
        f"{name} {key}": values[i] for name, values in right.items() for i, key in enumerate("ABC")
    }
    fields |= {f"Output, number {c + 1}": value for c, value in enumerate(trace.output[0])}
    # Mixed with weights that were rounded to two decimals, the output is wrong.
    card.get_by_label("Output, number 2").fill("0.89")
    assert "0 of 14 right" in card.inner_text()
    for done, (name, value) in enumerate(fields.items(), start=1):
        card.get_by_label(re.compile(f"^{name}")).fill(f"{value:.2f}")
        assert f"{done} of 14 right" in card.inner_text(), name
    card.get_by_role("button", name="Add a key").click()
    assert "0 of 18 right" in card.inner_text()


def entries(locator):
    return [int(text) for text in locator.locator(".head-split-cell:visible").all_inner_texts()]


def test_heads_are_split_and_merged_by_the_lines_that_stand_there(figure):
    """The lines are evaluated by NumPy."""
    heads = figure("putting-it-together", "head-split")
    heads.get_by_role("group", name="Positions n").get_by_label("2").check()
    heads.get_by_role("group", name="Heads H").get_by_label("3").check()
    n, H, d = 2, 3, 4
    x = np.arange(n * H * d).reshape(n, H * d)
    _, between, after = heads.locator(".head-split-array").all()
    splits = heads.get_by_role("group", name="heads =").locator("label").all()
    merges = heads.get_by_role("group", name="merged =").locator("label").all()
    assert len(splits) == len(merges) == 4
    names = {"x": x, "n": n, "H": H, "d": d}
    for split in splits:
        split.click()
        names["heads"] = eval(split.inner_text(), names)
        assert entries(between) == names["heads"].ravel().tolist()
        assert f"shape {names['heads'].shape}" in between.inner_text()
        for merge in merges:
            merge.click()
            merged = eval(merge.inner_text(), names)
            assert entries(after) == merged.ravel().tolist()
            said = heads.locator(".head-split-verdict").last.inner_text()
            same = merged.shape == x.shape and (merged == x).all()
            assert (said == "Every entry is where it was in x.") == same
    splits[1].click()
    assert "entries are with a head that is not theirs" in heads.inner_text()
    heads.get_by_label("Follow entry").fill("5")
    followed = heads.locator('[data-followed="true"]:visible').all_inner_texts()
    assert followed[:2] == ["5", "5"]


def test_no_line_of_code_moves_what_is_below(figure):
    heads = figure("putting-it-together", "head-split")
    for width in (1280, 375):
        heads.page.set_viewport_size({"width": width, "height": 800})
        heights = heads.evaluate(
            "figure => [...figure.querySelectorAll('label:has(code) input')].map(line => {"
            " line.click(); return figure.getBoundingClientRect().height; })"
        )
        assert len(heights) == 8
        assert len(set(heights)) == 1, width
