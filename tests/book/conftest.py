"""Fixtures for tests of the book: tiny books, and pages whose errors and requests are recorded."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import axe_playwright_python
import pytest
import yaml

FIXTURES = Path(__file__).parent / "fixtures"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="session")
def tiny_book(root, tmp_path_factory):
    """A function that makes a book of one page of fixtures/ and returns its folder.

    The book has the course's _config.yml, extensions and assets.
    """

    def make(page: str) -> Path:
        folder = tmp_path_factory.mktemp(page)
        book = folder / "book"
        book.mkdir()
        for name in ("_config.yml", "requirements.txt"):
            shutil.copy(root / name, folder)
        for name in ("_ext", "assets"):
            (book / name).symlink_to(root / "book" / name)
        shutil.copy(root / "book" / "references.bib", book)
        (folder / "attn_lib").symlink_to(root / "attn_lib")
        shutil.copy(FIXTURES / f"{page}.md", book / "index.md")
        toc = {"format": "jb-book", "root": "book/index"}
        (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def build_tiny_book(tiny_book, jupyter_book, tmp_path_factory):
    """A function that makes a tiny book and builds it into another folder."""

    def build(page: str, *options: str):
        return jupyter_book(tiny_book(page), tmp_path_factory.mktemp(f"{page}-built"), *options)

    return build


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without logging each request."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def book_url(built_book):
    """The address of the book, served as `make serve` does."""
    handler = functools.partial(QuietHandler, directory=built_book)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _is_local(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in {"file", "data", "blob"} or parts.hostname == "127.0.0.1"


class WatchedPage:
    """A browser page that records every error and every request."""

    def __init__(self, page):
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._note_message)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", self._note_request)
        page.on("requestfailed", lambda request: self.problems.append(f"failed: {request.url}"))
        page.on("response", self._note_response)

    def _note_message(self, message):
        if message.type in {"error", "warning"}:
            self.problems.append(f"console {message.type}: {message.text}")

    def _note_request(self, request):
        self.requests.append(request.url)
        if not _is_local(request.url):
            self.problems.append(f"another host: {request.url}")

    def _note_response(self, response):
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")

    def open(self, address: str):
        """Load the address, wait until its formulas are typeset and return the response."""
        response = self.page.goto(address, wait_until="load")
        self.page.evaluate("window.MathJax?.startup?.promise")
        # The theme and scroll.js run after the formulas have changed the layout.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        return response

    def theme(self) -> str:
        """Return the theme that the page shows, "light" or "dark"."""
        return self.page.evaluate("document.documentElement.dataset.theme")

    def formulas_not_set(self) -> list[str]:
        """Return the formulas that MathJax did not typeset or could not parse."""
        left = self.page.evaluate(
            "[...document.querySelectorAll('.math')]"
            ".filter(e => !e.querySelector('mjx-container')).map(e => e.textContent)"
        )
        wrong = "mjx-merror, [data-mml-node=merror], mjx-container [fill=red]"
        return left + self.page.locator(wrong).all_inner_texts()

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

    def axe(self, *, without: str | None = None, exclude: Sequence[str] = ()) -> list[str]:
        """Return the violations that the accessibility checker finds, one line per element.

        It applies all rules, or all except `without`. Elements that match a selector in `exclude`
        are not checked.
        """
        return self._checked(
            json.dumps({"exclude": [[selector] for selector in exclude]}),
            runOnly={"type": "tag", "values": AXE_TAGS},
            rules={without: {"enabled": False}} if without else {},
        )

    def contrast(self) -> list[str]:
        """Return the contrast violations, checked on one text of each style on the page."""
        return self._checked(
            f"{{include: ({LOOKS})()}}", runOnly={"type": "rule", "values": ["color-contrast"]}
        )

    def _checked(self, where: str, **options: object) -> list[str]:
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        # With preload, axe would fetch the style sheets, which file:// does not allow.
        found = self.page.evaluate(
            f"""options => axe.run({where}, {{
                 preload: false, resultTypes: ["violations"], ...options,
               }})""",
            options,
        )
        return [
            f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]


@pytest.fixture(scope="module")
def browser_context(chromium):
    """A function that returns a context with given options; equal options share one context."""
    contexts = {}

    def get(**options):
        key = tuple(sorted(options.items()))
        if key not in contexts:
            theme, width = options.pop("theme"), options.pop("width")
            contexts[key] = chromium.new_context(
                color_scheme=theme,
                viewport={"width": width, "height": 800},
                reduced_motion="reduce",
                **options,
            )
        return contexts[key]

    yield get
    for context in contexts.values():
        context.close()


@pytest.fixture
def watch(browser_context):
    """A function that opens a watched page with a colour scheme, a width and further options."""
    pages = []

    def open_page(theme: str = "light", width: int = 1280, **options) -> WatchedPage:
        pages.append(browser_context(theme=theme, width=width, **options).new_page())
        return WatchedPage(pages[-1])

    yield open_page
    for page in pages:
        page.close()
