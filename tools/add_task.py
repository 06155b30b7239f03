"""Put an empty task into an instructor's notebook: its text, its answer cell, its test cell.

    python -m tools.add_task ASSIGNMENT ID NAME --after CELL [--points 2]

The cells get the readable ids and the nbgrader metadata that the tests require and that notebook
editors do not write. Replace the words in capitals afterwards. CELL is the test cell of the task
that the new one follows, ID is the id of the answer cell, and NAME is the function to write.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

ROOT = Path(__file__).resolve().parent.parent
CELL_ID = re.compile(r"[a-z]+(-[a-z]+)*")
HIDDEN_SEED = re.compile(r"check\.rng\((\d+)\)")

TEXT = """\
## NUMBER. TITLE

10 minutes, {points} points

Write `{name}(ARGUMENTS)`. WHAT IT RETURNS.

| array | shape |
| --- | --- |
| `ARGUMENT` | SHAPE |
| result | SHAPE |

Example:

```python
>>> {name}(ARGUMENTS)
RESULT
```"""

ANSWER = '''\
def {name}(ARGUMENTS):
    """Return WHAT."""
    ### BEGIN SOLUTION
    return REFERENCE
    ### END SOLUTION'''

TESTS = """\
import numpy as np

from attn_lib.course.checks import Checks

check = Checks(globals())
rng = check.rng({seed})

check.part("WHAT THIS PART LOOKS AT", points={points})
check.call("{name}", VISIBLE, target="{name}")
### BEGIN HIDDEN TESTS
check.call("{name}", OTHER, target="{name}")
### END HIDDEN TESTS

check.finish()"""


def task_cells(cell_id: str, name: str, points: int, seed: int) -> list[NotebookNode]:
    """Return the three cells of an empty task."""
    answer = new_code_cell(ANSWER.format(name=name), id=cell_id)
    answer.metadata.nbgrader = _marks(cell_id, solution=True)
    source = TESTS.format(name=name, points=points, seed=seed)
    tests = new_code_cell(source, id=f"{cell_id}-tests")
    tests.metadata.nbgrader = _marks(f"{cell_id}-tests", points=points)
    text = new_markdown_cell(TEXT.format(name=name, points=points), id=f"{cell_id}-task")
    return [text, answer, tests]


def _marks(cell_id: str, *, solution: bool = False, **points: int) -> dict[str, Any]:
    kinds = {"grade": not solution, "solution": solution, "locked": not solution, "task": False}
    return {"grade_id": cell_id, "schema_version": 3, **kinds, **points}


def free_seed(sources: list[str]) -> int:
    """Return a seed for `check.rng` that no test cell uses: the largest seed in use plus one.

    Examples
    --------
    >>> free_seed(["rng = check.rng(101)", "check.rng(102)"])
    103
    """
    taken = [int(seed) for source in sources for seed in HIDDEN_SEED.findall(source)]
    return 1 + max(taken, default=100)


def add_task(notebook: NotebookNode, cell_id: str, name: str, after: str, points: int) -> None:
    """Insert an empty task.

    Raises
    ------
    ValueError
        If the id is taken or malformed, the name is not an identifier, or `after` does not exist.
    """
    ids = [cell.id for cell in notebook.cells]
    if not CELL_ID.fullmatch(cell_id):
        raise ValueError(f"expected an id of words in lower case with hyphens, got {cell_id!r}.")
    if not name.isidentifier():
        raise ValueError(f"expected the name of a function, got {name!r}.")
    cells = task_cells(cell_id, name, points, free_seed([cell.source for cell in notebook.cells]))
    taken = {cell.id for cell in cells} & set(ids)
    if taken:
        raise ValueError(f"expected an id of its own, got {cell_id!r}; there is {taken.pop()!r}.")
    if after not in ids:
        raise ValueError(f"expected the id of a cell to follow, got {after!r}; there are {ids}.")
    place = ids.index(after) + 1
    notebook.cells[place:place] = cells


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", help="a folder in solutions/")
    parser.add_argument("id", help="of the answer cell: words with hyphens")
    parser.add_argument("name", help="of the function that is asked for")
    parser.add_argument("--after", required=True, metavar="CELL", help="id of a cell")
    parser.add_argument("--points", type=int, default=2)
    options = parser.parse_args(arguments)
    path = ROOT / "solutions" / options.assignment / f"{options.assignment}.ipynb"
    if not path.is_file():
        parser.error(f"expected an assignment, found no {path.relative_to(ROOT)}")
    notebook = nbformat.read(path, as_version=4)
    try:
        add_task(notebook, options.id, options.name, options.after, options.points)
    except ValueError as problem:
        parser.error(str(problem))
    nbformat.write(notebook, path)
    print(f"{path.relative_to(ROOT)}: replace what stands in capitals, then run make exercises.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
