"""Make packages lazy in the server that workers are forked from.

Only that server imports this module, and it does so first. Workers inherit what the server has
imported, so it should import no more than they need.
"""

from __future__ import annotations

import gc

from grader.lazy_packages import load_lazily

load_lazily()
# What is imported lives as long as the server and the workers.
gc.set_threshold(50_000, 20, 20)
