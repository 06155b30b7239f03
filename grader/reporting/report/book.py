"""Mistakes in words, with links to the sections of the book that explain them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from attn_lib.course.mistakes import catalogue
from grader import course
from grader.reporting.feedback_page import FeedbackExporter
from grader.reporting.report.people import quoted

#: The folder of the book's pages that `make book` builds.
BUILT_BOOK = course.ROOT / "_build" / "html" / "book"


class Described(NamedTuple):
    """A mistake that tests named."""

    id: str
    sentence: str  #: what is wrong, or "" if the catalogue does not know it
    section: str  #: of the book, or ""
    address: str  #: of the section, or ""


def described(mistakes: Iterable[str], here: Path) -> list[Described]:
    """Return the mistakes in words.

    Sections are those of the published book, ``c.FeedbackExporter.book``, or else of the one that
    was built here, if it was.

    Parameters
    ----------
    mistakes : iterable of str
        Their ids.
    here : Path
        The folder of the page that shows the links.
    """
    root = course.options(FeedbackExporter).book
    if not root and BUILT_BOOK.is_dir():
        root = quoted(os.path.relpath(BUILT_BOOK, here))
    known = {mistake.id: mistake for mistake in catalogue()}
    return [
        Described(
            name,
            known[name].sentence if name in known else "",
            known[name].section if name in known else "",
            _address(root, known[name].section) if name in known and root else "",
        )
        for name in mistakes
    ]


def _address(root: str, section: str) -> str:
    page, mark, anchor = section.partition("#")
    return f"{root}/{page}.html{mark}{anchor}"
