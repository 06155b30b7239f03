"""Worker processes return results, and jobs of a worker that dies are handled."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import socket

import pytest

from grader.running.local_workers import CannotWork, Done, LocalWorkers, cores_of

DOUBLE = "tests.grader.running.odd_jobs:double"
PROCESS = "tests.grader.running.odd_jobs:process"
OBEY = "tests.grader.running.odd_jobs:obey"


def run(function: str, jobs: dict[str, dict], number: int = 2, seconds: float = 60) -> dict:
    with LocalWorkers(function, number, seconds) as workers:
        return {done.name: done for done in workers.do(jobs.items())}


def test_each_job_is_done_once():
    done = run(DOUBLE, {str(n): {"text": f"<{n}>"} for n in range(20)})
    assert done == {str(n): Done(str(n), f"<{n}><{n}>".encode()) for n in range(20)}


def test_the_number_of_workers_and_their_end():
    before = set(multiprocessing.active_children())
    done = run(PROCESS, {str(n): {} for n in range(12)}, number=3)
    assert len({d.returned for d in done.values()}) == 3
    assert set(multiprocessing.active_children()) == before


def test_jobs_are_taken_only_when_a_worker_is_free():
    taken = []

    def jobs():
        for n in range(10):
            taken.append(n)
            yield str(n), {"text": "x"}

    with LocalWorkers(DOUBLE, 2) as workers:
        ahead = [len(taken) - number for number, _ in enumerate(workers.do(jobs()), start=1)]
    assert max(ahead) <= 2
    assert len(ahead) == 10


def test_large_jobs_are_in_memory_one_at_a_time(monkeypatch):
    monkeypatch.setattr("grader.running.local_workers.MAX_BYTES_IN_WORK", 5)
    taken = []

    def jobs(size):
        for n in range(10):
            taken.append(n)
            yield str(n), {"text": "x" * size}

    for size, most in ((5, 1), (3, 2), (1, 3)):
        taken.clear()
        with LocalWorkers(DOUBLE, 3) as workers:
            ahead = [len(taken) - number for number, _ in enumerate(workers.do(jobs(size)))]
        assert max(ahead) == most
        assert len(ahead) == 10


def test_a_job_whose_worker_died_is_done_by_another_one(tmp_path):
    jobs = {"a": {"order": "die once", "argument": str(tmp_path / "mark")}, "b": {"order": "b"}}
    assert run(OBEY, jobs) == {"a": Done("a", b"die once"), "b": Done("b", b"b")}


def test_only_a_job_that_kills_its_worker_twice_is_given_up():
    jobs = {"a": {"order": "die"}, "e": {"order": "exit", "argument": 3}}
    jobs |= {str(n): {"order": str(n)} for n in range(6)}
    done = run(OBEY, jobs)
    killed, ended = "its worker was killed by SIGKILL", "its worker ended with status 3"
    assert done.pop("a") == Done("a", None, f"{killed}, tried 2 times", by_machine=True)
    assert done.pop("e") == Done("e", None, f"{ended}, tried 2 times", by_machine=True)
    assert done == {str(n): Done(str(n), str(n).encode()) for n in range(6)}


def test_an_error_in_a_job_is_reported():
    done = run(OBEY, {"a": {"order": "raise", "argument": "no 7"}, "b": {"order": "b"}}, number=1)
    assert done["a"] == Done("a", None, "ValueError: no 7, tried 2 times")
    assert done["b"].returned == b"b"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOMEM, errno.EMFILE, errno.EXDEV])
def test_a_worker_says_whether_the_machine_is_the_reason(number):
    (done,) = run(OBEY, {"a": {"order": "fail", "argument": number}}, number=1).values()
    assert done.reason == f"OSError: [Errno {number}] no, tried 2 times"
    assert done.by_machine == (number != errno.EXDEV)


def test_a_job_that_takes_too_long_is_given_up():
    jobs = {"a": {"order": "sleep", "argument": 600}, "b": {"order": "b"}}
    done = run(OBEY, jobs, seconds=3)
    reason = "it was not done within 3 s, tried 2 times"
    assert done["a"] == Done("a", None, reason, by_machine=True)
    assert done["b"].returned == b"b"


def test_a_run_ends_when_no_job_can_be_done():
    jobs = {str(n): {"order": "cannot", "argument": "no sandbox"} for n in range(3)}
    with pytest.raises(CannotWork, match=re.escape("no sandbox")):
        run(OBEY, jobs)


def test_a_missing_function_ends_the_run():
    with pytest.raises(CannotWork, match="no_such_module"):
        run("no_such_module:f", {"a": {}})


def test_workers_that_cannot_be_started_end_the_run(monkeypatch):
    started = []

    def start(self, place):
        started.append(self)
        if len(started) > 1:
            raise OSError("no more processes")
        return real(self, place)

    real = LocalWorkers._start
    monkeypatch.setattr(LocalWorkers, "_start", start)
    with pytest.raises(CannotWork, match="expected 3 worker processes, could start 1: no more pro"):
        run(DOUBLE, {"a": {"text": "x"}}, number=3)


@pytest.mark.parametrize(
    ("number", "cores"),
    [
        (1, [{2, 3, 5, 7}]),
        (2, [{2, 5}, {3, 7}]),
        (3, [{2, 7}, {3}, {5}]),
        (4, [{2}, {3}, {5}, {7}]),
        (5, [{2}, {3}, {5}, {7}, {2}]),
    ],
)
def test_each_worker_has_separate_cores_if_there_are_enough(number, cores, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {7, 3, 5, 2}, raising=False)
    assert [cores_of(place, number) for place in range(number)] == cores


def test_without_affinity_no_cores_are_chosen(monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert cores_of(0, 2) == set()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_workers_and_their_replacements_stay_on_their_cores():
    mine = sorted(os.sched_getaffinity(0))
    number = min(2, len(mine))
    jobs = {"dead": {"order": "die"}} | {str(n): {"order": "cores"} for n in range(8)}
    done = run(OBEY, jobs, number=number)
    assert done.pop("dead").returned is None
    found = {one.returned.decode() for one in done.values()}
    assert found <= {str(sorted(mine[place::number])) for place in range(number)}


def test_each_worker_is_warmed_up_before_its_first_job(tmp_path):
    warm = ("tests.grader.running.odd_jobs:note", {"folder": str(tmp_path)})
    with LocalWorkers(PROCESS, 2, warm=warm) as workers:
        (done,) = workers.do([("b", {})])
    assert done.returned.decode() in {path.name for path in tmp_path.iterdir()}


def test_an_error_while_warming_up_is_left_to_the_first_job():
    warm = ("tests.grader.running.odd_jobs:obey", {"order": "raise", "argument": "cold"})
    with LocalWorkers(DOUBLE, 1, warm=warm) as workers:
        assert [done.returned for done in workers.do([("b", {"text": "x"})])] == [b"xx"]


def test_a_shared_connection_is_closed_when_the_workers_have_ended():
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setblocking(False)
        with LocalWorkers(DOUBLE, 1, shared=ours) as workers:
            assert [done.returned for done in workers.do([("b", {"text": "x"})])] == [b"xx"]
            with pytest.raises(BlockingIOError):
                theirs.recv(1)
        assert theirs.recv(1) == b""
