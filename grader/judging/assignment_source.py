"""The instructor's notebook, prepared for judging: stubs, tests and the names to define."""

from __future__ import annotations

import dis
import functools
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from nbgrader.utils import compute_checksum, is_grade, is_solution, is_task
from traitlets.config import Config


@dataclass(frozen=True)
class Source:
    """The instructor's notebook of one assignment."""

    file: bytes  #: the file in solutions/, unchanged
    stub: (
        NotebookNode  #: stubs in place of solutions; hidden tests and nbgrader's checksums included
    )
    names: frozenset[str]  #: the names that the model answers define
    points: dict[str, float]  #: the maximum of each cell, in the notebook's order

    def is_test(self, cell: NotebookNode) -> bool:
        """Return whether the cell is a test cell."""
        return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def is_unanswered(cell: NotebookNode) -> bool:
    """Return whether an answer cell is still as it was released."""
    return (
        is_solution(cell)
        and not is_task(cell)
        and cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    )


@functools.lru_cache(maxsize=8)
def read_source(data: bytes) -> Source:
    """Return the instructor's notebook, parsed once and cached.

    Parameters
    ----------
    data : bytes
        The file in solutions/.
    """
    # Unlike nbformat.reads, this does not validate, for which each process would compile a schema.
    notebook = nbformat.v4.reads(data.decode("utf-8"))
    names = {
        name
        for cell in notebook.cells
        if cell.cell_type == "code" and is_solution(cell)
        for name in _defined(cell.source)
    }
    points = {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if is_grade(cell)
    }
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
        notebook, _ = step(config=Config()).preprocess(notebook, {})
    return Source(data, notebook, frozenset(names), points)


def _defined(source: str) -> set[str]:
    """Return the names that a cell assigns or defines."""
    code = compile(source, "<answer>", "exec")
    return {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}
