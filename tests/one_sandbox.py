"""One warm process of the sandbox for all gradings of a test process.

A grading run starts a warm process and ends it, which takes a second of processor time, more than
anything else in a small run.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from unittest import mock

from grader.sandbox import launching
from grader.sandbox.inside.limits import Limits


class OneSandbox:
    """Warm processes that last until `close`: one for each kind of limits and isolation."""

    def __init__(self) -> None:
        self._started: dict[tuple[Limits, str], launching.WarmProcess] = {}

    @contextlib.contextmanager
    def replace_others(self) -> Iterator[None]:
        """Let the runs of this process share these within this context."""
        with mock.patch.object(launching, "shared", self._shared):
            yield

    def close(self) -> None:
        for process in self._started.values():
            process.stop()

    @contextlib.contextmanager
    def _shared(self, limits: Limits, isolation: str) -> Iterator[socket.socket]:
        """Give the connection to a warm process, in place of `launching.shared`."""
        key = limits, isolation
        if key not in self._started or self._started[key].has_ended():
            self._started[key] = launching.WarmProcess(limits, isolation)
        with self._started[key].control.dup() as control:  # a run closes the one it is given
            yield control
