"""Memory and time for judging a test cell are bounded, and the reason for a stop is reported."""

from __future__ import annotations

import contextlib
import functools
import resource
import signal
import sys
import threading

import nbformat
import pytest

from grader.course import SOLUTIONS
from grader.judging.bounds import TookTooMuch, bounded
from grader.judging.judge import judge_submission
from grader.judging.verdict import REMARKS
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from tests.grader.sandbox.probes import need_bubblewrap, printed

ASSIGNMENT = "dot-products"
SMALL = Limits(result_mib=1)  # allows 132 MiB of memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading needs Linux")


def state() -> tuple[object, ...]:
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    return limits, signal.getsignal(signal.SIGPROF), signal.getitimer(signal.ITIMER_PROF)


def never_end() -> None:
    while True:
        with contextlib.suppress(Exception):
            while True:
                pass


def test_work_within_the_bounds_is_not_affected():
    before = state()
    with bounded(SMALL):
        assert state() != before
        assert len(bytearray(100 * 2**20)) == 100 * 2**20
    assert state() == before


def test_too_much_memory_is_reported_and_limits_are_restored():
    before = state()
    with pytest.raises(TookTooMuch, match=r"^it took more than 132 MiB of memory$"), bounded(SMALL):
        bytearray(2**30)
    assert state() == before
    assert len(bytearray(300 * 2**20)) == 300 * 2**20


def test_a_larger_result_gets_more_room():
    with bounded(Limits(result_mib=100)):
        assert len(bytearray(300 * 2**20)) == 300 * 2**20


def test_endless_code_is_stopped_whatever_it_catches():
    before = state()
    words = r"^it took more than 0.1 s of processor time$"
    with pytest.raises(TookTooMuch, match=words), bounded(SMALL, seconds=0.1):
        never_end()
    assert state() == before


def test_in_another_thread_only_memory_is_bounded():
    said = []

    def work() -> None:
        try:
            with bounded(SMALL, seconds=0.01):
                sum(range(10**6))
                bytearray(2**30)
        except TookTooMuch as stopped:
            said.append(str(stopped))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == ["it took more than 132 MiB of memory"]


def test_a_sandbox_started_meanwhile_does_not_inherit_the_bounds():
    need_bubblewrap()
    source = "import resource\nprint(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    unbound = resource.getrlimit(resource.RLIMIT_DATA)[0]
    with bounded(SMALL), Sandbox(SMALL) as sandbox, sandbox.session() as session:
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] != unbound
        assert printed(session, source) == f"{unbound}\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bytearray(2**31)", "it took more than 132 MiB of memory"),
        ("while True: pass", "it took more than 0.5 s of processor time"),
    ],
)
def test_a_test_cell_out_of_bounds_gives_no_points_and_a_remark(line, told, monkeypatch):
    """The line represents a check's condition that cannot handle an unforeseen answer."""
    need_bubblewrap()
    quick = functools.partial(bounded, seconds=0.5)
    monkeypatch.setattr("grader.judging.course_tests.bounded", quick)
    notebook = nbformat.read(SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "softmax-tests")
    cell.source = f"{line}\n{cell.source}"
    source = nbformat.writes(notebook).encode()
    with Sandbox(SMALL) as sandbox:
        verdict = judge_submission(
            source,
            source,
            assignment=ASSIGNMENT,
            student="ada",
            limits=SMALL,
            sandbox=sandbox,
        )
    remark = f"The cell softmax-tests has no points: judging it was stopped because {told}."
    assert remark in verdict.remarks
    assert verdict.status == REMARKS
    lost = {name for name, score in verdict.scores.items() if score < verdict.points[name]}
    assert lost == {"softmax-tests"}
    assert verdict.scores["softmax-tests"] == 0
