"""The given cells of a notebook run in a kernel and show the pictures that its text mentions."""

from __future__ import annotations

import copy
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.utils import is_grade, is_solution

from tests.exercises.proof.notebook import read
from tests.exercises.proof.proof import proofs

DRAWS = re.compile(r"\.(?:imshow|plot|subplots|figure)\(")


def given(cells):
    """Return the code cells that are neither answers nor tests."""
    return [
        cell
        for cell in cells
        if cell.cell_type == "code" and not is_grade(cell) and not is_solution(cell)
    ]


@pytest.fixture(scope="module")
def executed(source):
    """The given cells after a run in a kernel with the right answers and without the tests."""
    cells = [copy.deepcopy(cell) for cell in source if not is_grade(cell)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    return NotebookClient(notebook, kernel_name="python3", timeout=120).execute().cells


def kinds(cell):
    return {kind for output in cell.outputs for kind in output.get("data", {})}


class TestGiven:
    def test_cells_that_draw_show_a_picture(self, executed):
        for cell in given(executed):
            assert ("image/png" in kinds(cell)) == bool(DRAWS.search(cell.source)), cell.id

    def test_nothing_is_written_to_stderr(self, executed):
        for cell in given(executed):
            assert [o.text for o in cell.outputs if o.get("name") == "stderr"] == [], cell.id


def test_some_given_cells_draw_pictures(root):
    """Otherwise the test above could pass without checking any picture."""
    drawing = {}
    for name in proofs():
        cells = read(root / "solutions" / name / f"{name}.ipynb")
        for cell in given(cells):
            if DRAWS.search(cell.source):
                drawing[name, cell.id] = cells[cells.index(cell) - 1].source
    assert ("softmax-saturation", "alive-given") in drawing
    assert all("picture" in text for text in drawing.values())
