"""Watches a submission's processes from outside and ends them when they take too much.

Defends against: memory that many processes take together, each within its own limit, and that
was moved to the disk; more processes than allowed, should the kernel not count them; and
processes that outlive their submission. It looks twenty times a second, so for a moment more
can be in use.

Does not defend against: without bubblewrap, a process that leaves its family before it is seen.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.inside.limits import Limits

_SECONDS = 0.05
_SECONDS_TO_DIE = 10
_MIB = 2**20


class Family:
    """A process and all that come of it.

    Parameters
    ----------
    pid : int
        As this process sees it.
    whole : bool
        Whether it is the first of its own namespace, so that the kernel ends all with it.
    """

    def __init__(self, pid: int, *, whole: bool) -> None:
        self.pid = pid
        self._whole = whole
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except OSError:  # it is gone already
            self._handle = None

    def members(self) -> Iterator[int]:
        """Yield all of its processes."""
        waiting = [self.pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            with contextlib.suppress(OSError):
                for tasks in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (tasks / "children").read_text().split())

    def threads(self) -> int:
        """Return how many threads its processes have together."""
        return sum(map(_threads, self.members()))

    def memory(self, enough: int) -> int:
        """Return how many bytes of memory they use, pages that several use counted once.

        Parameters
        ----------
        enough : int
            The exact count takes longer. Below this many bytes a quick one, too high, will do.
        """
        pids = list(self.members())
        rough = sum(map(_whole, pids))
        return rough if rough <= enough else sum(map(_share, pids))

    def kill(self) -> None:
        """End them all and wait until they are gone; the second time, do nothing.

        The first is ended by its handle: its number may belong to another by then.
        """
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if not self._whole:
            self._kill_others(handle)
        _signal(handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(_SECONDS_TO_DIE * 1000)
        os.close(handle)

    def _kill_others(self, handle: int) -> None:
        """End all but the first, while it stands still and adopts those that lose their parent.

        The kernel may leave some out of a list that changes, so this looks more than once.
        """
        _signal(handle, signal.SIGSTOP)
        for _ in range(3):
            for pid in [*self.members()][1:]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


class Watchdog:
    """Ends a family that takes more than its limits, and says so in `reason`."""

    def __init__(self, family: Family, limits: Limits) -> None:
        self.reason = ""
        self._family = family
        self._limits = limits
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the family and the watch."""
        self._over.set()
        with self._lock:
            self._family.kill()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_SECONDS):
            reason = self._excess()
            if reason:
                self.reason = reason
                with self._lock:
                    self._family.kill()
                return

    def _excess(self) -> str:
        memory = self._limits.memory_mib
        if self._family.memory(memory * _MIB) > memory * _MIB:
            return f"it used more than {memory} MiB of memory"
        # The kernel counts too. Where it does not, of root's processes say, this does.
        if self._family.threads() > self._limits.processes + 8:
            return f"it had more than {self._limits.processes} processes and threads"
        return ""


def _signal(handle: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def _threads(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return 0


def _whole(pid: int) -> int:
    """Return a process's memory in bytes, with all that it shares with others."""
    return _sum_of(Path(f"/proc/{pid}/status"), ("VmRSS", "VmSwap"))


def _share(pid: int) -> int:
    """Return a process's memory in bytes, its part only of what it shares with others."""
    return _sum_of(Path(f"/proc/{pid}/smaps_rollup"), ("Pss", "SwapPss")) or _whole(pid)


def _sum_of(path: Path, names: tuple[str, ...]) -> int:
    """Return the sum of some lines of a file of the kernel's, in bytes; 0 if it is gone."""
    try:
        lines = [line.split(":") for line in path.read_text().splitlines() if ":" in line]
        return sum(int(value.split()[0]) * 1024 for name, value, *_ in lines if name in names)
    except OSError:
        return 0
