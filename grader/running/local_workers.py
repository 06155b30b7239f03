"""Worker processes on this machine: each does one job at a time, and is replaced if it dies."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from grader.errors import GraderError
from grader.files import is_by_machine

JUDGE_JOB = "grader.running.jobs:judge_job"

#: How often a job is tried by default.
ATTEMPTS = 2

#: A worker that sends a longer reply than this is treated as dead.
MAX_REPLY_BYTES = 256 * 2**20

#: No further job is taken while the jobs in work have this many bytes together. Honest jobs stay
#: far below it with any number of workers.
MAX_BYTES_IN_WORK = 64 * 2**20


class CannotWork(GraderError):
    """Raised by a job to end the run, when no other job could be done in that place either."""


@dataclass(frozen=True)
class Done:
    """The outcome of one job."""

    name: str
    returned: (
        bytes | None
    )  #: what the function returned, a text in UTF-8; None if the job could not be done
    reason: str = ""  #: why the job could not be done
    by_machine: bool = False  #: whether the reason says nothing about the job itself


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cores_of(place: int, number: int) -> set[int]:
    """Return one worker's share of the usable cores, or no core if affinity cannot be set.

    The processes that a worker starts stay on its cores. So a submission that keeps all of them
    busy does not use up the time limit of another worker's submission.

    Parameters
    ----------
    place : int
        The index of the worker, from 0.
    number : int
        The number of workers. If there are more workers than cores, they share cores.

    Returns
    -------
    set of int
        Numbers of cores. Empty if this system cannot set the affinity of a process.
    """
    if not hasattr(os, "sched_getaffinity"):
        return set()
    cores = sorted(os.sched_getaffinity(0))
    return set(cores[place % len(cores) :: number])


def do_job(function: str, job: Mapping[str, Any]) -> bytes:
    """Import the function named ``module:name`` and return what it returns, a text in UTF-8.

    Examples
    --------
    >>> do_job("json:dumps", {"a": 1})
    b'{"a": 1}'
    """
    returned = _resolve(function)(job)
    return returned.encode("utf-8", "backslashreplace") if isinstance(returned, str) else returned


def _resolve(path: str) -> Callable[[Mapping[str, Any]], Any]:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def start_fork_server(function: str) -> None:
    """Start the server that workers are forked from, and return before it is ready.

    The server imports the module of the function, which may take half a second. After that it forks
    each worker in milliseconds. A process has only one such server, so later calls have no effect.

    Parameters
    ----------
    function : str
        ``module:name`` of the function that the workers will apply.
    """
    modules = ["grader.running.fork_server", function.partition(":")[0]]
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    with _one_thread_for_blas():
        forkserver.ensure_running()


class LocalWorkers:
    """Worker processes that apply one function to many jobs, as a context manager.

    Parameters
    ----------
    function : str
        ``module:name`` of a function that takes a dict and returns bytes or a str.
    number : int, optional
        The number of processes. Default: one for each core. No core is shared unless there are
        more processes than cores.
    seconds : float
        A worker that spends longer than this on one job is killed and treated as dead.
    warm : (str, mapping), optional
        ``module:name`` of a function that each worker calls, with this argument, before its
        first job.
    attempts : int
        How often a job is tried if its worker dies or raises an unexpected error.
    shared : socket, optional
        A connection in the argument of `warm`. It is closed as soon as the workers have ended, so
        that a process at its other end can end while this one goes on.
    """

    def __init__(
        self,
        function: str,
        number: int | None = None,
        seconds: float = 600.0,
        warm: tuple[str, Mapping[str, Any]] | None = None,
        attempts: int = ATTEMPTS,
        shared: socket.socket | None = None,
    ) -> None:
        self.function = function
        self.number = number or usable_cores()
        self.seconds = seconds
        self.warm = warm
        self.attempts = attempts
        self.shared = shared
        self._context = multiprocessing.get_context("forkserver")
        self._workers: list[_Worker] = []
        self._starting = threading.Thread(target=self._start_all)
        self._not_started: Exception | None = None

    def __enter__(self) -> LocalWorkers:
        start_fork_server(self.function)
        # Starting a worker blocks until the server has imported everything, hence the thread.
        self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._starting.join()
        for worker in self._workers:
            worker.pipe.close()  # first all of them, so that the workers end in parallel
        for worker in self._workers:
            worker.stop()
        self._workers = []
        if self.shared is not None:
            self.shared.close()

    def do(self, jobs: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Done]:
        """Do the jobs, and yield the outcome of each as soon as it is done.

        A job is taken from `jobs` only when a worker is free and the jobs in work have less than
        `MAX_BYTES_IN_WORK`, so that neither many nor large jobs fill the memory.

        Raises
        ------
        CannotWork
            If a job raises it, or if the workers cannot be started.
        """
        self._starting.join()
        if self._not_started is not None:
            raise CannotWork(
                f"expected {self.number} worker processes, could start {len(self._workers)}: "
                f"{self._not_started}."
            ) from self._not_started
        waiting = iter(jobs)
        again: list[_Task] = []
        while True:
            for worker in self._workers:
                if worker.task is None and self._bytes_in_work() < MAX_BYTES_IN_WORK:
                    task = again.pop() if again else _next_task(waiting)
                    if task is not None:
                        worker.give(task, self.seconds)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy:
                return
            for worker in _ready(busy):
                task = worker.take()
                done = worker.reply(task)
                if not worker.alive:
                    worker.stop()
                    place = self._workers.index(worker)
                    self._workers[place] = self._start(place)
                if done.returned is None and task.attempts < self.attempts:
                    again.append(task)
                else:
                    yield done

    def _bytes_in_work(self) -> int:
        return sum(size_of(worker.task.job) for worker in self._workers if worker.task)

    def _start_all(self) -> None:
        try:
            for place in range(self.number):
                self._workers.append(self._start(place))
        except Exception as problem:  # this is another thread, so `do` raises it in the caller's
            self._not_started = problem

    def _start(self, place: int) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work,
            args=(theirs, self.function, self.warm, cores_of(place, self.number)),
            daemon=True,
            name="grader-worker",
        )
        with _without_main():
            process.start()
        theirs.close()
        return _Worker(process, ours)


@dataclass
class _Task:
    name: str
    job: Mapping[str, Any]
    attempts: int = 0


@dataclass
class _Worker:
    """A process and the task that it is working on."""

    process: BaseProcess
    pipe: connection.Connection
    task: _Task | None = None
    deadline: float = field(default=float("inf"))
    alive: bool = True
    seconds: float = 0.0

    def give(self, task: _Task, seconds: float) -> None:
        task.attempts += 1
        self.task, self.seconds = task, seconds
        self.deadline = time.monotonic() + seconds
        # If the worker is dead, `reply` will find out.
        with contextlib.suppress(OSError):
            self.pipe.send(task.job)

    def take(self) -> _Task:
        """Return the current task, and leave the worker without one."""
        task, self.task = self.task, None
        assert task is not None, "take() is called only for workers that have a task"
        return task

    def reply(self, task: _Task) -> Done:
        """Return the outcome of its task, and set `alive` to False if the worker sent none."""
        try:
            if not self.pipe.poll():
                raise TimeoutError
            fields = json.loads(self.pipe.recv_bytes(MAX_REPLY_BYTES))
            returned = None if fields else self.pipe.recv_bytes(MAX_REPLY_BYTES)
        except TimeoutError:
            self.alive = False
            reason = f"it was not done within {self.seconds:g} s"
            return Done(task.name, None, f"{reason}, {_tried(task)}", by_machine=True)
        except (EOFError, OSError):
            self.alive = False
            self.process.join(5)
            reason = f"its worker {_end(self.process)}, {_tried(task)}"
            return Done(task.name, None, reason, by_machine=True)
        if "cannot" in fields:
            raise CannotWork(fields["cannot"])
        reason = f"{fields['problem']}, {_tried(task)}" if fields else ""
        return Done(task.name, returned, reason, fields.get("by_machine", False))

    def stop(self) -> None:
        """End the process, whether it is waiting for a task, busy or dead."""
        self.pipe.close()
        self.process.join(0 if self.task or not self.alive else 5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


def size_of(job: Mapping[str, Any]) -> int:
    """Return the size of a job's largest value, in bytes or characters.

    Examples
    --------
    >>> size_of({"submitted": b"12345", "student": "ada", "remarks": []})
    5
    """
    return max((len(value) for value in job.values() if isinstance(value, (bytes, str))), default=0)


def _next_task(jobs: Iterator[tuple[str, Mapping[str, Any]]]) -> _Task | None:
    named = next(jobs, None)
    return None if named is None else _Task(*named)


def _ready(busy: list[_Worker]) -> list[_Worker]:
    """Wait until a worker has replied, died or used up its time, and return all such workers."""
    remaining = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
    readable = set(connection.wait([worker.pipe for worker in busy], remaining))
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in readable or worker.deadline <= now]


def _tried(task: _Task) -> str:
    return "tried once" if task.attempts == 1 else f"tried {task.attempts} times"


def _end(process: BaseProcess) -> str:
    """Return how a process ended, as the end of a sentence."""
    code = process.exitcode
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return "ended" if code is None else f"ended with status {code}"


def _work(
    pipe: connection.Connection,
    function: str,
    warm: tuple[str, Mapping[str, Any]] | None,
    cores: set[int],
) -> None:
    """Do jobs until the parent closes the pipe. This is executed in the worker."""
    if cores:
        with contextlib.suppress(OSError):  # a core may have been taken away in the meantime
            os.sched_setaffinity(0, cores)
    # Ctrl-C reaches the workers too, but the parent ends them in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if warm:
        with contextlib.suppress(Exception):  # the first job will fail with it and report it
            _resolve(warm[0])(warm[1])
    while True:
        try:
            for part in _reply(function, pipe.recv()):
                pipe.send_bytes(part)
        except (EOFError, OSError):
            return


def _reply(function: str, job: Mapping[str, Any]) -> list[bytes]:
    """Do a job, and return what is sent back: a problem as JSON, or {} and what was returned."""
    try:
        return [b"{}", do_job(function, job)]
    except (CannotWork, ImportError) as error:
        problem: dict[str, Any] = {"cannot": str(error)}
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        problem = {"problem": text, "by_machine": is_by_machine(error)}
    return [json.dumps(problem).encode("ascii")]


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Let processes started here not import this program's main module.

    `multiprocessing` would import it in each worker. A worker needs nothing from it, and the main
    module of a Jupyter server takes seconds and a lot of memory.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _one_thread_for_blas() -> Iterator[None]:
    """Let processes started here use one BLAS thread each, since each core has its own worker."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
