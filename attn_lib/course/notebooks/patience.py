"""What is said while a learner's code runs for long: it may never end."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

#: Seconds after which it is said. Honest answers take well under one.
SECONDS = 10.0


@contextlib.contextmanager
def patient(name: str, seconds: float = SECONDS, to: TextIO | None = None) -> Iterator[None]:
    r"""Say how to stop what runs in this context, once it has run for some seconds.

    Parameters
    ----------
    name : str
        What runs: a function or a cell.
    seconds : float
    to : file, optional
        Where to say it. Default: the standard output, unless it is being collected.

    Examples
    --------
    >>> said = io.StringIO()
    >>> with patient("softmax", 0.01, said):
    ...     while not said.getvalue().endswith("Ctrl+C.\n"):
    ...         pass  # what does not end
    >>> said.getvalue().splitlines()[0]
    'softmax has been running for 0.01 seconds. If it does not end, stop it:'
    """
    out = to or sys.stdout
    if out is None or (to is None and isinstance(out, io.StringIO)):
        yield
        return
    timer = threading.Timer(seconds, _say, (name, seconds, out))
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # a browser has no threads
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(name: str, seconds: float, out: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # the file may be closed by now
        print(
            f"{name} has been running for {seconds:g} seconds. If it does not end, stop it:",
            "Kernel, Interrupt, or the square in the toolbar; in a terminal press Ctrl+C.",
            sep="\n",
            file=out,
            flush=True,
        )
