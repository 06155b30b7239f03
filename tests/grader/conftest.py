"""Fixtures for several of the grader's tests."""

from __future__ import annotations

import json

import nbformat
import pytest

from grader.course import EXERCISES
from grader.releasing.answer_files import fill, read_answers


@pytest.fixture(scope="session")
def handed_in(root):
    """A submission to `dot-products` with right answers, as JSON. Tests must not change it."""
    notebook = nbformat.read(EXERCISES / "dot-products" / "dot-products.ipynb", as_version=4)
    fill(notebook, read_answers(root / "tests/sample_class/answers/full-marks-loops.py"))
    return json.loads(nbformat.writes(notebook))
