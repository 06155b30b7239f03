"""Draws the numbers of each learner once for all tests of a file."""

from __future__ import annotations

import pytest

from tests.exercises.proof.drawn_once import numbers_drawn_once


@pytest.fixture(scope="module", autouse=True)
def _numbers_drawn_once(request):
    """Each test of a draw asks for the same hundred learners, and drawing takes longest."""
    with numbers_drawn_once(request.module):
        yield
