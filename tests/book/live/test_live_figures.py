"""Every live figure of the book can be used by mouse, touch and keyboard, and stays still else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attn_lib.figures.live import live
from book._ext.live_figures import FIGURE, SCRIPTS, SHARED, WEIGHTS, scripts_of

ROOT = Path(__file__).resolve().parents[3]
BOOK = ROOT / "book"
PAGES = sorted(
    page.stem for page in BOOK.glob("*.md") if re.search(r"^live\($", page.read_text("utf-8"), re.M)
)
NOW = ".attn-live-now"
#: The scripts that every figure of the trained model needs, besides its weights.
MODEL = ("generator", "model", "model-view")
ARROWS = ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown")

for_each_page = pytest.mark.parametrize("name", PAGES, scope="module")


@pytest.fixture(scope="module")
def opened(tabs, built_book, name):
    """A page with live figures, loaded once for the tests that use it."""
    watched = tabs.open()
    watched.open((built_book / "book" / f"{name}.html").as_uri())
    watched.start_figures()
    with watched.emptied(keep="figure.attn-live"):
        yield watched
    assert watched.problems == []
    tabs.close(watched)


def figures_of(watched):
    return watched.page.locator("figure.attn-live").all()


def test_there_are_pages_with_live_figures():
    assert len(PAGES) >= 2


@for_each_page
def test_a_live_figure_replaces_its_picture_except_in_print(opened, name):
    page = opened.page
    for figure in figures_of(opened):
        assert figure.locator(NOW).is_visible()
        assert not figure.locator(".attn-live-still").is_visible()
    page.emulate_media(media="print")
    for figure in figures_of(opened):
        assert not figure.locator(NOW).is_visible()
        assert figure.locator(".attn-live-still img").is_visible()
        assert figure.locator("figcaption").inner_text().strip()
    page.emulate_media(media="screen")


def use(control, kind):
    """Change a control as a reader would."""
    if kind == "checkbox":
        control.press("Space")
    elif kind == "radio":
        control.press("ArrowDown")
    elif kind == "text":
        control.fill(control.input_value() + " ")
    elif kind == "number":
        control.fill("1.5" if control.get_attribute("step") == "any" else "2")
    elif kind == "range":
        control.press(
            "ArrowRight" if control.input_value() == control.get_attribute("min") else "Home"
        )
    else:
        raise AssertionError(f"a live figure has a control of an unknown kind: {kind}")


@for_each_page
def test_every_control_works_by_keyboard(opened, name):
    """Each handle moves on each arrow key, each field is used, and the figure's height stays."""
    for figure in figures_of(opened):
        now = figure.locator(NOW)
        height = now.bounding_box()["height"]
        for handle in now.locator(".live-handle").all():
            handle.focus()
            assert handle.get_attribute("aria-label")
            said = [handle.get_attribute("aria-valuetext")]
            for key in ARROWS:
                opened.page.keyboard.press(key)
                said.append(handle.get_attribute("aria-valuetext"))
            assert len(set(said)) > 1, f"{handle.get_attribute('aria-label')} does not move"
            assert now.bounding_box()["height"] == height
        for control in now.locator("input:visible").all():
            use(control, control.get_attribute("type"))
        for button in now.locator("button:enabled").all():
            if button.is_visible() and button.is_enabled():
                button.press("Enter")
    assert opened.problems == []


@for_each_page
def test_every_handle_moves_by_mouse_and_touch(opened, name):
    session = opened.page.context.new_cdp_session(opened.page)
    for figure in figures_of(opened):
        for handle in figure.locator(f"{NOW} .live-handle").all():
            for drag in (drag_by_mouse, drag_by_touch):
                handle.scroll_into_view_if_needed()
                before = handle.get_attribute("aria-valuetext")
                scrolled = opened.page.evaluate("scrollY")
                drag(opened.page, session, handle)
                assert handle.get_attribute("aria-valuetext") != before, drag
                assert opened.page.evaluate("scrollY") == scrolled, "the page moved with the handle"


