"""Workers of a Dask cluster, which do the same jobs as `local_workers` on other machines.

Each worker needs this project and its environment, and does one job at a time. Start it in the
project's folder, so that it finds the package grader::

    python -m dask worker tcp://HOST:8786 --nthreads 1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from grader.running.local_workers import ATTEMPTS, CannotWork, Done, resolve

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
        ``module:name`` of a function that takes a dict and returns a str.

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
        `JOBS_PER_WORKER` jobs for each worker are taken from `jobs` at a time.

        Raises
        ------
        CannotWork
            If a job raises it, because no job can be done where it was started.
        """
        from distributed import as_completed

        waiting = iter(jobs)
        names: dict[str, str] = {}
        completed = as_completed(loop=self._client.loop)

        def submit() -> None:
            room = JOBS_PER_WORKER * max(1, len(self._client.nthreads())) - len(names)
            for name, job in islice(waiting, max(0, room)):
                future = self._client.submit(
                    call, self.function, job, pure=False, retries=ATTEMPTS - 1
                )
                names[future.key] = name
                completed.add(future)

        submit()
        while names:
            future = next(completed)
            name = names.pop(future.key)
            yield _done(name, future)
            future.release()
            submit()


def call(function: str, job: Mapping[str, Any]) -> str:
    """Import and call the function named ``module:name``. This is executed in the worker."""
    return resolve(function)(job)


def _done(name: str, future: Future[str]) -> Done:
    try:
        return Done(name, future.result())
    except CannotWork:
        raise
    except Exception as error:  # what the job raised, or what Dask raises if the worker died
        lines = str(error).strip().splitlines()
        return Done(name, None, f"{type(error).__name__}: {lines[0] if lines else ''}")
