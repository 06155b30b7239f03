"""The warm sandboxes of this process: started when first needed, closed when it ends."""

from __future__ import annotations

import atexit

from grader.sandbox.inside.limits import Limits
from grader.sandbox.warm_process import Sandbox

_sandboxes: dict[tuple[Limits, str], Sandbox] = {}


def warm_sandbox(limits: Limits, isolation: str) -> Sandbox:
    """Return this process's sandbox, started at the first call."""
    key = (limits, isolation)
    if key not in _sandboxes:
        sandbox = Sandbox(limits, isolation)
        sandbox.__enter__()
        _sandboxes[key] = sandbox
    return _sandboxes[key]


def close_sandbox(limits: Limits, isolation: str) -> None:
    """Close the sandbox if there is one; the next call gets a new one."""
    sandbox = _sandboxes.pop((limits, isolation), None)
    if sandbox is not None:
        sandbox.close()


@atexit.register
def _close_all() -> None:
    for limits, isolation in list(_sandboxes):
        close_sandbox(limits, isolation)
