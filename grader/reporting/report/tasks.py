"""What an assignment's own notebook says about its tasks: titles, and options to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import nbformat
from nbgrader.utils import is_grade, is_solution

#: A heading in a text cell.
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)
#: What a text says of an answer: its name, then an option in each of the lines below.
_CHOICE = re.compile(r"^- `(\w+)`:.*\n((?:[ \t]+- [A-Z]: .*(?:\n|\Z))+)", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]+- ([A-Z]): (.*)$", re.MULTILINE)


class Tasks(NamedTuple):
    """The texts in a notebook."""

    titles: Mapping[str, str]  #: the heading above each cell that is worth points
    options: Mapping[str, Mapping[str, str]]  #: by answer, the text of each letter


def tasks_of(source: bytes) -> Tasks:
    """Return what an instructor's notebook says about its tasks."""
    notebook = nbformat.reads(source.decode("utf-8"), as_version=4)
    titles: dict[str, str] = {}
    options: dict[str, dict[str, str]] = {}
    title = ""
    for cell in notebook.cells:
        if is_grade(cell):
            titles[cell.metadata.nbgrader.grade_id] = title
        if cell.cell_type == "markdown" and not is_grade(cell) and not is_solution(cell):
            title = next(iter(_HEADING.findall(cell.source)[-1:]), title)
            for name, lines in _CHOICE.findall(cell.source):
                options[name] = dict(_OPTION.findall(lines))
    return Tasks(titles, options)
