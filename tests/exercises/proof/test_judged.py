"""The judge, with the answers in its sandbox, gives the same marks."""

from __future__ import annotations

import nbformat
import pytest

from grader.judging.judge import judge_submission
from grader.releasing.release import generate
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from tests.exercises.slips import slips_of

LIMITS = Limits()
LEARNER = "ada"  # the learner id in the instructor's notebooks


@pytest.fixture(scope="session")
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


@pytest.mark.parametrize(
    ("assignment", "slip"),
    [
        ("complexity", "all scores at once"),
        ("variance-growth", "scores drawn from the theory"),
        ("putting-it-together", "only one corner shown"),
    ],
)
def test_what_is_measured_at_home_is_measured_in_the_sandbox(root, assignment, slip, sandbox):
    source = (root / "solutions" / assignment / f"{assignment}.ipynb").read_bytes()
    wrong = slips_of(assignment)[slip]
    submitted = nbformat.reads(source.decode(), as_version=4)
    (cell,) = (cell for cell in submitted.cells if cell.id == wrong.cell)
    cell.source += f"\n{wrong.answer}"
    verdict = judge_submission(
        source,
        nbformat.writes(submitted).encode(),
        assignment=assignment,
        student=LEARNER,
        limits=LIMITS,
        sandbox=sandbox,
    )
    lost = {
        cell: verdict.points[cell] - score
        for cell, score in verdict.scores.items()
        if score != verdict.points[cell]
    }
    assert lost == wrong.cost
