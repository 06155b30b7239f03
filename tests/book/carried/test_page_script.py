"""What page.js does for readers: menus, colour modes, the place in the contents, copying code."""

from __future__ import annotations

import pytest

FALLBACK = """() => {
  Object.defineProperty(navigator, "clipboard", { value: undefined });
  document.addEventListener("copy", (event) => { window.copiedText = event.target.value; });
}"""


@pytest.fixture
def orientation(watch, built_book):
    """A function that opens a page with code and several sections."""

    def open_page(*args, **options):
        watched = watch(*args, **options)
        watched.open((built_book / "book" / "masking.html").as_uri())
        return watched

    return open_page


def test_code_is_copied_by_keyboard(orientation):
    watched = orientation(permissions=("clipboard-read", "clipboard-write"))
    page = watched.page
    button = page.get_by_role("button", name="Copy this code").first
    code = button.locator("xpath=preceding-sibling::pre")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Copied.", exact=True).wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == code.text_content()
    assert watched.problems == []


def test_code_is_copied_where_there_is_no_clipboard(orientation):
    page = orientation().page
    page.evaluate(FALLBACK)
    button = page.get_by_role("button", name="Copy this code").first
    button.dispatch_event("click")
    page.get_by_text("Copied.", exact=True).wait_for(state="attached")
    code = button.locator("xpath=preceding-sibling::pre")
    assert page.evaluate("window.copiedText") == code.text_content()
    assert page.locator("textarea").count() == 0


def test_a_menu_keeps_the_keyboard_and_gives_it_back(orientation):
    watched = orientation(width=375)
    page = watched.page
    button = page.get_by_role("button", name="Toggle primary sidebar").first
    button.focus()
    page.keyboard.press("Enter")
    inside = "document.activeElement.closest('dialog') !== null"
    watched.wait_for(inside)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Escape")
    watched.wait_for("!document.querySelector('dialog[open]')")
    assert button.evaluate("button => button === document.activeElement")
    assert page.locator("#pst-primary-sidebar nav.bd-links").count() == 1


def test_a_link_to_a_section_closes_the_menu(orientation):
    watched = orientation(width=375)
    page = watched.page
    page.get_by_role("button", name="Toggle secondary sidebar").click()
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Summary").click()
    watched.wait_for("!document.querySelector('dialog[open]')")
    assert page.evaluate("location.hash") == "#summary"
    watched.wait_for("document.querySelector('#summary').getBoundingClientRect().top < 200")


def test_a_wide_window_hides_and_shows_its_sidebar(orientation):
    page = orientation().page
    sidebar = page.get_by_role("navigation", name="Main")
    button = page.get_by_role("button", name="Toggle primary sidebar").first
    assert sidebar.is_visible()
    button.click()
    sidebar.wait_for(state="hidden")
    button.click()
    sidebar.wait_for(state="visible")


def test_the_contents_show_the_place(orientation):
    watched = orientation()
    page = watched.page
    page.evaluate("document.querySelector('#combining-masks').scrollIntoView()")
    watched.wait_for("document.querySelector('#pst-page-toc-nav [aria-current]')")
    watched.wait_for(
        "[...document.querySelectorAll('#pst-page-toc-nav [aria-current]')]"
        ".map(link => link.hash).join() === '#combining-masks'"
    )


def test_the_chosen_theme_stays(orientation):
    watched = orientation("light")
    page = watched.page
    page.get_by_role("button", name="Color mode").click()
    assert watched.theme() == "dark"
    page.reload()
    assert watched.theme() == "dark"
    watched.page.evaluate("localStorage.clear()")