def path_of(handle):
    """Where the handle is, and two places towards the middle of its drawing."""
    box = handle.locator(".live-grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    around = handle.evaluate(
        "e => { const b = e.ownerSVGElement.getBoundingClientRect(); "
        "return [b.x + b.width / 2, b.y + b.height / 2]; }"
    )
    dx, dy = (25 if middle >= at else -25 for middle, at in zip(around, (x, y), strict=True))
    return [(x, y), (x + dx / 2, y + dy / 2), (x + dx, y + dy)]


def drag_by_mouse(page, session, handle):
    first, *rest = path_of(handle)
    page.mouse.move(*first)
    page.mouse.down()
    for place in rest:
        page.mouse.move(*place)
    page.mouse.up()


def drag_by_touch(page, session, handle):
    first, *rest = path_of(handle)

    def send(kind, *places):
        points = [{"x": x, "y": y} for x, y in places]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", first)
    for place in rest:
        send("touchMove", place)
    send("touchEnd")


@for_each_page
def test_a_live_figure_fits_a_narrow_phone(opened, name):
    opened.set_width(320)
    assert opened.overflow() <= 0
    for figure in figures_of(opened):
        sticking_out = figure.locator(NOW).evaluate(
            "now => [...now.querySelectorAll('*')].filter(e => "
            "e.getBoundingClientRect().right > now.getBoundingClientRect().right + 1 "
            "&& !e.closest('.live-announcement, .live-scroll')).map(e => e.outerHTML.slice(0, 80))"
        )
        assert sticking_out == []
    opened.set_width(1280)


#: Of figures that are longer than the screen of a phone: controls, and what they change.
EFFECTS = {
    "scorecard": [(".scorecard-line input", ".scorecard-verdict")],
    "score-spread": [(".spread-controls input", ".spread-chart"), ("button", "tbody")],
    "softmax-scores": [(".live-handle, .live-slider", ".scores-weight"), (".live-handle", "tbody")],
    "masked-weights": [(".mask-controls", ".mask-table:last-of-type")],
    "change-the-future": [
        (".future-poke", ".live-sentence"),
        (".future-buttons", ".live-sentence"),
    ],
    "layer-costs": [(".cost-sliders, fieldset:first-of-type", ".cost-chart")],
    "streaming-softmax": [(".stream-buttons, .stream-keys", ".stream-steps")],
    "head-split": [("fieldset:has(code)", ".head-split-array:last-of-type")],
    "where-heads-look": [(".model-heads", ".live-sentence"), (".model-words", ".model-next")],
    "switch-off": [(".switches", ".live-sentence"), (".model-sentence", ".model-next")],
    "writing-with-a-cache": [(".cache-options", ".live-sentence:not(.cache-text)")],
    "try-a-mistake": [(".mistake-choice", ".live-sentence:not(.mistake-said)")],
}
PHONE = 740  #: pixels between the bars of a browser and of the book, on a phone 844 pixels high


@for_each_page
def test_a_control_and_what_it_changes_fit_on_a_phone(opened, name):
    """From the top of the upper one to the bottom of the lower one."""
    opened.set_width(375)
    spans = {}
    for figure in figures_of(opened):
        kind = figure.get_attribute("data-live")
        for pair in EFFECTS.get(kind, []):
            spans[kind, pair] = figure.evaluate(
                """(figure, selectors) => {
                  const now = figure.querySelector(".attn-live-now");
                  const [controls, [effect]] = selectors.map((selector) =>
                    [...now.querySelectorAll(selector)].map((e) => e.getBoundingClientRect()));
                  return Math.max(...controls.map((control) =>
                    Math.max(control.bottom, effect.bottom) - Math.min(control.top, effect.top)));
                }""",
                pair,
            )
    opened.set_width(1280)
    assert {found: span for found, span in spans.items() if span > PHONE} == {}


