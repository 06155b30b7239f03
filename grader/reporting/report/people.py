"""Students by name, with links to their pages."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from grader.gradebook.reading import Learner
from grader.printable import printable
from grader.reporting.feedback import page_of
from grader.reporting.results import NOT_LISTED

#: How many students a list on a page names.
MAX_NAMED = 200

#: The folder with a page for each student.
FOLDER = "report-students"

#: The page with the list of all students.
LIST = f"{FOLDER}.html"

#: Characters of a file's name, so that none is too long for a file system.
MAX_FILE_NAME = 200


class Person(NamedTuple):
    """A student on a page."""

    label: str  #: name and id
    page: str  #: the address of the student's page
    work: str  #: the address of the feedback on an assignment, or "" if there is none


class People(NamedTuple):
    """Some students, of whom only so many are named."""

    number: int
    named: list[Person]

    @property
    def others(self) -> int:
        """How many are not named."""
        return self.number - len(self.named)


class Places:
    """Where pages lie, as seen from one of them.

    Parameters
    ----------
    into : Path
        The folder of the gradebook, with the folders feedback and report-students in it.
    here : Path
        The folder of the page that shows the links.
    learners : mapping
        What the class list says, by student.
    """

    def __init__(self, into: Path, here: Path, learners: Mapping[str, Learner]) -> None:
        self._into, self._learners = into, learners
        self._root = quoted(os.path.relpath(into, here))

    def person(self, student: str, assignment: str = "", cell: str = "") -> Person:
        """Return a student with links: to feedback on an assignment too, and to a cell there."""
        work = ""
        if assignment and page_of(self._into, assignment, student).is_file():
            work = f"{self._root}/feedback/{quoted(student)}/{assignment}/{assignment}.html"
            work += f"#{quoted(cell)}" if cell else ""
        page = f"{self._root}/{FOLDER}/{quoted(file_name(student))}"
        return Person(self.label(student), page, work)

    def label(self, student: str) -> str:
        """Return the name of a student with the id, or the id alone."""
        learner = self._learners.get(student, NOT_LISTED)
        name = " ".join(filter(None, (learner.first_name, learner.last_name)))
        return printable(f"{name} ({student})" if name else student)

    def people(self, students: Iterable[str], assignment: str = "", cell: str = "") -> People:
        """Return students with links, the first `MAX_NAMED` of them by name."""
        found = list(students)
        named = [self.person(student, assignment, cell) for student in found[:MAX_NAMED]]
        return People(len(found), named)

    def page(self, name: str) -> str:
        """Return the address of a page in the folder of the gradebook, or "" if it is not there."""
        return self.address(name) if (self._into / name).is_file() else ""

    def address(self, name: str) -> str:
        """Return the address of a page in the folder of the gradebook."""
        return f"{self._root}/{quoted(name)}"


def quoted(path: str) -> str:
    """Return the part of an address that stands for a path.

    Examples
    --------
    >>> quoted("a b/ø#?.html")
    'a%20b/%C3%B8%23%3F.html'
    """
    return quote(path, errors="surrogateescape")


def file_name(student: str) -> str:
    """Return the name of a student's page. It is one file in one folder, whatever the id.

    Examples
    --------
    >>> file_name("ada"), file_name("../x y"), len(file_name("ø" * 128))
    ('ada.html', '..%2Fx%20y.html', 45)
    """
    name = quote(student, safe="", errors="surrogateescape")
    if len(name) > MAX_FILE_NAME:
        name = hashlib.sha256(name.encode("ascii")).hexdigest()[:40]
    return f"{name}.html"
