"""Finds, reads and repairs a submission, so that its notebook can be judged."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat import NotebookNode

from grader.submission.arranging import arrange
from grader.submission.errors import Unreadable
from grader.submission.expecting import expected_cells
from grader.submission.locating import find, load, own_files
from grader.submission.matching import match
from grader.submission.reading import read

__all__ = ["Repaired", "Unreadable", "find", "load", "own_files", "repair"]


@dataclass(frozen=True)
class Repaired:
    """The repaired notebook of a submission."""

    notebook: NotebookNode
    remarks: list[str]  #: what was repaired; empty if nothing was
    missing: list[str]  #: the answers that were not handed in, in the source's order


def repair(data: bytes, source: NotebookNode) -> Repaired:
    """Return a notebook with the learner's answers and the assignment's other cells.

    Only the text of cells, their order and the pictures in text cells are kept from the
    submission. Tests, given cells and all metadata come from the source.

    Parameters
    ----------
    data : bytes
        The file that was handed in. It may contain anything.
    source : NotebookNode
        The instructor's notebook with stubs and hidden tests. It is not changed.

    Raises
    ------
    Unreadable
        If the file is not a notebook, or is too large.
    """
    reading = read(data)
    expected = expected_cells(source)
    matching = match(reading.cells, expected)
    notebook, remarks, missing = arrange(reading.cells, expected, matching, source)
    return Repaired(notebook, [*reading.remarks, *remarks], missing)
