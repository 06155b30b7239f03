"""The warm process: it imports once, and forks a runner for each submission.

It never reads learner code, and knows no more than its settings. A request over its control socket
brings a socket for the answer and says which cores a submission may use. This process makes a
connection, sends the judge one end and forks a runner for the other. A fork that cannot be isolated
executes nothing and sends the error. When all judges have closed the control socket, this process
ends, and with it all its forks.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import tempfile
from typing import Any, NoReturn

import numpy as np

from attn_lib.course import personal
from grader.sandbox.inside import namespaces
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.runner import serve
from grader.sandbox.inside.shell import Shell
from grader.sandbox.inside.wire import pack

_MAX_REQUEST = 2**16  # bytes: the numbers of some ten thousand cores


def main(control: int, settings: dict[str, Any]) -> NoReturn:
    """Send "ready", fork on request until the other end closes, and end this process."""
    limits, isolated = Limits(**settings["limits"]), settings["isolated"]
    if isolated:
        namespaces.become_nobody()
    # So that asyncio needs no epoll, whose watches are memory of the kernel that nothing counts.
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment,misc]
    shell = _warm_shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel removes forks that have ended
    gc.freeze()
    gc.enable()
    memory, size = _own_memory()
    with socket.socket(fileno=control) as judge:
        judge.sendall(b"ready")
        while True:
            cores, descriptors, *_ = socket.recv_fds(judge, _MAX_REQUEST, 1)
            if not cores:
                os._exit(0)  # without cleaning up: there is nothing to clean, and the judge waits
            connection = _connect(socket.socket(fileno=descriptors[0]))
            if os.fork() == 0:
                _use_only(cores)
                kept = settings["kept"] if isolated else None
                _become_runner(connection, shell, limits, kept, memory, size)
            connection.close()


def _connect(answer: socket.socket) -> socket.socket:
    """Make a connection, send the judge one end in the answer, and return the other end.

    Of several judges, each gets the end that it asked for. One that has ended gets none; then the
    runner ends, too.
    """
    theirs, ours = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    with answer, theirs, contextlib.suppress(OSError):
        socket.send_fds(answer, [b"+"], [theirs.fileno()])
    return ours


def _use_only(cores: bytes) -> None:
    """Leave the other cores to the submissions of other workers; learner code cannot undo it."""
    with contextlib.suppress(OSError):  # a core may have been taken away in the meantime
        os.sched_setaffinity(0, json.loads(cores))


def _become_runner(
    connection: socket.socket,
    shell: Shell,
    limits: Limits,
    kept: list[str] | None,
    memory: int,
    size: int,
) -> None:
    """Isolate this fork, unless `kept` is None, and answer requests; never return.

    `memory` and `size` are those of the warm process; see `namespaces.set_limits`.
    """
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        _keep_only(connection)
        namespaces.be_ended_first()
        if kept is not None:
            namespaces.enter(limits, kept)
        else:
            namespaces.adopt_orphans()
            os.chdir(tempfile.mkdtemp(dir="."))
        namespaces.set_limits(limits, memory, size, isolated=kept is not None)
        # So that the same work gets the same marks each time.
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
    except OSError as error:
        connection.sendall(pack(["refused", str(error)], max_bytes=0))
        os._exit(1)
    try:
        serve(connection, shell, limits)
    finally:
        os._exit(0)


def _import_figures() -> None:
    """Import matplotlib and the course's figures, without the lists of properties in docstrings.

    matplotlib lists the properties of each of its hundred classes in a docstring of the class.
    Making these lists takes a quarter of the time that importing matplotlib takes.
    """
    from matplotlib import artist

    list_properties = artist.kwdoc
    vars(artist)["kwdoc"] = lambda _: ""
    try:
        import attn_lib.figures  # noqa: F401
    finally:
        vars(artist)["kwdoc"] = list_properties


def _warm_shell() -> Shell:
    """Return the shell, after doing once whatever is slow the first time."""
    _import_figures()
    for module in pkgutil.iter_modules(personal.__path__, f"{personal.__name__}."):
        importlib.import_module(module.name)  # notebooks import that of their assignment
    shell = Shell.warm()
    shell.begin()
    for source in (
        "import matplotlib.pyplot as plt\nplt.plot([0, 1], label='a')\nplt.legend()\nplt.show()",
        "import numpy as np\n1 + 1",
        'def f():\n    """One.\n\n    Two.\n    """\n    return "a" + \'b\'',
        "1 / 0",
        "def (",
    ):
        shell.execute(source, "warm", Limits())
    gc.freeze()  # `reset` collects garbage, and would look at all that was imported
    shell.reset(new_session=True)
    return shell


def _own_memory() -> tuple[int, int]:
    """Return this process's memory and address space in bytes; zeros without /proc.

    Pages of files are left out of the memory: a fork begins without them.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            size, resident, of_files, *_ = map(int, file.read().split())
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return (resident - of_files) * page, size * page


def _keep_only(connection: socket.socket) -> None:
    """Close every other descriptor, and connect the standard streams to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    kept = connection.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
