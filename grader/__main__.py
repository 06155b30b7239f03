"""``python -m grader``: see `grader.commands`."""

from __future__ import annotations

import sys

from grader.commands import main

if __name__ == "__main__":
    sys.exit(main())
