"""What page.js does for readers: menus, colour modes, the place in the contents, copying code."""

from __future__ import annotations

import pytest

FALLBACK = """() => {
  Object.defineProperty(navigator, "clipboard", { value: undefined });
  document.addEventListener("copy", (event) => { window.copiedText = event.target.value; });
}"""

#: How far the last letter of a piece of code, once scrolled to its end, stands before the button.
ROOM = """() => [...document.querySelectorAll("div.highlight > pre")]
  .filter((code) => code.scrollWidth > code.clientWidth)
  .map((code) => {
    code.scrollLeft = code.scrollWidth;
    const text = document.createRange();
    text.selectNodeContents(code);
    const ends = [...text.getClientRects()].map(({ right }) => right);
    return code.nextElementSibling.getBoundingClientRect().left - Math.max(...ends);
  })"""


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


@pytest.mark.parametrize("name", ["primary", "secondary"])
def test_a_menu_has_a_button_that_closes_it(orientation, name):
    watched = orientation(width=375)
    page = watched.page
    page.get_by_role("button", name=f"Toggle {name} sidebar").click()
    close = page.get_by_role("dialog").get_by_role("button", name="Close")
    assert close.bounding_box()["height"] >= 24
    close.click()
    watched.wait_for("!document.querySelector('dialog[open]')")
    assert page.get_by_text("Close", exact=True).count() == 0


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


def test_on_a_phone_nothing_is_covered_or_needs_a_keyboard(orientation):
    page = orientation(width=375, has_touch=True).page
    rooms = page.evaluate(ROOM)
    assert len(rooms) > 5
    assert min(rooms) >= 0
    assert page.locator(".search-open-field kbd").evaluate_all(
        "keys => keys.map(key => getComputedStyle(key).display)"
    ) == ["none"]
    # Phones enlarge the page around a smaller field.
    fields = page.locator(".attn-live-now input[type=number]")
    sizes = fields.evaluate_all("all => all.map(field => getComputedStyle(field).fontSize)")
    assert set(sizes) == {"16px"}


def test_a_download_is_named_by_its_text_alone(orientation):
    (link,) = orientation().page.locator("a.reference.download").all()
    assert link.inner_text() == "masking.ipynb"
    # The theme's sign is of a font that is not there, so it would be a box.
    assert link.evaluate("link => getComputedStyle(link, '::before').content") == "none"
