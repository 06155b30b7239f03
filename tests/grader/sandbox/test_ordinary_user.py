"""Whoever grades need not be root: the same walls stand."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import numpy as np
import pytest

from tests.grader.sandbox.probes import BOMB, MANY_GREEDY, ROOT, need_bubblewrap


def _run_as(user: pwd.struct_passwd, python: str, program: str) -> subprocess.CompletedProcess:
    packages = [folder for folder in sys.path if folder.endswith("-packages")]
    return subprocess.run(
        ["/usr/bin/env", python, "-c", program],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*packages, str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


def ordinary_python() -> tuple[pwd.struct_passwd, str]:
    """Return an ordinary user and a Python like this one that he may start; else skip."""
    if os.getuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (os.path.realpath(sys.executable), f"/usr/bin/python{here}"):
        for user in pwd.getpwall():
            if user.pw_uid < 1000 or user.pw_name == "nobody":
                continue
            program = f"open({np.__file__!r}); open({__file__!r})"
            if _run_as(user, python, program).returncode == 0:
                return user, python
    pytest.skip("no ordinary user here may start a Python with these packages")


AS_USER = f"""
from grader.sandbox.inside.limits import Limits
from grader.sandbox.warm_process import Sandbox, SessionDied
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
                output = session.run_cell("a", source).outputs[-1]
                print(output.get("text", output.get("ename")).strip())
            except SessionDied as died:
                print(died.reason)
"""


def test_an_ordinary_user_can_grade_as_safely():
    need_bubblewrap()
    ran = _run_as(*ordinary_python(), AS_USER)
    # A course that lies below /tmp is seen there, without anything else.
    below = ROOT.relative_to("/tmp").parts[:1] if ROOT.is_relative_to("/tmp") else ()
    assert ran.stdout.splitlines() == [
        f"61234 {list(below)} False",
        "OSError",
        "written",
        "15 [Errno 11] Resource temporarily unavailable",
        "it used more than 400 MiB of memory",
    ], ran.stderr
