"""The system calls that a submission can make: a seccomp filter that refuses all others.

Defends against:

- new namespaces;
- memory that no figure of a process shows: memfd_create, System V shared memory and queues,
  POSIX queues, anonymous shared mappings and huge pages; pages lent to pipes (vmsplice, splice,
  tee, sendfile) and pipes made larger; sockets made larger, and open files under way between
  sockets (sendmsg); asynchronous requests (io_setup, io_uring); watches of files and descriptors
  (inotify, fanotify, epoll); locks of parts of files, leases, rules of Landlock, further filters,
  policies and names of mappings, and hash tables of futexes;
- more than a submission's share of the processors: other processors than its worker's, and new
  sessions, since the kernel's scheduler gives each session the same share;
- what tells of the machine: its mounts (listmount, statmount), the addresses and names of network
  interfaces (ioctl), and who is at the other end of a socket (getsockopt);
- sockets other than local ones, since network namespaces do not confine a virtual machine's vsock,
  and names of sockets;
- reading or changing other processes;
- parts of the kernel with a history of faults: io_uring, bpf, keys, userfaultfd;
- calls that a newer kernel adds.

Does not defend against: what the remaining calls do. The filter is a second defence after the
namespaces, and is available on x86-64 and 64-bit ARM only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterable

from grader.sandbox.inside.system_call_numbers import ALLOWED, CHECKED, NEWEST

#: By machine: its position in the pairs of numbers, and the kernel's AUDIT_ARCH number for it.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
# Flags of mmap. Anonymous shared memory can outlive its mapping, and then no figure of a process
# counts it; pages of a file count as the file.
_SHARED, _NO_FILE, _HUGE = 0x01, 0x20, 0x40000
_X32 = 0x40000000  # on x86-64, numbers from here on are the x32 variants of the same calls

# Requests of ioctl: close on exec, and not; do not block; how many bytes can be read. No terminal
# is there for any other.
_CONTROLS = (0x5451, 0x5450, 0x5421, 0x541B)
# Commands of fcntl: duplicate, flags of the descriptor and of the file, the size of a pipe.
_COMMANDS = (0, 1030, 1, 2, 3, 4, 1032)
# Options of prctl: the signal at the parent's death, whether memory can be read from outside, the
# name, one capability, no new privileges.
_OPTIONS = (1, 2, 3, 15, 16, 23, 38, 39)
_SOCKET_OPTIONS = (
    socket.SO_TYPE,
    socket.SO_ERROR,
    socket.SO_SNDBUF,
    socket.SO_RCVBUF,
    socket.SO_PROTOCOL,
    socket.SO_DOMAIN,
)

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
# Offsets in struct seccomp_data; those of arguments are of their lower halves.
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND, _THIRD, _FOURTH = 16, 24, 32, 40
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_SECCOMP, _FILTER = 22, 2

#: An instruction: its code, how far to jump if it holds and if not, and its operand.
_Step = tuple[int, int, int, int]


def _fail(number: int) -> _Step:
    return (_RETURN, 0, 0, _FAIL | number)


_PASS: _Step = (_RETURN, 0, 0, _ALLOW)
_REFUSE = _fail(errno.EPERM)


def forbid_system_calls(libc: ctypes.CDLL) -> None:
    """Install the filter in this process and all it starts; it cannot be removed.

    Raises
    ------
    OSError
        If the kernel refuses the filter.
    """
    if not _PROGRAM:
        return

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(Program(len(_PROGRAM) // 8, _PROGRAM)), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp: " + os.strerror(ctypes.get_errno()))


def _program(which: int, architecture: int) -> bytes:
    """Return the filter as a BPF program, eight bytes per instruction."""
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _REFUSE,
    ]
    for name, body in _CHECKS.items():
        number = CHECKED[name][which]
        assert number is not None, f"{name} has a number on each machine"
        steps += [(_EQUAL, 0, len(body), number), *body]
    for numbers in ALLOWED.values():
        allowed = numbers[which]
        if allowed is not None:
            steps += [(_EQUAL, 0, 1, allowed), _PASS]
    # "Not implemented" lets a C library fall back to what older kernels have.
    steps += [(_AT_LEAST, 0, 1, NEWEST + 1), _fail(errno.ENOSYS), _REFUSE]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _one_of(argument: int, values: Iterable[int], otherwise: _Step = _REFUSE) -> list[_Step]:
    """Return the steps that allow a call if an argument is one of these values."""
    steps: list[_Step] = [(_LOAD, 0, 0, argument)]
    for value in values:
        steps += [(_EQUAL, 0, 1, value), _PASS]
    return [*steps, otherwise]


#: What is checked of calls that are allowed with some arguments only; each list ends the filter.
_CHECKS: dict[str, list[_Step]] = {
    "mmap": [
        (_LOAD, 0, 0, _FOURTH),
        (_ANY_BIT, 2, 0, _HUGE),
        (_ANY_BIT, 0, 2, _NO_FILE),
        (_ANY_BIT, 0, 1, _SHARED),
        _REFUSE,
        _PASS,
    ],
    "clone": [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _REFUSE, _PASS],
    # Without clone3 a C library falls back to clone, whose flags a filter can check.
    "clone3": [_fail(errno.ENOSYS)],
    "ioctl": _one_of(_SECOND, _CONTROLS, _fail(errno.ENOTTY)),
    "fcntl": _one_of(_SECOND, _COMMANDS),
    "prctl": _one_of(_FIRST, _OPTIONS),
    "socket": _one_of(_FIRST, [socket.AF_UNIX]),
    "socketpair": _one_of(_FIRST, [socket.AF_UNIX]),
    "getsockopt": [
        (_LOAD, 0, 0, _SECOND),
        (_EQUAL, 1, 0, socket.SOL_SOCKET),
        _REFUSE,
        *_one_of(_THIRD, _SOCKET_OPTIONS),
    ],
}

_machine = _MACHINES.get(os.uname().machine)
#: Made here, once in the warm process, and not again in each of its forks.
_PROGRAM = b"" if _machine is None else _program(*_machine)
