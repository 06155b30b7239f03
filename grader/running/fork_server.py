"""Imported first by the server that workers are forked from, and by nothing else.

The server imports for all of its workers, so what it does not load no worker pays for.
"""

from __future__ import annotations

from grader.lazy_packages import load_lazily

load_lazily()
