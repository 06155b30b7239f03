"""Make one PDF of the whole course, printed by Chromium.

All pages become one document, so links between them work inside of the PDF. It is printed twice:
only then it is known on which page each chapter begins, for the table of contents.
"""

from __future__ import annotations

import html as markup
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pikepdf
from playwright.sync_api import sync_playwright
from pypdf import PdfReader

from tools.chromium import FLAGS
from tools.editions.pages import PAGES, Course, EditionError, Page, links, text_of
from tools.editions.texts import Texts

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

ROOT = Path(__file__).resolve().parents[2]
STYLES = Path(__file__).parent / "styles"
#: Seconds for Chromium to lay out or to print all pages, also on a slow machine.
PATIENCE = 600


def document(course: Course, texts: Texts, styles: list[str]) -> str:
    """Return all pages as one HTML document, with a title page and a table of contents.

    Parameters
    ----------
    course : Course
        Its links are rewritten.
    texts : Texts
        What stands on the title page.
    styles : list of str
        Addresses of style sheets.

    Raises
    ------
    EditionError
        If a link leads to no page or to no element of its page.
    """
    link_together(course.pages)
    sheets = "".join(f'<link rel="stylesheet" href="{markup.escape(sheet)}">' for sheet in styles)
    content = partial(course.content, show=lambda formula: formula.picture)
    chapters = "".join(
        f'<section class="chapter" id="{page.name}">{content(page)}</section>'
        for page in course.pages
    )
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{markup.escape(texts.title)}</title>{sheets}{_running_heads(course.pages)}"
        "</head><body>"
        f"{_title_page(texts)}{_contents(course.pages)}{chapters}</body></html>"
    )


def _running_heads(pages: list[Page]) -> str:
    """Return a style that makes each chapter a named page, with its title above.

    Chromium has no `string-set`, which would take the titles from the headings.
    """
    rules = "".join(
        f"#{page.name} {{ page: {page.name} }} "
        f"@page {page.name} {{ @top-right {{ content: {_css_string(page.title)} }} }} "
        for page in pages
    )
    return f"<style>{rules}</style>"


def _css_string(text: str) -> str:
    """Return text as a string of CSS, in which a hexadecimal number stands for any character."""
    return '"' + "".join(c if c.isalnum() or c in " .:" else f"\\{ord(c):x} " for c in text) + '"'


def link_together(pages: list[Page]) -> None:
    """Make all ids of the pages different, and all links between pages links to these ids."""
    known = {page.name for page in pages}
    for page in pages:
        for element in page.article.find_all(id=True):
            anchor = f"{page.name}--{text_of(element, 'id')}"
            element["id"] = anchor
            known.add(anchor)
    for page in pages:
        for link, name, anchor in links(page):
            target = f"{name}--{anchor}" if anchor else name
            if target not in known:
                raise EditionError(
                    f"expected a link on the page {page.name} to lead into the book, "
                    f"got {link['href']}, which is not there. Build the book anew: make book"
                )
            link["href"] = f"#{target}"


def _find_pictures(page: Page, html: Path) -> None:
    """Give each picture that is a file its whole address, and all of them a place in the tags."""
    for picture in page.article.find_all("img"):
        # On a page screen readers skip it for its caption. The tags of a PDF name every figure.
        picture.attrs.pop("aria-hidden", None)
        if not (address := text_of(picture, "src")).startswith("data:"):
            picture["src"] = (html / PAGES / unquote(address)).resolve().as_uri()


def _title_page(texts: Texts) -> str:
    lines = "".join(f"<p>{markup.escape(line)}</p>" for line in texts.lines)
    return (
        f'<header class="title-page"><p class="title">{markup.escape(texts.title)}</p>'
        f"{lines}</header>"
    )


def _contents(pages: list[Page]) -> str:
    return f'<nav class="contents"><h1>Contents</h1>{"".join(_entries(pages))}</nav>'


def _entries(pages: list[Page]) -> Iterator[str]:
    part = ""
    for page in pages:
        if page.part != part:
            part = page.part
            if part:
                yield f'<p class="part">{markup.escape(part)}</p>'
        title = markup.escape(page.title)
        yield f'<p class="entry"><a href="#{page.name}">{title}</a><span></span></p>'


def style_sheets(root: Path) -> list[str]:
    """Return the addresses of the style sheets: the book's for formulas and figures, then ours."""
    book = root / "book"
    of_book = ("vendor/katex/katex.min.css", "assets/museum.css", "assets/explore.css")
    paths = [*(book / name for name in of_book), STYLES / "text.css", STYLES / "page.css"]
    return [path.resolve().as_uri() for path in paths]


def print_course(course: Course, html: Path, texts: Texts, into: Path) -> str:
    """Write the PDF of a course and return how long it is, in words.

    Parameters
    ----------
    course : Course
        Its links and the addresses of its pictures are rewritten.
    html : Path
        The folder with the built book, for pictures.
    texts : Texts
        What stands on the title page.
    into : Path
        The file to write.

    Raises
    ------
    EditionError
        If there is no Chromium, or if a link leads nowhere.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        raise EditionError(
            "expected Chromium, which prints the PDF; found no command chromium. "
            "On Debian and Ubuntu run: sudo apt-get install chromium"
        )
    for page in course.pages:
        _find_pictures(page, html)
    whole = document(course, texts, style_sheets(ROOT))
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        source = Path(folder) / "course.html"
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(color_scheme="light")
        tab.set_default_timeout(PATIENCE * 1000)
        source.write_text(whole, encoding="utf-8")
        tab.goto(source.as_uri(), wait_until="load")
        tab.evaluate("document.fonts.ready")
        _print(tab, into, outline=False)
        numbers = page_numbers(into, [page.name for page in course.pages])
        tab.evaluate(
            "numbers => document.querySelectorAll('.contents .entry').forEach(entry => {"
            " entry.lastChild.textContent = numbers[entry.firstChild.hash.slice(1)] })",
            numbers,
        )
        _print(tab, into, outline=True)
        browser.close()
    return f"{_pack(into)} pages"


def _pack(pdf: Path) -> int:
    """Compress what Chromium does not, the tags above all, and return the number of pages."""
    with pikepdf.open(pdf, allow_overwriting_input=True) as whole:
        whole.save(object_stream_mode=pikepdf.ObjectStreamMode.generate)
        return len(whole.pages)


def _print(tab: Tab, into: Path, *, outline: bool) -> None:
    tab.pdf(
        path=into, prefer_css_page_size=True, print_background=True, outline=outline, tagged=outline
    )


def page_numbers(pdf: Path, names: list[str]) -> dict[str, int]:
    """Return the number of the page on which each chapter begins, from 1."""
    reader = PdfReader(pdf)
    destinations = reader.named_destinations
    found = {name: destinations.get(f"/{name}", destinations.get(name)) for name in names}
    missing = [name for name, destination in found.items() if destination is None]
    if missing:
        raise EditionError(f"expected the chapters {', '.join(missing)} in the PDF, found none.")
    return {
        name: number + 1
        for name, destination in found.items()
        if destination is not None
        and (number := reader.get_destination_page_number(destination)) is not None
    }
