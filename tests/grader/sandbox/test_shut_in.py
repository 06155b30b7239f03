"""A submission can see and change only its own files and processes, and leaves nothing behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from grader.sandbox import bubblewrap
from grader.sandbox.inside.limits import NONE
from grader.sandbox.sandbox import Sandbox
from tests.grader.sandbox.probes import FIND, LIMITS, ROOT, alive, gone, need_bubblewrap, printed


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/hostname",
        "/home",
        "/var",
        "/run",
        "/sys",
        "/proc/self",
        "/proc/1",
        "/dev/tty",
        "/dev/sda",
        "/dev/vda",
        str(Path.home() / ".ssh"),
        str(Path.home() / ".bashrc"),
        str(ROOT / "solutions"),
        str(ROOT / "tests"),
        str(ROOT / "gradebook.db"),
        str(ROOT / ".git"),
        str(ROOT / "grader" / "judging" / "judge.py"),
        str(ROOT / "grader" / "sandbox" / "session.py"),
        str(ROOT / "pyproject.toml"),
    ],
)
def test_it_sees_only_python(session, path):
    assert printed(session, f"import os; print(os.path.exists({path!r}))") == "False\n"


def test_it_sees_no_environment_and_no_other_process(session):
    os.environ["GRADER_TEST_SECRET"] = "secret"
    try:
        seen = printed(session, "import os\nprint(os.environ, os.listdir('/proc'), os.getpid())")
    finally:
        del os.environ["GRADER_TEST_SECRET"]
    assert "secret" not in seen
    assert seen.endswith(" [] 1\n")


def test_it_has_no_privileges(session):
    assert printed(session, "import os; print(os.getuid(), os.getgid(), os.getgroups())") == (
        "61234 61234 []\n"
    )


def test_its_only_open_file_is_one_socket(session):
    # The socket and its duplicate.
    assert printed(session, FIND + "print(len(list(filter(is_open, range(3, 128)))))") == "2\n"


@pytest.mark.parametrize(
    "folder",
    [
        "/",
        "/dev",
        "/proc",
        "/usr",
        "/usr/share/fonts",
        str(ROOT),
        str(ROOT / "attn_lib"),
        str(ROOT / "grader"),
        str(ROOT / "grader" / "sandbox" / "inside"),
        str(Path(np.__file__).parent.parent),
        str(Path(np.__file__).parent),
        str(Path(os.__file__).resolve().parent),
    ],
)
def test_it_can_write_only_to_its_temporary_folder(session, folder):
    source = f"""
import os
path = os.path.join({folder!r}, "written")
for do in (lambda: open(path, "w"), lambda: os.mkdir(path), lambda: os.chmod({folder!r}, 0o777)):
    try:
        do(); print("done")
    except OSError as error:
        print(error.errno in (1, 13, 30))
"""
    said = printed(session, source)
    if Path(folder).is_relative_to("/tmp"):
        # If the course is below /tmp, the file was written to the private temporary folder.
        assert not (Path(folder) / "written").exists()
    else:
        assert said == "True\nTrue\nTrue\n"


KERNEL = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    return result == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES, errno.ENOSYS, 22)
"""


