"""Stops a learner's code from within its process, so that the values it made survive.

The exception is raised in the learner's code, where a bare ``except`` in a loop can catch it and
a long computation in C can delay it. So the judge also enforces the deadline by its own clock.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

_AGAIN = 0.5  # seconds; a bare `except` may have caught the first exception


class OutOfTime(BaseException):
    """Raised in code whose time is up. A BaseException, so that ``except Exception`` misses it."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block when it takes longer than this."""

    def stop(*_: object) -> None:
        raise OutOfTime(f"it did not return within {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
