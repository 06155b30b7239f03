"""Text, figures and controls of a page share their edges, and fit on a phone."""

from __future__ import annotations

from statistics import mean

import pytest

PAGES = ["index", "softmax-saturation", "museum-masking"]
#: The mean number of characters in a full line, in the font of the machine that looks.
CHARACTERS = (62, 78)

LINES = """() => [...document.querySelectorAll("article.bd-article section > p")]
  .filter(paragraph => !paragraph.querySelector("math, mjx-container"))
  .flatMap(paragraph => {
    const height = parseFloat(getComputedStyle(paragraph).lineHeight);
    const lines = Math.round(paragraph.getBoundingClientRect().height / height);
    return lines > 3 ? [paragraph.textContent.trim().length / (lines - 0.5)] : [];
  })"""
EDGES = """() => {
  const article = document.querySelector("article.bd-article");
  const { left, right } = article.querySelector("section > p").getBoundingClientRect();
  const parts = "figure, .quiz, .attn-explore-controls, form.attn-predict, figure > img";
  return [...article.querySelectorAll(parts)].filter(part => part.offsetWidth).map(part => {
    const box = part.getBoundingClientRect();
    return [part.className, Math.round(box.left - left), Math.round(box.right - right)];
  });
}"""
BEYOND = "tables => tables.map(table => table.scrollWidth - table.clientWidth)"


@pytest.fixture(scope="module", params=PAGES)
def page(request, tabs, built_book):
    watched = tabs.open()
    watched.open((built_book / "book" / f"{request.param}.html").as_uri())
    watched.start_figures()
    yield watched
    tabs.close(watched)


def test_lines_have_about_70_characters(page):
    for width in (1000, 1280, 1920):
        page.set_width(width)
        lines = page.page.evaluate(LINES)
        assert not lines or CHARACTERS[0] < mean(lines) < CHARACTERS[1], width


def test_figures_and_controls_are_aligned_with_the_text(page):
    for width in (375, 1280):
        page.set_width(width)
        edges = page.page.evaluate(EDGES)
        assert edges
        assert [part for part in edges if part[1] != 0 or part[2] > 0] == [], width


def test_links_at_the_end_have_half_of_a_phone_each(watch, built_book):
    watched = watch(width=375)
    watched.open((built_book / "book" / "orientation.html").as_uri())
    links = watched.page.locator(".prev-next-area a").evaluate_all(
        "links => links.map(link => Math.round(link.getBoundingClientRect().width))"
    )
    assert len(links) == 2
    assert max(links) <= 188
    title = watched.page.locator(".right-next .prev-next-title")
    lines = title.evaluate(
        "title => Math.round(title.offsetHeight / parseFloat(getComputedStyle(title).lineHeight))"
    )
    assert lines == 2


def test_tables_of_numbers_fit_on_the_narrowest_phone(watch, built_book):
    watched = watch(width=320)
    watched.open((built_book / "book" / "softmax-saturation.html").as_uri())
    tables = watched.page.locator(".pst-scrollable-table-container")
    assert tables.count() > 10
    assert not [wide for wide in tables.evaluate_all(BEYOND) if wide > 0]
