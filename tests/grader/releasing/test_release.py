"""Releasing an assignment never destroys work, and reports what it did."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.utils import is_locked

from grader import __main__ as commands
from grader.course import EXERCISES, NbGraderFailed, assignments, graded_cells
from grader.releasing.release import WorkInTheWay, generate, release

ASSIGNMENT = "dot-products"
NOTEBOOK = EXERCISES / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


@pytest.fixture
def exercises(tmp_path):
    """An exercises folder with the released notebook and another file."""
    folder = tmp_path / ASSIGNMENT
    folder.mkdir()
    (folder / NOTEBOOK.name).write_bytes(NOTEBOOK.read_bytes())
    (folder / "notes.txt").write_text("mine")
    return tmp_path


def change(exercises, find, source: str) -> bytes:
    """Change the first cell for which `find` is true, save, and return the file's bytes."""
    path = exercises / ASSIGNMENT / NOTEBOOK.name
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if find(cell)).source = source
    nbformat.write(notebook, path)
    return path.read_bytes()


def work(cell) -> bool:
    return cell.id == "softmax"


def released(exercises) -> bytes:
    return (exercises / ASSIGNMENT / NOTEBOOK.name).read_bytes()


def test_into_an_empty_folder(tmp_path):
    assert release(ASSIGNMENT, tmp_path) == "dot-products: released"
    assert released(tmp_path) == NOTEBOOK.read_bytes()


def test_unchanged(exercises):
    assert release(ASSIGNMENT, exercises) == "dot-products: up to date"


def test_an_old_release_without_work_is_replaced(exercises):
    change(exercises, is_locked, "import numpy")
    assert release(ASSIGNMENT, exercises) == "dot-products: released again"
    assert released(exercises) == NOTEBOOK.read_bytes()
    assert (exercises / ASSIGNMENT / "notes.txt").read_text() == "mine"


def test_outputs_do_not_count_as_work(exercises):
    path = exercises / ASSIGNMENT / NOTEBOOK.name
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    nbformat.write(notebook, path)
    assert release(ASSIGNMENT, exercises) == "dot-products: released again"
    assert released(exercises) == NOTEBOOK.read_bytes()


def test_work_is_kept(exercises):
    before = change(exercises, work, "def softmax(scores): return 1")
    assert release(ASSIGNMENT, exercises) == "dot-products: kept, there is work in it"
    assert released(exercises) == before


def test_work_on_an_old_release_is_kept_and_reported(exercises):
    change(exercises, is_locked, "import numpy")
    before = change(exercises, work, "def softmax(scores): return 1")
    with pytest.raises(WorkInTheWay, match=r"found some\. Move the notebook to another"):
        release(ASSIGNMENT, exercises)
    assert released(exercises) == before


def test_force_replaces_work(exercises):
    change(exercises, work, "def softmax(scores): return 1")
    assert release(ASSIGNMENT, exercises, force=True) == "dot-products: released again"
    assert released(exercises) == NOTEBOOK.read_bytes()


def test_an_unknown_assignment_fails(tmp_path):
    with pytest.raises(NbGraderFailed, match="No notebooks were matched"):
        generate("dot-product", tmp_path)


def test_the_command_reports_what_it_did(capsys):
    assert commands.main(["release", "dot-product"]) == 1
    assert "No notebooks were matched" in capsys.readouterr().err
    assert commands.main(["release"]) == 0
    released = [*assignments(), "start"]
    assert capsys.readouterr().out.splitlines() == [f"{name}: up to date" for name in released]


def test_all_assignments_are_found(root):
    written = sorted(path.parent.name for path in root.glob("solutions/*/*.ipynb"))
    assert assignments() == written
    assert ASSIGNMENT in written
    assert graded_cells(ASSIGNMENT) == [
        "score-matrix-tests",
        "softmax-tests",
        "attention-tests",
        "shapes-tests",
        "reading-tests",
        "by-hand-tests",
        "in-words",
    ]
