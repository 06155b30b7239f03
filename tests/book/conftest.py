"""Fixtures for tests of the book: tiny books, and pages whose errors and requests are recorded."""

from __future__ import annotations

import contextlib
import functools
import http.server
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import axe_playwright_python
import pytest
import yaml
from playwright.sync_api import Page

from tests.book.warm_builds import WarmBuilds
from tests.conftest import run_jupyter_book

FIXTURES = Path(__file__).parent / "fixtures"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOKS, KEEP_LOOKS, NAMES, UNREACHED = (
    (Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("looks.js", "keep_looks.js", "names.js", "unreached.js")
)
#: The rules whose result depends on colours. For a link in a text, so does its distinction.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
#: The rules whose result depends on the sizes and places of elements.
LAYOUT_RULES = ["scrollable-region-focusable", "target-size"]
#: The window's height in pixels.
HEIGHT = 800
#: For how many seconds a test waits for what a page shows late.
PATIENCE = 30
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="session")
def jupyter_book():
    """`run_jupyter_book`, which starts from a process that has loaded Sphinx."""
    builds = WarmBuilds()
    yield functools.partial(run_jupyter_book, run=builds.run)
    builds.close()


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
        # An earlier page of the tab may still report what it had requested.
        self._requested = set()
        self._listeners = {
            "console": self._note_message,
            "pageerror": lambda error: self.problems.append(f"error: {error}"),
            "request": self._note_request,
            "requestfailed": self._note_failure,
            "response": self._note_response,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def leave(self):
        """Stop recording and unload the document, so that the tab can be used again."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        # Other tests start with a browser that remembers nothing, not even the page that it leaves.
        if self.page.url != "about:blank":
            self.page.evaluate("""() => {
                localStorage.clear();
                Storage.prototype.setItem = () => {};
            }""")
        self.page.goto("about:blank")

    def _note_message(self, message):
        if message.type in {"error", "warning"}:
            self.problems.append(f"console {message.type}: {message.text}")

    def _note_request(self, request):
        self.requests.append(request.url)
        self._requested.add(request)
        if not _is_local(request.url):
            self.problems.append(f"another host: {request.url}")

    def _note_failure(self, request):
        # Whoever leaves a page stops what it still loads.
        if request in self._requested and request.failure != "net::ERR_ABORTED":
            self.problems.append(f"failed: {request.url}")

    def _note_response(self, response):
        if response.status >= 400 and response.request in self._requested:
            self.problems.append(f"status {response.status}: {response.url}")

    def open(self, address: str):
        """Load the address, wait until its scripts have run and return the response."""
        response = self.page.goto(address, wait_until="load")
        # The theme and scroll.js look at the layout a little later.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        return response

    def open_until(self, address: str, knows: Callable[[Page], bool]) -> None:
        """Open the address until its page knows what an earlier one has stored, or for some time.

        Pages may be processes of their own, so what one stores reaches the next one late. On a busy
        machine the browser may even end a page before what it stores on leaving has arrived, so it
        is told earlier that it is left.
        """
        self.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
        last = time.monotonic() + PATIENCE
        self.open(address)
        while not knows(self.page) and time.monotonic() < last:
            self.open(address)

    def start_figures(self) -> None:
        """Scroll to each live figure in turn: some start only when they come near."""
        for figure in self.page.locator("figure.attn-live").all():
            figure.scroll_into_view_if_needed()
            self.page.wait_for_function(
                "figure => figure.dataset.state", arg=figure.element_handle(), polling=50
            )
        self.page.evaluate("scrollTo(0, 0)")

    def theme(self) -> str:
        """Return the theme that the page shows, "light" or "dark"."""
        return self.page.evaluate("document.documentElement.dataset.theme")

    def set_theme(self, theme: str) -> None:
        """Change the system's colour scheme and wait until the page shows it."""
        self.page.emulate_media(color_scheme=theme)
        self.wait_for(f"document.documentElement.dataset.theme === {theme!r}")

    def set_width(self, width: int) -> None:
        self.page.set_viewport_size({"width": width, "height": HEIGHT})
        self.wait_for(f"window.innerWidth === {width}")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        # Playwright looks at every frame unless told otherwise, and frames are slow to draw.
        self.page.wait_for_function(condition, polling=50)

    def formulas_not_set(self) -> list[str]:
        """Return the formulas that KaTeX did not typeset, or that it marked as wrong."""
        left = self.page.evaluate(
            "[...document.querySelectorAll('.math')]"
            ".filter(e => !e.querySelector('.katex math')).map(e => e.textContent)"
        )
        return left + self.page.locator(".katex-error, .katex merror").all_inner_texts()

    def remove_glyphs(self) -> None:
        """Replace what is seen of formulas by one box each, of the same size.

        They are half of all elements on a page, and screen readers do not get them.
        """
        self.page.evaluate("""() => {
            const shown = [...document.querySelectorAll(".katex-html")];
            const sizes = shown.map(e => e.getBoundingClientRect());
            shown.forEach((e, i) => {
                const box = document.createElement("span");
                const size = `width: ${sizes[i].width}px; height: ${sizes[i].height}px`;
                box.style = `display: inline-block; ${size}`;
                e.replaceChildren(box);
            });
        }""")

    @contextlib.contextmanager
    def lighter(self, empty: Sequence[str] = ()) -> Iterator[None]:
        """Take elements out of the page within this context that the checker need not see.

        The spans that only colour code and the parts of formulas are two thirds of what is left of
        all elements on many pages. A rule that is not about colours has nothing to say of an
        element with no attribute but its class, or of the parts of a formula. Elements that match a
        selector in `empty` lose their content and keep their height: the checker would walk through
        all of it, even where it is told to exclude it.
        """
        self.page.evaluate(
            """selectors => {
                const replaceContent = (element, nodes) => {
                    const kept = [...element.childNodes];
                    element.replaceChildren(...nodes);
                    return () => element.replaceChildren(...kept);
                };
                const empty = ([element, height]) => {
                    const before = element.getAttribute("style");
                    const fill = replaceContent(element, []);
                    element.style.height = `${height}px`;
                    return () => {
                        fill();
                        if (before === null) element.removeAttribute("style");
                        else element.setAttribute("style", before);
                    };
                };
                const isPlain = span => [...span.attributes].every(({ name }) => name === "class");
                const uncolour = pre => {
                    const plain = pre.cloneNode(true);
                    for (const span of [...plain.querySelectorAll("span")].filter(isPlain)) {
                        span.replaceWith(...span.childNodes);
                    }
                    plain.normalize();
                    return replaceContent(pre, plain.childNodes);
                };
                const checked = /^(aria-|role$|id$|tabindex$|href$)/;
                const isPlainMath = element =>
                    [...element.querySelectorAll("*")].every(part =>
                        [...part.attributes].every(({ name }) => !checked.test(name)));
                const withoutParts = math => replaceContent(math, [math.textContent]);
                const all = selector => [...document.querySelectorAll(selector)];
                // All at first, because each measurement after a change lays out the page anew.
                const measured = selectors.flatMap(all).map(
                    element => [element, element.getBoundingClientRect().height]);
                window.putBack ??= [];
                window.putBack.push([
                    ...measured.map(empty),
                    ...all("pre").map(uncolour),
                    ...all("math").filter(isPlainMath).map(withoutParts),
                ]);
            }""",
            list(empty),
        )
        yield
        self.page.evaluate("putBack.pop().reverse().forEach(act => act())")

    def pictures_not_shown(self) -> list[str]:
        """Return the figures' pictures that cannot be loaded or are no pictures.

        A browser loads them when they come near; this loads all of them.
        """
        return self.page.evaluate("""async () => {
            const images = [...document.querySelectorAll("figure img")];
            images.forEach(image => { image.loading = "eager"; });
            await Promise.allSettled(images.map(image => image.decode()));
            return images.filter(image => !image.naturalWidth).map(image => image.alt);
        }""")

    def names(self) -> set[str]:
        """Return the tags, classes, ids and attributes that are on the page now."""
        return set(self.page.evaluate(NAMES))

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

    def axe(self, *, without: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
        """Return the violations that the accessibility checker finds, one line per element.

        It applies all rules but those in `without`. Elements that match a selector in `exclude`
        are not checked.
        """
        return self._checked(
            _all_but(exclude),
            runOnly={"type": "tag", "values": AXE_TAGS},
            rules={rule: {"enabled": False} for rule in without},
        )

    def layout(self, exclude: Sequence[str] = ()) -> list[str]:
        """Return the violations of the rules about sizes and places."""
        with self.emptied():
            return self._checked(
                _all_but(exclude), runOnly={"type": "rule", "values": LAYOUT_RULES}
            )

    @contextlib.contextmanager
    def emptied(self, keep: str = ":not(*)") -> Iterator[None]:
        """Empty all blocks within this context that are not reached by pointer or keyboard.

        They keep their heights. What scrolls or may cover others stays, and so does what matches
        the selector `keep`. With most of its elements gone, a page is laid out and painted sooner.
        """
        self.page.evaluate(UNREACHED, keep)
        with self.lighter(empty=["[data-unreached]"]):
            yield
        self.page.evaluate(
            "document.querySelectorAll('[data-unreached]')"
            ".forEach(element => { delete element.dataset.unreached; })"
        )

    def layout_in_the_end(self, exclude: Sequence[str] = ()) -> list[str]:
        """Return what `layout` finds once it finds nothing, or what is left after some time."""
        last = time.monotonic() + PATIENCE
        while (found := self.layout(exclude)) and time.monotonic() < last:
            # Longer than scroll.js waits after a change of the page, which `layout` makes too.
            self.page.evaluate("new Promise(done => setTimeout(done, 500))")
        return found

    def colours(self, *themes: str) -> list[str]:
        """Return the violations of the rules about colours in each theme.

        One text of each look is checked. All others are removed from the page, because the checker
        spends most of its time on elements that it does not check.
        """
        for theme in themes:
            self.set_theme(theme)
            self.page.evaluate(f"for (const element of ({LOOKS})()) element.dataset.look = ''")
        self.page.evaluate(f"({KEEP_LOOKS})()")
        found = []
        for theme in reversed(themes):  # so that one change fewer is needed
            self.set_theme(theme)
            where = {"include": [["[data-look]"]]}
            violations = self._checked(where, runOnly={"type": "rule", "values": COLOUR_RULES})
            found += [f"{theme}: {violation}" for violation in violations]
        return found

    def _checked(self, where: dict[str, object], **options: object) -> list[str]:
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        # With preload, axe would fetch the style sheets, which file:// does not allow.
        found = self.page.evaluate(
            """([where, options]) => axe.run(where, {
                 preload: false, resultTypes: ["violations"], ...options,
               })""",
            [where, options],
        )
        return [
            f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]


def _all_but(selectors: Sequence[str]) -> dict[str, list[list[str]]]:
    """Return axe's context for the document without the elements that match a selector."""
    return {"include": [["html"]], "exclude": [[selector] for selector in selectors]}


class Tabs:
    """The tabs of a browser, each used for many pages, because a new one starts a process.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
        The browser.
    """

    def __init__(self, browser):
        self._browser = browser
        self._contexts = {}
        self._free = defaultdict(list)
        self._settings = {}

    def open(self, theme: str = "light", width: int = 1280, **options) -> WatchedPage:
        """Return a watched page with a colour scheme, a width and further options."""
        settings = theme, width, *sorted(options.items())
        if settings not in self._contexts:
            self._contexts[settings] = self._browser.new_context(
                color_scheme=theme,
                viewport={"width": width, "height": HEIGHT},
                reduced_motion="reduce",
                **options,
            )
        free = self._free[settings]
        watched = WatchedPage(free.pop() if free else self._contexts[settings].new_page())
        self._settings[watched] = settings
        return watched

    def close(self, watched: WatchedPage) -> None:
        """Stop watching the page and keep its tab for another one with the same settings."""
        settings = self._settings.pop(watched)
        theme, width, *_ = settings
        watched.leave()
        watched.set_width(width)
        watched.page.emulate_media(color_scheme=theme)
        self._free[settings].append(watched.page)

    def close_all(self) -> None:
        for context in self._contexts.values():
            context.close()


@pytest.fixture(scope="module")
def tabs(chromium):
    """The tabs in which pages are opened."""
    tabs = Tabs(chromium)
    yield tabs
    tabs.close_all()


@pytest.fixture
def watch(tabs):
    """A function that opens a watched page with a colour scheme, a width and further options."""
    opened = []

    def watch(*args, **options) -> WatchedPage:
        opened.append(tabs.open(*args, **options))
        return opened[-1]

    yield watch
    for watched in opened:
        tabs.close(watched)
