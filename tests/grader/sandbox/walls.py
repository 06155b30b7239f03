"""Programs that try to see the machine, or to hold memory out of sight, and what stops them.

Each is executed in a session of its own, by a grader who is root and by one who is not.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from grader.sandbox import visible_files
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox, SessionDied

#: A folder of Python's own library that stands for an exchange in a folder that is listed.
PRIVATE = Path(os.__file__).resolve().parent / "xmlrpc"

LIMITS = Limits(call_seconds=20, cell_seconds=150, memory_mib=256, processes=16)


@dataclass(frozen=True)
class Program:
    """A program and what it prints, or how the session ends."""

    source: str
    printed: str = ""  #: as JSON
    ended: str = ""  #: a piece of the reason


#: Walks the whole tree, and prints how much of it is listed, and what else there is.
_WALK = """
import json, os
folders = tuple(path + "/" for path in LISTED)
number, others = 0, []
for above, below, names in os.walk("/"):
    for name in names:
        path = os.path.join(above, name)
        if not path.startswith(folders) and path not in LISTED:
            others.append(path)
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                number += len(file.read(1)) >= 0
print(json.dumps([number > 2000, sorted(others), os.listdir(PRIVATE)]))
"""

_TOLD = """
import json, os, socket, stat, sys
files = [os.fstat(n) for n in range(64) if is_open(n)]
print(json.dumps({
    "user": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
    "owner": os.stat("/tmp").st_uid,
    "host": [socket.gethostname(), os.uname().nodename],
    "processes": [os.getpid(), os.getppid(), os.listdir("/proc")],
    "arguments": [len(sys.argv), len(sys.orig_argv)],
    "own": sorted(set(os.environ) - NAMES),
    "sockets": sum(stat.S_ISSOCK(file.st_mode) for file in files),
    "others": sorted({file.st_rdev for file in files if not stat.S_ISSOCK(file.st_mode)}
                     - {os.stat("/dev/null").st_rdev}),
}))
"""

_IS_OPEN = """
import os
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
"""

_MACHINE = 0 if os.uname().machine == "x86_64" else 1

#: System calls by their numbers on x86-64 and 64-bit ARM, with arguments that a kernel accepts.
_CALLS = {
    "vmsplice": ((278, 75), "pipe[1], lent, 1, 0"),
    "splice": ((275, 76), "pipe[0], None, other[1], None, 1, 2"),
    "tee": ((276, 77), "pipe[0], other[1], 1, 2"),
    "sendfile": ((40, 71), "other[1], file, None, 1"),
    "inotify_init1": ((294, 26), "0"),
    "fanotify_init": ((300, 262), "0, 0"),
    "epoll_create1": ((291, 20), "0"),
    "io_setup": ((206, 0), "1, context"),
    "io_uring_setup": ((425, 425), "1, zeros"),
    "landlock_create_ruleset": ((444, 444), "landlock, 8, 0"),
    "seccomp": ((317, 277), "2, 0, zeros"),
    "mbind": ((237, 235), "None, 0, 0, None, 0, 0"),
    "set_mempolicy": ((238, 237), "0, None, 0"),
    "memfd_create": ((319, 279), "b'x', 0"),
    "memfd_secret": ((447, 447), "0"),
    "shmget": ((29, 194), "0, 4096, 0o1600"),
    "msgget": ((68, 186), "0, 0o1600"),
    "semget": ((64, 190), "0, 1, 0o1600"),
    "mq_open": ((240, 180), "b'x', 0o102, 0o600, None"),
    "add_key": ((248, 217), "b'user', b'x', b'x', 1, -3"),
    "bpf": ((321, 280), "0, zeros, 64"),
    "perf_event_open": ((298, 241), "zeros, 0, -1, -1, 0"),
    "userfaultfd": ((323, 282), "1"),
    "remap_file_pages": ((216, 234), "None, 0, 0, 0, 0"),
    "sendmsg": ((46, 211), "pair[0].fileno(), zeros, 0"),
    "setsockopt": ((54, 208), "pair[0].fileno(), 1, 7, zeros, 4"),
    "setxattr": ((188, 5), "b'/tmp/file', b'user.x', b'x', 1, 0"),
    "statmount": ((457, 457), "request, zeros, 64, 0"),
    "listmount": ((458, 458), "request, zeros, 8, 0"),
    "name_to_handle_at": ((303, 264), "-100, b'/tmp', zeros, zeros, 0"),
    "process_madvise": ((440, 440), "-1, lent, 1, 4, 0"),
    "pidfd_getfd": ((438, 438), "-1, 0, 0"),
    "setsid": ((112, 157), ""),
    "unshare": ((272, 97), "0x10000000"),
    "setns": ((308, 268), "0, 0"),
    "mount": ((165, 40), "b'none', b'/tmp', b'tmpfs', 0, None"),
    "umount2": ((166, 39), "b'/proc', 2"),
    "open_tree": ((428, 428), "-100, b'/', 0"),
    "ptrace": ((101, 117), "0, 0, 0, 0"),
    "process_vm_readv": ((310, 270), "0, zeros, 0, zeros, 0, 0"),
    "kcmp": ((312, 272), "0, 0, 0, 0, 0"),
    "personality": ((135, 92), "0xFFFFFFFF"),
    "syslog": ((103, 116), "10, None, 0"),
    "sched_setaffinity": ((203, 122), "0, 8, b'\\xff' * 8"),
    "clone in new namespaces": ((56, 220), "0x10000011, 0, 0, 0, 0"),
    "name of a mapping": ((157, 167), "0x53564D41, 0, 0, 0, b'x'"),
    "hash table of futexes": ((157, 167), "78, 1, 1 << 16, 0, 0"),
    "memory that cannot be read": ((157, 167), "4, 0, 0, 0, 0"),
    "memory that is merged": ((157, 167), "67, 1, 0, 0, 0"),
    "huge pages again": ((157, 167), "41, 0, 0, 0, 0"),
}
_ATTEMPTS = {
    "a larger pipe": "fcntl.fcntl(pipe[1], 1031, 1 << 20)",
    "a lock of a part": "fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)",
    "a lock of the open file": "fcntl.fcntl(file, 37, bytes(32))",
    "a lease": "fcntl.fcntl(file, 1024, 0)",
    "a watch of a folder": "fcntl.fcntl(file, 1026, 1)",
    "a larger socket": "pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)",
    "files under way": "socket.send_fds(pair[0], [b'x'], [file])",
    "who is at the other end": "wire.getsockopt(socket.SOL_SOCKET, 17, 12)",
    "a handle of who is there": "wire.getsockopt(socket.SOL_SOCKET, 77, 4)",
    "its groups": "wire.getsockopt(socket.SOL_SOCKET, 59, 64)",
    "an address": "wire.bind('/tmp/name')",
    "a name without a file": "wire.connect(b'\\0name')",
    "another user": "os.setuid(0)",
    "another group": "os.setgid(0)",
    "no groups": "os.setgroups([0])",
    "another host name": "socket.sethostname('x')",
    "another root": "os.chroot('/tmp')",
    **{
        f"a file in {folder}": f"open('{folder}/written', 'w')"
        for folder in ("/", "/dev", "/proc", "/usr", "/mnt")
    },
    "a device": "os.mknod('/tmp/device', 0o20600, 0x105)",
    **{
        f"a socket of family {family}": f"socket.socket({family}, {kind})"
        # IPv4, IPv6, netlink, packets, and the host of a virtual machine
        for family, kind in ((2, 1), (10, 2), (16, 3), (17, 3), (40, 1))
    },
    "shared memory": "mmap.mmap(-1, 2**21, flags=0x21)",
    "shared memory, validated": "mmap.mmap(-1, 2**21, flags=0x23)",
    "huge pages": "mmap.mmap(-1, 2**21, flags=0x40022)",
}
#: Requests of ioctl about network interfaces, and one about a terminal.
_CONTROLS = {
    "addresses": "0x8912",
    "an interface's name": "0x8910",
    "a hardware address": "0x8927",
    "flags": "0x8913",
    "the network's namespace": "0x894C",
    "a terminal's text": "0x5412",
}
_PREPARE = """
import ctypes, errno, fcntl, json, mmap, os, socket, stat, struct
libc = ctypes.CDLL(None, use_errno=True)
pipe, other, pair = os.pipe(), os.pipe(), socket.socketpair()
file = os.open("/tmp/file", os.O_RDWR | os.O_CREAT)
zeros, context = ctypes.create_string_buffer(4096), ctypes.c_ulong(0)
piece = ctypes.create_string_buffer(8)
lent = struct.pack("QQ", ctypes.addressof(piece), 8)
landlock, request = struct.pack("Q", 4), struct.pack("IIQQ", 24, 0, 2**64 - 1, 0)
is_wire = lambda n: is_open(n) and stat.S_ISSOCK(os.fstat(n).st_mode)
wire = socket.socket(fileno=os.dup(next(filter(is_wire, range(3, 64)))))
said = {}
def attempt(name, function):
    try:
        said[name] = repr(function())
    except OSError as error:
        said[name] = errno.errorcode[error.errno]
