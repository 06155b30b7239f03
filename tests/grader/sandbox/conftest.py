"""The sandboxes of these tests, each with one warm process for the whole test session."""

from __future__ import annotations

import pytest

from grader.sandbox.inside.limits import NONE
from grader.sandbox.sandbox import Sandbox
from tests.grader.sandbox.probes import LIMITS, need_bubblewrap


@pytest.fixture(scope="session")
def sandbox():
    need_bubblewrap()
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def unprotected():
    with Sandbox(LIMITS, NONE) as sandbox:
        yield sandbox


@pytest.fixture
def session(sandbox):
    with sandbox.session() as session:
        yield session


@pytest.fixture(params=["bubblewrap", "none"])
def either(request):
    name = "sandbox" if request.param == "bubblewrap" else "unprotected"
    with request.getfixturevalue(name).session() as session:
        yield session
