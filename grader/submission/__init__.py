"""A submission as it was handed in, turned into a notebook that can be run and judged."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat import NotebookNode

from grader.submission.arranging import arrange
from grader.submission.errors import Unreadable
from grader.submission.expecting import expected_cells
from grader.submission.finding import find, load
from grader.submission.matching import match
from grader.submission.reading import read

__all__ = ["Repaired", "Unreadable", "find", "load", "repair"]


@dataclass(frozen=True)
class Repaired:
    """A submission's notebook, put right."""

    notebook: NotebookNode
    remarks: list[str]  #: what was put right, in words; empty if nothing was
    missing: list[str]  #: the answers that were not handed in, in the source's order


def repair(data: bytes, source: NotebookNode) -> Repaired:
    """Return the learner's answers in the assignment's own frame.

    Of the submission only the text of cells, their order and the pictures in text cells are
    kept. Tests, given cells and all metadata come from the source.

    Parameters
    ----------
    data : bytes
        The file that was handed in. Nothing about it is taken for granted.
    source : NotebookNode
        The instructor's notebook without solutions, with hidden tests. It is not changed.

    Raises
    ------
    Unreadable
        If the file is no notebook.
    """
    reading = read(data)
    expected = expected_cells(source)
    matching = match(reading.cells, expected)
    notebook, remarks, missing = arrange(reading.cells, expected, matching, source)
    return Repaired(notebook, [*reading.remarks, *remarks], missing)
