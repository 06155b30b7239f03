"""System calls that a submission cannot make: a seccomp filter.

Defends against: making namespaces of its own, memory that no limit counts (memfd_create, System
V shared memory and queues, pages that are nobody's file and shared or huge), more than a
submission's share of the processors (other ones than its worker's; further sessions, each of
which the kernel gives as much as all of this one), sockets of any kind but local ones (a virtual
machine's vsock is in no network namespace), names of sockets (the one over which a submission is
asked belongs to the network of whoever grades), looking into other processes, and parts of the
kernel that have had more than their share of faults (io_uring, bpf, keys, userfaultfd).

Does not defend against: what the remaining calls do. It is a second wall behind the namespaces,
and stands on x86-64 and 64-bit ARM only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct

_NUMBERS = {  # of each call on x86-64 and on 64-bit ARM
    "acct": (163, 89),
    "add_key": (248, 217),
    "bind": (49, 200),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "setsid": (112, 157),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmget": (29, 194),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_CLONE, _CLONE3, _SOCKET, _MMAP = (56, 220), (435, 435), (41, 198), (9, 222)

#: Of each machine: its place in the pairs above and the kernel's name of its calls.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
# Of mmap. What is shared stays in memory after a process has let go of it, where none of its
# own figures counts it; a file's pages count with the files.
_SHARED, _NO_FILE, _HUGE = 0x01, 0x20, 0x40000
_X32 = 0x40000000  # on x86-64, numbers from here on are a second way to make each call

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
# Where they stand in what a filter sees.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_SECCOMP, _FILTER = 22, 2


def forbid_system_calls(libc: ctypes.CDLL) -> None:
    """Put the filter on this process and all that it starts; it cannot be taken off.

    Raises
    ------
    OSError
        If the kernel does not take it.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return
    program = _program(*machine)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(Program(len(program) // 8, program)), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp: " + os.strerror(ctypes.get_errno()))


def _program(which: int, architecture: int) -> bytes:
    """Return the filter in the kernel's form: eight bytes a step."""
    forbidden = sorted(numbers[which] for numbers in _NUMBERS.values())
    refuse, allow = (_RETURN, 0, 0, _FAIL | errno.EPERM), (_RETURN, 0, 0, _ALLOW)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        refuse,
    ]
    for number in forbidden:
        steps += [(_EQUAL, 0, 1, number), refuse]
    # A C library that finds no clone3 takes clone, whose flags a filter can see.
    steps += [(_EQUAL, 0, 1, _CLONE3[which]), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]
    steps += [
        (_EQUAL, 0, 4, _CLONE[which]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        refuse,
        allow,
    ]
    steps += [
        (_EQUAL, 0, 6, _MMAP[which]),
        (_LOAD, 0, 0, _FOURTH_ARGUMENT),
        (_ANY_BIT, 2, 0, _HUGE),
        (_ANY_BIT, 0, 2, _NO_FILE),
        (_ANY_BIT, 0, 1, _SHARED),
        refuse,
        allow,
    ]
    steps += [
        (_EQUAL, 0, 3, _SOCKET[which]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 1, 0, socket.AF_UNIX),
        refuse,
        allow,
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
