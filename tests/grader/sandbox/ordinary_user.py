"""Running a program as an ordinary user, in the same course and with the same Python."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from grader.sandbox.bubblewrap import find_bubblewrap
from tests.grader.sandbox.probes import ROOT

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


def run_as_ordinary_user(module: str) -> subprocess.CompletedProcess:
    """Run a module with this Python, as an otherwise unused user."""
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
        [find_bubblewrap(), *opened, "--", *become, python, "-m", module],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*packages, str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
