"""Run independent NumPy tasks on all cores, each with one BLAS thread."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")

# The number of BLAS threads is a setting of the whole process. Two simultaneous calls could
# each restore the other's setting. Since every call uses all cores, calls take turns.
_one_at_a_time = threading.Lock()

#: Created on first use and kept, because starting threads takes longer than a short call.
_pool: ThreadPoolExecutor | None = None

#: Whether the current thread is executing a task. Tasks started within a task run one by one.
_thread = threading.local()


def run_on_all_cores(function: Callable[[Task], None], tasks: Iterable[Task]) -> None:
    """Call `function` on every task, in order, on all cores.

    NumPy releases the interpreter lock while it computes, so threads suffice. Without the package
    threadpoolctl, BLAS cannot be limited to one thread; then the tasks run one after the other,
    and BLAS uses all cores in each. They also run one after the other if no threads can be
    started, as in a browser, and if they are started within a task.

    Parameters
    ----------
    function : callable
        Called with one task; it stores the result itself. If it raises, tasks that have not
        begun are dropped, and the exception is raised here once no task is running.
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
                    task = waiting.popleft()  # atomic, so several threads may call it
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
    """Start `work` in other threads too, and return the futures to wait for."""
    global _pool
    if _pool is None:
        max_threads = max(helpers, os.cpu_count() or 1)
        _pool = ThreadPoolExecutor(max_threads, "attn_lib", initializer=_remove_profiler)
    try:
        return [_pool.submit(work) for _ in range(helpers)]
    except RuntimeError:  # no more threads can be started, or the interpreter is exiting
        # The pool still holds the submitted calls, and one of its threads may begin them later.
        pool, _pool = _pool, None
        pool.shutdown(wait=True)
        return []


def _remove_profiler() -> None:
    # A thread started while `threading.setprofile` is active is profiled for its whole life.
    # The threads of the pool outlive the checks that profile learners' functions.
    sys.setprofile(None)


def _reset_after_fork() -> None:
    """Drop the pool and the lock of the parent process: its threads do not exist in this one."""
    global _pool, _one_at_a_time, _thread
    _pool, _one_at_a_time, _thread = None, threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _cores() -> int:
    # Not os.cpu_count: a container or a cluster job may be restricted to fewer cores.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController | None:
    """Return the controller of BLAS threads, or None if threadpoolctl is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