def call(*arguments):
    ctypes.set_errno(0)
    got = libc.syscall(*arguments)
    return errno.errorcode[ctypes.get_errno()] if got == -1 else got
"""


def _refused() -> Program:
    lines = [_IS_OPEN, _PREPARE]
    expected = {}
    for name, (numbers, arguments) in _CALLS.items():
        lines.append(f"said[{name!r}] = call({numbers[_MACHINE]}, {arguments})")
        expected[name] = "EPERM"
    for name, number in {"clone3": 435, "a call of the future": 600}.items():
        lines.append(f"said[{name!r}] = call({number}, None, 0)")
        expected[name] = "ENOSYS"
    if os.uname().machine == "x86_64":
        lines.append("said['a call of x32'] = call(0x40000027)")
        expected["a call of x32"] = "EPERM"
    for name, attempt in _ATTEMPTS.items():
        lines.append(f"attempt({name!r}, lambda: {attempt})")
        expected[name] = "EROFS" if name.startswith("a file in") else "EPERM"
    for name, request in _CONTROLS.items():
        lines.append(f"attempt({name!r}, lambda: fcntl.ioctl(wire, {request}, bytes(64)))")
        expected[name] = "ENOTTY"
    return Program("\n".join([*lines, "print(json.dumps(said))"]), json.dumps(expected))


#: Keeps memory in many processes, each of them far below its own limit.
_MANY = """
import ctypes, mmap, os, socket, time
libc = ctypes.CDLL(None)
def many(hold, number=12):
    for n in range(number):
        if os.fork() == 0:
            try:
                kept = hold(n)
                time.sleep(600)
            finally:
                os._exit(0)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(600)
