"""Measure with Lighthouse how heavy pages are, and how soon a phone shows them.

    .venv/bin/python benchmarks/page_weight.py                     # the book in _build/html
    .venv/bin/python benchmarks/page_weight.py --before FOLDER     # beside an earlier book
    .venv/bin/python benchmarks/page_weight.py --write             # and write PAGE_WEIGHT.md

Needs Chromium, Node and, once, the network: npx fetches Lighthouse. Each book is served with gzip,
and Lighthouse opens its pages as a phone on a slow line would (its default, "mobile"). The runs of
all books and pages alternate; the table has the medians. Lighthouse computes its times from what
the processor takes here, so a busy machine makes them longer; bytes and shifts stay the same.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from statistics import median

from attn_lib.figures.tables import table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("PAGE_WEIGHT.md")
LIGHTHOUSE = "lighthouse@13.5.0"
PAGES = ("index", "dot-products", "masking", "complexity", "museum-masking")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
FLAGS = "--headless=new --no-sandbox --disable-dev-shm-usage"
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}
HEAD = [
    "page",
    *("performance", "accessibility", "best practices", "SEO"),
    *("transferred / kB", "first paint / s", "largest paint / s", "blocked / ms", "shift"),
]


class GzipHandler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder, with texts compressed as web servers do."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix in COMPRESSED:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder and yield its address."""
    handler = functools.partial(GzipHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def audit(address: str) -> list[float]:
    """Return what Lighthouse finds on a page, in the order of `HEAD`."""
    command = ["npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json"]
    command += [f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={FLAGS}"]
    environment = os.environ | {"CHROME_PATH": str(shutil.which("chromium"))}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    report = json.loads(done.stdout)
    values = {name: audit.get("numericValue") for name, audit in report["audits"].items()}
    return [
        *(report["categories"][name]["score"] for name in CATEGORIES),
        values["total-byte-weight"] / 1000,
        values["first-contentful-paint"] / 1000,
        values["largest-contentful-paint"] / 1000,
        values["total-blocking-time"],
        values["cumulative-layout-shift"],
    ]


def measure(books: dict[str, Path], runs: int) -> dict[tuple[str, str], list[float]]:
    """Return the medians of each page and book."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(served(path)) for name, path in books.items()}
        for run in range(runs):
            for page in PAGES:
                for name, address in addresses.items():
                    result = audit(f"{address}/book/{page}.html")
                    found.setdefault((page, name), []).append(result)
                    print(f"{run + 1} {page} {name} {result}", file=sys.stderr, flush=True)
    return {
        key: [median(column) for column in zip(*rows, strict=True)] for key, rows in found.items()
    }


def report(medians: dict[tuple[str, str], list[float]], runs: int) -> str:
    """Return the table, with its head, as Markdown."""
    load = os.getloadavg()[2] / (os.cpu_count() or 1)
    times = "one run each" if runs == 1 else f"medians of {runs} runs each"
    names = list(dict.fromkeys(name for _, name in medians))
    rows = [
        [
            page if len(names) == 1 else f"{page}, {name}",
            *(f"{score:.2f}" for score in values[:4]),
            f"{values[4]:.0f}",
            f"{values[5]:.1f}",
            f"{values[6]:.1f}",
            f"{values[7]:.0f}",
            f"{values[8]:.3f}",
        ]
        for (page, name), values in medians.items()
    ]
    return (
        f"# The weight of pages\n\n{LIGHTHOUSE}, mobile, {times}, {date.today():%Y-%m-%d}. Made by "
        "`benchmarks/page_weight.py`, which says how.\n\n"
        f"In the last quarter of an hour {load:.1f} processes waited for each core. Above 1, "
        "performance, paints and what is blocked are worse than on a quiet machine.\n\n"
        f"{table(HEAD, rows)}\n"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("book", nargs="?", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--before", type=Path, help="an earlier book, measured beside it")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write PAGE_WEIGHT.md")
    options = parser.parse_args(arguments)
    books = (
        {"before": options.before, "after": options.book} if options.before else {"": options.book}
    )
    for book in books.values():
        if not (book / "book" / "index.html").is_file():
            print(f"expected a built book, found no {book}/book/index.html.", file=sys.stderr)
            return 1
    missing = [name for name in ("chromium", "npx") if shutil.which(name) is None]
    if missing:
        print(f"expected {' and '.join(missing)}, found none; install them.", file=sys.stderr)
        return 1
    text = report(measure(books, options.runs), options.runs)
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
