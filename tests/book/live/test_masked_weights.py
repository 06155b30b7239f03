"""The figure of masked weights, used as a reader does, shows what attn_lib computes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attn_lib import causal_mask, combine_masks, padding_mask, sliding_window_mask
from attn_lib.figures.ways_to_mask import way_to_mask
from tests.book.live.shown import number

PAGE = "masking"


@pytest.fixture
def figure(live_page):
    """The last figure on masks: with all choices."""
    found = live_page.locator("figure[data-live=masked-weights]").last
    found.get_by_role("button", name="Start again").click()
    return found


def scores_of(figure):
    return np.array(json.loads(figure.locator("script").text_content())["scores"])


def numbers(figure):
    """The weights and sums that are shown, NaN included."""
    rows = figure.locator(".mask-table").nth(1).locator("tbody tr:not(.mask-away)").all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    return np.array([[number(text) for text in row] for row in cells])


def assert_shown(figure, weights):
    shown = numbers(figure)
    np.testing.assert_allclose(shown[:, :-1], weights, atol=0.00501)
    np.testing.assert_allclose(shown[:, -1], weights.sum(axis=1), atol=0.00501)


def verdicts(figure):
    return figure.locator(".mask-verdicts li").all_inner_texts()


@pytest.mark.parametrize(
    ("kind", "mask"),
    [
        ("none", np.ones((5, 5), dtype=bool)),
        ("padding", np.broadcast_to(padding_mask(3, 5), (5, 5))),
        ("causal", causal_mask(5, 5)),
        ("causal and padding", combine_masks(causal_mask(5, 5), padding_mask(3, 5))),
        ("window", sliding_window_mask(5, 5, left=1)),
    ],
)
def test_presets(figure, kind, mask):
    figure.get_by_label(kind, exact=True).check()
    assert_shown(figure, way_to_mask("right")(scores_of(figure), mask))
    leaks = bool((mask & ~causal_mask(5, 5)).any())
    assert verdicts(figure)[0].startswith("✗" if leaks else "✓")


def test_after_painting_every_kind_can_be_chosen_again(figure):
    kinds = figure.get_by_role("group", name="Mask").get_by_role("radio")
    assert kinds.evaluate_all("all => all.filter(one => one.checked).length") == 1
    figure.locator(".mask-table").first.locator("button").nth(1).click()
    assert kinds.evaluate_all("all => all.filter(one => one.checked).length") == 0
    mask = combine_masks(causal_mask(5, 5), padding_mask(3, 5))
    painted = mask.copy()
    painted[0, 1] = True
    assert_shown(figure, way_to_mask("right")(scores_of(figure), painted))
    figure.get_by_label("causal and padding", exact=True).check()
    assert_shown(figure, way_to_mask("right")(scores_of(figure), mask))


@pytest.mark.parametrize("float_type", ["float64", "float32"])
@pytest.mark.parametrize(
    "way",
    [
        "right",
        "empty-rows-become-nan",
        "zero-for-minus-infinity",
        "large-negative-fill",
        "large-negative-added",
        "mask-after-softmax",
    ],
)
def test_ways_to_apply_a_mask_with_an_empty_row(figure, way, float_type):
    """The first row is emptied by clicking its only visible cell."""
    figure.locator(f"input[value={way}]").check()
    figure.get_by_label(float_type).check()
    figure.get_by_label("Query 1 may attend to key 1").click()
    mask = combine_masks(causal_mask(5, 5), padding_mask(3, 5))
    mask[0] = False
    scores = scores_of(figure).astype(float_type)
    with np.errstate(all="ignore"):
        weights = way_to_mask(way)(scores, mask)
    assert_shown(figure, weights)
    _, hidden, counts, rows = verdicts(figure)
    assert ("NaN" in rows) == np.isnan(weights).any()
    assert ("Row 1: all zeros" in rows) == (weights[0] == 0).all()
    leak = np.nan_to_num(np.where(mask, 0, weights)).sum(axis=1).max()
    assert (f"Hidden keys get {leak:.3f}" in hidden) == (leak > 0)
    assert ("get NaN" in hidden) == np.isnan(weights[~mask]).any()
    others = np.where(mask, scores, scores + np.arange(1, 6, dtype=float_type))
    with np.errstate(all="ignore"):
        moved = np.abs(way_to_mask(way)(others, mask) - weights)
    assert counts.startswith("✗" if (moved > 1e-6).any() else "✓")


def test_one_new_query_with_a_cache(figure):
    figure.get_by_label("Queries").press("Home")
    figure.get_by_label("causal", exact=True).check()
    for label, alignment in (("first query", "top-left"), ("last query", "bottom-right")):
        figure.get_by_label(label).check()
        mask = causal_mask(1, 5, alignment)
        assert_shown(figure, way_to_mask("right")(scores_of(figure)[:1], mask))


def test_a_number_of_ones_own_and_a_shift(figure):
    figure.get_by_label("Your number for a hidden score").fill("-10")
    figure.get_by_label("Added to all scores").fill("-15")
    mask = combine_masks(causal_mask(5, 5), padding_mask(3, 5))
    given = np.where(mask, scores_of(figure) - 15, -10)
    assert_shown(figure, way_to_mask("right")(given, np.ones_like(mask)))


def middles(figure, *cells):
    """Where the middles of some cells are on the screen."""
    places = []
    for i, j in cells:
        box = figure.get_by_label(f"Query {i} may attend to key {j}").bounding_box()
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    return places


def test_cells_are_painted_by_mouse_finger_and_keyboard(live_page, figure):
    figure.get_by_label("none", exact=True).check()
    mask = np.ones((5, 5), dtype=bool)
    figure.locator(".mask-table").first.scroll_into_view_if_needed()

    first, *rest = middles(figure, (2, 2), (2, 3), (2, 4))
    live_page.mouse.move(*first)
    live_page.mouse.down()
    for place in rest:
        live_page.mouse.move(*place)
    live_page.mouse.up()
    mask[1, 1:4] = False
    assert_shown(figure, way_to_mask("right")(scores_of(figure), mask))

    session = live_page.context.new_cdp_session(live_page)
    places = middles(figure, (5, 1), (5, 2), (5, 3))
    for kind, at in zip(("touchStart", "touchMove", "touchMove"), places, strict=True):
        point = {"x": at[0], "y": at[1]}
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    mask[4, :3] = False
    assert_shown(figure, way_to_mask("right")(scores_of(figure), mask))

    figure.get_by_label("Query 4 may attend to key 5").focus()
    for key in ("Space", "Shift+ArrowLeft", "Shift+ArrowUp"):
        live_page.keyboard.press(key)
    mask[3, 4] = mask[3, 3] = mask[2, 3] = False
    assert_shown(figure, way_to_mask("right")(scores_of(figure), mask))
    pressed = figure.locator(".mask-cell").evaluate_all("all => all.map(b => b.ariaPressed)")
    np.testing.assert_array_equal(np.reshape(pressed, (5, 5)) == "true", mask)


@pytest.mark.parametrize("width", [1280, 375])
def test_the_figure_keeps_its_height_when_there_are_fewer_queries(live_page, width):
    live_page.set_viewport_size({"width": width, "height": 800})
    figure = live_page.locator("figure[data-live=masked-weights]", has_text="Queries").first
    queries, now = figure.get_by_label("Queries"), figure.locator(".attn-live-now")
    heights = []
    for key in ("Home", "ArrowRight", "End"):
        queries.press(key)
        heights.append(now.bounding_box()["height"])
    rows = figure.locator(".mask-table").first.locator("tbody tr:visible").count()
    live_page.set_viewport_size({"width": 1280, "height": 800})
    assert rows == 6
    assert max(heights) - min(heights) <= 2  # rows of 2.4 rem are rounded to pixels
