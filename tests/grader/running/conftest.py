"""Fixtures for tests that grade a class with a fake judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import SOLUTIONS, configuration
from grader.gradebook.writing import GradebookWriter
from tests.grader.running.classroom import ASSIGNMENT, NOTEBOOK, Class


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory) -> Path:
    """A gradebook with the assignment and without submissions."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    source = (SOLUTIONS / ASSIGNMENT / NOTEBOOK).read_bytes()
    with GradebookWriter(f"sqlite:///{path}", ASSIGNMENT, source, configuration()):
        return path


@pytest.fixture
def room(tmp_path, empty_gradebook) -> Class:
    return Class(tmp_path / "class", empty_gradebook)