@for_each_page
def test_handles_are_seen_in_forced_colours(opened, name):
    opened.page.emulate_media(forced_colors="active")
    for figure in figures_of(opened):
        for grip in figure.locator(".live-grip").all():
            fill, ground = grip.evaluate(
                "e => [getComputedStyle(e).fill, getComputedStyle(document.body).backgroundColor]"
            )
            assert fill != ground
    opened.page.emulate_media(forced_colors="none")


def test_the_model_is_loaded_when_its_first_figure_comes_near(watch, built_book):
    watched = watch()
    watched.open((built_book / "book" / "from-text-to-next-word.html").as_uri())
    weights = re.compile(rf"/{WEIGHTS}\.js")
    assert not any(map(weights.search, watched.requests))
    watched.start_figures()
    assert sum(weights.search(request) is not None for request in watched.requests) == 1


def test_the_picture_stays_if_a_figure_fails(watch, built_book):
    watched = watch()
    watched.page.route("**/soft-lookup.js*", lambda route: route.abort())
    watched.page.goto((built_book / "book" / "orientation.html").as_uri())
    figure = watched.page.locator("figure.attn-live").first
    assert figure.locator("img").is_visible()
    watched.problems.clear()


def test_pages_load_the_scripts_of_their_figures_and_no_others(built_book):
    for page in sorted(built_book.rglob("*.html")):
        html = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<script defer="defer" src="[./]*_static/live/([a-z-]+)\.js', html)
        assert loaded == scripts_of(html), page.name
        styles = re.findall(r"[\w.-]+\.css", html.partition("</head>")[0])
        assert styles == ([] if page.name == "404.html" else ["book.css"]), page.name


def test_scripts_are_light(built_book):
    """Sizes as they are transferred; the weights are loaded by figures that need them."""
    import gzip

    sizes = {
        path.stem: len(gzip.compress(path.read_bytes()))
        for path in (built_book / "_static" / "live").glob("*.js")
    }
    shared = {*SHARED, *MODEL}
    assert sum(sizes[name] for name in shared) <= 25_000
    assert sizes[WEIGHTS] <= 100_000
    others = set(sizes) - shared - {WEIGHTS}
    assert "soft-lookup" in others
    assert max(sizes[name] for name in others) <= 12_000


def test_every_rule_of_the_style_sheet_is_closed():
    """A brace that a merge lost would switch off all rules behind it."""
    style = (SCRIPTS.parent / "live.css").read_text(encoding="utf-8")
    assert style.count("{") == style.count("}") > 100


def test_every_script_of_a_figure_is_used(built_book):
    used = {
        name
        for page in built_book.rglob("*.html")
        for name in FIGURE.findall(page.read_text(encoding="utf-8"))
    }
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    loaded = {name for text in scripts.values() for name in re.findall(r'"([a-z-]+)\.js"', text)}
    apart = {*SHARED, *loaded, "predict"}
    assert used == set(scripts) - apart


def draw(width):
    from attn_lib.figures.style import course_style, new_figure

    with course_style():
        return new_figure(height=1.0), f"{width} wide."


@pytest.mark.parametrize(
    ("name", "given", "error", "message"),
    [
        ("Soft Lookup", {}, ValueError, "a name such as soft-lookup"),
        ("soft-lookup", {"width": 3}, ValueError, "at least one slider"),
    ],
)
def test_a_live_figure_that_cannot_be_is_refused(name, given, error, message):
    with pytest.raises(error, match=message):
        live(name, draw, given)


@pytest.mark.parametrize(
    "path", sorted((BOOK / "assets").glob("*.css")), ids=lambda path: path.stem
)
def test_every_block_of_a_style_sheet_is_closed(path):
    """A block left open makes the rules after it apply to nothing, and no browser complains."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    for block in re.split(r"^}$", text, flags=re.MULTILINE)[:-1]:
        assert block.count("{") == block.count("}") + 1, block
    assert text.count("{") == text.count("}")
