"""Fixtures for one assignment: its proof, its notebooks and its checks."""

from __future__ import annotations

import pytest

from tests.exercises.proof import notebook
from tests.exercises.proof.drawn_once import numbers_drawn_once
from tests.exercises.proof.proof import proofs
from tests.exercises.proof.recording import record


@pytest.fixture(scope="session", params=sorted(proofs()))
def proof(request):
    """The proof of each assignment in turn."""
    return proofs()[request.param]


@pytest.fixture(scope="session")
def source(root, proof):
    """The cells of the instructor's notebook."""
    return notebook.read(root / "solutions" / proof.assignment / f"{proof.assignment}.ipynb")


@pytest.fixture(scope="session")
def released(root, proof):
    """The cells of the learners' notebook."""
    return notebook.read(root / "exercises" / proof.assignment / f"{proof.assignment}.ipynb")


@pytest.fixture(scope="session")
def points(source):
    """The points of each test cell."""
    return notebook.points(source)


@pytest.fixture(scope="session")
def recording(source):
    """The checks that run if every answer is right."""
    return record(source)


@pytest.fixture(scope="module", autouse=True)
def _numbers_drawn_once():
    """Many tests run a notebook for the same learners; drawing takes a quarter of their time."""
    with numbers_drawn_once():
        yield
