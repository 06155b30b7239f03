"""``python -m grader``: see `grader.command_line.commands`."""

from __future__ import annotations

import gc
import sys

from grader.command_line.commands import main
from grader.lazy_packages import load_lazily

if __name__ == "__main__":
    load_lazily()
    # Modules and notebooks live until the process ends, so collecting garbage often is wasted.
    gc.set_threshold(50_000, 20, 20)
    sys.exit(main())
