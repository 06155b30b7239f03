"""Kernels that start from a process with IPython, NumPy and Matplotlib loaded.

A kernel spends most of its start on importing these. Started here, it is a fork of a process that
has imported them. All else is as for any kernel: its arguments, its variables, its folder, its own
session and ``sys.path``. It imports attn_lib itself, as every kernel does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .forks import Fork, Forks, serve

#: What every kernel loads, or every page and notebook of the course. Without the format that
#: figures are saved in, Pillow would load all formats.
SLOW = (
    "PIL.WebPImagePlugin",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipykernel.zmqshell",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
)


class WarmKernels(Forks):
    """The process that kernels are forked from."""

    def __init__(self) -> None:
        super().__init__("book._ext.executing.warm_kernels")

    def launch(self, cmd: list[str], **options: Any) -> Fork:
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
        return self.start(
            arguments=cmd[3:],
            env=options.get("env") or dict(os.environ),
            cwd=os.fspath(options.get("cwd") or Path.cwd()),
        )

    @contextlib.contextmanager
    def replace_others(self) -> Iterator[None]:
        """Start all kernels of this process here within this context."""
        # Any, because what it takes from another module counts as private for mypy.
        local_provisioner: Any = importlib.import_module(
            "jupyter_client.provisioning.local_provisioner"
        )
        launch, local_provisioner.launch_kernel = local_provisioner.launch_kernel, self.launch
        try:
            yield
        finally:
            local_provisioner.launch_kernel = launch


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
    del sys.path[0]  # the course's folder, which a kernel does not see
    load()
    if (asked := serve()) is not None:
        become_kernel(**asked)
