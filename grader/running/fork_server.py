"""Make packages lazy in the server that workers are forked from, and prepare their sandboxes.

Only that server imports this module, and it does so first. Workers inherit what the server has
imported, so it should import no more than they need.
"""

from __future__ import annotations

import contextlib

from grader.lazy_packages import load_lazily

load_lazily()

from grader.sandbox.warm_sandboxes import prepare  # noqa: E402  (it imports lazy packages)

with contextlib.suppress(Exception):  # the first sandbox will fail with it and report it
    prepare()
