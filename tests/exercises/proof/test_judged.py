"""The judge, with the answers in its sandbox, gives the same marks."""

from __future__ import annotations

import pytest

from grader.judging.judge import judge_submission
from grader.sandbox.inside.limits import Limits
from grader.releasing.release import generate
from grader.sandbox.sandbox import Sandbox

LIMITS = Limits()
LEARNER = "ada"  # the learner id in the instructor's notebooks


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


def test_right_answers_have_full_marks_and_the_stub_none(root, proof, points, sandbox, tmp_path):
    name = proof.assignment
    source = (root / "solutions" / name / f"{name}.ipynb").read_bytes()
    stub = generate(name, tmp_path).read_bytes()
    right, nothing = (
        judge_submission(
            source,
            submitted,
            assignment=name,
            student=LEARNER,
            limits=LIMITS,
            sandbox=sandbox,
        )
        for submitted in (source, stub)
    )
    assert right.scores == points
    assert right.remarks == ()
    assert sum(right.points.values()) == proof.points
    assert set(nothing.scores) == set(nothing.points)
    assert set(nothing.scores.values()) == {0.0}
