"""Each chapter states its reading time and the number of words and cells."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes

from book._ext.assignments import read_overview
from book._ext.reading_time import WORD, Length, duration, measure, statement
from tests.book.test_assignments import CHAPTERS

STATED = re.compile(
    r"About (\d+) minutes to read: ([\d\u00a0]+) words"
    r"(?:, ([\d\u00a0]+) of them in derivations,)? and (\d+) cells?\."
)
ROOT = Path(__file__).resolve().parents[2]
TIMED = ["orientation", *CHAPTERS]


def test_words_and_cells_are_counted():
    page = nodes.section("", nodes.title("", "Two words"))
    page += nodes.paragraph("", "", nodes.Text("Don't count "), nodes.math("", "x + y"))
    page += nodes.literal_block("", "code = is_not(prose)")
    page += nodes.comment("", "left out")
    page += nodes.container("", nodes.paragraph("", "output of a cell"), nb_element="cell_code")
    page += nodes.container("", nodes.paragraph("", "inside a box"))
    # The words: Two, words, don't, count, the formula; inside, a, box.
    assert measure(page) == (8, 0, 1)


def test_a_section_with_a_displayed_formula_is_a_derivation():
    page = nodes.section("", nodes.paragraph("", "three plain words"))
    page += nodes.section("", nodes.paragraph("", "", nodes.math("", "x"), nodes.Text(" is one")))
    page[1] += nodes.container("", nodes.math_block("", "x = 1"))  # as in a folded detour
    page[1] += nodes.section("", nodes.paragraph("", "no formula here"))
    cell = nodes.container("", nodes.math_block("", "y"), nb_element="cell_code")
    page += nodes.section("", nodes.paragraph("", "only in a cell"), cell)
    assert measure(page) == (3 + 3 + 3 + 4, 3, 1)


@pytest.mark.parametrize(
    ("words", "derived", "cells", "expected"),
    [
        (1, 0, 0, 5), (1000, 0, 0, 5), (1001, 0, 0, 10), (1000, 0, 1, 10), (0, 0, 20, 10),
        (600, 600, 0, 5), (601, 601, 0, 10), (800, 300, 0, 5), (800, 301, 0, 10),
    ],
)  # fmt: skip
def test_minutes_are_rounded_up_to_five(words, derived, cells, expected):
    assert Length(words, derived, cells).minutes == expected


def test_the_statement_on_the_page():
    assert statement(Length(1234, 0, 1)) == "About 10 minutes to read: 1\u00a0234 words and 1 cell."
    assert statement(Length(3456, 1200, 7)) == (
        "About 25 minutes to read: 3\u00a0456 words, 1\u00a0200 of them in derivations, "
        "and 7 cells."
    )


def test_the_first_page_states_the_sum(built_book):
    stated = []
    for page in TIMED:
        html = (built_book / "book" / f"{page}.html").read_text(encoding="utf-8")
        stated.append(int(STATED.search(html)[1]))
    html = (built_book / "book" / "index.html").read_text(encoding="utf-8")
    text = BeautifulSoup(html, "html.parser").find("article").get_text(" ", strip=True)
    assert f"About {duration(sum(stated))} to read" in text
    for page, minutes in zip(TIMED, stated, strict=True):
        assert f"{minutes} minutes. " in text, page
    exercises = sum(read_overview(path).minutes for path in ROOT.glob("exercises/*/*.ipynb"))
    assert f"{duration(exercises)} for the exercises" in text


def test_a_time_of_an_unknown_page_fails_the_build(build_tiny_book):
    build = build_tiny_book("unknown-time")
    assert build.status == 1
    reports = re.findall(r"WARNING: (.*)$", build.output, re.MULTILINE)
    assert reports == ["reading-time: expected 'all' or a page of reading_time_pages, got 'none'"]


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
    time, *stated = STATED.fullmatch(line.get_text()).groups(default="0")
    length = Length(*(int(count.replace("\u00a0", "")) for count in stated))
    assert int(time) == length.minutes
    assert (length.derived > 0) is (main.find("div", class_="math") is not None)

    # The visible page: cells are counted, but not the words in them. Citations, references to
    # other sections and computed numbers are inserted after counting.
    assert len(main.select("div.cell")) == length.cells
    for part in main.select("div.cell, pre, div.math, script, style, a.headerlink"):
        part.decompose()
    for formula in main.select("span.math"):
        formula.replace_with(" formula ")
    seen = len(WORD.findall(main.get_text(" ")))
    assert 0.9 < length.words / seen <= 1
