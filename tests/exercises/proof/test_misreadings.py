"""No wrong reading of a learner's numbers gives an accepted answer."""

from __future__ import annotations

import pytest

from attn_lib.course.checks.events import Asked as Inspected
from attn_lib.course.personal.misreadings import Asked
from tests.exercises.proof.matrix import ROOT
from tests.exercises.proof.misreadings import TASKS, Gate, learner, shares
from tests.exercises.proof.notebook import read, run
from tests.exercises.proof.proof import proofs

#: The command of `misreadings` tries 1000.
IDS = 25

#: Typed answers whose wrong readings are not listed, with the reason.
WITHOUT_READINGS = {
    "half": "it has four letters, each with its own explanation",
    "kind": "its letter is wrong unless the mask is seen for what it is",
    "verdict": "its letter is wrong unless the counts beside it are right",
    "claimed_by": "it is the letter of the claim that `fine` is next to",
    **dict.fromkeys(
        ("meaning", "why", "growth", "hidden_score"),
        "the letter is the same for all learners",
    ),
    **dict.fromkeys(
        ("previous", "induction", "subject", "breaks"),
        "the draw itself tells the heads apart, for words beside the right one too",
    ),
    **dict.fromkeys((f"paper_{number}" for number in range(1, 7)), "only the papers tell"),
}


@pytest.mark.parametrize(
    "task", TASKS, ids=lambda task: f"{task.assignment}-{task.misread.__name__}"
)
def test_no_wrong_reading_is_accepted(task):
    found = shares(task, IDS)
    assert len(found) >= 5
    assert [where for where, share in found.items() if share] == []


def test_every_typed_answer_has_wrong_readings(recording_of_values):
    """Answers whose numbers come from a learner's id are all listed, or left out for a reason."""
    listed = {
        name
        for task in TASKS
        for answer in task.misread(task.draw(learner(0)))
        for name in answer.split(" and ")
    }
    assert recording_of_values - listed == set(WITHOUT_READINGS)


@pytest.fixture(scope="module")
def recording_of_values():
    """Return the names of all typed answers that the test cells of the assignments ask for."""
    names = set()

    def note(cell, event):
        if isinstance(event, Inspected):
            is_letter = event.method == "choice" and event.options["right"]
            if event.method == "value" or is_letter:
                names.add(event.name)

    for name in proofs():
        run(read(ROOT / "solutions" / name / f"{name}.ipynb"), listener=note)
    return names


class TestGate:
    TASK = next(task for task in TASKS if task.cell == "gaps")

    def test_it_accepts_what_the_notebook_accepts(self):
        answers = self.TASK.misread(self.TASK.draw("ada"))
        gate = Gate(self.TASK, "ada", answers)
        right = answers["weight"].right
        assert gate.accepts("weight", right)
        assert gate.accepts("weight", round(right, 3))
        assert gate.accepts("weight", right + 0.0009)
        assert not gate.accepts("weight", right + 0.0016)

    def test_a_reading_that_is_accepted_is_counted(self):
        def misread(drawn):
            answers = dict(self.TASK.misread(drawn))
            right = answers["weight"].right
            answers["weight"] = Asked(right, {"one digit off": right + 0.0008}, decimals=3)
            return answers

        task = type(self.TASK)(self.TASK.assignment, self.TASK.cell, self.TASK.draw, misread)
        assert shares(task, 3)["weight", "one digit off"] == 1
