"""Read the book's table of contents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def listed_pages(root: Path) -> list[str]:
    """Return the pages in _toc.yml, such as "book/masking", in the order of the book."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(page for part in toc["parts"] for page in _pages(part["chapters"]))]


def _pages(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        yield entry["file"]
        yield from _pages(entry.get("sections", []))
