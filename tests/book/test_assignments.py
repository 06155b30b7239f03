"""What the pages say about the exercises matches the exercises' notebooks."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from book._ext.assignments import (
    OverviewError,
    compare,
    describe,
    overview,
    path_of,
    read_overview,
)

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = [
    "dot-products",
    "variance-growth",
    "softmax-saturation",
    "masking",
    "complexity",
    "putting-it-together",
    "from-text-to-next-word",
]
ASSIGNMENTS = [*CHAPTERS, "quiz"]

TABLE = """# Sums

| task | minutes | points |
| --- | --- | --- |
| 1. Add | 5 | 2 |
| 2. Mean: by hand | 15 | 3 |
| together | 20 | 5 |
"""


@pytest.fixture(scope="module")
def main_of(built_book):
    """A function that returns the main part of a page by its name."""

    def read(page):
        html = (built_book / "book" / f"{page}.html").read_text(encoding="utf-8")
        return BeautifulSoup(html, "html.parser").find("main")

    return read


def rows(table):
    return [
        [" ".join(cell.get_text().split()) for cell in row.find_all(["th", "td"])]
        for row in table.find_all("tr")
    ]


def test_a_table_is_read():
    found = overview("sums", TABLE)
    assert found.title == "Sums"
    assert [(task.name, task.minutes, task.points) for task in found.tasks] == [
        ("1. Add", 5, 2),
        ("2. Mean: by hand", 15, 3),
    ]
    assert (found.minutes, found.points) == (20, 5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# Sums", "Sums", "expected a title and a table"),
        ("| task | minutes | points |", "| task | points |", "expected a title and a table"),
        ("| together | 20 | 5 |", "", "expected the sums 5 and 2 in the last row, got 15 and 3"),
        (TABLE.partition("| 1")[2], "", "expected a title and a table"),
        ("| 15 | 3 |", "| long | 3 |", "expected whole minutes and points"),
        ("| 15 | 3 |", "| 15 |", "expected whole minutes and points"),
        ("| 20 | 5 |", "| 20 | 6 |", "expected the sums 20 and 5 in the last row, got 20 and 6"),
    ],
)
def test_an_invalid_table_is_reported(old, new, message):
    assert old in TABLE
    with pytest.raises(OverviewError, match=f"^sums: {message}"):
        overview("sums", TABLE.replace(old, new))


def test_a_table_may_be_in_any_language():
    words = {"task": "Aufgabe", "minutes": "Minuten", "points": "Punkte", "together": "zusammen"}
    translated = TABLE
    for english, german in words.items():
        translated = translated.replace(english, german)
    found = overview("summen", translated)
    assert (found.tasks, found.minutes) == (overview("sums", TABLE).tasks, 20)
    assert "| Aufgabe | Minuten | Punkte |" in describe(found)


def test_a_missing_notebook_is_reported(tmp_path):
    with pytest.raises(OverviewError, match=r"expected the notebook sums\.ipynb, found none"):
        read_overview(path_of(tmp_path, "sums"))


def test_the_text_about_one_assignment():
    text = "\n".join(describe(overview("sums", TABLE)))
    assert "has 2 tasks. They take about 20 minutes together and give 5 points." in text
    assert "choose `sums`, then `sums.ipynb`" in text
    assert "| 2. Mean: by hand | 15 | 3 |" in text


def test_the_table_of_several_assignments_links_to_chapters():
    sums, more = overview("sums", TABLE), overview("more", TABLE)
    assert compare([sums, more], {"sums"})[2:] == [
        "| [sums](sums.md#exercise-sums) | 2 | 20 | 5 |",
        "| more | 2 | 20 | 5 |",
        "| **together** | 4 | 40 | 10 |",
    ]


def test_examples():
    results = doctest.testmod(importlib.import_module("book._ext.assignments"))
    assert results.attempted
    assert not results.failed


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_exercise_begins_with_its_tasks(name):
    found = read_overview(path_of(ROOT, name))
    assert len(found.tasks) >= 5
    assert all(5 <= task.minutes <= 15 for task in found.tasks)
    assert len({task.name for task in found.tasks}) == len(found.tasks)


def test_all_assignments_are_listed_here():
    folders = {path.parent.name for path in (ROOT / "exercises").glob("*/*.ipynb")}
    assert folders == set(ASSIGNMENTS)


@pytest.mark.parametrize(
    ("page", "section", "name"),
    [*((chapter, "exercise", chapter) for chapter in CHAPTERS), ("how-to-use", "the-quiz", "quiz")],
)
def test_a_page_lists_the_tasks_of_its_exercise(main_of, page, section, name):
    found = read_overview(path_of(ROOT, name))
    part = main_of(page).find("section", id=section)
    text = " ".join(part.get_text().split())
    assert (
        f"The exercise {name} has {len(found.tasks)} tasks. They take about {found.minutes} "
        f"minutes together and give {found.points} points."
    ) in text
    assert f"On a computer, open JupyterLab (how) and choose {name}, then {name}.ipynb." in text
    (way,) = part.find_all("a", string="how")
    assert way["href"].endswith("#open-the-exercises")
    assert rows(part.find("table"))[1:] == [
        [task.name, str(task.minutes), str(task.points)] for task in found.tasks
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_exercise_comes_before_the_summary(chapter):
    source = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", source, re.MULTILINE)
    assert headings[-2:] == ["Exercise", "Summary"]


@pytest.mark.parametrize("page", ["how-to-use", "instructor-guide"])
def test_a_page_lists_all_assignments(main_of, page):
    found = [read_overview(path_of(ROOT, name)) for name in ASSIGNMENTS]
    table = rows(main_of(page).find("table"))
    assert table[0] == ["exercise", "tasks", "minutes", "points"]
    assert table[1:-1] == [
        [one.name, str(len(one.tasks)), str(one.minutes), str(one.points)] for one in found
    ]
    assert table[-1][1:] == [
        str(sum(len(one.tasks) for one in found)),
        str(sum(one.minutes for one in found)),
        str(sum(one.points for one in found)),
    ]
