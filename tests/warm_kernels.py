"""Kernels that start from a process with IPython, NumPy and Matplotlib loaded.

A kernel spends most of its start on importing these. Started here, it is a fork of a process that
has imported them. All else is as for any kernel: its arguments, its variables, its folder, its own
session and ``sys.path``. It imports attn_lib itself, as every kernel does.

Run as a script, this file is that process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

#: What every kernel loads, or every notebook of the course.
SLOW = (
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipykernel.zmqshell",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
)


class WarmKernels:
    """The process that kernels are forked from; it starts when the first one does."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Any = None

    def launch(self, cmd: list[str], **options: Any) -> Kernel:
        """Start a kernel, in place of ``jupyter_client.launcher.launch_kernel``.

        Parameters
        ----------
        cmd : list of str
            ``python -m ipykernel_launcher`` and its arguments.
        **options
            Of these, ``env`` and ``cwd`` are used.
        """
        if cmd[1:3] != ["-m", "ipykernel_launcher"]:
            raise ValueError(f"expected a command that starts an IPython kernel, got {cmd}")
        env = options.get("env") or dict(os.environ)
        request = {
            "arguments": cmd[3:],
            "env": env,
            "cwd": os.fspath(options.get("cwd") or Path.cwd()),
        }
        return Kernel(self, self.ask(request))

    @contextlib.contextmanager
    def replace_others(self) -> Iterator[None]:
        """Start all kernels of this process here within this context."""
        from jupyter_client.provisioning import local_provisioner

        with mock.patch.object(local_provisioner, "launch_kernel", self.launch):
            yield

    def ask(self, request: dict[str, Any]) -> Any:
        """Return the answer of the process to a request."""
        if self._connection is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, __file__, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            with ours:
                self._connection = ours.makefile("rw", encoding="utf-8")
        print(json.dumps(request), file=self._connection, flush=True)
        return json.loads(self._connection.readline())

    def close(self) -> None:
        """End the process, and with it the kernels that still run."""
        if self._process is not None:
            self._connection.close()
            self._process.wait()


class Kernel:
    """A running kernel, with what jupyter_client uses of a ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, kernels: WarmKernels, pid: int) -> None:
        self._kernels = kernels
        self._status: int | None = None
        self.pid = pid

    def poll(self) -> int | None:
        """Return the exit status, or None while the kernel runs."""
        if self._status is None:
            self._status = self._kernels.ask({"poll": self.pid})
        return self._status

    def wait(self) -> int:
        """Wait until the kernel has ended."""
        while (status := self.poll()) is None:
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork for each request for a kernel; return the request in the fork, and None at the end."""
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
                # Before the answer: whoever has it signals the kernel's process group.
                os.setsid()
                print(os.getpid(), file=lines, flush=True)
                return request
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    return None


def become_kernel(arguments: list[str], env: dict[str, str], cwd: str) -> None:
    """Run a kernel in this process until it is shut down."""
    import ipykernel_launcher
    from ipykernel import kernelapp

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    sys.argv = [ipykernel_launcher.__file__, *arguments]
    kernelapp.launch_new_instance(parent_handle=os.getppid())


def load() -> None:
    """Import what takes long in every kernel, but not what looks for the kernel that it is in."""
    # As ipykernel does; Matplotlib reads it when it is imported.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    for name in SLOW:
        importlib.import_module(name)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, which a kernel does not see
    load()
    if (asked := serve(socket.socket(fileno=int(sys.argv.pop())))) is not None:
        become_kernel(**asked)
