"""The warm sandboxes of this process: started when first needed, closed when the process ends."""

from __future__ import annotations

import atexit

from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.visible_files import visible_files

_sandboxes: dict[tuple[Limits, str], Sandbox] = {}


def prepare() -> None:
    """Find out what all sandboxes need; processes that are forked from this one know it then."""
    visible_files()


def warm_sandbox(limits: Limits, isolation: str) -> Sandbox:
    """Return the sandbox of this process with these settings; the first call starts it."""
    key = (limits, isolation)
    if key not in _sandboxes:
        sandbox = Sandbox(limits, isolation)
        sandbox.__enter__()
        _sandboxes[key] = sandbox
    return _sandboxes[key]


def close_sandbox(limits: Limits, isolation: str) -> None:
    """Close the sandbox with these settings, if any; the next `warm_sandbox` starts a new one."""
    sandbox = _sandboxes.pop((limits, isolation), None)
    if sandbox is not None:
        sandbox.close()


@atexit.register
def _close_all() -> None:
    for limits, isolation in list(_sandboxes):
        close_sandbox(limits, isolation)
