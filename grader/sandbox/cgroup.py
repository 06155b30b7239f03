"""The kernel's own limit on memory and processes, where the grader may set one: a cgroup.

Defends against: memory that grows faster than the watchdog counts, or that only the kernel can
count.

Does not defend against: anything where this process may not make cgroups of version 2 beside or
below its own, with a limit of memory. The watchdog is the defence then.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.inside.limits import Limits

_NAME = "attention-grader-"
_MIB = 2**20
#: For the memory of the warm process that a fork changes, and for what the kernel counts that the
#: watchdog does not, in MiB.
_EXTRA_MIB = 256
_SECONDS_TO_EMPTY = 5


class Cgroup:
    """A cgroup for the submissions of one sandbox, one after the other, with all their processes.

    Parameters
    ----------
    parent : Path
        As `parent_of_new` returns it.
    limits : Limits
        Of one submission.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """

    def __init__(self, parent: Path, limits: Limits) -> None:
        self.folder = parent / f"{_NAME}{secrets.token_hex(8)}"
        self.folder.mkdir()
        try:
            mib = limits.memory_mib + limits.disk_mib + _EXTRA_MIB
            self._set("memory.max", mib * _MIB)
            with contextlib.suppress(FileNotFoundError):  # a kernel without swap
                self._set("memory.swap.max", 0)
            with contextlib.suppress(FileNotFoundError):  # a parent that does not limit processes
                self._set("pids.max", limits.processes + 16)
        except OSError:
            self.remove()
            raise

    def add(self, pid: int) -> None:
        """Move a process here; all that it starts from now on is here too.

        Raises
        ------
        OSError
            If the kernel refuses it.
        """
        self._set("cgroup.procs", pid)

    def ended(self) -> int:
        """Return how many processes the kernel has ended because memory was used up."""
        found = re.search(rb"^oom_kill ([0-9]+)$", self._read("memory.events"), re.MULTILINE)
        return int(found[1]) if found else 0

    def remove(self) -> None:
        """Remove the cgroup as soon as its processes have ended."""
        until = time.monotonic() + _SECONDS_TO_EMPTY
        while self.folder.exists():
            try:
                self.folder.rmdir()
            except OSError:
                if time.monotonic() > until:
                    return  # an empty folder stays behind
                time.sleep(0.01)

    def _set(self, name: str, value: int) -> None:
        # Not created if it is missing: this is the kernel's file, or there is no such limit.
        with (self.folder / name).open("r+b", buffering=0) as file:
            file.write(str(value).encode())

    def _read(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return b""


def parent_of_new(proc: Path = Path("/proc/self")) -> Path | None:
    """Return where this process may make cgroups that limit memory; None if nowhere.

    Parameters
    ----------
    proc : Path
        The folder of /proc that describes this process.
    """
    return next((folder for folder in _candidates(proc) if _may_limit_memory(folder)), None)


def _candidates(proc: Path) -> Iterator[Path]:
    """Yield the folder of this process's cgroup and of its parent, of version 2."""
    try:
        own = re.search(r"^0::(/.*)$", (proc / "cgroup").read_text(), re.MULTILINE)
        mounts = (proc / "mountinfo").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in mounts:
        mounted, _, kind = line.partition(" - ")
        if own is not None and kind.startswith("cgroup2 "):
            root, place = mounted.split()[3:5]
            if Path(own[1]).is_relative_to(root):
                folder = Path(place, Path(own[1]).relative_to(root))
                yield folder
                if folder != Path(place):
                    yield folder.parent


def _may_limit_memory(folder: Path) -> bool:
    """Say whether a new cgroup in this folder can be made, limits memory, and can be entered."""
    try:
        controllers = (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    writable = os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    return writable and "memory" in controllers
