"""The notebook of another assignment is recognised, and no notebook of this one is taken for it."""

from __future__ import annotations

import itertools
import json

import nbformat
import pytest

from grader.course import EXERCISES, assignments, cell_ids, read_solution_notebook
from grader.judging.assignment_source import read_source
from grader.submission import Unreadable, repair

PAIRS = list(itertools.permutations(assignments(), 2))


def released(assignment: str) -> dict:
    return json.loads((EXERCISES / assignment / f"{assignment}.ipynb").read_bytes())


def found_in(notebook: dict, wanted: str) -> str:
    """Return the reason why a notebook is not read as the wanted assignment's, or ""."""
    stub = read_source(read_solution_notebook(wanted)).stub
    try:
        repair(json.dumps(notebook).encode(), stub, cell_ids)
    except Unreadable as reason:
        return str(reason)
    return ""


def test_each_assignment_is_told_from_each_other_one():
    assert len(PAIRS) == 56
    for other, wanted in PAIRS:
        reason = found_in(released(other), wanted)
        assert reason.startswith(
            f"expected this assignment's notebook, found that of {other}: it has "
        ), (other, wanted)


def test_it_is_told_without_the_metadata_of_nbgrader():
    notebook = released("masking")
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    assert "found that of masking" in found_in(notebook, "quiz")
    assert found_in(notebook, "masking") == ""


@pytest.mark.parametrize("kept", ["why", "why-tests"])
def test_one_cell_of_this_assignment_is_enough(kept):
    """Who copies cells from an older notebook still handed in this one."""
    notebook = released("masking")
    notebook["cells"] += [cell for cell in released("quiz")["cells"] if cell["id"] == kept]
    assert found_in(notebook, "quiz") == ""


def test_a_few_cells_of_another_assignment_do_not_make_it_that_one():
    notebook = released("masking")
    only = {"padded", "padded-tests"}
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] in only]
    assert found_in(notebook, "quiz") == ""
    assert found_in(released("quiz"), "quiz") == ""


def test_other_assignments_are_read_only_if_there_are_other_cells():
    """Reading them costs more than repairing a notebook."""

    def course():
        raise AssertionError("the course was read")

    stub = read_source(read_solution_notebook("quiz")).stub
    assert repair(json.dumps(released("quiz")).encode(), stub, course).missing == []
    with pytest.raises(AssertionError, match="the course was read"):
        repair(json.dumps(released("masking")).encode(), stub, course)


def test_ids_are_those_of_all_notebooks_of_an_assignment(tmp_path):
    for place, ids in {"one/a": ["x", "y"], "one/b": ["z"], "two/c": ["x"]}.items():
        cells = [
            nbformat.v4.new_code_cell(metadata={"nbgrader": {"grade_id": name}}) for name in ids
        ]
        path = tmp_path / f"{place}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_code_cell()]), path)
    assert cell_ids(tmp_path) == {"one": {"x", "y", "z"}, "two": {"x"}}
