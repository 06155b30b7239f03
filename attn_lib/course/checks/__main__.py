"""Check an exercise notebook outside Jupyter.

Execute the notebook's cells in order and print what its test cells found, as *Validate* does
in Jupyter::

    python -m attn_lib.course.checks exercises/masking/masking.ipynb

It needs only NumPy. The notebook file is never changed. Its code is executed as in Jupyter, with
all your rights, so check only notebooks that you trust.

The exit status is 0 if every test cell passes, 1 if one does not, and 2 if the file is not an
exercise notebook.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from attn_lib.course.checks.notebooks import NotANotebook, Outcome, execute, read


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a notebook, print what was found and return the exit status."""
    about = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m attn_lib.course.checks", description=about[0], epilog=about[-1]
    )
    parser.add_argument("notebook", type=Path, help="the .ipynb file of an exercise")
    path = parser.parse_args(arguments).notebook
    try:
        cells = read(path)
    except NotANotebook as problem:
        print(problem, file=sys.stderr)
        return 2
    outcome = execute(cells, path.resolve().parent)
    print(as_text(outcome))
    return 0 if outcome.all_pass else 1


def as_text(outcome: Outcome) -> str:
    """Return what was found, task by task, and a summary in the last line."""
    blocks = []
    for task in outcome.tasks:
        if task.lines:
            title = [task.title] if task.title else []
            blocks.append("\n".join([*title, *(f"  {line}" for line in task.lines)]))
    blocks.append(f"{outcome.passed} of {outcome.tests} test cells pass.")
    return "\n\n".join(blocks)


if __name__ == "__main__":
    sys.exit(main())
