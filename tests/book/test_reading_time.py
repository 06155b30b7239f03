"""Each chapter states its reading time and the number of words and cells."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes

from book._ext.reading_time import WORD, count, minutes, statement
from tests.book.test_assignments import CHAPTERS

STATED = re.compile(r"About (\d+) minutes to read: ([\d\u00a0]+) words and (\d+) cells?\.")
TIMED = ["orientation", *CHAPTERS]


def test_words_and_cells_are_counted():
    page = nodes.section("", nodes.title("", "Two words"))
    page += nodes.paragraph("", "", nodes.Text("Don't count "), nodes.math("", "x + y"))
    page += nodes.literal_block("", "code = is_not(prose)")
    page += nodes.math_block("", "a b c")
    page += nodes.comment("", "left out")
    page += nodes.container("", nodes.paragraph("", "output of a cell"), nb_element="cell_code")
    page += nodes.container("", nodes.paragraph("", "inside a box"))
    # The words: Two, words, don't, count, the formula; inside, a, box.
    assert count(page) == (8, 1)


@pytest.mark.parametrize(
    ("words", "cells", "expected"),
    [(1, 0, 5), (1000, 0, 5), (1001, 0, 10), (1000, 1, 10), (0, 20, 10)],
)
def test_minutes_are_rounded_up_to_five(words, cells, expected):
    assert minutes(words, cells) == expected


def test_the_statement_on_the_page():
    assert statement(1234, 1) == "About 10 minutes to read: 1\u00a0234 words and 1 cell."


def test_examples():
    results = doctest.testmod(importlib.import_module("book._ext.reading_time"))
    assert results.attempted
    assert not results.failed


def test_all_chapters_are_timed(root):
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    pages = config["sphinx"]["config"]["reading_time_pages"]
    assert pages == [f"book/{name}" for name in TIMED]


@pytest.mark.parametrize("page", TIMED)
def test_the_time_is_below_the_title_and_matches_the_page(built_book, page):
    html = (built_book / "book" / f"{page}.html").read_text(encoding="utf-8")
    main = BeautifulSoup(html, "html.parser").find("article")
    line = main.find("h1").find_next_sibling()
    time, words, cells = STATED.fullmatch(line.get_text()).groups()
    stated_words, stated_cells = int(words.replace("\u00a0", "")), int(cells)
    assert int(time) == minutes(stated_words, stated_cells)

    # The visible page: cells are counted, but not the words in them. Citations, references to
    # other sections and computed numbers are inserted after counting.
    assert len(main.select("div.cell")) == stated_cells
    for part in main.select("div.cell, pre, div.math, script, style, a.headerlink"):
        part.decompose()
    for formula in main.select("span.math"):
        formula.replace_with(" formula ")
    seen = len(WORD.findall(main.get_text(" ")))
    assert 0.9 < stated_words / seen <= 1
