"""Check an exercise notebook outside Jupyter.

Execute the notebook's cells in order and print what its test cells found, as *Validate* does
in Jupyter::

    python -m attn_lib.course.checks exercises/masking/masking.ipynb

With ``--grade``, also run the hidden tests and count the points, for those who learn alone::

    python -m attn_lib.course.checks --grade exercises/masking/masking.ipynb

It needs only NumPy. The notebook file is never changed. Its code is executed as in Jupyter, with
all your rights, so check only notebooks that you trust.

The exit status is 0 if every test cell passes, 1 if one does not, and 2 if the file is not an
exercise notebook, its hidden tests are not found, or this copy of attn_lib has no answers. Ctrl+C
ends a cell that does not end by itself; the others are still checked. In a terminal, failures are
red, unless NO_COLOR is set.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from attn_lib.course.checks.terminal import colours, has_colours, say
from attn_lib.course.notebooks.cells import NotANotebook, read
from attn_lib.course.notebooks.execution import Outcome, execute, grade
from attn_lib.course.notebooks.sources import NoSource, find_source
from attn_lib.course.personal.handed_out import are_handed_out

NO_SECRET = (
    "Graded with the hidden tests of {source}. Whoever has that file can read them, and the model "
    "answers with them: these points are for your own learning."
)

NO_ANSWERS = (
    "--grade: this copy of attn_lib has no answers to compare with; whoever teaches left them out "
    "of it. Without --grade, the tests that you can see are run."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a notebook, print what was found and return the exit status."""
    about = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m attn_lib.course.checks", description=about[0], epilog=about[-1]
    )
    parser.add_argument("notebook", type=Path, help="the .ipynb file of an exercise")
    parser.add_argument(
        "--grade", action="store_true", help="run the hidden tests too, and count the points"
    )
    parser.add_argument(
        "--source",
        type=Path,
        metavar="NOTEBOOK",
        help="with --grade: the instructor's notebook (default: the one in solutions/)",
    )
    options = parser.parse_args(arguments)
    if options.grade and are_handed_out():
        print(NO_ANSWERS, file=sys.stderr)
        return 2
    path = options.notebook
    try:
        cells = read(path, needs_tests=not options.grade)
        source = (options.source or find_source(path, cells)) if options.grade else None
        tests = read(source) if source else []
    except (NotANotebook, NoSource) as problem:
        print(problem, file=sys.stderr)
        return 2
    folder = path.resolve().parent
    with colours(has_colours(sys.stdout)):
        if source:
            say(NO_SECRET.format(source=source) + "\n")
            outcome = grade(cells, tests, folder)
        else:
            outcome = execute(cells, folder)
    say(as_text(outcome))
    return 0 if outcome.all_pass else 1


def as_text(outcome: Outcome) -> str:
    """Return what was found, task by task, and a summary in the last line."""
    blocks = []
    for task in outcome.tasks:
        if task.lines:
            title = [task.title] if task.title else []
            blocks.append("\n".join([*title, *(f"  {line}" for line in task.lines)]))
    if outcome.points:
        total = f"{outcome.earned:g} of {outcome.points:g} points."
        if outcome.to_read:
            total += f" {outcome.to_read:g} more are for answers in words: compare them yourself."
    else:
        total = f"{outcome.passed} of {outcome.tests} test cells pass."
    return "\n\n".join([*blocks, total])


if __name__ == "__main__":
    sys.exit(main())
