"""Every page of the built book works in Chromium."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import urlopen

import pytest

from attn_lib.course.mistakes import catalogue
from book._ext.html_scan import tags
from tests.book import beyond_axe
from tests.book.conftest import COLOUR_RULES, LAYOUT_RULES
from tests.book.contents import listed_pages
from tests.in_one_test import in_one_test
from tools import page_sizes

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = [f"{name}.html" for name in listed_pages(ROOT)]
PAGES = [*CHAPTERS, "search.html"]

#: Repeated elements that the accessibility checker skips: all entries of the reference but the
#: first, and the grids and code of all rooms of the museum but the first.
ROOMS = [name for name in CHAPTERS if name.startswith("book/museum-")]
REPEATED = {
    "book/library.html": ["dl.py:nth-of-type(n+2)"],
    **{key: ["figure.museum", ".highlight"] for key in ROOMS[1:]},
}


#: Themes and widths in pixels, such that few changes lead from each to the next.
LOOKS = (("light", 1280), ("dark", 1280), ("dark", 375), ("light", 375), ("light", 320))

SLIDERS = ".attn-explore input[type=range]"
#: What has controls, and what they change.
CONTROLS = "figure, .quiz"


def source_of(name: str) -> str:
    return (ROOT / name).with_suffix(".md").read_text(encoding="utf-8")


WITH_SLIDERS = [name for name in CHAPTERS if "explore(" in source_of(name)]
HAS_CONTROLS = re.compile(r"Slider\(|predict\(|\{quiz\}|^live\(", re.MULTILINE)
WITH_CONTROLS = [name for name in CHAPTERS if HAS_CONTROLS.search(source_of(name))]

for_each_page = pytest.mark.parametrize("name", PAGES, scope="module")
for_each_page_and_404 = pytest.mark.parametrize("name", [*PAGES, "404.html"], scope="module")


@pytest.fixture
def address(built_book, request):
    """A function that returns the address of a page for an origin, file or server."""

    def make(origin: str, name: str) -> str:
        if origin == "file":
            return (built_book / name).as_uri()
        return f"{request.getfixturevalue('book_url')}/{name}"

    return make


@pytest.fixture(scope="module")
def opened(tabs, built_book, name):
    """A page opened from its file, loaded once for all tests that use it."""
    watched = tabs.open()
    watched.open((built_book / name).as_uri())
    watched.start_figures()
    yield watched
    tabs.close(watched)


@for_each_page
def test_a_page_opens_cleanly(opened, name):
    assert opened.theme() == "light"
    assert opened.formulas_not_set() == []
    assert opened.pictures_not_shown() == []
    assert opened.problems == []


@for_each_page
def test_a_page_fits_and_follows_the_colour_scheme(opened, name):
    """The page is loaded again neither for a phone nor for dark mode."""
    for theme, width in LOOKS:
        opened.set_theme(theme)
        opened.set_width(width)
        assert opened.overflow() <= 0, (theme, width)
    assert opened.problems == []


@for_each_page_and_404
def test_a_page_has_nothing_that_axe_does_not_look_for(opened, name):
    opened.set_width(320)
    opened.wait_for(f"({beyond_axe.UNFADED})().length === 0")
    assert beyond_axe.problems(opened.page) == {}
    if name.startswith("book/museum"):
        assert opened.page.evaluate(beyond_axe.WIDE_TABLES) == []


@for_each_page
def test_a_page_is_accessible(opened, name):
    opened.remove_glyphs()
    repeated = REPEATED.get(name, [])
    with opened.lighter(empty=repeated):
        assert opened.axe(without=[*COLOUR_RULES, *LAYOUT_RULES], exclude=repeated) == []
        for width in (375, 1280):
            opened.set_width(width)
            # Some time after a change of the window's width, scroll.js lets the keyboard scroll
            # what is now wider than its column.
            assert opened.layout_in_the_end(exclude=repeated) == []
    assert opened.problems == []


@for_each_page
def test_a_page_works_by_keyboard(opened, name):
    opened.set_width(1280)
    with opened.emptied(keep=CONTROLS):
        for slider in opened.page.locator(SLIDERS).all():
            move(slider)
        for quiz in opened.page.locator(".quiz").all():
            answer_every_option(quiz)
    assert opened.problems == []


# With the same parameters as its neighbours, so that it uses the page that they have opened.
@for_each_page
def test_a_slider_track_does_not_move_with_its_slider(opened, name):
    sliders = opened.page.locator(SLIDERS)
    assert bool(sliders.count()) == (name in WITH_SLIDERS)
    for width in (375, 700, 1280) if name in WITH_SLIDERS else ():
        opened.set_width(width)
        # All sliders move at once, because each measurement lays out the page anew.
        places = sliders.evaluate_all("""sliders => {
            const places = sliders.map(() => new Set());
            const steps = Math.max(...sliders.map(slider => slider.max));
            for (let step = 0; step <= steps; step++) {
                for (const slider of sliders) {
                    slider.value = Math.min(step, slider.max);
                    slider.dispatchEvent(new Event("input"));
                }
                sliders.forEach((slider, i) => {
                    const { left, width } = slider.getBoundingClientRect();
                    places[i].add(`${left}, ${width} wide`);
                });
            }
            return places.map((seen, i) => [sliders[i].id, ...seen]);
        }""")
        assert [seen for seen in places if len(seen) != 2] == [], width


# The last test of an opened page, because it empties the page.
@for_each_page
def test_colours_have_contrast_in_light_and_dark(opened, name):
    # The page is light already, and each change of a whole page is slow.
    assert opened.colours("light", "dark") == []
    assert opened.problems == []


@for_each_page
def test_a_page_is_served_as_it_is_opened(opened, name, built_book, book_url):
    """Whatever it loads from files, its server has too; so it works there in the same way."""
    files = {
        unquote(parts.path).removeprefix(f"{built_book}/")
        for parts in map(urlsplit, opened.requests)
        if parts.scheme == "file"
    }
    assert name in files
    for file in files:
        with urlopen(f"{book_url}/{quote(file)}") as served:
            assert served.read() == (built_book / file).read_bytes(), file


def test_the_page_for_lost_readers(watch, built_book):
    watched = watch(width=320)
    watched.open((built_book / "404.html").as_uri())
    assert beyond_axe.problems(watched.page) == {}
    assert watched.overflow() <= 0


@pytest.mark.parametrize(("theme", "width"), [("dark", 1280), ("light", 375)])
def test_a_page_opened_in_dark_mode_or_on_a_phone(watch, address, theme, width):
    watched = watch(theme, width)
    watched.open(address("file", "book/orientation.html"))
    assert watched.theme() == theme
    assert watched.overflow() <= 0
    assert watched.axe() == []
    assert watched.problems == []


@pytest.mark.parametrize(
    ("button", "navigation"),
    [("Toggle primary sidebar", "Main"), ("Toggle secondary sidebar", "Contents")],
)
def test_the_menus_open_on_a_phone(watch, address, button, navigation):
    watched = watch(width=375)
    watched.open(address("file", "book/orientation.html"))
    page = watched.page
    menu = page.get_by_role("navigation", name=navigation, exact=True)
    assert not menu.is_visible()
    page.get_by_role("button", name=button).first.click()
    menu.wait_for(state="visible")
    assert watched.axe() == []
    assert watched.problems == []


def test_a_served_page_works_by_keyboard(watch, address):
    watched = watch()
    watched.open(address("http", "book/dot-products.html"))
    assert watched.formulas_not_set() == []
    sliders, quizzes = watched.page.locator(SLIDERS).all(), watched.page.locator(".quiz").all()
    # Otherwise the tests by keyboard could pass without finding any slider or quiz.
    assert len(sliders) >= 1
    assert len(quizzes) >= 2
    for slider in sliders:
        move(slider)
    for quiz in quizzes:
        answer_every_option(quiz)
    assert watched.problems == []


def move(slider) -> None:
    """Move a slider by one step; its picture, text and displayed value must change."""
    figure = slider.locator("xpath=ancestor::figure")
    state = (
        "figure => [figure.querySelector('img').src, figure.querySelector('figcaption').innerText]"
    )
    seen = [figure.evaluate(state)]
    slider.focus()
    at_the_end = slider.input_value() == slider.get_attribute("max")
    slider.page.keyboard.press("ArrowLeft" if at_the_end else "ArrowRight")
    seen.append(figure.evaluate(state))
    (picture, text), (moved_picture, moved_text) = seen
    label = figure.get_attribute("id"), slider.get_attribute("id")
    assert moved_picture != picture, label
    assert moved_text != text, label
    assert figure.locator("img").get_attribute("alt").split() == moved_text.split(), label
    output = slider.locator("xpath=following-sibling::output").inner_text()
    assert output == slider.get_attribute("aria-valuetext"), label


def answer_every_option(quiz) -> None:
    """Choose each option of a quiz in turn; each must be explained, and one must be right."""
    options = quiz.locator("input[type=radio]")
    verdicts = []
    for i in range(options.count()):
        options.nth(i).focus()
        quiz.page.keyboard.press("Space")
        quiz.page.keyboard.press("Enter")
        verdict, _, explanation = quiz.locator("[role=status]").inner_text().partition("\n")
        assert explanation.strip(), (quiz.get_attribute("id"), i)
        verdicts.append(verdict)
    assert verdicts.count("Right.") == 1
    wrong = [verdict for verdict in verdicts if verdict != "Right."]
    # Only the first wrong try may ask for another one, unless the right option came before.
    assert set(wrong[:1]) <= {"Not quite.", "Not quite. Try again."}
    assert set(wrong[1:]) <= {"Not quite."}


@pytest.mark.parametrize("name", WITH_CONTROLS)
def test_without_javascript_a_page_has_pictures_and_no_dead_controls(watch, address, name):
    watched = watch(java_script_enabled=False)
    page = watched.page
    page.goto(address("file", name))
    assert not [s for s in page.locator("input[type=range]").all() if s.is_visible()]
    assert not [b for b in page.locator(".quiz button").all() if b.is_visible()]
    for figure in page.locator("figure.attn-live").all():
        assert figure.locator("img").is_visible()
        assert figure.locator("figcaption").inner_text().strip()
        assert figure.locator(".attn-live-now").count() == 0
    assert watched.pictures_not_shown() == []


def test_the_theme_button_changes_the_theme(watch, address):
    watched = watch()
    watched.open(address("file", "book/index.html"))
    seen = set()
    for _ in range(3):
        watched.page.get_by_role("button", name="Color mode").click()
        seen.add(watched.page.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}


@pytest.mark.parametrize("name", ["book/index.html", "book/orientation.html", "search.html"])
def test_a_page_has_one_search_box_and_no_useless_button(watch, address, name):
    watched = watch()
    watched.open(address("file", name))
    page = watched.page
    buttons = [
        button.get_attribute("aria-label")
        or button.get_attribute("title")
        or button.locator("span").inner_text()
        for button in page.locator(
            "#pst-primary-sidebar button, .article-header-buttons button"
        ).all()
        if button.is_visible()
    ]
    assert buttons.count("Search") == 1
    rest = {"Search", "Color mode", "Toggle primary sidebar", "Toggle secondary sidebar"}
    assert set(buttons) <= rest
    assert page.locator("a[href*='mybinder'], a[href*='colab'], .thebe-button").count() == 0


@pytest.fixture(scope="module")
def elements(built_book):
    """The tags on each page, with their attributes."""
    return {
        page.relative_to(built_book).as_posix(): tags(page.read_text(encoding="utf-8"))
        for page in built_book.rglob("*.html")
        # _static contains the theme's HTML templates.
        if page.relative_to(built_book).parts[0] != "_static"
    }


@pytest.fixture(scope="module")
def ids(elements):
    """The ids on each page."""
    return {
        page: [attributes["id"] for _, attributes in found if "id" in attributes]
        for page, found in elements.items()
    }


def test_links_within_the_book_are_not_dead(built_book, elements, ids):
    base = "https://book.invalid/"
    dead, followed = [], 0
    for page, found in elements.items():
        for tag, attributes in found:
            target = attributes.get("href") or attributes.get("src")
            if not target or target.startswith("data:"):
                continue
            parts = urlsplit(urljoin(base + page, target))
            if f"{parts.scheme}://{parts.netloc}/" != base:
                continue
            followed += 1
            path, anchor = unquote(parts.path).lstrip("/"), unquote(parts.fragment)
            if not (built_book / path).is_file() or (anchor and anchor not in ids[path]):
                dead.append(f"{page}: <{tag}> {target}")
    assert followed > 100
    assert dead == []


@in_one_test("mistake", catalogue(), ids=lambda mistake: mistake.id)
def test_the_section_that_explains_a_mistake_exists(ids, mistake):
    page, _, anchor = mistake.section.partition("#")
    assert anchor in ids[f"book/{page}.html"]


def test_ids_on_a_page_are_unique(ids):
    assert set(PAGES) <= set(ids)
    for page, found in ids.items():
        assert sorted(found) == sorted(set(found)), page


@for_each_page
def test_no_formula_shows_its_source(built_book, name):
    html = (built_book / name).read_text(encoding="utf-8")
    not_shown = r"<(script|style|code|pre)\b.*?</\1>|<[^>]*>"
    assert "$" not in unescape(re.sub(not_shown, "", html, flags=re.DOTALL))


def test_every_page_of_the_book_is_tested_here(built_book):
    # The page at the root is the first page again, and a lost page has nothing to open.
    assert set(page_sizes.pages(built_book)) == {*PAGES, "index.html", "404.html"}


@for_each_page
def test_no_page_is_heavier_than_the_limit(built_book, name):
    size = page_sizes.measure(built_book, name)
    assert size.own <= page_sizes.LIMIT, size


def test_watched_page_records_errors_and_other_hosts(watch, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<meta charset=utf-8><div style='width: 5000px'>wide</div><img src=missing.png>"
        "<script>console.error('noted'); throw new Error('thrown')</script>"
        "<img src='http://another-host.invalid/a.png'>",
        encoding="utf-8",
    )
    watched = watch(width=375)
    watched.open(page.as_uri())
    problems = "\n".join(watched.problems)
    assert "console error: noted" in problems
    assert "error: thrown" in problems
    assert f"failed: {(tmp_path / 'missing.png').as_uri()}" in problems
    assert "another host: http://another-host.invalid/a.png" in problems
    assert watched.overflow() > 0
    assert any(finding.startswith("image-alt: ") for finding in watched.axe())


def test_a_lighter_page_keeps_what_is_checked_and_is_put_back(watch, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        """<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1>
        <pre tabindex=0><span class=k>def</span> <span role=button class=n></span></pre>
        <p id=repeated style="color: navy">Some <b>text</b> <span role=button></span></p>
        <p>Some <span class=k>text</span></p></main>""",
        encoding="utf-8",
    )
    watched = watch()
    watched.open(page.as_uri())
    content = "document.body.innerHTML"
    before = watched.page.evaluate(content)
    with watched.lighter(empty=["#repeated"]):
        after = watched.page.evaluate(content)
        found = watched.axe(without=COLOUR_RULES, exclude=["#repeated"])
    assert '<pre tabindex="0">def <span role="button" class="n"></span></pre>' in after
    assert re.search(r'<p id="repeated" style="color: navy; height: [\d.]+px;"></p>', after)
    assert '<p>Some <span class="k">text</span></p>' in after
    assert [violation.partition(":")[0] for violation in found] == ["aria-command-name"]
    assert watched.page.evaluate(content) == before


def test_an_emptied_page_keeps_what_is_reached_and_what_scrolls(watch, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        """<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1>
        <section id=text><p>Some <b>text</b></p><div class=wide>is long</div></section>
        <section id=small><p>Text</p><button style="padding: 0; width: 9px; height: 9px">a</button
        ><button style="padding: 0; width: 9px; height: 9px">b</button></section>
        <div style="overflow: auto; width: 99px; height: 99px"><p style="height: 999px">high</div>
        <figure id=figure><p>A caption</p></figure></main>""",
        encoding="utf-8",
    )
    watched = watch()
    watched.open(page.as_uri())
    content = "document.body.innerHTML"
    before = watched.page.evaluate(content)
    height = watched.page.evaluate("document.body.scrollHeight")
    with watched.emptied(keep="figure"):
        after = watched.page.evaluate(content)
        assert watched.page.evaluate("document.body.scrollHeight") == height
    assert re.search(
        r'<section id="text" data-unreached="" style="height: [\d.]+px;"></section>', after
    )
    assert after.count("<button") == 2
    assert '<p style="height: 999px">high</p>' in after
    assert "<p>A caption</p>" in after
    assert watched.page.evaluate(content) == before
    assert [violation.partition(":")[0] for violation in watched.layout()] == ["target-size"] * 2
    assert watched.page.evaluate(content) == before


#: Follows the system's colour scheme, as the book's theme does.
FOLLOWING = """<script>
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  };
  dark.onchange = follow;
  follow();
