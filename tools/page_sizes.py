"""Report how many bytes a reader loads for each page of the built book.

    page_sizes.py [BOOK]        BOOK: the folder with the HTML; default _build/html

Files that all pages share are loaded once and listed separately: the search index and everything
in _static. A page's own size is its HTML and all other files that it loads.
The report also says how much of that is pictures, those of all positions of a slider included. A
browser loads them when a reader comes near. "Sent" is the size of the HTML when a server compresses
it with gzip.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

ROOT = Path(__file__).resolve().parent.parent
#: Bytes a phone on a slow line loads in a few seconds, including all slider pictures.
LIMIT = 1_200_000
SHARED = ("_static/",)
PICTURE = re.compile(r"_images/[\w.-]+")
LOADING = {"img": "src", "script": "src", "link": "href", "source": "src"}
#: Values of `rel` with which a `<link>` only names a page, so the browser loads nothing.
NOT_LOADED = {"author", "canonical", "license", "next", "prev", "search", "index"}
#: Base for resolving relative addresses. The host does not exist.
BASE = "https://book.invalid/"


@dataclass(frozen=True)
class Size:
    """The size of one page, in bytes."""

    page: str
    html: int
    pictures: int  #: the pictures that the page may show
    frames: int  #: number of these pictures
    files: int  #: other files that this page loads, without the shared ones
    sent: int  #: the HTML after gzip

    @property
    def own(self) -> int:
        """The page's size without the shared files."""
        return self.html + self.pictures + self.files


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        kinds = set((attributes.get("rel") or "").split())
        address = attributes.get(LOADING.get(tag, ""))
        if address and not address.startswith("data:") and not kinds & NOT_LOADED:
            self.found.append(address)


def loaded(html: str, page: str) -> set[str]:
    """Return the files of the book that a page loads, as paths relative to the book's root.

    Examples
    --------
    >>> loaded('<img src="../_images/a.png"><a href="b.html">B</a>', "book/index.html")
    {'_images/a.png'}
    """
    parser = _Addresses()
    parser.feed(html)
    addresses = [urlsplit(urljoin(BASE + page, address)) for address in parser.found]
    return {unquote(a.path).lstrip("/") for a in addresses if a.netloc == urlsplit(BASE).netloc}


def pages(book: Path) -> list[str]:
    """Return the pages a reader opens, without the theme's templates."""
    names = (path.relative_to(book).as_posix() for path in sorted(book.rglob("*.html")))
    return [name for name in names if not name.startswith(SHARED)]


def measure(book: Path, page: str) -> Size:
    """Return the sizes of one page."""
    content = (book / page).read_bytes()
    html = content.decode()
    pictures = set(PICTURE.findall(html))
    own = [name for name in loaded(html, page) - pictures if not name.startswith(SHARED)]
    return Size(
        page=page,
        html=len(content),
        pictures=sum((book / name).stat().st_size for name in pictures),
        frames=len(pictures),
        files=sum((book / name).stat().st_size for name in own if name != page),
        sent=len(gzip.compress(content, mtime=0)),
    )


def shared(book: Path) -> dict[str, int]:
    """Return the files that pages share, with their sizes in bytes."""
    names = set().union(
        *(loaded((book / page).read_text(encoding="utf-8"), page) for page in pages(book))
    )
    return {
        name: (book / name).stat().st_size
        for name in sorted(names)
        if name.startswith(SHARED) and (book / name).is_file()
    }


def report(book: Path) -> Iterator[str]:
    """Yield the lines of the report, in kilobytes."""
    yield f"{'page':34} {'own':>7} {'pictures':>14} {'sent':>7}   kB"
    for size in sorted((measure(book, page) for page in pages(book)), key=lambda s: -s.own):
        frames = f"{size.pictures / 1000:.0f} in {size.frames}"
        mark = "" if size.own <= LIMIT else "   over the limit"
        yield (f"{size.page:34} {size.own / 1000:7.0f} {frames:>14} {size.sent / 1000:7.0f}{mark}")
    weights = shared(book)
    yield f"shared by all, loaded once: {sum(weights.values()) / 1000:.0f} kB, of which"
    for name, weight in sorted(weights.items(), key=lambda pair: -pair[1])[:5]:
        yield f"  {name:50} {weight / 1000:7.0f}"
    yield f"The limit is {LIMIT / 1000:.0f} kB for each page."


def main(arguments: list[str]) -> int:
    book = Path(arguments[0]) if arguments else ROOT / "_build" / "html"
    if not (book / "index.html").is_file():
        print(f"expected a built book, found no {book}/index.html; run make book.", file=sys.stderr)
        return 1
    print(*report(book), sep="\n")
    return int(any(measure(book, page).own > LIMIT for page in pages(book)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