@pytest.mark.parametrize(
    "call",
    [
        "'unshare', 0x10000000",
        "'mount', b'none', b'/tmp', b'tmpfs', 0, None",
        "'mount', b'none', b'/', None, 0x1020, None",
        "'umount2', b'/proc', 2",
        "'chroot', b'/tmp'",
        "'setuid', 0",
        "'ptrace', 0, 0, 0, 0",
        "'memfd_create', b'x', 0",
        "'shmget', 0, 4096, 0o1600",
        "'msgget', 0, 0o1600",
        "'syscall', 321, 0, 0, 0" if os.uname().machine == "x86_64" else "'unshare', 0",
        "'syscall', 56, 0x10000011, 0, 0, 0, 0",
        "'syscall', 435, 0, 0",
        "'syscall', 0x40000027",
        "'setsid',",
        "'sched_setaffinity', 0, 128, bytes([255] * 128)",
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_forbidden_system_calls_fail(session, call):
    assert printed(session, KERNEL + f"print(refused({call}))") == "True\n"


@pytest.mark.parametrize("flags", [0x21, 0x23, 0x40022], ids=["shared", "validated", "huge"])
def test_it_gets_no_memory_that_the_watchdog_cannot_count(session, flags):
    source = f"""
import errno, mmap, os
try:
    mmap.mmap(-1, 2**21, flags={flags})
except OSError as error:
    print(error.errno == errno.EPERM)
print(len(mmap.mmap(-1, 2**21, flags=0x22)))
"""
    assert printed(session, source) == "True\n2097152\n"
    assert printed(session, "print(os.path.exists('/dev/zero'))") == "False\n"


def test_processes_can_share_memory_that_is_backed_by_files(session):
    source = """
import multiprocessing
numbers = multiprocessing.get_context("fork").Array("d", 4, lock=False)
if os.fork() == 0:
    numbers[:] = [1, 2, 3, 4]
    os._exit(0)
os.wait()
print(list(numbers))
"""
    assert printed(session, "import os" + source) == "[1.0, 2.0, 3.0, 4.0]\n"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_there_is_no_network(session, family):
    source = f"import socket\nsocket.socket(socket.{family}, socket.SOCK_DGRAM)"
    assert session.execute("a", source).outputs[-1]["ename"] == "PermissionError"


def test_nothing_outlives_a_session(sandbox):
    mark = f"{60_000 + os.getpid()}"
    source = f"""
import os, subprocess
subprocess.Popen(["sleep", "{mark}"], process_group=0)
subprocess.Popen("nohup sleep {mark} >/dev/null 2>&1 &", shell=True)
"""
    with sandbox.session() as session:
        session.execute("a", source)
        until = time.monotonic() + 5
        while len(alive(mark)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(alive(mark)) == 2
    assert alive(mark) == []


def test_without_isolation_files_are_removed_with_their_folder():
    with Sandbox(LIMITS, NONE) as sandbox, sandbox.session() as session:
        here = Path(printed(session, "import os; print(os.getcwd(), end='')"))
        printed(session, "open('left', 'w').write('x')")
        assert (here / "left").exists()
    assert not here.parent.exists()


def test_without_isolation_processes_end_too(unprotected):
    mark = f"{70_000 + os.getpid()}"
    with unprotected.session() as session:
        session.execute(
            "a",
            "import subprocess\n"
            f"subprocess.Popen('setsid nohup sleep {mark} >/dev/null 2>&1 &', shell=True)",
        )
        time.sleep(0.5)
        assert alive(mark)
    assert gone(mark)


def test_nothing_passes_from_one_session_to_the_next(sandbox):
    leave = """
import attn_lib.course.checks, builtins, numpy as np, os, sys
left = 1
np.left = sys.left = builtins.left = 1
attn_lib.course.checks.observation.observe = None
np.random.seed(3)
os.environ["LEFT"] = "1"
for folder in ("/tmp", "/dev/shm"):
    open(folder + "/left", "w").write("1")
"""
    look = """
import attn_lib.course.checks, builtins, numpy as np, os, sys
print("left" in globals(), hasattr(np, "left"), hasattr(sys, "left"), hasattr(builtins, "left"),
      attn_lib.course.checks.observation.observe is None, "LEFT" in os.environ,
      "left" in os.listdir("/tmp"), "left" in os.listdir("/dev/shm"))
"""
    with sandbox.session() as first, sandbox.session() as beside:
        assert printed(first, leave) == ""
        for session in (beside, sandbox.session()):
            with session:
                assert printed(session, look) == "False " * 7 + "False\n"


def test_two_concurrent_sessions_do_not_see_each_other(sandbox):
    with sandbox.session() as one, sandbox.session() as other:
        one.execute(
            "a", "open('/tmp/one', 'w').close()\nimport os, time\nif os.fork() == 0: time.sleep(60)"
        )
        assert printed(other, "import os; print('one' in os.listdir('/tmp'))") == "False\n"
        assert other.execute("a", "import os; os.kill(2, 9)").outputs[-1]["ename"] == (
            "ProcessLookupError"
        )


def test_shared_memory_of_the_machine_is_not_touched(session):
    printed(session, "open('/dev/shm/of-a-submission', 'w').write('x')")
    assert not Path("/dev/shm/of-a-submission").exists()


def test_a_course_inside_a_system_folder_is_hidden(monkeypatch):
    need_bubblewrap()
    course = Path("/usr/share/perl5")
    if not course.is_dir():
        pytest.skip("needs a folder under /usr that does not belong to Python")
    monkeypatch.setattr(bubblewrap, "COURSE", course)
    with Sandbox(LIMITS) as sandbox, sandbox.session() as session:
        assert printed(session, f"import os; print(os.listdir({str(course)!r}))") == "[]\n"
