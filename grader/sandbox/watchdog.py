"""Watches a submission's processes from outside and ends them when they exceed a limit.

Defends against: memory that many processes use together, each within its own limit, swapped-out
memory included; more processes than allowed, where the kernel does not count them; and processes
that outlive their submission. It checks twenty times a second, so a limit can be exceeded for a
moment.

Does not defend against: without bubblewrap, a process that leaves the tree between two checks.
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

_INTERVAL = 0.05  # seconds between two checks
_SECONDS_TO_DIE = 10
_MIB = 2**20


class ProcessTree:
    """A process and all its descendants.

    Parameters
    ----------
    pid : int
        The id of the root process, as this process sees it.
    owns_namespace : bool
        Whether the root is the first process of a PID namespace. The kernel then ends all its
        descendants with it.
    """

    def __init__(self, pid: int, *, owns_namespace: bool) -> None:
        self.pid = pid
        self._owns_namespace = owns_namespace
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except OSError:  # it has ended already
            self._handle = None

    def members(self) -> Iterator[int]:
        """Yield the ids of all processes in the tree."""
        waiting = [self.pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            with contextlib.suppress(OSError):
                for tasks in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (tasks / "children").read_text().split())

    def threads(self) -> int:
        """Return the total number of threads."""
        return sum(map(_threads, self.members()))

    def memory(self, enough: int) -> int:
        """Return how many bytes of memory the processes use, shared pages counted once.

        Parameters
        ----------
        enough : int
            If a quick estimate, which is never too low, is at most this many bytes, return it:
            the exact count takes longer.
        """
        pids = list(self.members())
        rough = sum(map(_resident, pids))
        return rough if rough <= enough else sum(map(_proportional, pids))

    def kill(self) -> None:
        """End all processes and wait until they are gone. A second call does nothing.

        The root is ended by its pidfd, since its id may belong to another process by then.
        """
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if not self._owns_namespace:
            self._kill_descendants(handle)
        _signal(handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(_SECONDS_TO_DIE * 1000)
        os.close(handle)

    def _kill_descendants(self, handle: int) -> None:
        """End all processes but the root, which is stopped meanwhile and adopts orphans.

        The kernel's list of children can be incomplete while it changes, so read it repeatedly.
        """
        _signal(handle, signal.SIGSTOP)
        for _ in range(3):
            for pid in [*self.members()][1:]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


class Watchdog:
    """Ends a process tree that exceeds its limits; `excess` then says which limit."""

    def __init__(self, processes: ProcessTree, limits: Limits) -> None:
        self.excess = ""
        self._processes = processes
        self._limits = limits
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the processes and stop watching."""
        self._over.set()
        with self._lock:
            self._processes.kill()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_INTERVAL):
            if excess := self._exceeded():
                self.excess = excess
                with self._lock:
                    self._processes.kill()
                return

    def _exceeded(self) -> str:
        memory = self._limits.memory_mib
        if self._processes.memory(memory * _MIB) > memory * _MIB:
            return f"it used more than {memory} MiB of memory"
        # Where the kernel does not enforce its own limit, for example for root, this check does.
        if self._processes.threads() > self._limits.processes + 8:
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


def _resident(pid: int) -> int:
    """Return a process's memory in bytes, with shared pages counted in full."""
    return _sum_of(Path(f"/proc/{pid}/status"), ("VmRSS", "VmSwap"))


def _proportional(pid: int) -> int:
    """Return a process's memory in bytes, with shared pages divided among their users."""
    return _sum_of(Path(f"/proc/{pid}/smaps_rollup"), ("Pss", "SwapPss")) or _resident(pid)


def _sum_of(path: Path, names: tuple[str, ...]) -> int:
    """Return the sum in bytes of these lines of a file in /proc; 0 if the process has ended."""
    try:
        lines = [line.split(":") for line in path.read_text().splitlines() if ":" in line]
        return sum(int(value.split()[0]) * 1024 for name, value, *_ in lines if name in names)
    except OSError:
        return 0
