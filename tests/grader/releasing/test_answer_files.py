"""Answers are read from small files and filled into a notebook."""

from __future__ import annotations

import nbformat
import pytest

from grader.course import EXERCISES
from grader.releasing.answer_files import fill, read_answers, write_class

NOTEBOOK = EXERCISES / "dot-products" / "dot-products.ipynb"


@pytest.fixture
def answers(tmp_path):
    def write(text: str, name: str = "ada"):
        folder = tmp_path / "answers"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_answers_are_read_by_cell(answers):
    path = answers(
        '"""A learner."""\n\n# %% [softmax]\ndef softmax(s):\n\n    return s  # %% [no]\n\n\n'
        "# %% [in-words]\n# Value 0.\n"
    )
    assert read_answers(path) == {
        "softmax": "def softmax(s):\n\n    return s  # %% [no]",
        "in-words": "# Value 0.",
    }


def test_a_file_without_answers(answers):
    assert read_answers(answers('"""Handed in as it was released."""\n')) == {}


def test_code_before_the_first_heading(answers):
    with pytest.raises(ValueError, match="before the first answer"):
        read_answers(answers("x = 1\n# %% [softmax]\n"))


def test_two_answers_to_a_cell(answers):
    with pytest.raises(ValueError, match="got two for softmax"):
        read_answers(answers("# %% [softmax]\nx = 1\n# %% [softmax]\nx = 2\n"))


def test_only_filled_cells_change():
    notebook, before = (nbformat.read(NOTEBOOK, as_version=4) for _ in range(2))
    fill(notebook, {"softmax": "x = 1", "in-words": "# Value 0,\n#\n# since its key fits."})
    changed = {
        cell.id: cell.source
        for cell, old in zip(notebook.cells, before.cells, strict=True)
        if cell != old
    }
    assert changed == {"softmax": "x = 1", "in-words": "Value 0,\n\nsince its key fits."}


@pytest.mark.parametrize("cell", ["softmx", "softmax-tests", "imports"])
def test_only_solution_cells_can_be_filled(cell):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.raises(ValueError, match=f"expected answers to .*softmax.*, got {cell}"):
        fill(notebook, {cell: "x = 1"})


def test_a_class_is_written_to_the_folder_that_nbgrader_reads(answers, tmp_path):
    path = answers("# %% [softmax]\nx = 'é'\n")
    answers("", "no answers")
    submitted = tmp_path / "submitted"
    assert write_class(NOTEBOOK, path.parent, submitted) == ["ada", "no answers"]
    written = submitted / "ada" / "dot-products" / "dot-products.ipynb"
    (cell,) = (c for c in nbformat.read(written, as_version=4).cells if c.id == "softmax")
    assert cell.source == "x = 'é'"
    other = submitted / "no answers" / "dot-products" / "dot-products.ipynb"
    assert other.read_bytes() == NOTEBOOK.read_bytes()
    before = written.stat().st_mtime_ns
    write_class(NOTEBOOK, path.parent, submitted)
    assert written.stat().st_mtime_ns == before
