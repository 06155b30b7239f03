"""A class with a salt is judged by numbers that only the salt gives, and the salt stays outside."""

from __future__ import annotations

import nbformat
import pytest

from attn_lib.course.personal.core import is_salted, salted
from attn_lib.course.personal.masking import empty_row, reading
from grader.course import SOLUTIONS
from grader.judging.judge import judge_submission
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox

LIMITS = Limits()
SALT = "kept in the instructor's configuration"
SOURCE = SOLUTIONS / "masking" / "masking.ipynb"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


@pytest.fixture
def judged(sandbox):
    """A function that judges the model answers to `masking`, with other code in some cells."""

    def verdict(changes, salt):
        notebook = nbformat.read(SOURCE, as_version=4)
        for cell in notebook.cells:
            cell.source = changes.get(
                cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source
            )
        return judge_submission(
            SOURCE.read_bytes(),
            nbformat.writes(notebook).encode(),
            assignment="masking",
            student="ada",
            limits=LIMITS,
            sandbox=sandbox,
            salt=salt,
        )

    return verdict


def printed(verdict, cell_id):
    notebook = nbformat.reads(verdict.notebook, as_version=4)
    (cell,) = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == cell_id
    ]
    return "".join(output.get("text", "") for output in cell.outputs)


def test_model_answers_have_their_points_with_other_numbers(judged):
    plain, with_salt = judged({}, ""), judged({}, SALT)
    assert with_salt.scores == plain.scores
    assert sum(with_salt.scores.values()) == 18
    assert with_salt.remarks == ()
    with salted(SALT):
        numbers = empty_row("ada")
    assert str(numbers) in printed(with_salt, "empty-row-given")
    assert str(empty_row("ada")) in printed(plain, "empty-row-given")
    assert not is_salted()


def test_numbers_drawn_without_the_salt_are_wrong(judged):
    drawn = reading("ada")
    with salted(SALT):
        assert reading("ada").kind != drawn.kind
    visible = drawn.mask.sum(axis=1).tolist()
    answer = f"visible = {visible}\nkind = {drawn.kind!r}\nnumber = {drawn.number}"
    assert judged({"reading": answer}, "").scores["reading-tests"] == 2
    assert judged({"reading": answer}, SALT).scores["reading-tests"] == 0


LOOKS = """
import gc
import os
import sys
from attn_lib.course.personal import core, masking
texts = [part for part in gc.get_objects() if isinstance(part, (dict, list, tuple))]
print([core._salt, "kept in the " "instructor's" in repr([*os.environ.items(), sys.argv])])
print(any("kept in the " "instructor's" in str(part) for text in texts for part in text))
print(masking.reading(learner_id).kind)
"""


def test_the_salt_stays_outside_the_sandbox(judged):
    verdict = judged({"reading": LOOKS}, SALT)
    assert printed(verdict, "reading").split("\n")[:3] == [
        "['', False]",
        "False",
        reading("ada").kind,
    ]
    assert SALT.encode() not in verdict.to_bytes()
