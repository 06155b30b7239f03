"""``python -m grader``: see `grader.command_line.commands`."""

from __future__ import annotations

import gc
import sys

from grader.command_line.commands import main
from grader.lazy_packages import load_lazily

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        # A terminal may lack a character that a name has.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    load_lazily()
    # Modules and notebooks live until the process ends, so collecting garbage often is wasted.
    gc.set_threshold(50_000, 20, 20)
    sys.exit(main())
