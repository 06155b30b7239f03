"""The text of a built page, for tests that compare it with what they compute themselves."""

import pytest
from bs4 import BeautifulSoup


@pytest.fixture(scope="module")
def page_of(built_book):
    """A function of a page's name that gives its main part, without code and scripts."""

    def read(name):
        html = (built_book / "book" / f"{name}.html").read_text(encoding="utf-8")
        main = BeautifulSoup(html, "html.parser").find("article")
        for part in main.select("script, style, a.headerlink"):
            part.decompose()
        return main

    return read


@pytest.fixture(scope="module")
def text_of(page_of):
    """A function of a page's name that gives its text on one line."""
    return lambda name: " ".join(page_of(name).get_text().split())
