"""No hostile notebook gains a point, reads a secret, harms anything or leaves anything alive.

And each is told why.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from grader.answer_files import fill, read_answers
from grader.judge import grade
from grader.limits import BUBBLEWRAP, Limits
from grader.release import generate
from grader.verdict import FAILED, Verdict
from grader.warm import warm_sandbox
from tests.grader.hostile import DAMAGE, EXHAUSTION, HOSTILE, PROTOCOL

ASSIGNMENT = "dot-products"
#: Long enough that only what never ends is stopped for its time, on a slow machine too.
PATIENT = Limits(
    call_seconds=20.0,
    cell_seconds=40.0,
    submission_seconds=120.0,
    memory_mib=512,
    processes=24,
    disk_mib=8,
    output_kib=64,
    result_mib=8,
)
SHORT = replace(PATIENT, call_seconds=1.0, cell_seconds=2.0, submission_seconds=8.0)
GRACE = 6.0  # seconds for what comes after a submission's time
MOST_MEMORY = 400  # MiB of the process that judges


class Judge:
    """Judges notebooks one after the other with one warm sandbox."""

    def __init__(self, root: Path, folder: Path, limits: Limits) -> None:
        self.limits = limits
        self.sandbox = warm_sandbox(limits, BUBBLEWRAP)
        self.source = (root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()
        self.released = generate(ASSIGNMENT, folder)

    def judge(self, answers) -> Verdict:
        notebook = nbformat.read(self.released, as_version=4)
        fill(notebook, dict(answers))
        return grade(
            self.source,
            nbformat.writes(notebook).encode(),
            assignment=ASSIGNMENT,
            student="ada",
            seed=1,
            limits=self.limits,
            sandbox=self.sandbox,
        )


class Court:
    """A process of its own in which a judge sits."""

    def __init__(self, root: Path, folder: Path, limits: Limits) -> None:
        self.limits = limits
        self.answers = read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")
        self.pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), _take_a_seat, (root, folder, limits)
        )
        self.process = self.pool.submit(os.getpid).result()
        self.children = len(descendants(self.process))  # the warm worker and what starts it
        #: What an honest notebook gets before any hostile one was seen.
        self.at_first = self.honest()

    def judge(self, answers) -> Verdict:
        return self.pool.submit(_judged, dict(answers)).result()

    def honest(self) -> str:
        """Return what an honest notebook gets, without the time it took."""
        verdict = self.judge(self.answers)
        return re.sub(r'"seconds": [\d.]+', "", verdict.to_json())

    def is_quiet(self) -> bool:
        """Say whether nothing of a submission is left alive, now or in a moment."""
        deadline = time.monotonic() + 20
        while len(descendants(self.process)) != self.children:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def most_memory(self) -> float:
        """Return the most memory that the process has ever held, in MiB."""
        return self.pool.submit(_most_memory).result()


_seat: list[Judge] = []


def _take_a_seat(root: Path, folder: Path, limits: Limits) -> None:
    _seat.append(Judge(root, folder, limits))


def _judged(answers: dict[str, str]) -> Verdict:
    return _seat[0].judge(answers)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.fixture(scope="module")
def courts(root, tmp_path_factory):
    """Two courts, by whether what comes before them is endless."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_LIB_TEST_SECRET", "s3cret")
        courts = {
            endless: Court(root, tmp_path_factory.mktemp("released"), limits)
            for endless, limits in ((True, SHORT), (False, PATIENT))
        }
        yield courts
        for court in courts.values():
            court.pool.shutdown()


def said(verdict: Verdict) -> str:
    """Return all that a verdict says, remarks, outputs and reports."""
    texts = [verdict.reason, *verdict.remarks]
    if verdict.notebook:
        for cell in nbformat.reads(verdict.notebook, as_version=4).cells:
            for output in cell.get("outputs", []):
                texts += [output.get("text", ""), output.get("ename", "")]
                texts += [output.get("evalue", ""), *output.get("traceback", [])]
                texts += [output.get("data", {}).get("text/plain", "")]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


def descendants(process: int) -> set[int]:
    """Return the processes that a process has started, and those have, and so on."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, rest = path.read_text().split(" (", 1)
            parents[int(number)] = int(rest.rpartition(")")[2].split()[1])
    found, new = set(), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def test_there_are_at_least_a_hundred():
    assert len(HOSTILE) >= 100


@pytest.mark.parametrize("name", HOSTILE)
def test_it_gains_nothing_and_is_told_why(name, courts):
    hostile = HOSTILE[name]
    court = courts[hostile.endless]
    begun = time.monotonic()
    verdict = court.judge(hostile.by_cell)
    seconds = time.monotonic() - begun
    text = said(verdict)
    assert verdict.status != FAILED, verdict.reason
    assert verdict.score == hostile.score, text[:2000]
    assert hostile.says in text, text[:2000]
    assert bool(verdict.remarks) or not hostile.remark, text[:2000]
    assert seconds < court.limits.submission_seconds + GRACE
    assert len(verdict.notebook) < 20 * 1024 * court.limits.output_kib
    assert b"s3cret" not in verdict.notebook.encode()  # which every encoding can write
    assert "s3cret" not in verdict.to_json()
    assert court.is_quiet()
    if name in {**DAMAGE, **EXHAUSTION, **PROTOCOL}:
        assert court.honest() == court.at_first


@pytest.mark.parametrize("endless", [True, False])
def test_the_judge_stays_small(endless, courts):
    used = courts[endless].most_memory()
    assert used < MOST_MEMORY, f"{used:.0f} MiB"
