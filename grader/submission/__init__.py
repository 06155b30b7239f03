"""Finds, reads and repairs a submission, so that its notebook can be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.submission.arranging import arrange
from grader.submission.belonging import CellIds, check_assignment
from grader.submission.errors import Unreadable
from grader.submission.expecting import TEXT, expected_cells
from grader.submission.locating import find, load, own_files
from grader.submission.matching import match
from grader.submission.reading import Cell, read

__all__ = ["CellIds", "Repaired", "Unreadable", "find", "load", "own_files", "repair"]


@dataclass(frozen=True)
class Repaired:
    """The repaired notebook of a submission."""

    notebook: NotebookNode
    remarks: list[str]  #: what was repaired; empty if nothing was
    missing: list[str]  #: the answers that were not handed in, in the source's order


def repair(
    data: bytes, source: NotebookNode, assignments: Callable[[], CellIds] = dict
) -> Repaired:
    """Return a notebook with the learner's answers and the assignment's other cells.

    Only the text of cells, their order and the pictures in text cells are kept from the
    submission. Tests, given cells and all metadata come from the source.

    Parameters
    ----------
    data : bytes
        The file that was handed in. It may contain anything.
    source : NotebookNode
        The instructor's notebook with stubs and hidden tests. It is not changed.
    assignments : callable
        Returns the ids of the cells of every assignment in the course, so that another one's
        notebook is recognised. Default: none is.

    Raises
    ------
    Unreadable
        If the file is not a notebook, is too large, or is the notebook of another assignment.
    """
    reading = read(data)
    expected = expected_cells(source)
    check_assignment(
        _ids(reading.cells),
        {want.name for want in expected if want.role != TEXT},
        assignments,
    )
    matching = match(reading.cells, expected)
    notebook, remarks, missing = arrange(reading.cells, expected, matching, source)
    return Repaired(notebook, [*reading.remarks, *remarks], missing)


def _ids(cells: Sequence[Cell]) -> set[str]:
    """Return the ids by which nbgrader knows cells, or the format's if an editor dropped those."""
    return {cell.grade_id for cell in cells} - {""} or {cell.id for cell in cells} - {""}
