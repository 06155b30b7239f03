"""``python -m grader``: see `grader.command_line.commands`."""

from __future__ import annotations

import sys

from grader.command_line.commands import main
from grader.lazy_packages import load_lazily

if __name__ == "__main__":
    load_lazily()
    sys.exit(main())
