"""Workers of a Dask cluster, which do the same jobs as `local_workers` on other machines.

Each worker needs this project and its environment, and does one job at a time. Start it in the
project's folder, so that it finds the package grader::

    python -m dask worker tcp://HOST:8786 --nthreads 1
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from grader.files import is_by_machine
from grader.running.local_workers import (
    ATTEMPTS,
    MAX_BYTES_IN_WORK,
    CannotWork,
    Done,
    do_job,
    size_of,
)

if TYPE_CHECKING:
    from distributed import Future

#: Jobs submitted for each worker: one that it does and one that waits, so that it never idles.
JOBS_PER_WORKER = 2

#: Seconds to wait for the scheduler, and for its first worker.
PATIENCE = 30


class ClusterWorkers:
    """The workers of a cluster, as a context manager that is connected to its scheduler.

    Parameters
    ----------
    scheduler : str
        The address of Dask's scheduler, such as tcp://127.0.0.1:8786.
    function : str
        ``module:name`` of a function that takes a dict and returns bytes or a str.

    Raises
    ------
    CannotWork
        On entering the context, if Dask is not installed or no worker answers in time.
    """

    def __init__(self, scheduler: str, function: str) -> None:
        self.scheduler = scheduler
        self.function = function
        self._client: Any = None

    def __enter__(self) -> ClusterWorkers:
        try:
            from distributed import Client
        except ImportError as error:
            raise CannotWork(
                "expected the package distributed (Dask) for --scheduler, but it is not installed. "
                "Install it with pip install '.[cluster]'."
            ) from error
        # It logs a traceback when the scheduler ends. `do` raises `CannotWork` for that.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            self._client = Client(self.scheduler, timeout=PATIENCE, set_as_default=False)
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            self.__exit__()
            raise CannotWork(
                f"expected a Dask scheduler with a worker at {self.scheduler}, found none within "
                f"{PATIENCE} s: {error}."
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def do(self, jobs: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Done]:
        """Do the jobs, and yield the outcome of each as soon as it is done.

        If a worker dies, the scheduler gives its job to another one. No more than
        `JOBS_PER_WORKER` jobs for each worker are taken from `jobs` at a time, and none while those
        in work have `MAX_BYTES_IN_WORK`.

        Raises
        ------
        CannotWork
            If a job raises it, because no job can be done where it was started, or if the
            scheduler ends.
        """
        from distributed import as_completed

        waiting = iter(jobs)
        in_work: dict[str, tuple[str, int]] = {}  # the name and the bytes of each job, by key
        completed = as_completed(loop=self._client.loop)

        def submit() -> None:
            room = self._room() - len(in_work)
            while room > 0 and sum(size for _, size in in_work.values()) < MAX_BYTES_IN_WORK:
                named = next(waiting, None)
                if named is None:
                    return
                name, job = named
                future = self._client.submit(
                    do_job, self.function, job, pure=False, retries=ATTEMPTS - 1
                )
                in_work[future.key] = name, size_of(job)
                completed.add(future)
                room -= 1

        submit()
        while in_work:
            future = next(completed)
            name, _ = in_work.pop(future.key)
            yield self._done(name, future)
            future.release()
            submit()

    def _room(self) -> int:
        """Return how many jobs the workers that are there now may have at a time."""
        try:
            return JOBS_PER_WORKER * max(1, len(self._client.nthreads()))
        except OSError as error:
            raise self._lost() from error

    def _done(self, name: str, future: Future[bytes]) -> Done:
        from distributed import CancelledError, KilledWorker

        try:
            # If the worker died after the job was done, this waits until another one has done it.
            return Done(name, future.result())
        except CannotWork:
            raise
        except CancelledError as error:
            raise self._lost() from error
        except Exception as error:  # what the job raised, or what Dask raises if the worker died
            lines = str(error).strip().splitlines()
            reason = f"{type(error).__name__}: {lines[0] if lines else ''}"
            return Done(name, None, reason, isinstance(error, KilledWorker) or is_by_machine(error))

    def _lost(self) -> CannotWork:
        return CannotWork(
            f"expected the Dask scheduler at {self.scheduler}, but the connection to it was lost. "
            "Verdicts that had arrived are in the gradebook. Start the scheduler and its workers, "
            "then give the command again: it continues from here."
        )
