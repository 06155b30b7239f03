"""Helpers for tests of the sandbox: low limits, probe programs, and a search for processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.sandbox import bubblewrap
from grader.sandbox.inside.limits import Limits

ROOT = Path(__file__).resolve().parents[3]

LIMITS = Limits(
    call_seconds=1,
    cell_seconds=2,
    memory_mib=400,
    processes=16,
    disk_mib=4,
    output_kib=16,
    result_mib=1,
)

MANY_GREEDY = """
import mmap, os, time
for _ in range(8):
    if os.fork() == 0:
        own = mmap.mmap(-1, 200 * 2**20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, len(own), 4096): own[at] = 1
        time.sleep(60)
time.sleep(60)
"""


BOMB = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as error:
    print(n, error)
"""


#: Finds the socket and the token of a request, as any code in that process can.
FIND = """
import os, signal, socket, stat, sys, time
from grader.sandbox.inside.wire import pack
def is_open(fd):
    try:
        return bool(os.fstat(fd))
    except OSError:
        return False
def is_socket(fd):
    return is_open(fd) and stat.S_ISSOCK(os.fstat(fd).st_mode)
(fd,) = filter(is_socket, range(3, 64))
wire = socket.socket(fileno=os.dup(fd))
def token():
    frame = sys._getframe()
    while "token" not in frame.f_locals or frame.f_code.co_name != "serve":
        frame = frame.f_back
    return frame.f_locals["token"]
"""


def need_bubblewrap() -> None:
    if bubblewrap.find_bubblewrap() is None and os.environ.get("CI") != "true":
        pytest.skip("bubblewrap is not installed: apt-get install bubblewrap")


def printed(session, source: str) -> str:
    """Run a cell, which must not fail, and return its printed output."""
    run = session.execute("cell", source)
    assert run.outcome == "ok", run.outputs
    return "".join(output["text"] for output in run.outputs if output["output_type"] == "stream")


def alive(mark: str) -> list[int]:
    """Return the ids of the processes on this machine whose command line contains `mark`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line.split(b"\0"):
            found.append(int(folder.name))
    return found


def started(mark: str, number: int = 1, seconds: float = 30) -> bool:
    """Tell whether `number` such processes run within `seconds`.

    The command line of a program that has just started is empty for a moment: Linux closes the
    pipe that its parent waits for before it writes the arguments.
    """
    return _within(seconds, lambda: len(alive(mark)) == number)


def gone(mark: str, seconds: float = 30) -> bool:
    """Tell whether all such processes end within `seconds`."""
    return _within(seconds, lambda: not alive(mark))


def _within(seconds: float, happened: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
