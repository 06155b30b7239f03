"""Isolates a fork of the warm process: new user, PID, mount, IPC and network namespaces, limits.

Defends against: reading or writing files of anybody else; seeing or signalling other processes;
network; using more processes, memory or disk than allowed; and leaving anything behind, since the
namespaces end with their first process.

Does not defend against: faults of the kernel itself (`system_calls` reduces the attack surface);
full use of the worker's processors until a deadline; caches of the kernel, which it empties when
memory is short.

Without bubblewrap (``--isolation none``) only the limits apply.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.inside.limits import UID, Limits
from grader.sandbox.inside.system_calls import forbid_system_calls

_NEW_MOUNTS, _NEW_UTS, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXECUTION = 1, 2, 4, 8
_BIND, _MOVE, _RECURSIVE, _PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000

#: An empty folder that `grader.sandbox.bubblewrap` creates. The new /tmp is prepared there.
_STAGE = b"/mnt"

_SET_DUMPABLE, _DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 4, 24, 38
_SET_SIGNAL_AT_PARENTS_DEATH, _SET_CHILD_SUBREAPER, _SET_NO_HUGE_PAGES = 1, 36, 41
_CAPABILITY_VERSION_3 = 0x20080522

_MIB = 2**20

_libc = ctypes.CDLL(None, use_errno=True)


def become_nobody() -> None:
    """Give up root permanently, and let the kernel end this process when bubblewrap ends."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        # After a change of user /proc/self belongs to root; `enter` has to write to it.
        _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    _libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)


def enter(limits: Limits, kept: Sequence[str]) -> None:
    """Move into new namespaces and return in a child, the first process of its PID namespace.

    Parameters
    ----------
    limits : Limits
        The limits of the submission; this function uses `disk_mib`.
    kept : sequence of str
        Paths below /tmp that must stay visible: Python or this package, if installed there.

    Raises
    ------
    OSError
        If the kernel refuses any step. Then no learner code may be executed.
    """
    uid, gid = os.getuid(), os.getgid()
    _call(
        "unshare",
        _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_UTS | _NEW_NETWORK,
    )
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{UID} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{UID} {gid} 1")
    with contextlib.suppress(OSError):  # a second defence; the filter of system calls is the first
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    mount_flags = _NO_SUID | _NO_DEVICES | _NO_EXECUTION
    size = f"size={limits.disk_mib}m,nr_inodes=4096,mode=700".encode()
    _call("mount", b"none", _STAGE, b"tmpfs", mount_flags, size)
    for path in kept:
        place = _STAGE.decode() + path.removeprefix("/tmp")
        _make_like(Path(path), Path(place))
        _call("mount", path.encode(), place.encode(), None, _BIND | _RECURSIVE, None)
    _call("mount", _STAGE, b"/tmp", None, _MOVE, None)
    _call("mount", b"none", b"/proc", b"tmpfs", mount_flags | _READ_ONLY, b"size=4k,mode=555")
    os.chdir("/tmp")
    if os.fork():
        os._exit(0)  # only a child is in the new PID namespace; it goes on alone
    for capability in range(64):
        _libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)  # may fail: not all 64 exist
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    # A huge page of which a process keeps a single small one is held whole, and counts as that one.
    _call("prctl", _SET_NO_HUGE_PAGES, 1, 0, 0, 0)
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    forbid_system_calls(_libc)


def be_ended_first() -> None:
    """Let the kernel end this process and its children first when the machine's memory is short."""
    with contextlib.suppress(OSError):  # without /proc
        Path("/proc/self/oom_score_adj").write_text("1000")


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be found and ended.

    Without bubblewrap only: the first process of a PID namespace adopts orphans anyway.
    """
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_limits(limits: Limits, own_memory: int, own_size: int, *, isolated: bool) -> None:
    """Set the resource limits of this process and of all processes it starts.

    Parameters
    ----------
    limits : Limits
        The limits of the submission.
    own_memory, own_size : int
        Memory and address space, in bytes, that the warm process uses before any submission.
    isolated : bool
        Whether nobody else has this user id, so that limits per user can be set.
    """
    if own_size:
        # Less than the watchdog allows, so that Python raises MemoryError before the watchdog acts.
        own_size += max(limits.memory_mib * _MIB - own_memory, 64 * _MIB) * 15 // 16
        resource.setrlimit(resource.RLIMIT_AS, (own_size, own_size))
    if isolated:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (256, 256))
    # The judge may have started the warm process while `bounded` limited its own memory.
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.disk_mib * _MIB,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def _make_like(path: Path, place: Path) -> None:
    if path.is_dir():
        place.mkdir(parents=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
