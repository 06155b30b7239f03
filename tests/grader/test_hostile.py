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
LIMITS = Limits(
    call_seconds=0.5,
    cell_seconds=1.0,
    submission_seconds=6.0,
    memory_mib=512,
    processes=24,
    disk_mib=8,
    output_kib=64,
    result_mib=8,
)
GRACE = 6.0  # seconds for what comes after a submission's time
MOST_MEMORY = 400  # MiB of the process that judges


class Judge:
    """Judges notebooks one after the other with one warm sandbox."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.sandbox = warm_sandbox(LIMITS, BUBBLEWRAP)
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
            limits=LIMITS,
            sandbox=self.sandbox,
        )


class Court:
    """A process of its own in which a judge sits."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.answers = read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")
        self.pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), _take_a_seat, (root, folder)
        )
        self.process = self.pool.submit(os.getpid).result()
        self.children = len(descendants(self.process))  # the warm worker and what starts it

    def judge(self, answers) -> Verdict:
        return self.pool.submit(_judged, dict(answers)).result()

    def honest(self) -> str:
        """Return what an honest notebook gets, without the time it took."""
        verdict = self.judge(self.answers)
        return re.sub(r'"seconds": [\d.]+', "", verdict.to_json())

    def is_quiet(self) -> bool:
        """Say whether nothing of a submission is left alive, now or in a moment."""
        deadline = time.monotonic() + 2
        while len(descendants(self.process)) != self.children:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def most_memory(self) -> float:
        """Return the most memory that the process has ever held, in MiB."""
        return self.pool.submit(_most_memory).result()


_seat: list[Judge] = []


def _take_a_seat(root: Path, folder: Path) -> None:
    _seat.append(Judge(root, folder))


def _judged(answers: dict[str, str]) -> Verdict:
    return _seat[0].judge(answers)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.fixture(scope="module")
def court(root, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_LIB_TEST_SECRET", "s3cret")
        court = Court(root, tmp_path_factory.mktemp("released"))
        yield court
        court.pool.shutdown()


@pytest.fixture(scope="module")
def honest(court) -> str:
    """What an honest notebook gets before any hostile one was seen."""
    return court.honest()


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
def test_it_gains_nothing_and_is_told_why(name, court, honest):
    hostile = HOSTILE[name]
    begun = time.monotonic()
    verdict = court.judge(hostile.by_cell)
    seconds = time.monotonic() - begun
    text = said(verdict)
    assert verdict.status != FAILED, verdict.reason
    assert verdict.score == hostile.score, text[:2000]
    assert hostile.says in text, text[:2000]
    assert bool(verdict.remarks) or not hostile.remark, text[:2000]
    assert seconds < LIMITS.submission_seconds + GRACE
    assert len(verdict.notebook) < 20 * 1024 * LIMITS.output_kib
    assert b"s3cret" not in verdict.notebook.encode()  # which every encoding can write
    assert "s3cret" not in verdict.to_json()
    assert court.is_quiet()
    if name in {**DAMAGE, **EXHAUSTION, **PROTOCOL}:
        assert court.honest() == honest


def test_the_judge_stays_small(court, honest):
    used = court.most_memory()
    assert used < MOST_MEMORY, f"{used:.0f} MiB"
