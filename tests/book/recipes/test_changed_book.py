"""Recipes of the instructors' guide that change the book: a chapter dropped, another language."""

from __future__ import annotations

import re

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup

PAGES = {
    "index": """# Das Buch

Mehr in [der Maskierung](sums.md#before-the-softmax), in [Kosten](costs.md#count),
[](costs.md), <project:costs.md#count>, [noch mehr][more] und im
[Museum](museum-costs.md). Kosten: {reading-time}`costs`.

[more]: costs.md#count

:::{assignments} sums costs
:::
""",
    "sums": """# Maskierung

## Erst maskieren

Wie in [Kosten](costs.md "Kosten").

(before-the-softmax)=
## Übung

:::{assignment} sums
:::
""",
    "how-to-use": "# Anleitung\n\n(open-the-exercises)=\n## Öffnen",
    "costs": "# Kosten\n\n## Count\n\nSiehe [Masken](sums.md).",
    "museum-costs": "# Museum\n\n[Kosten](costs.md#nowhere)",
}
TABLE = """# Masken

| Aufgabe | Minuten | Punkte |
| --- | --- | --- |
| 1. Kausal | 10 | 2 |
| 2. Gepolstert | 15 | 3 |
| zusammen | 25 | 5 |
"""


@pytest.fixture(scope="module")
def source(tiny_book):
    """A book in another language, of which two pages are dropped as the guide says."""
    source = tiny_book("good-quiz")
    for name, text in PAGES.items():
        (source / "book" / f"{name}.md").write_text(text, encoding="utf-8")
    for name in ("sums", "costs"):
        path = source / "exercises" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        cells = [nbformat.v4.new_markdown_cell(TABLE)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    chapters = [{"file": "book/sums"}, {"file": "book/how-to-use"}]
    toc = {"format": "jb-book", "root": "book/index", "chapters": chapters}
    (source / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    return source


@pytest.fixture(scope="module")
def drop(source):
    def names(*pages: str) -> None:
        path = source / "_config.yml"
        text = re.sub(
            "dropped_pages: .*",
            f"dropped_pages: [{', '.join(pages)}]",
            path.read_text(encoding="utf-8"),
        )
        path.write_text(text, encoding="utf-8")

    return names


@pytest.fixture(scope="module")
def pages(source, drop, jupyter_book, tmp_path_factory):
    drop("book/costs", "book/museum-costs")
    build = jupyter_book(source, tmp_path_factory.mktemp("built"))
    assert build.status == 0, build.tail()
    assert "WARNING" not in build.output
    return build.html


def body(pages, name: str) -> BeautifulSoup:
    html = (pages / "book" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser").find("main")


def test_links_to_a_dropped_chapter_are_text(pages):
    assert {path.stem for path in (pages / "book").glob("*.html")} == {
        "index",
        "sums",
        "how-to-use",
    }
    assert not [path for path in pages.rglob("*costs*") if "_static" not in path.parts]
    for name in ("index", "sums"):
        addresses = [link["href"] for link in body(pages, name).find_all("a", href=True)]
        assert not [address for address in addresses if "costs" in address]
    text = " ".join(body(pages, "index").get_text().split())
    assert "in Kosten, costs, costs, noch mehr und im Museum. Kosten: left out here." in text
    assert "Wie in Kosten." in " ".join(body(pages, "sums").get_text().split())


def test_a_translated_heading_keeps_the_address_that_others_name(pages):
    link = body(pages, "index").find("a", string="der Maskierung")
    assert link["href"] == "sums.html#before-the-softmax"
    assert body(pages, "sums").find(id="before-the-softmax")
    link = body(pages, "index").find("a", string="sums")
    assert link["href"] == "sums.html#exercise-sums"
    assert body(pages, "sums").find(id="exercise-sums")


def test_the_table_of_tasks_is_read_in_any_language(pages):
    text = " ".join(body(pages, "sums").get_text(" ").split())
    assert "Aufgabe Minuten Punkte 1. Kausal 10 2" in text
    assert "They take about 25 minutes together and give 5 points." in text
