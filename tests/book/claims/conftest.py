"""The page that a test module names in PAGE: what is built of it, and what its cells define."""

import re

import pytest
from bs4 import BeautifulSoup

from tests.book.claims.reading import write_formulas


@pytest.fixture(scope="module")
def article(request, built_book):
    """The main part of the page."""
    html = (built_book / "book" / f"{request.module.PAGE}.html").read_text(encoding="utf-8")
    main = BeautifulSoup(html, "html.parser").find("article")
    for link in main.select("a.headerlink"):
        link.decompose()
    write_formulas(main)
    return main


@pytest.fixture(scope="module")
def text(article):
    """The text of the page in one line, without scripts."""
    return " ".join(article.get_text().split())


@pytest.fixture(scope="module")
def tables(article):
    """The rows of all tables, by their header; tables with equal headers are concatenated."""
    found = {}
    for table in article.find_all("table"):
        head, *rows = (
            # The page has typographic apostrophes.
            tuple(
                " ".join(cell.get_text().replace("’", "'").split())
                for cell in row.find_all(["th", "td"])
            )
            for row in table.find_all("tr")
        )
        found.setdefault(head, []).extend(rows)
    return found


@pytest.fixture(scope="module")
def page(request, root):
    """The names that the page's cells define, and its glued numbers under "glued"."""
    name = request.module.PAGE
    source = (root / "book" / f"{name}.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\} ipython3\n(.*?)^```", source, re.DOTALL | re.MULTILINE)
    code = "\n".join(re.sub(r"^:tags:.*\n", "", cell) for cell in cells)
    code = code.replace("from myst_nb import glue\n", "")
    glued = {}
    names = {"glue": lambda name, value, display: glued.update({name: value}), "glued": glued}
    exec(compile(code, name, "exec"), names)
    return names
