"""For any answer, a test cell reports a finding and does not fail with an error."""

from __future__ import annotations

import gc
import re
import weakref

import numpy as np
import pytest

from attn_lib.course.checks import Checks
from attn_lib.course.checks.drawings import Curve, Drawing
from attn_lib.course.checks.observation import Observation, StandIn
from grader.course import SOLUTIONS, assignments
from grader.judging.assignment_source import read_source
from grader.judging.course_tests import execute, grading
from grader.judging.handing_out import LEARNER_ID
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import Opaque
from tests.exercises.proof.drawn_once import numbers_drawn_once

CURVE = Curve("", np.zeros((2, 0)), np.array(1j))
#: Curves that no axes of matplotlib's would hold, under every label that a test asks for.
SHAPES = {
    "points that are no row": (np.array(1.0), np.array(2.0)),
    "rows that are no row": (np.ones((2, 3)), np.ones((2, 3))),
    "truth for numbers": (np.ones(3, bool), np.ones(3, bool)),
    "more y than x": (np.ones(1), np.ones(4)),
}
LABELS = sorted(
    {
        label
        for name in assignments()
        for label in re.findall(
            r"label=\\?[\"']([^\"'\\]+)", (SOLUTIONS / name / f"{name}.ipynb").read_text("utf-8")
        )
    }
)

#: Values that can come over the wire, even from a hostile process.
ODD = {
    "None": None,
    "an ellipsis": ...,
    "no text": "",
    "half a character": "\ud800",
    "a long text": "Likely cause: \x1b[2J " * 10_000,
    "NaN": float("nan"),
    "a long number": 2**2000,
    "a complex number": 1j,
    "an empty list": [],
    "lists of no shape": [[1.0], [2.0, 3.0], "x"],
    "a dict": {"shape": (1,)},
    "an empty array": np.zeros((0, 3)),
    "an array of many axes": np.zeros((1,) * 30),
    "an array of eighty bits": np.frombuffer(bytes(8) + b"\xff\x7f" + bytes(6), np.longdouble),
    "a complex array": np.full(3, 1j),
    "an object": Opaque("ndarray"),
    "an odd drawing": Drawing("", "", "symlog", "", (CURVE, CURVE), (np.array("x"),)),
    "an empty drawing": Drawing("x", "y", "log", "log", (), ()),
    "a drawing with odd limits": Drawing(
        "x", "y", "log", "", (CURVE,), (), (float("nan"), -1.0, 2.0), (0.0, float("inf")) * 2, "z"
    ),
    **{
        f"a drawing with {name}": Drawing(
            "x", "y", "log", "log", tuple(Curve(label, *points) for label in ["", *LABELS]), ()
        )
        for name, points in SHAPES.items()
    },
}


class Gives(StandIn):
    """A function that ignores its arguments and returns the given results in turn."""

    def __init__(self, *results: object) -> None:
        self.results = list(results)

    def call(self, args, *, own_work=True) -> Observation:
        self.results.append(self.results.pop(0))
        return Observation(self.results[-1])


@pytest.fixture(scope="module", autouse=True)
def _numbers_drawn_once():
    with numbers_drawn_once():
        yield


@pytest.fixture(autouse=True)
def graded():
    """Let the checks give marks."""
    with grading(seed=1):
        yield


@pytest.mark.parametrize("assignment", assignments())
def test_values_are_freed_after_a_test_cell(assignment):
    """They are freed at once, without waiting for the garbage collector."""
    source = read_source((SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes())
    gc.collect()
    gc.disable()
    try:
        for cell in filter(source.is_test, source.stub.cells):
            answers = {name: np.ones(7) for name in source.names} | {LEARNER_ID: "ada"}
            seen = [weakref.ref(value) for value in answers.values() if not isinstance(value, str)]
            execute(cell, answers, 1, Limits())
            answers.clear()
            assert [value() for value in seen] == [None] * len(seen)
    finally:
        gc.enable()


def test_a_condition_is_not_applied_to_values_of_another_form():
    asked = []
    check = Checks({"rows": np.zeros((5, 0)), "other": 1.0})
    check.part("rows", points=1)
    check.form("rows", (4,))
    check.holds("rows", asked.append, "each row occurs once.")
    check.holds("other", lambda other: other < 0, "it is negative.")
    check.part("rows again, of any form", points=1)
    check.holds("rows", lambda rows: rows.shape == (5, 0), "there are five.")
    assert asked == []
    first, second = check.parts
    assert [result.message for result in first.findings] == [
        "expected shape (4,), got (5, 0).",
        "it is negative.",
    ]
    assert second.passed


def test_messages_name_the_type_of_unsupported_objects():
    opaque = Opaque("generator")
    check = Checks({"value": opaque, "function": Gives(opaque), "itself": Gives()})
    check.part("all of them", points=1)
    check.value("value", expected=[1.0, 2.0])
    check.call("value", 1.0, target="score_sd")
    check.call("function", 1.0, expected=3.0)
    check.drawing("function", labelled=True)
    check.value("itself", expected=3.0)
    (part,) = check.parts
    told = [result.message.partition(" Is")[0].partition(" To")[0] for result in part.findings]
    assert told == [
        "expected 2 numbers, got generator.",
        "expected a function, got generator.",
        "expected a number, got generator.",
        "expected the Axes that it drew into, got generator.",
        "expected a number, got a function.",
    ]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # comparing NaN may warn
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("assignment", assignments())
def test_odd_values_earn_no_full_marks_and_raise_no_error(assignment, name):
    source = read_source((SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes())
    odd = ODD[name]
    functions = Gives(odd, 1.0), Gives(1.0, 2.0, odd)  # a check of an estimate calls it three times
    for answer, learner_id in ((odd, odd), *((function, "ada") for function in functions)):
        answers = dict.fromkeys(source.names, answer) | {LEARNER_ID: learner_id}
        for cell in filter(source.is_test, source.stub.cells):
            (output,) = execute(cell, answers, 1, Limits())[-1:]
            if output.output_type == "error":
                assert len(output.evalue) < 60_000
            else:  # an empty drawing may earn the points for labels
                mark = float(output.data["text/plain"])
                assert 0 < mark < cell.metadata.nbgrader.points, cell.metadata.nbgrader.grade_id
