"""The notebooks of the assignment `dot-products`."""

from __future__ import annotations

import pytest

from tests.exercises import notebook


@pytest.fixture(scope="session")
def source(root):
    """The cells of the instructor's notebook."""
    return notebook.read(root / "solutions" / "dot-products" / "dot-products.ipynb")


@pytest.fixture(scope="session")
def released(root):
    """The cells of the learners' notebook."""
    return notebook.read(root / "exercises" / "dot-products" / "dot-products.ipynb")


@pytest.fixture(scope="session")
def points(source):
    """The points of each test cell."""
    return notebook.points(source)
