"""No hostile notebook gains a point, reads a secret or harms anything, and each is told why."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import time
from pathlib import Path

import nbformat
import pytest

from grader.answer_files import fill, read_answers
from grader.judge import grade
from grader.limits import Limits
from grader.release import generate
from grader.sandbox import Sandbox
from grader.verdict import FAILED, Verdict
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
MOST_MEMORY = 400  # MiB of this process


class Court:
    """Judges notebooks one after the other with one warm sandbox."""

    def __init__(self, root: Path, folder: Path, sandbox: Sandbox) -> None:
        self.source = (root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()
        self.released = generate(ASSIGNMENT, folder)
        self.sandbox = sandbox
        self.answers = read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")

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

    def honest(self) -> str:
        """Return what an honest notebook gets, without the time it took."""
        verdict = self.judge(self.answers)
        return re.sub(r'"seconds": [\d.]+', "", verdict.to_json())


@pytest.fixture(scope="module")
def court(root, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_LIB_TEST_SECRET", "s3cret")
        with Sandbox(LIMITS) as sandbox:
            yield Court(root, tmp_path_factory.mktemp("released"), sandbox)


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


def test_there_are_at_least_sixty():
    assert len(HOSTILE) >= 60


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
    assert "s3cret" not in verdict.to_json()
    if name in {**DAMAGE, **EXHAUSTION, **PROTOCOL}:
        assert court.honest() == honest


def test_nothing_is_left_alive(court, honest):
    """Between submissions there are the warm worker and what starts it, and no more."""
    before = descendants(os.getpid())
    court.judge(HOSTILE["a process that stays behind"].by_cell)
    court.judge(HOSTILE["processes without end"].by_cell)
    deadline = time.monotonic() + 2
    while descendants(os.getpid()) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert descendants(os.getpid()) == before


def test_this_process_stays_small(court, honest):
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert used < MOST_MEMORY, f"{used:.0f} MiB in {os.getpid()}"
