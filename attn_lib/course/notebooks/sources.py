"""Finding the instructor's notebook of an assignment, which has the hidden tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attn_lib.course.notebooks.cells import Cell, NotANotebook, read

#: The folder of the course's repository that holds the instructor's notebooks.
SOLUTIONS = "solutions"


class NoSource(ValueError):
    """Raised when there is no instructor's notebook for a learner's; the message says why."""


def find_source(notebook: Path, cells: list[Cell]) -> Path:
    """Return the path of the instructor's notebook with the same answers and tests.

    It is looked for in each folder `SOLUTIONS` beside or above the learner's notebook, and above
    the working directory. The name of the learner's file makes no difference.

    Parameters
    ----------
    notebook : Path
        The learner's notebook file.
    cells : list of Cell
        Its cells.

    Raises
    ------
    NoSource
        If there is none.
    """
    ours = _graded_ids(cells)
    places = [*notebook.resolve().parents, Path.cwd(), *Path.cwd().parents]
    for folder in dict.fromkeys(place / SOLUTIONS for place in places):
        found = {path: _common(path, ours) for path in sorted(folder.glob("*/*.ipynb"))}
        if any(found.values()):
            return max(found, key=lambda path: found[path])
    raise NoSource(
        f"{notebook}: expected the instructor's notebook, which has the hidden tests, in a folder "
        f"{SOLUTIONS!r} above this file or above {Path.cwd()}; found none. It is in the course's "
        "repository, not in the archive. With --source you can say where it is."
    )


def _graded_ids(cells: Iterable[Cell]) -> set[str]:
    return {cell.id for cell in cells if cell.is_answer or cell.is_graded}


def _common(path: Path, ids: set[str]) -> int:
    """Return how many of these cells an instructor's notebook has."""
    try:
        return len(_graded_ids(read(path)) & ids)
    except NotANotebook:
        return 0
