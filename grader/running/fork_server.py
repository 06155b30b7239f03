"""Make packages lazy in the server that workers are forked from.

Only that server imports this module, and it does so first. Workers inherit what the server has
imported, so it should import no more than they need.
"""

from __future__ import annotations

from grader.lazy_packages import load_lazily

load_lazily()
