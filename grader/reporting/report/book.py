"""Mistakes in words, with links to the sections of the book that explain them."""

from __future__ import annotations

import os
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


class Book:
    """The book, as seen from a page: the published one, or else the one that was built here.

    Parameters
    ----------
    here : Path
        The folder of the page that shows the links.
    """

    def __init__(self, here: Path) -> None:
        self._root = course.options(FeedbackExporter).book
        if not self._root and BUILT_BOOK.is_dir():
            self._root = quoted(os.path.relpath(BUILT_BOOK, here))
        self._catalogue = {mistake.id: mistake for mistake in catalogue()}

    def described(self, name: str) -> Described:
        """Return a mistake in words, by its id."""
        mistake = self._catalogue.get(name)
        if mistake is None:
            return Described(name, "", "", "")
        page, mark, anchor = mistake.section.partition("#")
        address = f"{self._root}/{page}.html{mark}{anchor}" if self._root else ""
        return Described(name, mistake.sentence, mistake.section, address)
