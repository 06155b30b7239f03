"""The instructor's notebook, prepared for judging: stubs, tests and the names to define."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from nbgrader.utils import compute_checksum, is_grade, is_solution, is_task
from traitlets.config import Config

from attn_lib.course.notebooks.cells import functions_defined, names_defined
from grader.errors import GraderError


class PointsDiffer(GraderError):
    """Raised for a test cell whose points are not the sum of the points of its parts."""


@dataclass(frozen=True)
class Source:
    """The instructor's notebook of one assignment."""

    file: bytes  #: the file in solutions/, unchanged
    stub: (
        NotebookNode  #: stubs in place of solutions; hidden tests and nbgrader's checksums included
    )
    #: The names that the model answers define, and the functions that are given in other cells.
    names: frozenset[str]
    points: dict[str, float]  #: the maximum of each cell, in the notebook's order

    def is_test(self, cell: NotebookNode) -> bool:
        """Return whether the cell is a test cell."""
        return _is_test(cell)


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

    Raises
    ------
    PointsDiffer
        If the parts of a test cell do not add up to the points that nbgrader has for it. Full
        marks could then not be reached, or be exceeded.
    """
    # Unlike nbformat.reads, this does not validate, for which each process would compile a schema.
    notebook = nbformat.v4.reads(data.decode("utf-8"))
    names = {
        name
        for cell in notebook.cells
        if cell.cell_type == "code" and not _is_test(cell)
        for name in (names_defined if is_solution(cell) else functions_defined)(cell.source)
    }
    points = {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if is_grade(cell)
    }
    for cell in notebook.cells:
        if _is_test(cell):
            _check_points(cell)
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
        notebook, _ = step(config=Config()).preprocess(notebook, {})
    return Source(data, notebook, frozenset(names), points)


def _is_test(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _check_points(cell: NotebookNode) -> None:
    """Compare the points of a test cell with the sum of its parts, if the code shows them."""
    parts = list(_points_of_parts(ast.parse(cell.source).body))
    if not parts or None in parts:
        return
    total, points = sum(filter(None, parts)), float(cell.metadata.nbgrader.points)
    if total != points:
        raise PointsDiffer(
            f"The test cell {cell.metadata.nbgrader.grade_id} has {points:g} points, and its parts "
            f"together have {total:g}. Change its points in JupyterLab (Create Assignment), or "
            "those in its lines check.part, so that both are equal."
        )


def _points_of_parts(statements: list[ast.stmt]) -> Iterator[float | None]:
    """Yield the points of each part that is opened; None for a number that only running tells."""
    for statement in statements:
        if isinstance(statement, ast.With):
            yield from _points_of_parts(statement.body)
            continue
        once = statement.value if isinstance(statement, ast.Expr) else None
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Attribute(attr="part"), args=args, keywords=keywords):
                    given = [word.value for word in keywords if word.arg == "points"] or args[1:2]
                    match given:
                        case [ast.Constant(value=int() | float() as points)] if node is once:
                            yield points
                        case _:
                            yield None
