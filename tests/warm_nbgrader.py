"""nbgrader's commands, each in a fork of a process that has nbgrader loaded.

Such a command spends a second on importing nbgrader, before it reads the course's configuration.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from book._ext.executing.forks import Forks, serve

MAX_SECONDS = 300  # for a command


class WarmNbgrader(Forks):
    """The process that nbgrader's commands are forked from."""

    def __init__(self) -> None:
        super().__init__("tests.warm_nbgrader")

    def run(
        self, arguments: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Do what ``nbgrader ARGUMENTS`` does in a folder, and return its status and outputs."""
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder, name) for name in ("stdout", "stderr")]
            command = self.start(
                arguments=list(map(str, arguments)),
                env=dict(os.environ if env is None else env),
                cwd=str(cwd),
                outputs=list(map(str, outputs)),
            )
            status = command.wait(MAX_SECONDS)
            said = [output.read_text("utf-8") for output in outputs]
        return subprocess.CompletedProcess(["nbgrader", *arguments], status, *said)


def become_nbgrader(
    arguments: list[str], env: dict[str, str], cwd: str, outputs: list[str]
) -> None:
    """Run a command of nbgrader in this process until it ends."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for stream, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    program = Path(sys.executable).with_name("nbgrader")
    sys.path.insert(0, str(program.parent))
    sys.argv = [str(program), *arguments]
    sys.exit(nbgraderapp.main())


if __name__ == "__main__":
    from nbgrader.apps import nbgraderapp

    del sys.path[0]  # the course's folder, which the command sees only where it is its own
    if (asked := serve()) is not None:
        become_nbgrader(**asked)
