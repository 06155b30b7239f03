"""System calls that a submission cannot make: a seccomp filter.

Defends against:

- new namespaces;
- memory that no limit counts: memfd_create, System V shared memory and queues, anonymous shared
  mappings and huge pages;
- more than a submission's share of the processors: other processors than its worker's, and new
  sessions, since the kernel's scheduler gives each session the same share;
- sockets other than local ones, since network namespaces do not confine a virtual machine's vsock;
- named sockets: a submission's connection to the judge belongs to the judge's network namespace,
  so socket names there would be reachable;
- reading or changing other processes;
- parts of the kernel with a history of faults: io_uring, bpf, keys, userfaultfd.

Does not defend against: what the remaining calls do. The filter is a second defence after the
namespaces, and is available on x86-64 and 64-bit ARM only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct

_NUMBERS = {  # the number of each call on x86-64 and on 64-bit ARM
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

#: By machine: its position in the pairs above, and the kernel's AUDIT_ARCH number for it.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
# Flags of mmap. Anonymous shared memory can outlive its mapping, and then no figure of a process
# counts it; pages of a file count as the file.
_SHARED, _NO_FILE, _HUGE = 0x01, 0x20, 0x40000
_X32 = 0x40000000  # on x86-64, numbers from here on are the x32 variants of the same calls

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
# Offsets in struct seccomp_data.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_SECCOMP, _FILTER = 22, 2


def forbid_system_calls(libc: ctypes.CDLL) -> None:
    """Install the filter in this process and all it starts; it cannot be removed.

    Raises
    ------
    OSError
        If the kernel refuses the filter.
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
    """Return the filter as a BPF program, eight bytes per instruction."""
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
    # Without clone3 a C library falls back to clone, whose flags a filter can check.
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
