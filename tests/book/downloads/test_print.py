"""A page on paper: everything is open, nothing waits for a click, colours are kept."""

from __future__ import annotations

import pytest

#: What only works on a screen.
CONTROLS = (
    "button, input, .copy-code, .quiz-status, .attn-explore-controls, .attn-predict-entry, "
    ".attn-live-now, .headerlink, .downloads, nav, header .header-article-items"
)
SHOWN = "elements => elements.filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 99))"
#: How dark a colour is, from 0, black, to 1.
LIGHTNESS = """
element => {
  const [red, green, blue] = getComputedStyle(element).color.match(/[\\d.]+/g).map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}
"""


@pytest.fixture
def on_paper(watch, built_book):
    """A function that opens a page of the book, as it is printed."""

    def open_page(name, theme="light"):
        watched = watch(theme)
        page = watched.page
        page.goto((built_book / "book" / f"{name}.html").as_uri(), wait_until="load")
        page.emulate_media(media="print", color_scheme=theme)
        return page

    return open_page


def test_folds_and_answers_are_open_and_controls_gone(on_paper):
    page = on_paper("masking")
    for closed in ("details.hide pre", ".quiz-explanation", ".attn-predict details p"):
        elements = page.locator(closed)
        assert elements.count() > 3
        heights = elements.evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
        assert min(heights) > 5, closed
    assert page.locator(CONTROLS).evaluate_all(SHOWN) == []
    stills = page.locator(".attn-live-still img, .attn-explore img")
    assert len(stills.evaluate_all(SHOWN)) == stills.count() > 3


def test_hints_are_open(on_paper):
    answers = on_paper("interview").locator("details.sd-dropdown .sd-summary-content")
    assert answers.count() > 20
    heights = answers.evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
    assert min(heights) > 30


def test_a_dark_page_is_light_on_paper_and_then_dark_again(on_paper):
    page = on_paper("masking", "dark")
    assert page.locator("html").get_attribute("data-theme") == "light"
    for text in ("h2", "article p", "article pre", "article pre span", ".quiz-text"):
        assert page.locator(text).locator("visible=true").first.evaluate(LIGHTNESS) < 0.4, text
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    page.emulate_media(media="screen", color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for()


def test_its_title_stands_there_once_with_its_number(on_paper):
    titles = on_paper("masking").get_by_role("heading", level=1)
    assert titles.evaluate_all("all => all.map(e => e.firstChild.textContent)") == ["5. "]


def test_the_museum_keeps_its_colours(on_paper):
    page = on_paper("museum-masking")
    cell = page.locator("td.yes").first
    assert cell.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(0, 114, 178)"
    assert cell.evaluate("e => getComputedStyle(e).printColorAdjust") == "exact"
