"""Run independent NumPy tasks on all cores, each with one BLAS thread."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

Task = TypeVar("Task")

# The number of BLAS threads belongs to the whole process. Two calls at once could each
# restore what the other had set; since every call uses all cores, they take turns instead.
_one_at_a_time = threading.Lock()


def run_on_all_cores(function: Callable[[Task], None], tasks: Iterable[Task]) -> None:
    """Call `function` on every task, in order as cores come free.

    NumPy lets go of the interpreter while it computes, so threads suffice. Where the package
    threadpoolctl is missing, BLAS cannot be held to one thread; the tasks then run one after
    the other, and BLAS uses the cores inside each.

    Parameters
    ----------
    function : callable
        Called with one task; writes its result where it belongs.
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
    workers = min(len(waiting), _cores())
    blas = _blas()

    def work() -> None:
        while True:
            try:
                task = waiting.popleft()  # safe from several threads at once
            except IndexError:
                return
            function(task)

    if workers < 2 or blas is None:
        work()
        return
    with (
        _one_at_a_time,
        blas.limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(workers - 1) as pool,
    ):
        others = [pool.submit(work) for _ in range(workers - 1)]
        work()
        for other in others:
            other.result()


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
