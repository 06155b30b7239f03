"""If a process ends, forges replies or sends unrequested data, its session ends."""

from __future__ import annotations

import time

import numpy as np
import pytest

from grader.sandbox.sandbox import SessionDied
from tests.grader.sandbox.probes import FIND, printed

NO_REPLY = "it sent something that is not a valid reply"


@pytest.mark.parametrize(
    "source",
    ["import os; os._exit(0)", "import os; os.abort()", "import ctypes; ctypes.string_at(0)"],
)
def test_a_process_that_ends_is_reported(session, source):
    with pytest.raises(SessionDied, match="its process ended"):
        session.execute("a", source)


def test_killing_all_processes_affects_only_its_own_session(sandbox, session):
    source = """
import os
os.kill(os.getpid(), 9)
try:
    os.kill(-1, 9)
except ProcessLookupError:
    print("nobody else is there")
"""
    assert printed(session, source) == "nobody else is there\n"
    with sandbox.session() as other:
        assert printed(other, "print(1)") == "1\n"


TRICKLE = """
signal.setitimer(signal.ITIMER_REAL, 0)
wire.sendall((99).to_bytes(4, "big") + bytes(4))
while True:
    wire.sendall(b" ")
    time.sleep(0.3)
"""


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ("wire.sendall(b'\\xff' * 8)", NO_REPLY),
        ("wire.sendall(b'\\0' * 8)", NO_REPLY),
        ("wire.sendall(pack(['no token', ('ok', [])], max_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), ('well', [])], max_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), ('ok', [3])], max_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), 'ok'], max_bytes=0))", NO_REPLY),
        ("wire.sendall(pack('ok', max_bytes=0))", NO_REPLY),
        ("os.closerange(3, 64); wire.close()", "its process ended"),
        ("wire.shutdown(socket.SHUT_RDWR)", "its process ended"),
        (TRICKLE, "it did not return within 2 s"),
    ],
)
def test_an_invalid_reply_ends_the_session(session, attack, message):
    with pytest.raises(SessionDied) as died:
        session.execute("a", FIND + attack)
    assert str(died.value) == message


def test_a_second_reply_ends_the_session(session):
    forged = "wire.sendall(pack([token(), ('ok', [])], max_bytes=0))"
    # The reply is forged for its own cell, so it gains nothing.
    assert session.execute("a", FIND + forged).outputs == []
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.value("wire")


def test_a_reply_before_the_question_ends_the_session(session):
    session.execute(
        "a", FIND + "import threading\nthreading.Timer(0.3, wire.sendall, [bytes(8)]).start()"
    )
    time.sleep(0.8)
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.call("f", [1], own_work=True)


@pytest.mark.parametrize("reply", ["{'f': 'value', 'g': 'value'}", "{}", "{'f': 'friend'}", "3"])
def test_forged_kinds_end_the_session(session, reply):
    session.execute(
        "a",
        "import grader.sandbox.inside.runner as r\n"
        f"r._Answers.kinds = lambda self, reply, names: reply({reply})",
    )
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.kinds(["f"])


def test_a_forged_observation_counts_as_a_function_result(session):
    session.execute(
        "a",
        "import grader.sandbox.inside.runner as r\n"
        "r.observe = lambda *a, **k: r.Observation(7, 'x' * 99999, True, True)",
    )
    seen = session.call("f", [1], own_work=True)
    assert (seen.returned, len(seen.problem), seen.stopped) == (None, 10_000, False)
    session.execute("b", "r.observe = lambda *a, **k: 7")
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.call("f", [1], own_work=True)


def test_a_process_that_does_not_read_large_arguments_is_ended(session):
    session.execute(
        "a",
        FIND
        + "def stop(*a): time.sleep(60)\nimport grader.sandbox.inside.runner as r\nr._fill = stop",
    )
    with pytest.raises(SessionDied, match="it did not return within 1 s"):
        session.call("f", [np.ones(2**21)], own_work=True)
