"""Watches a submission's processes from outside and ends them when they exceed a limit.

Defends against: more memory or processes than allowed, where the kernel does not count them; and
processes that outlive their submission. It checks twenty times a second, so a limit can be
exceeded for a moment. If it cannot check, it ends the processes too.

Does not defend against: without bubblewrap, a process that leaves the tree between two checks.
"""

from __future__ import annotations

import contextlib
import threading

from grader.sandbox.cgroup import Cgroup
from grader.sandbox.inside.limits import Limits
from grader.sandbox.process_tree import ProcessTree, Uncountable, Usage

_INTERVAL = 0.05  # seconds between two checks
_TRIES = 3  # of a count that fails
_MIB = 2**20


class Watchdog:
    """Ends a process tree that exceeds its limits; `excess` then says which limit.

    Parameters
    ----------
    processes : ProcessTree
    limits : Limits
    cgroup : Cgroup, optional
        That of the processes, in which the kernel may end one of them for its memory.
    """

    def __init__(
        self, processes: ProcessTree, limits: Limits, cgroup: Cgroup | None = None
    ) -> None:
        self.excess = ""
        self._processes = processes
        self._limits = limits
        self._cgroup = cgroup
        self._ended_before = cgroup.ended() if cgroup else 0
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
        if self._cgroup and self._cgroup.ended() > self._ended_before:
            self.excess = self.excess or self._too_much_memory

    def _watch(self) -> None:
        while not self._over.wait(_INTERVAL):
            excess = self._exceeded()
            if excess and not self._over.is_set():
                self.excess = excess
                with self._lock:
                    self._processes.kill()
                return

    def _exceeded(self) -> str:
        memory = self._limits.memory_mib * _MIB
        # Where the kernel does not enforce its own limit, for example for root, this check does.
        max_threads = self._limits.processes + 8
        try:
            usage = self._counted(memory, max_threads)
        except Uncountable as problem:
            return str(problem)
        except Exception as error:  # nobody would watch these processes any more
            return f"its memory could not be counted ({type(error).__name__})"
        if usage.threads > max_threads:
            return f"it had more than {self._limits.processes} processes and threads"
        return self._too_much_memory if usage.memory > memory else ""

    def _counted(self, memory: int, max_threads: int) -> Usage:
        for _ in range(_TRIES - 1):
            # A thread may end between two looks at it, and its files then belong to root.
            with contextlib.suppress(OSError):
                return self._processes.usage(memory, max_threads)
        return self._processes.usage(memory, max_threads)

    @property
    def _too_much_memory(self) -> str:
        return f"it used more than {self._limits.memory_mib} MiB of memory"
