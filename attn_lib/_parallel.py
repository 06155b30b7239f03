"""Run independent NumPy tasks on all cores, each with one BLAS thread."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

Task = TypeVar("Task")

# The number of BLAS threads belongs to the whole process. Two calls at once could each
# restore what the other had set; since every call uses all cores, they take turns instead.
_one_at_a_time = threading.Lock()

#: Made when first needed and kept: starting threads takes longer than a short call.
_pool: ThreadPoolExecutor | None = None

#: Says of each thread whether it is at a task; a task that has tasks itself does them in turn.
_thread = threading.local()


def run_on_all_cores(function: Callable[[Task], None], tasks: Iterable[Task]) -> None:
    """Call `function` on every task, in order as cores come free.

    NumPy lets go of the interpreter while it computes, so threads suffice. Where the package
    threadpoolctl is missing, BLAS cannot be held to one thread; the tasks then run one after
    the other, and BLAS uses the cores inside each. They also run one after the other where no
    threads can be started, as in a browser, and within a task.

    Parameters
    ----------
    function : callable
        Called with one task; writes its result where it belongs. What it raises is raised
        here, when no task runs any more; tasks that have not begun are then left out.
    tasks : iterable

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.zeros(3)
    >>> def square(i):
    ...     squares[i] = i**2
    >>> run_on_all_cores(square, range(3))
    >>> squares
    array([0., 1., 4.])
    """
    waiting = deque(tasks)
    errors: list[BaseException] = []

    def work() -> None:
        outside, _thread.at_a_task = _at_a_task(), True
        try:
            while True:
                try:
                    task = waiting.popleft()  # safe from several threads at once
                except IndexError:
                    return
                function(task)
        except BaseException as error:
            waiting.clear()
            errors.append(error)
        finally:
            _thread.at_a_task = outside

    helpers = 0 if _at_a_task() else min(len(waiting), _cores()) - 1
    blas = _blas() if helpers > 0 else None
    if blas is None:
        work()
    else:
        with _one_at_a_time, blas.limit(limits=1, user_api="blas"):
            started = _start(work, helpers)
            work()
            wait(started)
    if errors:
        raise errors.pop(0)


def _at_a_task() -> bool:
    return getattr(_thread, "at_a_task", False)


def _start(work: Callable[[], None], helpers: int) -> list[Future[None]]:
    """Let other threads work too, and return what to wait for."""
    global _pool
    if _pool is None:
        most = max(helpers, os.cpu_count() or 1)
        _pool = ThreadPoolExecutor(most, "attn_lib", initializer=_leave_unwatched)
    try:
        return [_pool.submit(work) for _ in range(helpers)]
    except RuntimeError:  # no more threads can be started, or the interpreter is ending
        # The pool keeps the work that it has no thread for, and another thread may take it.
        pool, _pool = _pool, None
        pool.shutdown(wait=True)
        return []


def _leave_unwatched() -> None:
    # `threading.setprofile` watches threads that start in the meantime. This one stays, so it
    # would be watched for ever.
    sys.setprofile(None)


def _start_afresh() -> None:
    """Forget the threads of the process that this one was forked from: they are not here."""
    global _pool, _one_at_a_time, _thread
    _pool, _one_at_a_time, _thread = None, threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def _cores() -> int:
    # Not os.cpu_count: a container or a cluster's job may use fewer than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _blas() -> Any:
    """Return the handle on BLAS's threads, or None where threadpoolctl is missing."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