def take(mib=30):
    return b"x" * (mib << 20)
"""
_TOO_MUCH = "it used more than 256 MiB of memory"

HIDDEN_MEMORY = {
    "under odd names": Program(
        _MANY
        + r"""
names = [b"\xff", b"\x1cVmRSS:\t-9 kB", b"x\nVmRSS:\t0 kB", b") Z 1 (", b"\xc2\x85VmSwap: -9", b""]
def hold(n):
    libc.prctl(15, names[n % len(names)])
    return take()
many(hold)
""",
        ended=_TOO_MUCH,
    ),
    "in threads of odd names": Program(
        _MANY
        + r"""
import threading
def hold(n):
    kept = []
    def run():
        libc.prctl(15, b"\xff\n")
        kept.append(take(50))
    libc.prctl(15, b"\xfe\nVmPTE: x")
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return kept
many(hold, 7)
""",
        ended=_TOO_MUCH,
    ),
    "behind a first thread that ended": Program(
        _MANY
        + f"""
import _thread
def hold(n):
    def run():
        kept = take(50)
        time.sleep(600)
    _thread.start_new_thread(run, ())
    libc.syscall({(60, 93)[_MACHINE]}, 0)
many(hold, 7)
""",
        ended=_TOO_MUCH,
    ),
    "in processes that hand it on": Program(
        _MANY
        + """
