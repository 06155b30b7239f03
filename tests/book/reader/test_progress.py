"""What the browser remembers: chapters done, where a reader was, and how all of it is forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.book.conftest import WatchedPage

DONE = "This chapter is done"


@pytest.fixture
def page_at(chromium, built_book):
    """A function that opens pages of the book one after another, in a browser that knows nothing.

    It opens a page until that shows what it has to know from an earlier one.
    """
    context = chromium.new_context(reduced_motion="reduce")
    watched = WatchedPage(context.new_page())

    def go(name: str, knows: Callable[[Page], bool] = lambda page: True):
        watched.open_until((built_book / "book" / f"{name}.html").as_uri(), knows)
        return watched.page

    yield go
    assert watched.problems == []
    context.close()


def marked(page) -> list[str]:
    """Return the pages that the sidebar marks as done."""
    return page.locator("nav.bd-links a:has(.done-mark)").evaluate_all(
        "links => links.map(link => link.pathname.split('/').pop())"
    )


def finish(page_at, chapter: str) -> None:
    """Mark a chapter as done, and wait until a page that itself stores nothing knows of it."""
    page_at(chapter).get_by_role("button", name=DONE).click()
    name = f"{chapter}.html"
    assert name in marked(page_at("glossary", lambda page: name in marked(page)))


def test_a_chapter_is_marked_as_done_by_keyboard(page_at):
    page = page_at("recap")
    assert page.get_by_role("button", name=DONE).count() == 0
    page = page_at("orientation")
    button = page.get_by_role("button", name=DONE)
    assert button.get_attribute("aria-pressed") == "false"
    assert marked(page) == []
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert marked(page) == ["orientation.html"]
    page = page_at("glossary", lambda page: marked(page) == ["orientation.html"])
    assert marked(page) == ["orientation.html"]
    assert page.get_by_role("link", name="done").count() == 1
    page = page_at("orientation", marked)
    button = page.get_by_role("button", name=DONE, pressed=True)
    button.click()
    assert marked(page) == []


def test_the_first_page_leads_to_where_a_reader_was(page_at):
    page = page_at("index")
    assert page.locator(".continue").count() == 0
    page = page_at("masking")
    page.evaluate("document.querySelector('#the-causal-mask').scrollIntoView()")
    page_at("glossary")  # looking up a term changes nothing
    title = "5. Masking: who may look at whom, The causal mask"
    page = page_at("index", lambda page: page.get_by_text(title).count() == 1)
    link = page.locator(".continue a")
    assert link.inner_text() == title
    link.click()
    page.wait_for_url("**/book/masking.html#the-causal-mask")


def test_the_first_page_leads_on_from_a_chapter_that_is_done(page_at):
    finish(page_at, "softmax-saturation")
    page_at("variance-growth")
    place = "Continue where you were: 3. Variance growth: why √d_k"
    page = page_at("index", lambda page: page.get_by_text(place).count() == 1)
    assert page.get_by_text(place).count() == 1
    finish(page_at, "variance-growth")
    place = "Continue with: 5. Masking: who may look at whom"
    page = page_at("index", lambda page: page.get_by_text(place).count() == 1)
    page.get_by_text(place).get_by_role("link").click()
    page.wait_for_url("**/book/masking.html")


def test_all_of_it_is_forgotten(page_at):
    finish(page_at, "orientation")
    page = page_at("how-to-use", lambda page: marked(page) == ["orientation.html"])
    assert marked(page) == ["orientation.html"]
    page.get_by_role("button", name="Forget all of it").click()
    assert marked(page) == []
    assert page.locator(".forget [role=status]").inner_text() == "Nothing is remembered now."
    page = page_at("index", lambda page: page.locator(".continue").count() == 0)
    assert page.locator(".continue").count() == 0


@pytest.mark.parametrize("name", ["index", "orientation", "museum-masking"])
def test_a_page_works_where_asking_for_storage_is_refused(chromium, built_book, name):
    context = chromium.new_context(color_scheme="light")
    watched = WatchedPage(context.new_page())
    context.add_init_script("""
        for (const name of ["localStorage", "sessionStorage"]) {
            const get = () => { throw new DOMException("refused", "SecurityError"); };
            Object.defineProperty(window, name, { get, configurable: true });
        }
    """)
    watched.open((built_book / "book" / f"{name}.html").as_uri())
    page = watched.page
    page.evaluate("document.querySelector('article h2').scrollIntoView()")
    watched.wait_for("document.querySelectorAll('#pst-page-toc-nav a.active').length === 1")
    page.locator(".theme-switch-button:visible").click()
    assert watched.theme() == "dark"
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert page.get_by_role("button", name="This chapter is done").count() == 0
    assert watched.problems == []
    context.close()


def test_without_storage_nothing_is_offered(page_at):
    page = page_at("how-to-use")
    page.evaluate("document.querySelectorAll('.forget button').forEach(made => made.remove())")
    page.evaluate("""() => {
        Storage.prototype.setItem = () => { throw new DOMException("refused", "SecurityError"); };
        progress.begin();
    }""")
    assert page.locator(".forget").count() == 1
    assert page.get_by_role("button", name="Forget all of it").count() == 0
