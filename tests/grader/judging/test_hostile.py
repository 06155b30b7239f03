"""No hostile notebook gains a point, reads a secret, does harm or leaves a process behind.

The verdict on each says why it gained nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, replace

import nbformat
import pytest

from grader.course import SOLUTIONS
from grader.judging.verdict import FAILED, Verdict
from grader.reporting.report.analysis import PartCount, parts
from grader.reporting.results import Result
from grader.running.local_workers import JUDGE_JOB, LocalWorkers
from grader.sandbox.inside.limits import BUBBLEWRAP, Limits
from tests.grader.judging.court import (
    ASSIGNMENT,
    MAX_MEMORY,
    PLAIN_TEST,
    Court,
    filled_in,
    honest_answers,
    without_time,
)
from tests.grader.judging.hostile import DAMAGE, EXHAUSTION, HOSTILE, PLANTING, PROTOCOL

#: Time limits so long that only endless code reaches them, even on a slow machine.
PATIENT = Limits(
    call_seconds=20.0,
    cell_seconds=40.0,
    submission_seconds=120.0,
    memory_mib=512,
    processes=24,
    disk_mib=8,
    output_kib=64,
)
SHORT = replace(PATIENT, call_seconds=1.0, cell_seconds=2.0, submission_seconds=8.0)
GRACE = 6.0  # seconds allowed beyond a submission's time limit


@pytest.fixture(scope="module")
def courts():
    """Two courts: one for endless notebooks, with short time limits, and one for the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_LIB_TEST_SECRET", "s3cret")
        courts = {endless: Court(limits) for endless, limits in ((True, SHORT), (False, PATIENT))}
        yield courts
        for court in courts.values():
            court.pool.shutdown()


@pytest.fixture(scope="module")
def honest(root):
    """The answers of an honest notebook."""
    return honest_answers(root)


@pytest.fixture(scope="module")
def at_first(courts, honest):
    """Each court's verdict on an honest notebook before any hostile one."""
    return {name: without_time(court.judge(honest)) for name, court in courts.items()}


def said(verdict: Verdict) -> str:
    """Return all texts of a verdict: remarks, outputs and reports."""
    texts = [verdict.reason, *verdict.remarks]
    if verdict.notebook:
        for cell in nbformat.reads(verdict.notebook, as_version=4).cells:
            for output in cell.get("outputs", []):
                texts += [output.get("text", ""), output.get("ename", "")]
                texts += [output.get("evalue", ""), *output.get("traceback", [])]
                texts += [output.get("data", {}).get("text/plain", "")]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


def titles() -> list[tuple[str, str]]:
    """Return the titles of all parts, as pairs of cell and title."""
    cells = nbformat.read(SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4).cells
    return [
        (cell.id, title)
        for cell in cells
        if cell.cell_type == "code"
        for title in re.findall(r'check\.part\("(.+?)"', cell.source)
    ]


def test_there_are_at_least_a_hundred():
    assert len(HOSTILE) >= 100


@pytest.mark.parametrize("name", HOSTILE)
def test_it_gains_nothing_and_gets_a_reason(name, courts, honest, at_first):
    hostile = HOSTILE[name]
    court = courts[hostile.endless]
    begun = time.monotonic()
    verdict = court.judge(hostile.by_cell)
    seconds = time.monotonic() - begun
    text = said(verdict)
    assert verdict.status != FAILED, verdict.reason
    assert verdict.score == hostile.score, text[:2000]
    assert verdict.scores[PLAIN_TEST] == 0, text[:2000]
    assert hostile.says in text, text[:2000]
    assert bool(verdict.remarks) or not hostile.remark, text[:2000]
    assert seconds < court.limits.submission_seconds + GRACE
    assert len(verdict.notebook) < 20 * 1024 * court.limits.output_kib
    # The secret is ASCII, so it would be the same in every encoding.
    assert b"s3cret" not in verdict.notebook.encode()
    assert b"s3cret" not in verdict.to_bytes()
    if name in PLANTING:
        assert verdict.mistakes == ()
        assert parts([Result("ada", None, verdict.parts)]) == [
            PartCount(cell, title, 0, 1) for cell, title in titles()
        ]
    assert court.is_quiet()
    assert court.most_memory() < MAX_MEMORY
    if name in {**DAMAGE, **EXHAUSTION, **PROTOCOL}:
        assert without_time(court.judge(honest)) == at_first[hostile.endless]


CONCURRENT = [
    "every processor, by many processes",
    "processes without end",
    "memory in many processes",
    "shared memory that it lets go of",
    "a full disk",
    "all processes killed",
]


def test_a_concurrent_hostile_notebook_does_not_affect_an_honest_one(honest, root):
    """Two notebooks are judged at once by the workers of a real run."""
    source = (SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()

    def job(answers: Mapping[str, str]) -> dict[str, object]:
        submitted = filled_in(answers)
        names = {"source": source, "submitted": submitted, "assignment": ASSIGNMENT}
        settings = {"student": "ada", "limits": asdict(PATIENT), "isolation": BUBBLEWRAP}
        return names | settings | {"salt": "", "remarks": []}

    jobs = {"alone": job(honest)}
    for name in CONCURRENT:
        jobs[name] = job(HOSTILE[name].by_cell)
        jobs |= {f"{name}, beside it {number}": job(honest) for number in range(2)}
    with LocalWorkers(JUDGE_JOB, 2) as workers:
        verdicts = {
            done.name: Verdict.from_bytes(done.returned)
            for some in (["alone"], [name for name in jobs if name != "alone"])
            for done in workers.do((name, jobs[name]) for name in some)
        }
    alone = without_time(verdicts["alone"])
    assert verdicts["alone"].score == 14
    assert {n for n in jobs if n not in CONCURRENT and without_time(verdicts[n]) != alone} == set()
    assert {n for n in CONCURRENT if verdicts[n].score or verdicts[n].status == FAILED} == set()
