"""Builds small nbgrader notebooks whose test cells are plain asserts."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def answer(name: str, model: str, stub: str = "") -> NotebookNode:
    """Return an answer cell, with the model answer between nbgrader's marks."""
    source = f"{stub}### BEGIN SOLUTION\n{model}\n### END SOLUTION"
    return _graded(new_code_cell(source), name, solution=True)


def graded(name: str, source: str, points: float = 1) -> NotebookNode:
    """Return a test cell."""
    return _graded(new_code_cell(source), name, grade=True, locked=True, points=points)


def written(name: str, points: float) -> NotebookNode:
    """Return an answer in words, which a person grades."""
    return _graded(new_markdown_cell("An answer."), name, grade=True, solution=True, points=points)


def by_hand(name: str, model: str, points: float) -> NotebookNode:
    """Return an answer in code, which a person grades."""
    source = f"### BEGIN SOLUTION\n{model}\n### END SOLUTION"
    return _graded(new_code_cell(source), name, grade=True, solution=True, points=points)


def task(name: str, points: float) -> NotebookNode:
    """Return a task whose work a person looks for in the cells after it."""
    cell = new_markdown_cell("Make a drawing below.")
    return _graded(cell, name, task=True, locked=True, points=points)


def given(source: str, name: str = "") -> NotebookNode:
    """Return a cell of code: locked if it has a name, else one that learners may edit."""
    cell = new_code_cell(source)
    return _graded(cell, name, locked=True) if name else cell


def notebook(*cells: NotebookNode) -> bytes:
    """Return the instructor's file, always with the same ids."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return nbformat.writes(new_notebook(cells=list(cells))).encode()


def filled(source: bytes, answers: dict[str, str]) -> bytes:
    """Return a submission: the instructor's notebook with other answers, by cell."""
    handed_in = nbformat.reads(source.decode(), as_version=4)
    for cell in handed_in.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell.source = answers[name]
    return nbformat.writes(handed_in).encode()


def _graded(cell: NotebookNode, name: str, **settings: object) -> NotebookNode:
    fields = {"grade": False, "solution": False, "locked": False, "task": False} | settings
    cell.metadata["nbgrader"] = {"grade_id": name, "schema_version": 3, **fields}
    return cell
