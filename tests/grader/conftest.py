"""What several files of these tests begin with."""

from __future__ import annotations

import json

import nbformat
import pytest

from grader.course import EXERCISES
from grader.releasing.answer_files import fill, read_answers


@pytest.fixture(scope="session")
def handed_in(root):
    """A notebook of `dot-products` with all answers right, as JSON. It is not to be changed."""
    notebook = nbformat.read(EXERCISES / "dot-products" / "dot-products.ipynb", as_version=4)
    fill(notebook, read_answers(root / "tests/sample_class/answers/full-marks-loops.py"))
    return json.loads(nbformat.writes(notebook))
