"""Stops a learner's code from within when its time is up, so that what it made survives.

It raises in the learner's code, which may ignore it: a bare ``except`` in a loop, or a long
computation in C. The judge therefore also waits no longer than its own clock says.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

_AGAIN = 0.5  # seconds; a bare `except` may have swallowed the first one


class OutOfTime(BaseException):
    """Raised in code whose time is up. No Exception, so that few handlers catch it."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block when it takes longer."""

    def stop(*_: object) -> None:
        raise OutOfTime(f"it did not return within {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
