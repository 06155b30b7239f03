"""The one style sheet of all pages has every rule that a page can use."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import json
import re
from pathlib import Path

import pydata_sphinx_theme
import pytest
from bs4 import BeautifulSoup
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Keyword, Name
from sphinx.errors import ExtensionError

from book._ext import styles
from book._ext.styles.plain_code import PLAIN
from book._ext.styles.reducing import Names, compact, names_on_page, reduced


@pytest.mark.parametrize("name", ["reducing", "plain_code"])
def test_examples(name):
    results = doctest.testmod(importlib.import_module(f"book._ext.styles.{name}"))
    assert results.attempted
    assert not results.failed


def test_only_words_with_the_colour_of_all_code_have_no_element():
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
    named = re.findall(r"^pygments_\w+_style = (\S+)", (theme / "theme.conf").read_text(), re.M)
    assert len(named) == 2
    for name in named:
        style = get_style_by_name(name)
        usual = style.style_for_token(Name)
        assert {kind for kind in PLAIN if style.style_for_token(kind) != usual} == set()
        assert style.style_for_token(Keyword) != usual


def test_plain_words_have_the_colour_that_their_elements_had(watch, built_book):
    html = (built_book / "book" / "masking.html").read_text(encoding="utf-8")
    code = BeautifulSoup(html, "html.parser").select("div.highlight pre")
    classes = {one for part in code for span in part.select("span[class]") for one in span["class"]}
    assert {"k", "o", "mi"} <= classes
    assert not classes & {STANDARD_TYPES[kind] for kind in PLAIN}
    for theme, colour in (("light", "rgb(8, 8, 8)"), ("dark", "rgb(248, 248, 242)")):
        watched = watch(theme)
        watched.open((built_book / "book" / "masking.html").as_uri())
        shown = watched.page.locator("div.highlight pre").evaluate_all(
            "all => [...new Set(all.map(code => getComputedStyle(code).color))]"
        )
        assert shown == [colour]


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("a:hover, i:hover { top: 0 }", "a:hover{top:0}"),
        ("a:not(.shut) { top: 0 }", "a:not(.shut){top:0}"),
        (":is(i, .b) a, :is(i, u) a { top: 0 }", ":is(i, .b) a{top:0}"),
        ("a[href] { top: 0 } a[title] { top: 0 }", "a[href]{top:0}"),
        ("#top > a { top: 0 } #end > a { top: 0 }", "#top > a{top:0}"),
        (".made { top: 0 } .made-here { top: 0 }", ".made{top:0}"),
        (".begun-so { top: 0 }", ".begun-so{top:0}"),
        ("a::before { content: '}' }", 'a::before{content:"}"}'),
        (
            "@media print { i { top: 0 } a { top: 1px !important } }",
            "@media print{a{top:1px!important}}",
        ),
        ("@media print { i { top: 0 } }", ""),
        (
            "@keyframes turn { to { top: 0 } } @keyframes fade {} a { animation: turn 1s }",
            "@keyframes turn{to { top: 0 }}\na{animation:turn 1s}",
        ),
        (
            "@font-face { font-family: A } @font-face { font-family: 'B' } a { font-family: B }",
            '@font-face{font-family:"B"}\na{font-family:B}',
        ),
        (
            "a { --x: 1; --y: 2; --z: var(--x); --elsewhere: 3; top: var(--z) }",
            "a{--x:1;--z:var(--x);--elsewhere:3;top:var(--z)}",
        ),
    ],
)
def test_a_rule_stays_if_an_element_can_match(css, kept):
    names = Names({"a", ".b", "[href]", "#top"}, {"made", "begun-"})
    assert reduced(css, names, {"--elsewhere"}) == kept


def test_what_something_else_replaces_is_left_out():
    css = "@font-face { font-family: Icons\\ 6 } .fa, a .fa { top: 0; font: 1em Icons\\ 6 }"
    kept = reduced(css, Names({"a", ".fa"}), set(), re.compile(r"Icons.*|\.fa"))
    assert kept == "a .fa{top:0;font:1em Icons\\ 6}"


def test_names_of_a_page_come_from_its_tags_alone():
    html = "<!-- <i> --><A HREF='x>y' class='b\n c'>1 &lt; 2 <input disabled id=e></A>"
    assert names_on_page(html) >= {"a", "[href]", ".b", ".c", "input", "[disabled]", "#e"}


def test_compact_keeps_every_rule():
    css = "/* a */\na,\nb { color : red }\n@media print { i { top: 0 } }\n"
    assert compact(css) == "a, b { color : red } @media print { i { top: 0 } }"


def test_style_sheets_of_others_are_known_when_no_page_is_written(tmp_path, built_book):
    """Sphinx copies them only for new pages, and the book keeps none of them beside its own."""
    kept = built_book.parent / ".styles.json"
    known = styles.of_others(built_book / "_static", kept)
    assert ".bd-sidebar-primary" in known
    assert "@font-face" in known
    (tmp_path / "pygments.css").write_text("", encoding="utf-8")  # which is written each time
    assert styles.of_others(tmp_path, kept) == known
    with pytest.raises(ExtensionError, match=r"lacks style sheets .* jupyter-book build \. --all"):
        styles.of_others(tmp_path, tmp_path / "none.json")


def test_every_page_asks_for_this_style_sheet_and_no_older_one(built_book):
    version = hashlib.sha256((built_book / "_static" / "book.css").read_bytes()).hexdigest()[:8]
    pages = [built_book / "index.html", *(built_book / "book").glob("*.html")]
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert re.findall(r'_static/book\.css([^"]*)"', html) == [f"?v={version}"], page.name


@pytest.mark.parametrize(
    ("name", "theme", "width"),
    [
        ("index", "light", 1280),
        ("masking", "dark", 375),
        ("museum-masking", "light", 1280),
        ("library", "dark", 375),
    ],
)
def test_no_element_has_a_name_that_was_taken_for_unused(watch, built_book, name, theme, width):
    """Not even with all folds, the search and the menus open."""
    record = json.loads((built_book.parent / ".styles.json").read_text(encoding="utf-8"))
    unused = {name for name, is_used in record["answers"].items() if not is_used}
    assert len(unused) > 1000
    watched = watch(theme, width)
    watched.open((built_book / "book" / f"{name}.html").as_uri())
    watched.start_figures()
    page = watched.page
    seen = watched.names()
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    for quiz in page.locator(".quiz").all()[:1]:
        quiz.locator("input").first.check()
        quiz.get_by_role("button").first.click()
    for code in page.locator(".copy-code").all()[:1]:
        code.dispatch_event("click")
    seen |= watched.names()
    page.keyboard.press("Control+k")
    page.keyboard.type("mask")
    page.locator(".search-results li").first.wait_for()
    seen |= watched.names()
    page.keyboard.press("Escape")
    for button in ("primary", "secondary"):
        for toggle in page.locator(f".{button}-toggle").all():
            if toggle.is_visible():
                toggle.click()
                seen |= watched.names()
                page.keyboard.press("Escape")
    assert seen & unused == set()
    assert {"dialog", "[open]", ".search-results"} <= seen
