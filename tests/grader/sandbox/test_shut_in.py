"""A submission can see and change only its own files and processes, and leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from grader.sandbox.inside.limits import NONE
from grader.sandbox.sandbox import Sandbox
from tests.grader.sandbox.probes import FIND, LIMITS, ROOT, alive, gone, printed, started


def test_it_sees_only_python(session):
    paths = [
        "/etc/passwd",
        "/home",
        "/usr/local/share",
        "/var",
        "/sys",
        "/proc/self",
        "/dev/tty",
        str(Path.home() / ".ssh"),
        str(ROOT / "solutions"),
        str(ROOT / "gradebook.db"),
        str(ROOT / "grader" / "judging"),
        str(ROOT / "grader" / "sandbox" / "session.py"),
    ]
    seen = f"import os; print([path for path in {paths} if os.path.exists(path)])"
    assert printed(session, seen) == "[]\n"


def test_it_sees_no_environment_and_no_other_process(session):
    os.environ["GRADER_TEST_SECRET"] = "secret"
    try:
        seen = printed(session, "import os\nprint(os.environ, os.listdir('/proc'), os.getpid())")
    finally:
        del os.environ["GRADER_TEST_SECRET"]
    assert "secret" not in seen
    assert seen.endswith(" [] 1\n")


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
        "/usr/share/zoneinfo",
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


def test_nothing_outlives_a_session(sandbox):
    mark = f"{60_000 + os.getpid()}"
    source = f"""
import os, subprocess
subprocess.Popen(["sleep", "{mark}"], process_group=0)
subprocess.Popen("nohup sleep {mark} >/dev/null 2>&1 &", shell=True)
"""
    with sandbox.session() as session:
        session.execute("a", source)
        assert started(mark, 2)
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
        assert started(mark)
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
