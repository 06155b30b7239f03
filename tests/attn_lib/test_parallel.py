"""Running tasks on all cores: threads, BLAS limits and errors."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from attn_lib import _parallel
from attn_lib._parallel import run_on_all_cores


@pytest.fixture
def two_cores(monkeypatch):
    """Run two tasks at a time, on threads that only this test uses."""
    pytest.importorskip("threadpoolctl")
    monkeypatch.setattr(_parallel, "_cores", lambda: 2)
    monkeypatch.setattr(_parallel, "_pool", None)
    yield
    if _parallel._pool is not None:
        _parallel._pool.shutdown()


def threads_of_two_tasks():
    """Run two tasks that wait for each other and return their threads."""
    both_here = threading.Barrier(2, timeout=30)
    threads = []

    def meet(_):
        both_here.wait()  # breaks unless the two tasks run at once
        threads.append(threading.current_thread())

    run_on_all_cores(meet, [1, 2])
    return set(threads)


def blas_threads():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    return [
        library["num_threads"]
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    ]


def test_tasks_share_the_cores_and_blas_gets_its_threads_back(monkeypatch):
    monkeypatch.setattr(_parallel, "_cores", lambda: 2)
    before = blas_threads()
    both_here = threading.Barrier(2, timeout=30)
    within = []

    def meet(_):
        both_here.wait()  # breaks unless the two tasks run at once
        within.append(blas_threads())

    run_on_all_cores(meet, [1, 2])
    assert within == [[1] * len(before)] * 2
    assert blas_threads() == before


def test_an_error_in_a_task_is_raised(monkeypatch):
    monkeypatch.setattr(_parallel, "_cores", lambda: 2)
    before = blas_threads()

    def divide(n):
        return 1 / n

    with pytest.raises(ZeroDivisionError):
        run_on_all_cores(divide, [1, 0, 2])
    assert blas_threads() == before


def test_without_threadpoolctl_the_tasks_run_in_turn(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setattr(_parallel, "_cores", lambda: 2)
    _parallel._blas.cache_clear()
    try:
        threads = []
        run_on_all_cores(lambda _: threads.append(threading.current_thread()), [1, 2, 3])
    finally:
        _parallel._blas.cache_clear()
    assert threads == [threading.current_thread()] * 3


def test_core_count_without_cpu_affinity(monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    assert _parallel._cores() == 5
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert _parallel._cores() == 1


def test_threads_are_kept(two_cores):
    first, second = threads_of_two_tasks(), threads_of_two_tasks()
    assert first == second
    assert len(first) == 2
    assert threading.current_thread() in first


def test_tasks_can_be_nested(two_cores):
    found = np.zeros((2, 3))

    def outer(i):
        def inner(j):
            found[i, j] = 10 * i + j

        run_on_all_cores(inner, range(3))

    run_on_all_cores(outer, range(2))
    assert found.tolist() == [[0, 1, 2], [10, 11, 12]]
    assert len(threads_of_two_tasks()) == 2  # later tasks do not count as nested


def test_an_error_on_another_thread_is_raised_and_ends_the_tasks(two_cores):
    here = threading.current_thread()
    failed = threading.Event()
    done = []

    def fail_elsewhere(n):
        if threading.current_thread() is here:
            assert failed.wait(30)
            done.append(n)
        else:
            failed.set()
            raise KeyError(n)

    with pytest.raises(KeyError):
        run_on_all_cores(fail_elsewhere, range(100))
    assert len(done) < 99
    assert len(threads_of_two_tasks()) == 2


def test_if_no_thread_can_be_started_the_tasks_run_in_turn(two_cores, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    threads = []
    with monkeypatch.context() as within:
        within.setattr(threading.Thread, "start", refuse)
        run_on_all_cores(lambda _: threads.append(threading.current_thread()), [1, 2, 3])
    assert threads == [threading.current_thread()] * 3
    assert len(threads_of_two_tasks()) == 2


def test_threads_do_not_keep_a_profile_function(two_cores):
    seen = []
    threading.setprofile(lambda *_: seen.append(threading.current_thread()))
    try:
        threads = threads_of_two_tasks()
    finally:
        threading.setprofile(None)
    seen.clear()
    assert threads_of_two_tasks() == threads
    assert seen == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system has no fork.")
def test_a_forked_process_starts_new_threads(two_cores):
    threads_of_two_tasks()
    with _parallel._one_at_a_time:  # as another thread might do at the moment of the fork
        child = multiprocessing.get_context("fork").Process(target=threads_of_two_tasks)
        child.start()
    child.join(60)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    assert child.exitcode == 0
    assert len(threads_of_two_tasks()) == 2


def test_kept_threads_do_not_block_interpreter_exit():
    program = """
import atexit
from attn_lib import _parallel
_parallel._cores = lambda: 2
atexit.register(_parallel.run_on_all_cores, print, ["late", "later"])
_parallel.run_on_all_cores(lambda _: None, [1, 2])
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "late\nlater\n", "")