def hold(n):
    kept = take(50)
    while True:
        try:
            if os.fork():
                os._exit(0)
        except BlockingIOError:  # too many processes at this moment
            pass
many(hold, 7)
""",
        ended="it",  # used more memory, or came and went too fast
    ),
    "in mappings": Program(
        _MANY
        + """
pages = 20_000
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
at = libc.mmap(None, pages * 4096, 3, 0x22, -1, 0)
for page in range(0, pages, 2):
    libc.mprotect(at + page * 4096, 4096, 1)
many(lambda n: None, 5)
""",
        ended="it had more than 65536 mappings of memory",
    ),
    "in sockets": Program(
        _MANY
        + """
def hold(n):
    kept = []
    try:
        while True:
            kept.append(socket.socketpair())
            for end in kept[-1]:
                end.setblocking(False)
                try:
                    while True: end.send(bytes(2**15))
                except BlockingIOError:
                    pass
    except OSError:
        return kept
many(hold)
""",
        ended=_TOO_MUCH,
    ),
}


#: The names of all programs.
NAMES = (
    *("the whole tree", "what it is told", "what it may not call", "processes without end"),
    *HIDDEN_MEMORY,
)


def programs() -> dict[str, Program]:
    """Return all programs; what is visible is known only where they are executed."""
    with _private_folder():
        listed = [str(path) for path in visible_files.visible_files().files]
    devices = [f"/dev/{name}" for name in ("full", "null", "random", "urandom")]
    names = [*visible_names()]
    return {
        "the whole tree": Program(
            f"LISTED, PRIVATE = {listed}, {str(PRIVATE)!r}" + _WALK,
            json.dumps([True, devices, []]),
        ),
        "what it is told": Program(
            f"NAMES = set({names})" + _IS_OPEN + _TOLD,
            json.dumps(
                {
                    "user": [61234, 61234, 61234, []],
                    "owner": 61234,
                    "host": ["sandbox", "sandbox"],
                    "processes": [1, 0, []],
                    "arguments": [1, 1],
                    "own": [],
                    "sockets": 1,
                    "others": [],
                }
            ),
        ),
        "what it may not call": _refused(),
        "processes without end": Program(
            "import json, os, time\nnumber = 0\n"
            "try:\n"
            "    while True:\n"
            "        if os.fork() == 0: time.sleep(600)\n"
            "        number += 1\n"
            "except OSError as error:\n"
            "    print(json.dumps([number, error.errno]))",
            json.dumps([LIMITS.processes - 1, errno.EAGAIN]),
        ),
        **HIDDEN_MEMORY,
    }


def visible_names() -> Iterator[str]:
    """Yield the names of the environment variables inside."""
    from grader.sandbox.bubblewrap import environment

    yield from environment("/tmp")
    # Python and matplotlib add these themselves.
    yield from ("KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "LC_CTYPE", "PWD", "COLUMNS", "LINES")


def look() -> dict[str, str]:
    """Execute all programs, and return what each printed or how its session ended."""
    said = {}
    with _private_folder(), Sandbox(LIMITS) as sandbox:
        for name, program in programs().items():
            with sandbox.session() as session:
                try:
                    output = session.execute("a", program.source).outputs[-1]
                    said[name] = output.get("text", output.get("evalue", ""))
                except SessionDied as died:
                    said[name] = str(died)
    return said


@contextlib.contextmanager
def _private_folder() -> Iterator[None]:
    visible_files.visible_files.cache_clear()
    with mock.patch.object(visible_files, "private_folders", return_value=[PRIVATE]):
        yield
    visible_files.visible_files.cache_clear()


if __name__ == "__main__":
    json.dump(look(), sys.stdout)
