"""Make submissions from small Python files with a learner's answers.

Such a file is in percent format: a line ``# %% [cell-id]`` begins the answer for that cell. The
answer to a text cell is written as comments.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_solution

HEADING = re.compile(r"^# %% \[([\w-]+)\]$", re.MULTILINE)


def read_answers(path: Path) -> dict[str, str]:
    """Return the answers in a file, by the id of their cell.

    Raises
    ------
    ValueError
        If there is code before the first heading, or two answers to the same cell.
    """
    before, *pieces = HEADING.split(path.read_text(encoding="utf-8"))
    if before.strip() and not before.lstrip().startswith('"""'):
        raise ValueError(f"{path}: expected '# %% [cell-id]' before the first answer.")
    ids, sources = pieces[::2], pieces[1::2]
    twice = sorted({cell_id for cell_id in ids if ids.count(cell_id) > 1})
    if twice:
        raise ValueError(
            f"{path}: expected one answer for each cell, got two for {', '.join(twice)}."
        )
    return {cell_id: source.strip("\n") for cell_id, source in zip(ids, sources, strict=True)}


def fill(notebook: NotebookNode, answers: dict[str, str]) -> None:
    """Write answers into the solution cells of a notebook, in place.

    Parameters
    ----------
    notebook : NotebookNode
        The released notebook.
    answers : dict
        Answers by the id of their cell.

    Raises
    ------
    ValueError
        If there is no solution cell for an answer.
    """
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if is_solution(cell)}
    unknown = sorted(answers.keys() - cells.keys())
    if unknown:
        raise ValueError(
            f"expected answers to the cells {', '.join(cells)}, got {', '.join(unknown)}."
        )
    for cell_id, answer in answers.items():
        cell = cells[cell_id]
        cell.source = answer if cell.cell_type == "code" else re.sub(r"(?m)^# ?", "", answer)


def write_class(released: Path, answers: Path, submitted: Path) -> list[str]:
    """Write a submission for each file of answers, and return the students' ids.

    Parameters
    ----------
    released : Path
        The learners' notebook.
    answers : Path
        The folder with a file of answers for each student, ``STUDENT.py``.
    submitted : Path
        nbgrader's folder of submissions. A notebook that would not change is not written.

    Raises
    ------
    ValueError
        If a file of answers is malformed or answers a cell that the notebook does not have.
    """
    students = []
    for path in sorted(answers.glob("*.py")):
        notebook = nbformat.read(released, as_version=4)
        fill(notebook, read_answers(path))
        target = submitted / path.stem / released.stem / released.name
        content = nbformat.writes(notebook) + "\n"
        if not target.exists() or target.read_text(encoding="utf-8") != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
        students.append(path.stem)
    return students
