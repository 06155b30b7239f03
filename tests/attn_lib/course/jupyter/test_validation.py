"""What nbgrader's validator says about a notebook that passes."""

from __future__ import annotations

import io

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.apps import validateapp
from nbgrader.server_extensions.validate_assignment import handlers
from nbgrader.validator import Validator

from attn_lib.course.jupyter.looked_at import MIME
from attn_lib.course.jupyter.validation import say_points, seen_in

TEXT = (
    "The tests that can run here pass. They looked at 5 of 10 points. Of 2 more they see only that "
    "answers are filled in. 3 points are for answers in words, which a person reads. More tests "
    "run when your work is graded."
)


def graded(cell, cell_id: str, points: float, *, solution: bool = False):
    cell.metadata.nbgrader = {
        "grade": True,
        "solution": solution,
        "locked": not solution,
        "task": False,
        "grade_id": cell_id,
        "points": points,
        "schema_version": 3,
    }
    return cell


def cell_of_tests(cell_id: str, points: float, *outputs):
    return graded(new_code_cell("check.finish()", outputs=[*outputs]), cell_id, points)


def told(looked_at: float, filled_in: float):
    return new_output("display_data", {MIME: {"looked_at": looked_at, "filled_in": filled_in}})


PLAIN = cell_of_tests("plain-tests", 1)  # a test cell without Checks
OURS = [cell_of_tests("a-tests", 4, told(4, 0)), cell_of_tests("b-tests", 2, told(0, 2)), PLAIN]
IN_WORDS = graded(new_markdown_cell("Because."), "words", 3, solution=True)


@pytest.fixture
def validated(tmp_path, monkeypatch):
    """A function that validates a notebook that has been executed, and returns what is said."""
    monkeypatch.setattr(Validator, "_preprocess", lambda self, notebook: notebook)
    monkeypatch.setattr(validateapp, "Validator", Validator)
    monkeypatch.setattr(handlers, "Validator", Validator)
    say_points()

    def validate(*cells) -> tuple[str, dict]:
        nbformat.write(new_notebook(cells=[*cells]), tmp_path / "work.ipynb")
        validator = validateapp.Validator()
        validator.stream = io.StringIO()
        validator.validate_and_print(str(tmp_path / "work.ipynb"))
        dialog = handlers.Validator().validate(str(tmp_path / "work.ipynb"))
        return " ".join(validator.stream.getvalue().split()), dialog

    return validate


def test_points_that_were_not_looked_at_are_named(validated):
    said, dialog = validated(*OURS, IN_WORDS)
    assert said == TEXT
    (shown,) = dialog["failed"]
    assert shown["raw_error"] == TEXT
    assert shown["error"].endswith(f"</style>{TEXT}")
    assert shown["source"] == ""


def test_a_notebook_without_such_points_keeps_the_sentence_of_nbgrader(validated):
    assert validated(PLAIN) == ("Success! Your notebook passes all the tests.", {})


def test_a_failure_is_told_as_ever(validated):
    error = new_output("error", ename="E", evalue="", traceback=["E: it is wrong"])
    said, dialog = validated(*OURS, cell_of_tests("c-tests", 1, error))
    assert said.startswith("VALIDATION FAILED ON 1 CELL(S)!")
    assert [cell["raw_error"] for cell in dialog["failed"]] == ["E: it is wrong"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([PLAIN, IN_WORDS], "They looked at 1 of 4 points. 3 points are for answers in words"),
        (OURS[:1], "They looked at 4 of 4 points. More tests run when your work is graded."),
        (
            [graded(new_markdown_cell("Because."), "words", 1, solution=True)],
            "They looked at 0 of 1 points. 1 point is for answers in words",
        ),
    ],
)
def test_the_sentence_names_what_there_is(cells, expected):
    assert expected in seen_in(new_notebook(cells=cells)).text