</script>"""


def test_each_look_of_a_text_is_looked_at(watch, tmp_path):
    page = tmp_path / "page.html"
    pale = "color: #999"
    page.write_text(
        f"""<meta charset=utf-8>{FOLLOWING}<style>
          div {{ background: white }} [data-theme=dark] .navy {{ background: navy }}
          li:nth-child(even) {{ {pale} }}
        </style>
        <div><p>dark</p><p>dark again</p><p style="{pale}">pale one</p></div>
        <div><p style="{pale}">pale two, as pale one</p>
          <b style="{pale}">pale three, bold</b>
          <p style="{pale}; background: black">pale four, on black</p></div>
        <div hidden><i style="{pale}">pale five, not seen</i></div>
        <div style="background: #eee"><p>on grey</p><p style="{pale}">pale six, on grey</p></div>
        <div class=navy><p>eight on navy when dark</p></div>
        <ul><li>dark</li><li style="font-size: 15px">pale nine in an even place</li></ul>
        <style>a {{ color: #030 }} .plain {{ text-decoration: none }}</style>
        <p>A sentence with <a href=#>a link</a>.</p><p><a href=# class=plain>Alone</a></p>
        <p>A sentence with <a href=#ten class=plain>a link</a>.</p>
        <p>A sentence with <a href=#eleven class=plain>a link</a>, as ten.</p>
        <div style="position: absolute"><p style="{pale}">pale seven, over others</p></div>
        """,
        encoding="utf-8",
    )
    watched = watch()
    watched.open(page.as_uri())
    found = watched.colours("light", "dark")

    numbers = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

    def numbers_in(theme: str) -> set[str]:
        texts = [violation for violation in found if violation.startswith(theme)]
        return set(re.findall(r"\w+", " ".join(texts))) & (numbers | {"eleven"})

    assert numbers_in("light") == numbers - {"two", "four", "five", "eight"}
    assert numbers_in("dark") == numbers - {"two", "four", "five"}
