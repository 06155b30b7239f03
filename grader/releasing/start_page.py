"""The notebook that learners start from: links to the exercises, in the order of the course.

JupyterLab sorts folders by name. They are named like the assignments, so they cannot be numbered.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from grader.course import EXERCISES, ROOT, SOLUTIONS, assignments

NAME = "start.ipynb"

_TEXT = """\
# The exercises, in the order of the course

Read a chapter of the book, then open its exercise here. The quiz comes last.

{links}

The first cell of each says how long it takes, and what to do. *How to use this course*, in the
book, says how to check your answers and hand them in."""


def in_chapter_order() -> list[str]:
    """Return the assignments in the order of their chapters; those without a chapter come last."""
    pages = (ROOT / "_toc.yml").read_text(encoding="utf-8").split()
    chapters = [page.removeprefix("book/") for page in pages]
    return sorted(
        assignments(),
        key=lambda name: chapters.index(name) if name in chapters else len(chapters),
    )


def start_page() -> nbformat.NotebookNode:
    """Return the notebook with a link to each exercise."""
    links = "\n".join(f"- [{_title(name)}]({name}/{name}.ipynb)" for name in in_chapter_order())
    cell = new_markdown_cell(_TEXT.format(links=links), id="exercises")
    return new_notebook(cells=[cell], metadata=_first_notebook().metadata)


def write_start_page(exercises: Path = EXERCISES) -> str:
    """Bring the start page in `exercises` up to date, and return a sentence on what was done.

    Cells that a learner has added stay.

    Parameters
    ----------
    exercises : Path
        The folder with the released assignments.
    """
    path, fresh = exercises / NAME, start_page()
    if path.is_file():
        notebook = nbformat.read(path, as_version=4)
        others = [cell for cell in notebook.cells if cell.get("id") != fresh.cells[0].id]
        if notebook.cells == [*fresh.cells, *others]:
            return f"{path.stem}: up to date"
        fresh.cells += others
    nbformat.write(fresh, path)
    return f"{path.stem}: released"


def _title(assignment: str) -> str:
    text = nbformat.read(SOLUTIONS / assignment / f"{assignment}.ipynb", as_version=4)
    first_line, _, _ = text.cells[0].source.partition("\n")
    return first_line.removeprefix("# ")


def _first_notebook() -> nbformat.NotebookNode:
    name = in_chapter_order()[0]
    return nbformat.read(SOLUTIONS / name / f"{name}.ipynb", as_version=4)
