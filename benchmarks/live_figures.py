"""Measure the live figures of the book: how much each transfers, and how soon it answers.

    .venv/bin/python benchmarks/live_figures.py            # print the table
    .venv/bin/python benchmarks/live_figures.py --write    # and write it to LIVE_FIGURES.md

It opens the pages in `_build/html` (from `make book`) in Chromium, and uses the handles, sliders,
fields, boxes and buttons of every figure in turn. The time of an answer is that of the event's
handlers and of the layout after them; painting is not in it. Between two events a frame passes, as
between those of a reader. A frame of a screen with 60 Hz lasts 16.7 ms.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import sys
from datetime import date
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from attn_lib.figures.tables import table

ROOT = Path(__file__).resolve().parents[1]

HTML = ROOT / "_build" / "html"
RESULTS = Path(__file__).with_name("LIVE_FIGURES.md")
INTERACTIONS = 200
MARK = 'class="attn-live"'
#: The scripts that figures share, and the weights of the trained model.
SHARED = ("mathematics", "kit", "generator", "model", "model-view")
WEIGHTS = "trained-model"

#: Uses the controls of a figure in turn and returns how many milliseconds each answer took.
USE = """
async ([index, number]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const now = document.querySelectorAll("figure.attn-live")[index].querySelector(".attn-live-now");
  const press = (key) => (e) =>
    e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const input = (value) => (e) => {
    e.value = value(e);
    e.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const click = (e) => e.click();
  const uses = [
    [".live-handle", ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"].map(press)],
    ["input[type=range]", [input((e) => e.max), input((e) => e.min)]],
    ["input[type=number]", [input(() => 1), input(() => 2)]],
    ["input[type=checkbox], input[type=radio]", [click]],
    ["button:not(:disabled)", [click]],
  ];
  const times = [];
  for (let turn = 0; times.length < number; turn++) {
    const before = times.length;
    for (const [selector, ways] of uses) {
      for (const element of now.querySelectorAll(selector)) {
        if (!element.isConnected || !element.getClientRects().length) continue;
        await frame();
        const start = performance.now();
        ways[turn % ways.length](element);
        now.getBoundingClientRect();
        times.push(performance.now() - start);
      }
    }
    if (times.length === before) throw new Error("the figure has nothing to use");
  }
  return times;
}
"""


def transferred(name: str) -> int:
    """Return the compressed size of a script in bytes."""
    return len(gzip.compress((HTML / "_static" / "live" / f"{name}.js").read_bytes()))


def measure(page: Page, path: Path) -> list[tuple[str, str, int, str, str]]:
    """Return a row for each live figure of a page."""
    page.goto(path.as_uri())
    figures = page.locator("figure.attn-live").all()
    for figure in figures:
        figure.scroll_into_view_if_needed()
        figure.locator(".attn-live-now").wait_for()
    rows = []
    for index, figure in enumerate(figures):
        name = figure.get_attribute("data-live") or ""
        times = page.evaluate(USE, [index, INTERACTIONS])
        milliseconds = [f"{value:.1f}" for value in (median(times), max(times))]
        rows.append((path.stem, name, transferred(name), *milliseconds))
    return rows


def report() -> str:
    """Measure all figures and return the results as Markdown."""
    pages = [p for p in sorted(HTML.rglob("*.html")) if MARK in p.read_text("utf-8")]
    if not pages:
        sys.exit(f"expected pages with live figures in {HTML}, found none; run make book.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        rows = [row for path in pages for row in measure(browser.new_page(), path)]
        browser.close()
    shared = sum(map(transferred, SHARED))
    head = ["page", "figure", "bytes of its script, gzip", "median ms", "worst ms"]
    return (
        "# Live figures\n\n"
        "Written by `benchmarks/live_figures.py --write`. The times are of the handlers of at "
        f"least {INTERACTIONS} events a figure and of the layout after each. Between two events a "
        "frame passes, which lasts 16.7 ms.\n\n"
        f"{date.today().isoformat()}. The scripts that figures share take {shared:,} bytes "
        f"compressed, the weights of the trained model {transferred(WEIGHTS):,}.\n\n"
        f"{table(head, rows)}\n"
    )


def main() -> None:
    """Print the report, and write it if asked to."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    text = report()
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
