"""A class is graded on a Dask cluster whose scheduler and workers are separate processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.reporting.results import results
from grader.running import journal
from grader.running.cluster_workers import ClusterWorkers
from grader.running.local_workers import CannotWork, Done
from grader.running.pipeline import Run, autograde

# pytest.importorskip would import it in each process that collects tests.
pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="Dask is not installed (pip install '.[cluster]')."
)

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "dot-products"
JUDGE = "tests.grader.running.fake_judge:judge_job"
DOUBLE = "tests.grader.running.odd_jobs:double"
OBEY = "tests.grader.running.odd_jobs:obey"


def start(*arguments: str) -> subprocess.Popen:
    """Start a Dask program in the project's folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def scheduler():
    """The address of a scheduler with two workers, all separate processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    programs = [start("scheduler", "--host", "127.0.0.1", "--port", str(port))]
    try:
        for _ in range(2):
            programs.append(
                start(
                    "worker",
                    address,
                    "--nthreads",
                    "1",
                    "--host",
                    "127.0.0.1",
                    "--death-timeout",
                    "60",
                )
            )
        from distributed import Client

        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address
    finally:
        scheduler, *workers = programs
        for group in (
            workers,
            [scheduler],
        ):  # workers first: without a scheduler, they take seconds to end
            for program in group:
                program.terminate()
            for program in group:
                program.wait(30)


def run(scheduler: str, function: str, jobs: dict[str, dict]) -> dict[str, Done]:
    with ClusterWorkers(scheduler, function) as workers:
        return {done.name: done for done in workers.do(jobs.items())}


def test_each_job_is_done_once_and_few_are_queued(scheduler):
    taken = []

    def jobs():
        for n in range(40):
            taken.append(n)
            yield str(n), {"text": f"<{n}>"}

    with ClusterWorkers(scheduler, DOUBLE) as workers:
        found, ahead = {}, []
        for done in workers.do(jobs()):
            found[done.name] = done.returned
            ahead.append(len(taken) - len(found))
    assert found == {str(n): f"<{n}><{n}>".encode() for n in range(40)}
    assert max(ahead) <= 2 * 2


def test_an_error_in_a_job_is_reported_and_others_are_done(scheduler):
    jobs = {"a": {"order": "raise", "argument": "no 7"}, "b": {"order": "b"}}
    assert run(scheduler, OBEY, jobs) == {
        "a": Done("a", None, "ValueError: no 7"),
        "b": Done("b", b"b"),
    }


def test_large_jobs_are_in_memory_one_at_a_time(scheduler, monkeypatch):
    monkeypatch.setattr("grader.running.cluster_workers.MAX_BYTES_IN_WORK", 5)
    taken = []

    def jobs():
        for n in range(6):
            taken.append(n)
            yield str(n), {"text": "xxxxx"}

    with ClusterWorkers(scheduler, DOUBLE) as workers:
        ahead = [len(taken) - number for number, _ in enumerate(workers.do(jobs()))]
    assert ahead == [1] * 6


def test_a_run_ends_when_no_job_can_be_done(scheduler):
    with pytest.raises(CannotWork, match="no sandbox"):
        run(scheduler, OBEY, {"a": {"order": "cannot", "argument": "no sandbox"}})


def test_an_unreachable_scheduler_is_reported(monkeypatch):
    monkeypatch.setattr("grader.running.cluster_workers.PATIENCE", 1)
    with pytest.raises(CannotWork, match=r"expected a Dask scheduler .* at tcp://127\.0\.0\.1:1"):
        run("tcp://127.0.0.1:1", DOUBLE, {"a": {"text": "x"}})


def test_a_killed_worker_loses_no_submission(scheduler, tmp_path):
    students = [f"s{number:03}" for number in range(60)]
    for number, student in enumerate(students):
        path = tmp_path / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(f"{number / 60} sleep=0.05")
    settings = Run(ASSIGNMENT, tmp_path / "submitted", tmp_path)
    killed = []

    def kill_one(progress):
        if progress.done == 10:
            killed.append(_a_worker(scheduler))
            os.kill(killed[0], signal.SIGKILL)

    graded = autograde(settings, ClusterWorkers(scheduler, JUDGE), kill_one)
    assert graded == students
    found = {r.student: r.score for r in results(settings.db_url, tmp_path, ASSIGNMENT)}
    assert found == {s: pytest.approx(18 * n / 60) for n, s in enumerate(students)}
    lines = list(journal.read(journal.path_in(tmp_path, ASSIGNMENT)))
    workers = {line.provenance["worker"] for line in lines}
    assert killed[0] not in {os.getpid()}
    assert len(workers) >= 2
    _wait_until(lambda: not Path(f"/proc/{killed[0]}").exists())


def _a_worker(scheduler: str) -> int:
    """Return the process id of a worker, not of its nanny."""
    from distributed import Client

    with Client(scheduler, timeout=30, set_as_default=False) as client:
        return next(iter(client.run(os.getpid).values()))


def test_a_job_is_done_again_if_its_worker_dies_before_the_result_is_fetched(scheduler):
    with ClusterWorkers(scheduler, DOUBLE) as workers:
        client = workers._client
        outcomes = workers.do([("a", {"text": "<a>"}), ("b", {"text": "<b>"})])
        first = next(outcomes)
        futures = list(client.futures.values())
        _wait_until(lambda: all(future.status == "finished" for future in futures))
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)
        _wait_until(lambda: all(future.status != "finished" for future in futures))
        (second,) = outcomes
    assert {first.name, second.name} == {"a", "b"}
    assert {first.returned, second.returned} == {b"<a><a>", b"<b><b>"}


def _wait_until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# The last test of this file, because no other can use the scheduler after it.
def test_a_scheduler_that_ends_stops_the_run_and_fails_nobody(scheduler, tmp_path):
    from distributed import Client

    for student, text in (("ada", "0.5"), ("bo", "0.5 sleep=600"), ("cy", "0.5 sleep=600")):
        path = tmp_path / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    settings = Run(ASSIGNMENT, tmp_path / "submitted", tmp_path)
    with Client(scheduler, timeout=30, set_as_default=False) as client:
        process = client.run_on_scheduler(os.getpid)

    def end_it(progress):
        os.kill(process, signal.SIGKILL)

    with pytest.raises(CannotWork, match="but the connection to it was lost"):
        autograde(settings, ClusterWorkers(scheduler, JUDGE), end_it)
    found = results(settings.db_url, tmp_path, ASSIGNMENT)
    assert [(result.student, result.score) for result in found] == [("ada", 9)]
