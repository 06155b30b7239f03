"""Where the book's sections are, as seen from a notebook that is open in a browser."""

from __future__ import annotations

import os
import re
from pathlib import Path

from attn_lib.course.jupyter.front_end import server_url

#: The environment variable by which a server tells its kernels which folder it serves at `ROUTE`.
SERVED = "ATTN_LIB_BOOK"

#: Where a server's addresses of the book begin, after its own beginning.
ROUTE = "attn_lib/book"

#: Where a built book may be: in a clone after `make book`, and in the learners' archive.
FOLDERS = ("_build/html", "book")

_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)/book/index\.html"')
_BASE = re.compile(r'^ +baseurl: *"?(https?://[^\s"]+)', re.MULTILINE)


def address_of(section: str) -> str:
    """Return the address of a section in a browser, or "" if no book can be reached from there.

    It is that of the published book, if its address is configured. Else it is that of the book on
    the Jupyter server, since a browser opens no file:// address from another page.

    Parameters
    ----------
    section : str
        A page and a heading, such as "masking#the-causal-mask".
    """
    page, mark, heading = section.partition("#")
    inside = f"book/{page}.html"
    if site := _published():
        return f"{site}/{inside}{mark}{heading}"
    folder, start = os.environ.get(SERVED), server_url()
    if folder and start and (Path(folder) / inside).is_file():
        return f"{start}{ROUTE}/{inside}{mark}{heading}"
    return ""


def find_book(place: Path) -> Path | None:
    """Return the folder of a built book in a place or above it, or None."""
    built = (above / folder for above in (place, *place.parents) for folder in FOLDERS)
    return next((folder for folder in built if (folder / "book/index.html").is_file()), None)


def _published() -> str:
    """Return the address at which the book is published, or "": a built page names its own."""
    here = Path.cwd()
    for place in (here, *here.parents):
        if (place / "_toc.yml").is_file() and (settings := place / "_config.yml").is_file():
            found = _BASE.search(settings.read_text(encoding="utf-8"))
            return found[1].rstrip("/") if found else ""
    folder = find_book(here)
    if folder is None:
        return ""
    found = _ADDRESS.search((folder / "book/index.html").read_text(encoding="utf-8"))
    return found[1] if found else ""
