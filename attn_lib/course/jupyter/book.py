"""Where the book's sections are, as seen from a notebook that is open in a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from attn_lib.course.jupyter.front_end import Server, server

#: The environment variable with the folder of the book that `server.serve_book` serves.
SERVED = "ATTN_LIB_BOOK"

#: Where a built book may be: in a clone after `make book`, and in the learners' archive.
FOLDERS = ("_build/html", "book")

_ADDRESS = re.compile(r'<link rel="canonical" href="([^"]+)/book/index\.html"')
_BASE = re.compile(r'^ +baseurl: *"?(https?://[^\s"]+)', re.MULTILINE)


def address_of(section: str) -> str:
    """Return the address of a section in a browser, or "" if no book can be reached from there.

    It is that of the published book, if its address is configured. Else it is that of the book's
    file on the Jupyter server, since a browser opens no file:// address from another page.

    Parameters
    ----------
    section : str
        A page and a heading, such as "masking#the-causal-mask".
    """
    page, mark, heading = section.partition("#")
    inside = f"book/{page}.html"
    if site := _published():
        return f"{site}/{inside}{mark}{heading}"
    found = server()
    for folder in _books() if found else ():
        if (folder / inside).is_file() and (start := _served_at(folder, found)):
            return f"{start}/{inside}{mark}{heading}"
    return ""


def _places() -> tuple[Path, ...]:
    here = Path.cwd()
    return (here, *here.parents)


def _books() -> Iterator[Path]:
    """Yield the folders in which a built book is."""
    named = [Path(os.environ[SERVED])] if os.environ.get(SERVED) else []
    near = [place / folder for place in _places() for folder in FOLDERS]
    yield from (folder for folder in [*named, *near] if (folder / "book/index.html").is_file())


def _published() -> str:
    """Return the address at which the book is published, or "": a built page names its own."""
    for place in _places():
        if (place / "_toc.yml").is_file() and (settings := place / "_config.yml").is_file():
            found = _BASE.search(settings.read_text(encoding="utf-8"))
            return found[1].rstrip("/") if found else ""
    for folder in _books():
        found = _ADDRESS.search((folder / "book/index.html").read_text(encoding="utf-8"))
        return found[1] if found else ""
    return ""


def _served_at(folder: Path, found: Server | None) -> str:
    """Return where the server serves a folder, or "" if it does not."""
    if found is None:
        return ""
    if str(folder) == os.environ.get(SERVED):
        return f"{found.base_url}static"
    try:
        inside = folder.resolve().relative_to(found.root.resolve())
    except ValueError:
        return ""
    return f"{found.base_url}files/{quote(inside.as_posix())}"
