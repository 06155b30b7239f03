"""``python -m grader``: see `grader.commands`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grader import workers

#: Commands that judge.
JUDGING = ("autograde", "grade", "sample-class")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; see `grader.commands.main`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if set(arguments) & set(JUDGING) and "--scheduler" not in arguments:
        # Both this process and those that judge import for two seconds: side by side.
        workers.get_ready(workers.GRADE_JOB)
    from grader import commands

    return commands.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
