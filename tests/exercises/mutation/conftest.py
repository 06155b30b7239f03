"""A fixture that runs the mutants of an assignment once for all tests of mutants."""

from __future__ import annotations

import pytest

from tests.exercises.mutation.naming import try_out


@pytest.fixture(scope="session")
def tried(source, released):
    """The result of `try_out`, which runs each mutant once, in the first test that needs it."""
    return try_out(source, released)
