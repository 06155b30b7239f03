"""Processes that start as forks of one that has imported what takes long.

A module that is run by `Forks` loads, calls `serve`, and in the fork becomes what was asked for.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


class Forks:
    """The process that others are forked from; it starts when the first one does.

    Parameters
    ----------
    module : str
        What it runs, with the number of its connection as the only argument.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Any = None

    def start(self, **request: Any) -> Fork:
        """Start a fork that becomes what the request says."""
        return Fork(self, self.ask(request))

    def ask(self, request: dict[str, Any]) -> Any:
        """Return the answer of the process to a request."""
        if self._connection is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self._module, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            with ours:
                self._connection = ours.makefile("rw", encoding="utf-8")
        print(json.dumps(request), file=self._connection, flush=True)
        return json.loads(self._connection.readline())

    def close(self) -> None:
        """End the process, and with it the forks that still run."""
        if self._process is not None:
            self._connection.close()
            self._process.wait()


class Fork:
    """A running fork, with what jupyter_client uses of a ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, forks: Forks, pid: int) -> None:
        self._forks = forks
        self._status: int | None = None
        self.pid = pid

    def poll(self) -> int | None:
        """Return the exit status, or None while the fork runs."""
        if self._status is None:
            self._status = self._forks.ask({"poll": self.pid})
        return self._status

    def wait(self, seconds: float = math.inf) -> int:
        """Wait until the fork has ended; end it if that takes longer than this."""
        deadline = time.monotonic() + seconds
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                self.kill()
                raise TimeoutError(f"it did not end within {seconds:g} s")
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def serve() -> dict[str, Any] | None:
    """Fork for each request for a process; return the request in the fork, and None at the end."""
    connection = socket.socket(fileno=int(sys.argv.pop()))
    running: set[int] = set()
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        for line in lines:
            request = json.loads(line)
            if "poll" in request:
                pid, status = os.waitpid(request["poll"], os.WNOHANG)
                running.discard(pid)
                answer = os.waitstatus_to_exitcode(status) if pid else None
                print(json.dumps(answer), file=lines, flush=True)
            elif pid := os.fork():
                running.add(pid)
            else:
                # Before the answer: whoever has it signals the fork's process group.
                os.setsid()
                print(os.getpid(), file=lines, flush=True)
                return request
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    return None
