"""Compare pages with the reduced style sheet and with all rules of all style sheets, by pictures.

    .venv/bin/python -m tests.book.carried.compare_styles           # the book in _build/html
    .venv/bin/python -m tests.book.carried.compare_styles masking   # some of its pages

Each page is taken as a whole, with all folds open, in both colour themes and on a wide and a narrow
window; then the first page again with its menus and its search open. A difference of one pixel is
told, and both pictures are kept. Run it after a change of what book/_ext/styles keeps.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

from book._ext.styles import ICONS, STYLES
from book._ext.styles.reducing import PROPERTY, Names, reduced
from tools.chromium import FLAGS

ROOT = Path(__file__).resolve().parents[3]
HTML = ROOT / "_build" / "html"
RECORD = HTML.parent / ".styles.json"
WHOLE = "book-with-all-rules.css"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WINDOWS = [(theme, width) for theme in THEMES for width in (375, 1280)]
#: The height of the window in pixels, so that a page is taken in few pictures.
STRIP = 6000
ATTEMPTS = 4

PREPARE = """async () => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const images = [...document.images];
  images.forEach((image) => { image.loading = "eager"; });
  await Promise.allSettled(images.map((image) => image.decode()));
}"""
EXCHANGE = """([from, to]) => new Promise((done) => {
  const link = document.querySelector(`link[href*="${from}"]`);
  link.onload = () => document.fonts.ready.then(() => requestAnimationFrame(done));
  link.href = link.href.replace(from, to);
})"""


class EveryName(Names):
    """All names there could be."""

    def __contains__(self, name: str) -> bool:
        return True


def all_rules() -> str:
    """Return the style sheet with every rule but those for icons, which ours replace."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    every = set(PROPERTY.findall(record["others"] + record["ours"]))
    return f"{reduced(record['others'], EveryName(set()), every, ICONS)}\n{record['ours']}\n"


def taken(page: Page) -> list[bytes]:
    """Return pictures of a page, from its top to its end."""
    page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    pictures = []
    for top in range(0, page.evaluate("document.documentElement.scrollHeight"), STRIP):
        page.evaluate("top => scrollTo({ top, behavior: 'instant' })", top)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        pictures.append(page.screenshot(type="jpeg"))
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    return pictures


def compared(page: Page, name: str, kept: Path) -> Iterator[str]:
    """Yield the names of the parts of a page that look different with all rules.

    Chromium does not draw the same page in the same way each time, so a part that differs is taken
    again, and counts if it never looked the same.
    """
    seen: dict[str, list[list[bytes]]] = {STYLES: [], WHOLE: []}
    for _ in range(ATTEMPTS):
        for own, other in ((STYLES, WHOLE), (WHOLE, STYLES)):
            seen[own].append(taken(page))
            page.evaluate(EXCHANGE, [own, other])
        reduced_parts, whole_parts = (zip(*seen[sheet], strict=False) for sheet in seen)
        parts = list(zip(reduced_parts, whole_parts, strict=False))
        different = [number for number, (a, b) in enumerate(parts) if not set(a) & set(b)]
        if not different:
            return
    for number in different:
        for pictures, kind in zip(parts[number], ("reduced", "whole"), strict=True):
            (kept / f"{name}-{number}-{kind}.jpg").write_bytes(pictures[-1])
        yield f"{name}, picture {number}"


def _states(page: Page) -> Iterator[str]:
    """Open the menus and the search in turn and yield what is open."""
    page.keyboard.press("Control+k")
    page.keyboard.type("mask")
    page.locator(".search-results li").first.wait_for()
    yield "search"
    page.keyboard.press("Escape")
    for menu in ("primary", "secondary"):
        button = page.locator(f".{menu}-toggle").first
        if button.is_visible():
            button.click()
            yield menu
            page.keyboard.press("Escape")


def main(arguments: list[str]) -> int:
    names = arguments or sorted(path.stem for path in (HTML / "book").glob("*.html"))
    browser_path = shutil.which("chromium")
    if browser_path is None or not RECORD.is_file():
        print("expected Chromium and a built book; run make book.", file=sys.stderr)
        return 1
    kept = Path(tempfile.mkdtemp(prefix="compared-styles-"))
    whole = HTML / "_static" / WHOLE
    whole.write_text(all_rules(), encoding="utf-8")
    found: list[str] = []
    looks = 0
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
            for theme, width in WINDOWS:
                page = browser.new_page(
                    color_scheme=theme,
                    viewport={"width": width, "height": STRIP},
                    reduced_motion="reduce",
                )
                for name in names:
                    page.goto((HTML / "book" / f"{name}.html").as_uri(), wait_until="load")
                    page.evaluate(PREPARE)
                    found += compared(page, f"{name}-{theme}-{width}", kept)
                    looks += 1
                    print(f"{looks} looks, {len(found)} differ", end="\r", flush=True)
                page.goto((HTML / "book" / f"{names[0]}.html").as_uri(), wait_until="load")
                for state in _states(page):
                    found += compared(page, f"{names[0]}-{theme}-{width}-{state}", kept)
                    looks += 1
                page.close()
            browser.close()
    finally:
        whole.unlink()
    print(f"\n{looks} looks compared, {len(found)} pictures differ.", f"See {kept}." * bool(found))
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
