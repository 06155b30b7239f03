"""Recipes of the instructors' guide that change the book: a chapter dropped, another language."""

from __future__ import annotations

import re

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup

PAGES = {
    "index": """# Das Buch

Mehr in [der Maskierung](masking.md#before-the-softmax), in [Kosten](complexity.md#count),
[](complexity.md), <project:complexity.md#count>, [noch mehr][more] und im
[Museum](museum-complexity.md).

[more]: complexity.md#count

:::{assignments} masking complexity
:::
""",
    "masking": """# Maskierung

## Vor dem Softmax

Wie in [Kosten](complexity.md "Kosten").

(before-the-softmax)=
## Übung

:::{assignment} masking
:::
""",
    "how-to-use": "# Anleitung\n\n(open-the-exercises)=\n## Öffnen",
    "complexity": "# Kosten\n\n## Count\n\nSiehe [Masken](masking.md).",
    "museum-complexity": "# Museum\n\n[Kosten](complexity.md#nowhere)",
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
    for name in ("masking", "complexity"):
        path = source / "exercises" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        cells = [nbformat.v4.new_markdown_cell(TABLE)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    chapters = [{"file": "book/masking"}, {"file": "book/how-to-use"}]
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
    drop("book/complexity", "book/museum-complexity")
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
        "masking",
        "how-to-use",
    }
    assert not [*pages.rglob("*complexity*")]
    for name in ("index", "masking"):
        addresses = [link["href"] for link in body(pages, name).find_all("a", href=True)]
        assert not [address for address in addresses if "complexity" in address]
    text = " ".join(body(pages, "index").get_text().split())
    assert "in Kosten, complexity, complexity, noch mehr und im Museum." in text
    assert "Wie in Kosten." in " ".join(body(pages, "masking").get_text().split())


def test_a_translated_heading_keeps_the_address_that_others_name(pages):
    link = body(pages, "index").find("a", string="der Maskierung")
    assert link["href"] == "masking.html#before-the-softmax"
    assert body(pages, "masking").find(id="before-the-softmax")
    link = body(pages, "index").find("a", string="masking")
    assert link["href"] == "masking.html#exercise-masking"
    assert body(pages, "masking").find(id="exercise-masking")


def test_the_table_of_tasks_is_read_in_any_language(pages):
    text = " ".join(body(pages, "masking").get_text(" ").split())
    assert "Aufgabe Minuten Punkte 1. Kausal 10 2" in text
    assert "They take about 25 minutes together and give 5 points." in text
