"""A submission's processes, and the memory that the kernel holds for them, counted from outside.

Defends against: memory that many processes use together, each within its own limit, swapped-out
memory included; a process whose first thread has ended, which has no figures of its own; names of
processes and threads, which are learners' texts; processes that hand their memory on to a child
while they are counted; and memory of the kernel: buffers of pipes and sockets, page tables,
mappings and stacks.

Does not defend against: caches of the kernel, which it empties when memory is short.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import select
import signal
import socket
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_KIB = 1024
_SECONDS_TO_DIE = 10
_MAX_PASSES = 20
_MAX_MAPPINGS = 65_536  # of all processes; Python and the packages have 500

_FIGURES = re.compile(rb"^(VmRSS|VmSwap|VmPTE):[ \t]+([0-9]+) kB$", re.MULTILINE)
_SHARES = re.compile(rb"^(Pss|SwapPss):[ \t]+([0-9]+) kB$", re.MULTILINE)

# What the kernel holds, in bytes, at most. System calls that make a pipe or socket larger are
# refused in `grader.sandbox.inside.system_calls`.
_THREAD = 64 * _KIB  #: stack and structures of a thread
_PIPE = 80 * _KIB  #: 16 pages, and those that it keeps for reuse
_PIECE = 64 * _KIB  #: by how much a socket's last message may exceed its buffer
_MAPPING = 512  #: a mapping with its place in the tree of all
_CHAIN = 160  #: what a mapping needs in addition for each process that it may be shared with


class Uncountable(Exception):
    """Raised when the processes cannot be counted. The message says why, as a clause."""


@dataclass(frozen=True)
class Usage:
    """What all processes of a tree use together."""

    memory: int  #: bytes; shared pages count once
    threads: int


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

    def members(self) -> dict[int, list[int]]:
        """Return the threads of each process, by the ids of the processes.

        Raises
        ------
        ProcessLookupError, FileNotFoundError
            If one ended meanwhile; its children may be missing then.
        """
        found: dict[int, list[int]] = {}
        waiting = [self.pid]
        while waiting:
            pid = waiting.pop()
            found[pid] = [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
            for thread in found[pid]:
                waiting += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
        return found

    def usage(self, enough: int, max_threads: int) -> Usage:
        """Return how much memory and how many threads the processes use.

        Parameters
        ----------
        enough : int
            If a quick estimate of the memory, which is never too low, is at most this many
            bytes, return it: the exact count takes longer.
        max_threads : int
            If there are more threads, their memory is not counted.

        Raises
        ------
        Uncountable
            If processes end during each of many attempts to count them.
        """
        for _ in range(_MAX_PASSES):
            try:
                members = self.members()
                threads = sum(map(len, members.values()))
                return Usage(_memory(members, enough) if threads <= max_threads else 0, threads)
            except (ProcessLookupError, FileNotFoundError):
                if self._has_ended():
                    return Usage(0, 0)
        raise Uncountable("its processes came and went too fast to be counted")

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
        _is_over(handle, _SECONDS_TO_DIE)
        os.close(handle)

    def _has_ended(self) -> bool:
        return self._handle is None or _is_over(self._handle, 0)

    def _kill_descendants(self, handle: int) -> None:
        """End all processes but the root, which is stopped meanwhile and adopts orphans.

        The kernel's list of children can be incomplete while it changes, so read it repeatedly.
        """
        _signal(handle, signal.SIGSTOP)
        for _ in range(3):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                for pid in [*self.members()][1:]:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)


def _memory(members: dict[int, list[int]], enough: int) -> int:
    """Return how much memory these processes use, from upper bounds to ever closer figures."""
    folders = {pid: [f"/proc/{pid}/task/{thread}" for thread in members[pid]] for pid in members}
    living = [one for one in map(_living, folders.values()) if one is not None]
    files = [file for each in folders.values() for folder in each for file in _files(folder)]
    tables = sum(sizes[b"VmPTE"] for _, sizes in living)
    fixed = tables + _THREAD * sum(map(len, folders.values()))
    pages = sum(sizes[b"VmRSS"] + sizes[b"VmSwap"] for _, sizes in living)
    each_mapping = _MAPPING + _CHAIN * len(living)
    mappings = len(living) * each_mapping * _max_mappings()
    buffers = len(files) * _socket()
    if fixed + pages + buffers + mappings > enough:
        buffers = _buffers(files)
        mappings = each_mapping * _mappings(folder for folder, _ in living)
    if fixed + pages + buffers + mappings > enough:
        pages = sum(_shared_out(*one) for one in living)
    return fixed + pages + buffers + mappings


def _living(folders: Iterable[str]) -> tuple[str, dict[bytes, int]] | None:
    """Return the folder of a process's first living thread, and the process's figures in bytes.

    If all its threads have ended and it waits for its parent, the result is None.
    """
    for folder in folders:
        # The first line is a name, which a learner chooses. The kernel writes it as one line.
        _, _, after_name = _read(f"{folder}/status").partition(b"\n")
        if found := _sizes(_FIGURES, after_name, 3):
            return folder, found
    return None


def _shared_out(folder: str, figures: dict[bytes, int]) -> int:
    """Return a process's memory in bytes, with shared pages divided among their users."""
    try:
        shares = _sizes(_SHARES, _read(f"{folder}/smaps_rollup"), 2)
    except PermissionError:
        shares = {}
    return sum(shares.values()) if shares else figures[b"VmRSS"] + figures[b"VmSwap"]


