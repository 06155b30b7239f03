"""``python -m grader``: see `grader.command_line.commands`."""

from __future__ import annotations

import sys

from grader.command_line.commands import main

if __name__ == "__main__":
    sys.exit(main())
