"""The instructor's notebook, prepared for judging: stubs, tests and the names to define."""

from __future__ import annotations

import ast
import copy
import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from nbgrader.utils import compute_checksum, is_grade, is_solution, is_task
from traitlets.config import Config

from attn_lib.course.notebooks.cells import functions_defined, names_defined
from attn_lib.course.notebooks.magics import parsed, without_magics
from grader.errors import GraderError

#: The sections of nbgrader's configuration on which the stub and the released tests depend.
_SECTIONS = ("LockCells", "ClearSolutions", "ClearHiddenTests")

_AUTOTEST = "### AUTOTEST"


class PointsDiffer(GraderError):
    """Raised for a test cell whose points are not the sum of the points of its parts."""


class Unusable(GraderError):
    """Raised for instructor's files from which nothing can be judged."""


class WritesTests(GraderError):
    """Raised for a notebook whose tests nbgrader would write, by its automatic tests."""


@dataclass(frozen=True)
class Source:
    """The instructor's notebook of one assignment."""

    file: bytes  #: the instructor's file, unchanged
    model: NotebookNode  #: the same, with an id for each cell
    stub: (
        NotebookNode  #: stubs in place of solutions; hidden tests and nbgrader's checksums included
    )
    answers: frozenset[str]  #: the names that the model answers define
    #: The names that the model answers define, and the functions that are given in other cells.
    names: frozenset[str]
    points: dict[str, float]  #: the maximum of each cell, in the notebook's order
    hidden_marks: tuple[str, str]  #: between which lines a test cell has hidden tests

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


def read_source(data: bytes, config: Config | None = None) -> Source:
    """Return the instructor's notebook, parsed once and cached.

    Parameters
    ----------
    data : bytes
        The file in the course's folder of sources.
    config : Config, optional
        nbgrader's configuration, which may say how solutions are marked. Default: nbgrader's own.

    Raises
    ------
    Unusable
        If its language is not Python, or a cell lacks what nbgrader has to know of it.
    PointsDiffer
        If the parts of a test cell do not add up to the points that nbgrader has for it. Full
        marks could then not be reached, or be exceeded.
    WritesTests
        If nbgrader is to write test cells itself.
    """
    sections = {name: (config or Config()).get(name, {}) for name in _SECTIONS}
    return _read_source(data, json.dumps(sections, sort_keys=True, default=str))


@functools.lru_cache(maxsize=8)
def _read_source(data: bytes, sections: str) -> Source:
    notebook = _notebook_in(data)
    _check_language(notebook)
    for number, cell in enumerate(notebook.cells, start=1):
        _check_settings(number, cell)
    tests = [cell for cell in notebook.cells if _is_test(cell)]
    answers, given = set(), set()
    for cell in notebook.cells:
        if cell.cell_type == "code" and not _is_test(cell):
            code, _ = without_magics(cell.source)
            if is_solution(cell):
                answers |= _names_in_answer(code, cell.metadata.nbgrader.grade_id)
            else:
                given |= functions_defined(code)
    points = {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if is_grade(cell)
    }
    for cell in tests:
        if _AUTOTEST in cell.source:
            raise WritesTests(
                f"The test cell {cell.metadata.nbgrader.grade_id} has a line {_AUTOTEST!r}, from "
                "which nbgrader writes tests when it releases the notebook. The judge reads the "
                "instructor's own notebook, where they are not written: write the tests themselves."
            )
        if tree := parsed(cell.source):
            _check_points(cell, tree)
    stub, config = copy.deepcopy(notebook), Config(json.loads(sections))
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
        stub, _ = step(config=config).preprocess(stub, {})
    hidden = ClearHiddenTests(config=config)
    marks = (hidden.begin_test_delimeter, hidden.end_test_delimeter)
    names = frozenset(answers), frozenset(answers | given)
    return Source(data, notebook, stub, *names, points, marks)


def _notebook_in(data: bytes) -> NotebookNode:
    """Return a notebook in the present format, in which each cell has an id."""
    try:
        text = data.decode("utf-8-sig")
        # Unlike nbformat.reads, this does not validate, for which each process compiles a schema.
        notebook = nbformat.v4.reads(text)
        if notebook.get("nbformat") != 4:
            notebook = nbformat.reads(text, as_version=4)
    except Exception as problem:  # it may be any file
        raise Unusable(
            f"expected the instructor's notebook, found a file that is none: {problem}. Open it in "
            "JupyterLab and save it."
        ) from None
    notebook.nbformat_minor = 5
    for number, cell in enumerate(notebook.cells, start=1):
        # Counted, where nbformat would draw it: the same file has the same ids in each process.
        cell.setdefault("id", f"cell-{number}")
    return notebook


def _check_language(notebook: NotebookNode) -> None:
    facts = notebook.metadata
    language = facts.get("kernelspec", {}).get("language") or facts.get("language_info", {}).get(
        "name"
    )
    if language and language.casefold() not in ("python", "ipython"):
        raise Unusable(f"expected the instructor's notebook in Python, found {language}.")


def _check_settings(number: int, cell: NotebookNode) -> None:
    """Check that a graded cell or an answer has the id and the points by which it is known."""
    settings = cell.metadata.get("nbgrader", {})
    missing = []
    if is_grade(cell) or is_solution(cell):
        missing += [] if settings.get("grade_id") else ["an id"]
    if is_grade(cell):
        try:
            float(settings.get("points", "none"))
        except (TypeError, ValueError):
            missing.append("a number of points")
    if missing:
        raise Unusable(
            f"Cell {number} of the instructor's notebook, {_beginning(cell)}: expected "
            f"{' and '.join(missing)} in nbgrader's metadata, found none. Set it in JupyterLab "
            "(Create Assignment); for a notebook of an older nbgrader give `nbgrader update` first."
        )


def _beginning(cell: NotebookNode) -> str:
    return repr(" ".join(cell.source.split())[:40])


def _names_in_answer(code: str, name: str) -> set[str]:
    try:
        return names_defined(code)
    except (SyntaxError, ValueError) as problem:
        where = f" in line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        why = problem.msg if isinstance(problem, SyntaxError) else problem
        raise Unusable(f"The model answer {name} is not Python: {why}{where}. Mend it.") from None


def _is_test(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _check_points(cell: NotebookNode, tree: ast.Module) -> None:
    """Compare the points of a test cell with the sum of its parts, if the code shows them."""
    parts = list(_points_of_parts(tree.body))
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
