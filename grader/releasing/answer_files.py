"""Put a learner's answers, kept as a small Python file, into the released notebook.

The file is in percent format: a line ``# %% [cell-id]`` opens the answer for that cell. The
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
    """Return the answers in the file by the id of their cell.

    Raises
    ------
    ValueError
        If there is code before the first heading or a cell is answered twice.
    """
    before, *pieces = HEADING.split(path.read_text(encoding="utf-8"))
    if before.strip() and not before.lstrip().startswith('"""'):
        raise ValueError(f"{path}: expected '# %% [cell-id]' before the first answer.")
    ids, sources = pieces[::2], pieces[1::2]
    twice = sorted({cell_id for cell_id in ids if ids.count(cell_id) > 1})
    if twice:
        raise ValueError(f"{path}: expected one answer a cell, got two for {', '.join(twice)}.")
    return {cell_id: source.strip("\n") for cell_id, source in zip(ids, sources, strict=True)}


def fill(notebook: NotebookNode, answers: dict[str, str]) -> None:
    """Write the answers into the notebook's solution cells.

    Raises
    ------
    ValueError
        If an answer has no solution cell.
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
    """Write a submission for each file of answers and return the students' ids.

    Parameters
    ----------
    released : Path
        The learners' notebook.
    answers : Path
        The folder of answers, a file named after each student.
    submitted : Path
        nbgrader's folder of submissions. A notebook that would not change is left alone.
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
