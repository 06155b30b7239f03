"""Take the README's pictures: a page of the book, a graded class, and feedback to a learner.

    python -m tools.pictures        after make course; writes them into docs/

Needs Chromium. The class is the sample class, so everyone who runs `make course` gets the
pages in these pictures.
"""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tools.chromium import FLAGS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs"
#: Maximum size of a README picture, in bytes.
LIMIT = 150_000

#: Whether every live figure in the window computes; some start when they come near.
LIVE = """
[...document.querySelectorAll("figure.attn-live")].every((figure) => {
  const { top, bottom } = figure.getBoundingClientRect();
  return figure.dataset.state || top > innerHeight || bottom < 0;
})
"""


@dataclass(frozen=True)
class View:
    """The part of a page to take: a window of this size, with a given element at its top."""

    page: str  #: a file that make course writes
    top: str  #: a CSS selector
    above: int  #: pixels of the page to show above that element
    width: int
    height: int
    choose: tuple[str, ...] = ()  #: labels of options to choose in that element


VIEWS = {
    "page.png": View(
        "_build/html/book/from-text-to-next-word.html",
        "figure[data-live='where-heads-look']",
        above=80,
        width=1240,
        height=740,
        choose=("layer 2, head 1", "word 7, ada"),
    ),
    "class.png": View(
        "_class/report-dot-products.html",
        "h1",
        above=20,
        width=900,
        height=1030,
    ),
    "feedback.png": View(
        "_class/feedback/divides-by-d-k/dot-products/dot-products.html",
        ".code_cell:has-text('def attention(q, k, v)')",
        above=-20,
        width=1000,
        height=800,
    ),
}


def take(page: Page, view: View) -> bytes:
    """Return a view as a PNG."""
    page.set_viewport_size({"width": view.width, "height": view.height})
    page.goto((ROOT / view.page).as_uri(), wait_until="load")
    page.locator(view.top).first.evaluate(
        "(e, above) => scrollTo({top: e.getBoundingClientRect().top + scrollY - above,"
        " behavior: 'instant'})",
        view.above,
    )
    page.wait_for_function(LIVE)
    for label in view.choose:
        page.locator(view.top).first.get_by_label(label).check()
    page.wait_for_timeout(500)  # the theme animates its bars while a page scrolls
    return page.screenshot()


def smaller(png: bytes) -> bytes:
    """Return the picture reduced to a palette of 256 colours, with no visible difference."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    reduced = picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    file = io.BytesIO()
    reduced.save(file, "png", optimize=True)
    return file.getvalue()


def main() -> int:
    browser_path = shutil.which("chromium")
    missing = [view.page for view in VIEWS.values() if not (ROOT / view.page).is_file()]
    if browser_path is None or missing:
        wanted = ", ".join([*missing, *([] if browser_path else ["Chromium"])])
        print(f"expected {wanted}, found none; run make course.", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(color_scheme="light", reduced_motion="reduce")
        for name, view in VIEWS.items():
            png = smaller(take(page, view))
            (FOLDER / name).write_bytes(png)
            print(f"docs/{name}: {len(png) / 1000:.0f} kB")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