def _sizes(pattern: re.Pattern[bytes], text: bytes, number: int) -> dict[bytes, int]:
    """Return the sizes in bytes that the pattern finds in a file of /proc: all of them, or none.

    Raises
    ------
    Uncountable
        If there are others.
    """
    found = pattern.findall(text)
    sizes = {name: int(size) * _KIB for name, size in found}
    if found and not len(found) == len(sizes) == number:
        raise Uncountable("the kernel's figures of its memory contradict each other")
    return sizes


def _files(folder: str) -> list[str]:
    """Return the paths of a thread's open files: threads need not share them."""
    try:
        return [f"{folder}/fd/{name}" for name in os.listdir(f"{folder}/fd")]  # noqa: PTH208
    except PermissionError:
        if _living([folder]):
            raise
        return []  # it has ended, and no longer has open files


def _buffers(files: Iterable[str]) -> int:
    """Return how many bytes the kernel may hold in these open files, each counted once."""
    kinds = {stat.S_IFSOCK: _socket(), stat.S_IFIFO: _PIPE}
    sizes: dict[object, int] = {}
    for path in files:
        try:
            file = Path(path).stat()
        except FileNotFoundError:  # closed by now, or handed on: count it as the largest kind
            sizes[path] = _socket()
        else:
            sizes[file.st_dev, file.st_ino] = kinds.get(stat.S_IFMT(file.st_mode), _KIB)
    return sum(sizes.values())


@functools.cache
def _socket() -> int:
    """Return how many bytes a socket may hold: its own messages and those of a closed other end."""
    one, other = socket.socketpair()
    with one, other:
        buffer = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    return 2 * (buffer + _PIECE)


def _mappings(folders: Iterable[str]) -> int:
    """Return how many mappings of memory these processes have.

    Raises
    ------
    Uncountable
        If there are more than `_MAX_MAPPINGS`, since counting them takes too long.
    """
    found = 0
    for folder in folders:
        with Path(f"{folder}/maps").open("rb", buffering=0) as file:
            while piece := file.read(2**16):
                found += piece.count(b"\n")
                if found > _MAX_MAPPINGS:
                    raise Uncountable(f"it had more than {_MAX_MAPPINGS} mappings of memory")
    return found


@functools.cache
def _max_mappings() -> int:
    """Return how many mappings the kernel allows a process."""
    return int(_read("/proc/sys/vm/max_map_count"))


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _signal(handle: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def _is_over(handle: int, seconds: float) -> bool:
    """Say whether the process of a pidfd ends within this time."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
