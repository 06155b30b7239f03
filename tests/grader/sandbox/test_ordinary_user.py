"""The sandbox protects as well if the grader does not run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from grader.sandbox.bubblewrap import find_bubblewrap
from tests.grader.sandbox.probes import BOMB, MANY_GREEDY, ROOT, need_bubblewrap

BECOME = """
import os, sys
number, *command = sys.argv[1:]
os.setgroups([])
os.setgid(int(number))
os.setuid(int(number))
os.execv(command[0], command)
"""


def is_world_executable(folder: Path) -> bool:
    """Tell whether all users may access the contents of a folder."""
    return bool(folder.stat().st_mode & 0o001)


def ways_to(
    paths: list[Path], is_open: Callable[[Path], bool] = is_world_executable
) -> Iterator[str]:
    """Yield arguments for bubblewrap that make paths accessible to all users.

    A folder that only root may enter is covered by an empty one, into which the needed paths are
    mounted again in their old places.
    """
    closed = {
        path: [folder for folder in [*reversed(path.parents), path] if not is_open(folder)]
        for path in paths
    }
    covered = {folders[0] for folders in closed.values() if folders}
    for folder in sorted(covered):
        yield from ("--perms", "0755", "--tmpfs", str(folder))
    for path, folders in sorted(closed.items()):
        for shown in path.iterdir() if path in folders else [path] if folders else []:
            below = [above for above in reversed(shown.parents) if folders[0] in above.parents]
            for above in below:
                yield from ("--dir", str(above))
            yield from ("--ro-bind", str(shown), str(shown))


def run_as_ordinary_user(program: str) -> subprocess.CompletedProcess:
    """Run a program with this Python, as an otherwise unused user."""
    python = os.path.realpath(sys.executable)
    packages = [folder for folder in sys.path if folder.endswith("-packages")]
    needed = {Path(python).parent, Path(os.path.realpath(sys.base_prefix)), ROOT}
    needed |= {Path(folder) for folder in packages}
    whole = [path for path in needed if not needed & {*path.parents}]
    taken = {user.pw_uid for user in pwd.getpwall()}
    number = next(number for number in count(54_321) if number not in taken)
    opened = ["--dev-bind", "/", "/", *ways_to(whole), "--chdir", "/"]
    become = [python, "-I", "-S", "-c", BECOME, str(number)]
    return subprocess.run(
        [find_bubblewrap(), *opened, "--", *become, python, "-c", program],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*packages, str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_closed_folders_are_replaced_by_their_needed_contents(tmp_path):
    home, course, python = (tmp_path / name for name in ("home", "course", "home/own/python"))
    for folder in (python, course / "grader"):
        folder.mkdir(parents=True)
    covers = ["--perms", "0755", "--tmpfs"]
    found = ways_to([python, course, Path("/usr")], lambda folder: folder not in (home, course))
    assert [*found] == [
        *(*covers, str(course), *covers, str(home)),
        *("--ro-bind", str(course / "grader"), str(course / "grader")),
        *("--dir", str(home / "own"), "--ro-bind", str(python), str(python)),
    ]


def test_only_the_mode_bits_for_others_count(tmp_path):
    for mode, entered in ((0o770, False), (0o701, True), (0o704, False)):
        tmp_path.chmod(mode)
        assert is_world_executable(tmp_path) is entered


AS_USER = f"""
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox, SessionDied
with Sandbox(Limits(call_seconds=1, cell_seconds=20, memory_mib=400, processes=16)) as sandbox:
    for source in (
        "import os; print(os.getuid(), os.listdir('/tmp'), os.path.exists('/etc/passwd'))",
        "open('/written', 'w')",
        "open('/tmp/written', 'w'); print('written')",
        {BOMB!r},
        {MANY_GREEDY!r},
    ):
        with sandbox.session() as session:
            try:
                output = session.execute("a", source).outputs[-1]
                print(output.get("text", output.get("ename")).strip())
            except SessionDied as died:
                print(died)
"""


def test_an_ordinary_user_can_grade_in_the_sandbox():
    if os.getuid() != 0:
        pytest.skip("this test runs as an ordinary user, so all others do too")
    need_bubblewrap()
    ran = run_as_ordinary_user(AS_USER)
    # If the course is below /tmp, that folder shows only the course.
    below = ROOT.relative_to("/tmp").parts[:1] if ROOT.is_relative_to("/tmp") else ()
    assert ran.stdout.splitlines() == [
        f"61234 {list(below)} False",
        "OSError",
        "written",
        "15 [Errno 11] Resource temporarily unavailable",
        "it used more than 400 MiB of memory",
    ], ran.stderr
