"""The warm process starts, restarts and ends, or an error says why it cannot start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from grader.sandbox import bubblewrap, launching
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE
from grader.sandbox.sandbox import Sandbox, SandboxUnavailable, SessionDied
from tests.grader.sandbox.probes import LIMITS, ROOT, gone, need_bubblewrap, started


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_warm_process_that_ended_is_started_again(isolation):
    need_bubblewrap()
    with Sandbox(LIMITS, isolation) as sandbox:
        lost = sandbox.session()
        sandbox._process._process.kill()
        sandbox._process._process.wait()
        with sandbox.session() as session:
            assert session.execute("a", "1").outcome == "ok"
        if isolation == "bubblewrap":
            with pytest.raises(SessionDied, match="its process ended"):
                lost.value("x")
        lost.kill()


def test_workers_share_a_warm_process_until_it_ends():
    need_bubblewrap()
    alone = "import os\nseen = os.path.exists('mine')\nopen('mine', 'w').close()"
    with launching.shared(LIMITS, BUBBLEWRAP) as control:
        sandboxes = [Sandbox(LIMITS, BUBBLEWRAP, control.dup()) for _ in range(2)]
        sessions = [sandbox.session() for sandbox in sandboxes]
        assert [session.execute("a", alone).outcome for session in sessions] == ["ok", "ok"]
        assert [session.value("seen") for session in sessions] == [False, False]
        assert [sandbox._process for sandbox in sandboxes] == [None, None]
    for session in sessions:
        session.kill()
    with sandboxes[0] as sandbox, sandbox.session() as another:
        assert another.execute("b", "1").outcome == "ok"
        assert sandbox._process is not None
    sandboxes[1].close()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_a_session_stays_on_the_cores_of_its_worker(sandbox, monkeypatch):
    first = min(os.sched_getaffinity(0))
    code = "import os\ncores = sorted(os.sched_getaffinity(0))\nos.sched_setaffinity(0, range(64))"
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {first})
    with sandbox.session() as session:
        assert session.execute("a", code).outcome == "error"
        assert session.value("cores") == [first]


def test_if_the_grader_is_killed_all_its_processes_end(tmp_path):
    need_bubblewrap()
    mark = f"{80_000 + os.getpid()}"
    program = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
sandbox = Sandbox(Limits())
session = sandbox.session()
session.execute("a", "import subprocess; subprocess.Popen(['sleep', '{mark}'])")
print("running", flush=True)
session.execute("b", "while True: pass")
"""
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert grader.stdout.readline() == "running\n"
    assert started(mark)
    grader.kill()
    grader.wait()
    grader.stdout.close()
    assert gone(mark)


def test_without_bubblewrap_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        Sandbox(LIMITS).session()
    assert Sandbox(LIMITS, NONE).isolation == NONE


def test_if_no_warm_process_can_be_shared_none_is_given(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    with launching.shared(LIMITS, BUBBLEWRAP) as control:
        assert control is None


def test_the_message_of_a_broken_bubblewrap_is_quoted(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: shutil.which("false"))
    with pytest.raises(SandboxUnavailable, match="it printed nothing"):
        Sandbox(LIMITS).session()
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: "/nothing/bwrap")
    with pytest.raises(SandboxUnavailable, match="No such file"):
        Sandbox(LIMITS).session()


def test_an_unknown_isolation_is_rejected():
    with pytest.raises(ValueError, match="expected isolation 'bubblewrap' or 'none', got 'docker'"):
        Sandbox(LIMITS, "docker")


def test_a_process_that_reuses_a_process_id_is_not_killed(sandbox):
    session = sandbox.session()
    family = session._watchdog._processes
    session.kill()
    bystander = subprocess.Popen(["sleep", "60"])
    family.pid = bystander.pid
    session.kill()
    family.kill()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
