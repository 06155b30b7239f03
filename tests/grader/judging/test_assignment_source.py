"""The instructor's notebook is refused before grading if its points contradict each other."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.course import ROOT
from grader.judging.assignment_source import PointsDiffer, Unusable, read_source
from tests.grader.judging.plain_notebooks import answer, notebook

ASSIGNMENTS = sorted(path.stem for path in (ROOT / "solutions").glob("*/*.ipynb"))


def notebook_with(source: str, points: float) -> bytes:
    """Return a notebook with one test cell."""
    cell = new_code_cell(
        f"check = Checks(globals())\n{source}\ncheck.finish()",
        metadata={
            "nbgrader": {
                "grade_id": "a-tests",
                "grade": True,
                "solution": False,
                "locked": True,
                "points": points,
                "schema_version": 3,
                "cell_type": "code",
                "task": False,
            }
        },
    )
    return nbformat.writes(new_notebook(cells=[cell])).encode()


@pytest.mark.parametrize(
    ("source", "points", "total"),
    [
        ('check.part("a", points=1)\ncheck.part("b", points=1)', 3, 2),
        ('check.part("a", points=1.5)\ncheck.part("b", 0.75)', 2, 2.25),
        ('with one:\n    check.part("a", points=2)', 1, 2),
        ('check.part(points=1, title="a")', 0, 1),
    ],
)
def test_points_that_are_not_the_sum_of_the_parts_are_refused(source, points, total):
    told = f"The test cell a-tests has {points:g} points, and its parts together have {total:g}."
    with pytest.raises(PointsDiffer, match=told.replace(".", r"\.")):
        read_source(notebook_with(source, points))


@pytest.mark.parametrize(
    ("source", "points"),
    [
        ('check.part("a", points=1)\ncheck.part("b", points=1)', 2),
        ('for name in "ab":\n    check.part(name, points=1)', 2),
        ('with one:\n    for name in "ab":\n        check.part(name, points=1)', 2),
        ('[check.part(name, points=1) for name in "ab"]', 2),
        ('check.part("a", points=one)', 3),
        ("assert True", 3),
    ],
)
def test_equal_points_are_taken_and_so_are_those_that_only_running_tells(source, points):
    assert read_source(notebook_with(source, points)).points == {"a-tests": points}


def without(name: str) -> bytes:
    """Return a notebook whose test cell lacks something of nbgrader's metadata."""
    notebook = nbformat.reads(notebook_with("", 1).decode(), as_version=4)
    del notebook.cells[0].metadata.nbgrader[name]
    return nbformat.writes(notebook).encode()


def in_r() -> bytes:
    kernel = {"name": "ir", "display_name": "R", "language": "R"}
    return nbformat.writes(new_notebook(metadata={"kernelspec": kernel})).encode()


UNUSABLE = {
    "another language": (in_r(), "in Python, found R."),
    "an archive": (b"PK\3\4", "found a file that is none: "),
    "other bytes": (b"\xff", "found a file that is none: "),
    "other JSON": (b"[]", "found a file that is none: "),
    "no points": (
        without("points"),
        "Cell 1 of .*, 'check = Che.*a number of points in nbgrader's",
    ),
    "no id": (without("grade_id"), "expected an id in nbgrader's metadata, found none."),
    "a slip": (
        notebook(answer("half", "def half(x):\n    return x 2")),
        "The model answer half is not Python: invalid syntax in line 3.",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_notebook_from_which_nothing_can_be_judged_is_said(name):
    file, told = UNUSABLE[name]
    with pytest.raises(Unusable, match=told):
        read_source(file)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_assignment_has_equal_points(assignment):
    read_source((ROOT / f"solutions/{assignment}/{assignment}.ipynb").read_bytes())


def test_names_are_those_of_answers_and_functions_that_are_given():
    def cell(source, **kind):
        nbgrader = {"grade": False, "solution": False, "locked": True, "task": False} | kind
        nbgrader |= {"grade_id": f"cell-{abs(hash(source))}", "schema_version": 3}
        return new_code_cell(source, metadata={"nbgrader": nbgrader})

    cells = [
        cell("%matplotlib inline\ndef after_a_magic(): pass"),
        cell("n = 3\ndef given(x):\n    def inner(): pass\n    return x"),
        cell("m = 4\ndef answer(): pass", solution=True, locked=False),
    ]
    notebook = nbformat.writes(new_notebook(cells=cells)).encode()
    assert read_source(notebook).names == {"after_a_magic", "given", "m", "answer"}
