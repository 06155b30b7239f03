"""The warm sandboxes of this process: started when first needed, closed when the process ends."""

from __future__ import annotations

import atexit
import socket

from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox

_sandboxes: dict[tuple[Limits, str], Sandbox] = {}


def warm_sandbox(limits: Limits, isolation: str) -> Sandbox:
    """Return the sandbox of this process with these settings; the first call starts it."""
    key = (limits, isolation)
    if key not in _sandboxes:
        sandbox = Sandbox(limits, isolation)
        sandbox.__enter__()
        _sandboxes[key] = sandbox
    return _sandboxes[key]


def adopt(limits: Limits, isolation: str, control: socket.socket) -> None:
    """Use a warm process that another process has started; see `Sandbox`."""
    close_sandbox(limits, isolation)
    _sandboxes[limits, isolation] = Sandbox(limits, isolation, control)


def close_sandbox(limits: Limits, isolation: str) -> None:
    """Close the sandbox with these settings, if any; the next `warm_sandbox` starts a new one."""
    sandbox = _sandboxes.pop((limits, isolation), None)
    if sandbox is not None:
        sandbox.close()


@atexit.register
def _close_all() -> None:
    for limits, isolation in list(_sandboxes):
        close_sandbox(limits, isolation)
