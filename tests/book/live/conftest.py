"""A page with live figures, opened once for the tests of a module."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def live_page(request, tabs, built_book):
    """The page that the module names in `PAGE`, when its live figures have started.

    Only what is reached, and what covers it, is left of the rest.
    """
    watched = tabs.open()
    watched.open((built_book / "book" / f"{request.module.PAGE}.html").as_uri())
    watched.start_figures()
    with watched.emptied(keep="figure.attn-live"):
        yield watched.page
    assert watched.problems == []
    tabs.close(watched)
