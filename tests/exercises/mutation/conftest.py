"""What the mutants of an assignment were told and which survived, for the tests of both."""

from __future__ import annotations

import pytest

from tests.exercises.mutation.naming import try_out


@pytest.fixture(scope="session")
def tried(source, released):
    """What `try_out` returns; each mutant is run once, in whichever test asks first."""
    return try_out(source, released)
