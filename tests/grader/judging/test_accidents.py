"""The judge's verdict on each accident has the status, scores and remarks of the table."""

from __future__ import annotations

import pytest

from grader.course import SOLUTIONS
from grader.judging.judge import judge_submission
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from tests.grader.corpus.accidents import ACCIDENTS, POINTS, Accident

ASSIGNMENT = "dot-products"
STUDENT = "full-marks-loops"
LIMITS = Limits(submission_seconds=60.0)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


@pytest.mark.parametrize("name", ACCIDENTS)
def test_the_verdict_is_as_expected(name, handed_in, sandbox):
    accident: Accident = ACCIDENTS[name]
    verdict = judge_submission(
        (SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes(),
        accident.file(handed_in),
        assignment=ASSIGNMENT,
        student=STUDENT,
        limits=LIMITS,
        sandbox=sandbox,
    )
    assert (verdict.status, verdict.missing) == (accident.status, accident.missing), verdict
    for says in accident.says:
        assert says in " ".join((verdict.reason, *verdict.remarks))
    if accident.fails:
        assert dict(verdict.scores) == {}
        return
    scores = {c: points - accident.lost.get(c, 0) for c, points in POINTS.items()}
    answered = "in-words" not in accident.missing
    assert dict(verdict.scores) == scores | ({} if answered else {"in-words": 0.0})
    assert verdict.to_read == (("in-words",) if answered else ())
