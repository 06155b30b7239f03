"""A warm process that forks for each submission; each fork is isolated from all others.

bubblewrap starts one Python, which can see nothing but Python, for one worker or for several. That
process imports the packages once, and its fork for a session enters new namespaces. Learner code
runs in those forks only. The modules `visible_files`, `bubblewrap`, `inside.namespaces`,
`inside.system_calls`, `session`, `process_tree` and `watchdog` say what each of them defends
against.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
import time

from grader.sandbox.cgroup import Cgroup, parent_of_new
from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE, Limits
from grader.sandbox.inside.wire import WireError
from grader.sandbox.launching import (
    HOW_TO_ALLOW_IT,
    SECONDS_TO_WARM,
    SandboxUnavailable,
    WarmProcess,
)
from grader.sandbox.process_tree import ProcessTree
from grader.sandbox.session import Executed, Session, SessionDied
from grader.sandbox.watchdog import Watchdog

__all__ = ["Executed", "Sandbox", "SandboxUnavailable", "Session", "SessionDied"]

_SECONDS_TO_FORK = 30.0
_CREDENTIALS = struct.Struct("3i")


class Sandbox:
    """One warm process, ready to fork.

    Parameters
    ----------
    limits : Limits
        The limits of each session.
    isolation : str
        "bubblewrap", or "none": a plain process, which does not confine learner code.
    control : socket, optional
        The connection to a warm process that was started with the same limits and isolation, for
        this sandbox and others. Default: start one. If the one given ends, start another.

    Raises
    ------
    ValueError
        If `isolation` is something else.
    """

    def __init__(
        self, limits: Limits, isolation: str = BUBBLEWRAP, control: socket.socket | None = None
    ) -> None:
        if isolation not in (BUBBLEWRAP, NONE):
            raise ValueError(f"expected isolation {BUBBLEWRAP!r} or {NONE!r}, got {isolation!r}.")
        self.limits = limits
        self.isolation = isolation
        self._lock = threading.Lock()
        self._control = control
        self._process: WarmProcess | None = None  # if it was started here
        # A warm process that was given may still be importing.
        self._seconds_to_open = _SECONDS_TO_FORK + (SECONDS_TO_WARM if control else 0)
        self._is_started = False
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
                f"The sandbox did not open a session. {HOW_TO_ALLOW_IT}"
            ) from error
        if word != "ready":
            raise SandboxUnavailable(
                f"The kernel does not allow submissions to be isolated ({detail}). "
                f"{HOW_TO_ALLOW_IT}"
            )
        processes = ProcessTree(pid, owns_namespace=self.isolation == BUBBLEWRAP)
        return Session(channel, Watchdog(processes, self.limits, self._entered(pid)), self.limits)

    def close(self) -> None:
        """End the warm process and every session, if this sandbox started it."""
        with self._lock:
            self._stop()

    def _new_connection(self) -> socket.socket:
        """Return one end of a connection whose other end the warm process gives to a new fork.

        The warm process makes both: a socket tells its holder of the network that it was made in.
        The fork may use the cores that this process may use.
        """
        if self._process is not None and self._process.has_ended():
            self._stop()
        for _ in range(2):
            control = self._start()
            cores = json.dumps(sorted(os.sched_getaffinity(0))).encode("ascii")
            answer, theirs = socket.socketpair()
            with answer, contextlib.suppress(OSError):
                with theirs:
                    socket.send_fds(control, [cores], [theirs.fileno()])
                answer.settimeout(self._seconds_to_open)
                _, received, *_ = socket.recv_fds(answer, 1, 1, socket.MSG_CMSG_CLOEXEC)
                if received:
                    return socket.socket(fileno=received[0])
            self._stop()
        raise SandboxUnavailable(f"The sandbox ended unexpectedly. {HOW_TO_ALLOW_IT}")

    def _entered(self, pid: int) -> Cgroup | None:
        """Move a new fork into the cgroup of this sandbox and return it; None if there is none."""
        if self._cgroup is not None:
            with contextlib.suppress(OSError):
                self._cgroup.add(pid)
                return self._cgroup
        return None

    def _start(self) -> socket.socket:
        """Return the connection to the warm process; start one if there is none."""
        if not self._is_started:
            self._cgroup = self._new_cgroup()
            self._is_started = True
        if self._control is None:
            self._process = WarmProcess(self.limits, self.isolation)
            self._process.wait_until_ready()
            self._control = self._process.control
        return self._control

    def _new_cgroup(self) -> Cgroup | None:
        """Return a cgroup for one submission after the other, if this process may make one."""
        parent = parent_of_new() if self.isolation == BUBBLEWRAP else None
        if parent is not None:
            with contextlib.suppress(OSError):
                return Cgroup(parent, self.limits)
        return None

    def _stop(self) -> None:
        self._is_started = False
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.stop()
            self._process = None
        if self._cgroup is not None:
            self._cgroup.remove()
            self._cgroup = None


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
