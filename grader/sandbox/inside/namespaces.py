"""Shuts a fork of the warm process in: its own user, processes, files, network and limits.

Defends against: reading or writing what is not the submission's own, seeing or signalling
other processes, network, using more processes, memory or disk than allowed, and leaving
anything behind, since all of it ends with the first process of its namespace.

Does not defend against: faults of the kernel itself (`system_calls` makes their surface
smaller); heavy use of its worker's processors until a deadline ends it; memory that the kernel
holds in pipes and local sockets, of which the limits on files and processes allow some hundred
MiB.

Outside of bubblewrap, with no isolation asked for, only the limits hold.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.system_calls import forbid_system_calls

#: The user that a submission runs as: nobody's, and not root's, whom no process limit binds.
UID = 61234

_NEW_MOUNTS, _NEW_UTS, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXECUTION = 1, 2, 4, 8
_BIND, _MOVE, _RECURSIVE, _PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000

#: An empty folder that `grader.sandbox.bubblewrap` makes: where /tmp is prepared.
_STAGE = b"/mnt"

_SET_DUMPABLE, _DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 4, 24, 38
_SET_SIGNAL_AT_PARENTS_DEATH, _SET_CHILD_SUBREAPER = 1, 36
_CAPABILITY_VERSION_3 = 0x20080522

_MIB = 2**20

_libc = ctypes.CDLL(None, use_errno=True)


def become_nobody() -> None:
    """Give up root, for good, in the warm process, and end with bubblewrap."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        # After a change of user the kernel gives /proc/self to root; the maps below need it.
        _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    _libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)


def enter(limits: Limits, kept: Sequence[str]) -> None:
    """Move this process into fresh namespaces and return in a child, the first one there.

    Parameters
    ----------
    limits : Limits
    kept : sequence of str
        What under /tmp has to stay in sight: Python or this package, if they stand there.

    Raises
    ------
    OSError
        If the kernel refuses any part of it. Then nothing may be run.
    """
    uid, gid = os.getuid(), os.getgid()
    _call(
        "unshare",
        _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_UTS | _NEW_NETWORK,
    )
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{UID} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{UID} {gid} 1")
    with contextlib.suppress(OSError):  # a second wall; the filter of system calls is the first
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    no_surprises = _NO_SUID | _NO_DEVICES | _NO_EXECUTION
    room = f"size={limits.disk_mib}m,nr_inodes=4096,mode=700".encode()
    _call("mount", b"none", _STAGE, b"tmpfs", no_surprises, room)
    for path in kept:
        place = _STAGE.decode() + path.removeprefix("/tmp")
        _make_like(Path(path), Path(place))
        _call("mount", path.encode(), place.encode(), None, _BIND | _RECURSIVE, None)
    _call("mount", _STAGE, b"/tmp", None, _MOVE, None)
    _call("mount", b"none", b"/proc", b"tmpfs", no_surprises | _READ_ONLY, b"size=4k,mode=555")
    os.chdir("/tmp")
    if os.fork():
        os._exit(0)  # the child lives on as one of the warm process, first of its own namespace
    for capability in range(64):
        _libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)  # fails beyond the last there is
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    forbid_system_calls(_libc)


def adopt_orphans() -> None:
    """Stay the parent of all that comes of this process, so that it can be found and ended.

    The first process of a namespace does so anyway.
    """
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_limits(limits: Limits, own_memory: int, own_size: int, *, isolated: bool) -> None:
    """Bind this process and all that it starts.

    Parameters
    ----------
    limits : Limits
    own_memory, own_size : int
        Bytes of memory and of address space that the warm process has before any submission.
    isolated : bool
        Whether the user is nobody else's, so that its processes can be counted.
    """
    if own_size:
        # Less than the watchdog allows, so that Python can say MemoryError before it bites.
        own_size += max(limits.memory_mib * _MIB - own_memory, 64 * _MIB) * 15 // 16
        resource.setrlimit(resource.RLIMIT_AS, (own_size, own_size))
    if isolated:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (256, 256))
    # The judge may have started the warm process while it had a limit of its own.
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
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
