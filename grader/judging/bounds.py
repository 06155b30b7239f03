"""What judging one test cell may take of the process that judges: memory and processor time.

Answers cross the wall as plain values of limited size. A test cell computes with them, and what
was written for four numbers can make gigabytes of an answer that has another form.

Defends against: a computation on an answer that takes all memory or does not end.

Does not defend against: one long step in C, since Python hears of the time when it is over;
whoever started the worker ends it from outside. In a thread that is not the main one, of a
worker of Dask's say, time is not bounded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from grader.sandbox.inside.limits import Limits

#: Processor time of one test cell's judging. An honest notebook's takes less than a second.
SECONDS = 20.0

_AGAIN = 1.0  # seconds; one that is raised where Python ignores exceptions is lost
_ROOM_MIB = 128  # beside what results take while they are brought back and compared
_RESULTS = 4


class TookTooMuch(BaseException):
    """Raised in what is out of bounds. No Exception, so that no check takes it for an answer's."""


@contextlib.contextmanager
def bounded(limits: Limits, seconds: float = SECONDS) -> Iterator[None]:
    """Let the block take so much and no more.

    Parameters
    ----------
    limits : Limits
        Of the submission: the larger its results may be, the more room there is for them.
    seconds : float
        Of the processor's time, so that a busy machine changes nothing.

    Raises
    ------
    TookTooMuch
        Its message is the end of a sentence.
    """
    if sys.platform != "linux":
        yield
        return
    mib = _ROOM_MIB + _RESULTS * limits.result_mib
    try:
        with _memory(mib), _time(seconds):
            yield
    except MemoryError:
        raise TookTooMuch(f"it took more than {mib} MiB of memory") from None


@contextlib.contextmanager
def _memory(mib: int) -> Iterator[None]:
    """Let this process have so much more than it has."""
    import resource  # Windows has none

    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        pages = int(file.read().split()[5])
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = pages * os.sysconf("SC_PAGE_SIZE") + mib * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextlib.contextmanager
def _time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # no other hears a signal
        yield
        return

    def stop(*_: object) -> None:
        raise TookTooMuch(f"it took more than {seconds:g} s of the processor's time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
