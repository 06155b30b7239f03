"""Worker processes on this machine: each takes one job at a time, and a dead one loses nothing."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver
from typing import Any

from grader.errors import GraderError

JUDGE_JOB = "grader.running.jobs:judge_job"

#: How often a job is tried whose worker died or raised what it should not.
ATTEMPTS = 2

#: A reply larger than this is no reply.
LARGEST_REPLY = 256 * 2**20


class CannotWork(GraderError):
    """Raised by a job when no job of its kind can be done where it ran; ends the run."""


@dataclass(frozen=True)
class Done:
    """What became of one job."""

    name: str
    returned: str | None  #: what the function returned; None if it could not be done
    reason: str = ""  #: why it could not be done, in words


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cores_of(place: int, number: int) -> set[int]:
    """Return the cores of one of several workers, as many for each; all where none can be chosen.

    What a worker starts stays on its cores. So a job that keeps them busy takes no time from a
    job beside it, whose time is limited.

    Parameters
    ----------
    place : int
        Which worker, from 0.
    number : int
        How many there are.
    """
    if not hasattr(os, "sched_getaffinity"):
        return set()
    cores = sorted(os.sched_getaffinity(0))
    return set(cores[place % len(cores) :: number])


def resolve(path: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the function that ``module:name`` stands for.

    Examples
    --------
    >>> resolve("json:dumps")({"a": 1})
    '{"a": 1}'
    """
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def get_ready(function: str) -> None:
    """Start the server that workers for this function are forked from; return at once.

    It imports the function's module, for half a second perhaps, and forks a worker from itself in
    milliseconds. It is the same one for all functions; the first says what it imports.
    """
    modules = ["grader.running.fork_server", function.partition(":")[0]]
    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    with _one_thread_for_blas():
        forkserver.ensure_running()


class LocalWorkers:
    """A context with processes that apply one function to many jobs.

    Parameters
    ----------
    function : str
        ``module:name`` of a function that takes a dict and returns a str.
    number : int, optional
        Default: one a core. Each has cores of its own while there are enough of them.
    seconds : float
        After this long on one job a worker is killed and counts as dead.
    warm : (str, mapping), optional
        ``module:name`` of a function that each worker calls, with this argument, before its
        first job.
    """

    def __init__(
        self,
        function: str,
        number: int | None = None,
        seconds: float = 600.0,
        warm: tuple[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.function = function
        self.number = number or usable_cores()
        self.seconds = seconds
        self.warm = warm
        self._context = multiprocessing.get_context("forkserver")
        self._workers: list[_Worker] = []
        self._starting = threading.Thread(target=self._start_all)
        self._not_started: Exception | None = None

    def __enter__(self) -> LocalWorkers:
        get_ready(self.function)
        # Until the server has imported everything, starting a worker waits for it.
        self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._starting.join()
        for worker in self._workers:
            worker.pipe.close()  # so that all of them end side by side
        for worker in self._workers:
            worker.stop()
        self._workers = []

    def do(self, jobs: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Done]:
        """Do the jobs, and yield what became of each as it is done.

        A job is taken from `jobs` when a worker is free for it, so there are never more of
        them in memory than workers.

        Raises
        ------
        CannotWork
            If a job says that no job can be done here, or the workers cannot be started.
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
                if worker.task is None:
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
                if done.returned is None and task.attempts < ATTEMPTS:
                    again.append(task)
                else:
                    yield done

    def _start_all(self) -> None:
        try:
            for place in range(self.number):
                self._workers.append(self._start(place))
        except Exception as problem:  # this is a thread of its own; `do` raises it
            self._not_started = problem

    def _start(self, place: int) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work,
            args=(theirs, self.function, self.warm, cores_of(place, self.number)),
            daemon=True,
            name="grader-worker",
        )
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
    """One process and the task that it has."""

    process: Any
    pipe: connection.Connection
    task: _Task | None = None
    deadline: float = field(default=float("inf"))
    alive: bool = True
    seconds: float = 0.0

    def give(self, task: _Task, seconds: float) -> None:
        task.attempts += 1
        self.task, self.seconds = task, seconds
        self.deadline = time.monotonic() + seconds
        # A worker that is gone says so when it is asked for the reply.
        with contextlib.suppress(OSError):
            self.pipe.send(task.job)

    def take(self) -> _Task:
        """Return the task that it has, and has no more."""
        task, self.task = self.task, None
        assert task is not None, "only those that have one are asked"
        return task

    def reply(self, task: _Task) -> Done:
        """Return what became of its task; the worker is not alive if it has no reply to give."""
        try:
            if not self.pipe.poll():
                raise TimeoutError
            fields = json.loads(self.pipe.recv_bytes(LARGEST_REPLY))
        except TimeoutError:
            self.alive = False
            problem = f"it was not done within {self.seconds:g} s"
            return Done(task.name, None, f"{problem}, {_tried(task)}")
        except (EOFError, OSError):
            self.alive = False
            self.process.join(5)
            return Done(task.name, None, f"its worker {_end(self.process)}, {_tried(task)}")
        if "cannot" in fields:
            raise CannotWork(fields["cannot"])
        problem = f"{fields['problem']}, {_tried(task)}" if "problem" in fields else ""
        return Done(task.name, fields.get("result"), problem)

    def stop(self) -> None:
        """End the process, which may be waiting for a task, busy or dead."""
        self.pipe.close()
        self.process.join(0 if self.task or not self.alive else 5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


def _next_task(jobs: Iterator[tuple[str, Mapping[str, Any]]]) -> _Task | None:
    named = next(jobs, None)
    return None if named is None else _Task(*named)


def _ready(busy: list[_Worker]) -> list[_Worker]:
    """Wait until a worker has replied, died or used up its time, and return those that have."""
    remaining = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
    spoken = set(connection.wait([worker.pipe for worker in busy], remaining))
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in spoken or worker.deadline <= now]


def _tried(task: _Task) -> str:
    return "tried once" if task.attempts == 1 else f"tried {task.attempts} times"


def _end(process: Any) -> str:
    """Say how a process ended."""
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
    """Do jobs until nobody asks for more. This runs in the worker."""
    if cores:
        with contextlib.suppress(OSError):  # one was taken away since
            os.sched_setaffinity(0, cores)
    # The one who grades stops a run with Ctrl-C; the parent then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if warm:
        with contextlib.suppress(Exception):  # the first job will meet it too, and tell
            resolve(warm[0])(warm[1])
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            reply = {"result": resolve(function)(job)}
        except (CannotWork, ImportError) as problem:
            reply = {"cannot": str(problem)}
        except Exception as error:
            reply = {"problem": f"{type(error).__name__}: {error}"}
        try:
            pipe.send_bytes(json.dumps(reply).encode("ascii"))
        except OSError:
            return


@contextlib.contextmanager
def _one_thread_for_blas() -> Iterator[None]:
    """Have processes that start here use one thread for BLAS: there is one worker a core."""
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
