"""Limits on what judging one test cell may use in the judge: memory and processor time.

Answers cross the wall as plain values of limited size. A test cell computes with them, and a
computation meant for four numbers can need gigabytes if an answer has an unexpected shape.

Defends against: a computation on an answer that uses all memory or does not end.

Does not defend against: one long step in C, since Python handles the timer's signal only after
that step; the process that started the worker then ends it from outside. Time is limited in the
main thread only, so not in the threads of a Dask worker, for example.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from grader.sandbox.inside.limits import Limits

#: Processor time for judging one test cell. An honest notebook needs less than a second.
SECONDS = 20.0

_AGAIN = 1.0  # seconds; an exception raised where Python ignores exceptions is lost
_BASE_MIB = 128  # besides the results
_RESULTS = 4  # copies of the largest result that exist while it is read and compared


class TookTooMuch(BaseException):
    """Raised in a block that exceeds its limits.

    A BaseException, so that a check's ``except Exception`` cannot catch it.
    """


@contextlib.contextmanager
def bounded(limits: Limits, seconds: float = SECONDS) -> Iterator[None]:
    """Limit the memory and the processor time of the block.

    Parameters
    ----------
    limits : Limits
        Of the submission. The memory limit grows with its `result_mib`.
    seconds : float
        Of processor time, so that a busy machine makes no difference.

    Raises
    ------
    TookTooMuch
        If the block exceeds a limit. The message is a clause that can end a sentence.
    """
    if sys.platform != "linux":
        yield
        return
    mib = _BASE_MIB + _RESULTS * limits.result_mib
    try:
        with memory_mib(mib), cpu_seconds(seconds):
            yield
    except MemoryError:
        raise TookTooMuch(f"it took more than {mib} MiB of memory") from None


@contextlib.contextmanager
def memory_mib(mib: int) -> Iterator[None]:
    """Let this process use this much more memory than it uses now, on Linux.

    Raises
    ------
    MemoryError
        If the block needs more.
    """
    if sys.platform != "linux":
        yield
        return
    import resource  # missing on Windows

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
def cpu_seconds(seconds: float) -> Iterator[None]:
    """Limit the processor time of the block, in the main thread.

    Raises
    ------
    TookTooMuch
        If the block needs more.
    """
    if threading.current_thread() is not threading.main_thread():  # others receive no signals
        yield
        return

    def stop(*_: object) -> None:
        raise TookTooMuch(f"it took more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
