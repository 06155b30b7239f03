"""The start page links to the exercises in the order of the course, and keeps added cells."""

from __future__ import annotations

import re

import nbformat
import yaml
from nbformat.v4 import new_markdown_cell

from grader.course import EXERCISES, assignments
from grader.releasing.start_page import NAME, in_chapter_order, start_page, write_start_page


def chapters(root) -> list[str]:
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    (part,) = (part for part in toc["parts"] if part.get("numbered"))
    return [chapter["file"].removeprefix("book/") for chapter in part["chapters"]]


def test_assignments_come_in_the_order_of_their_chapters(root):
    with_exercise = [name for name in chapters(root) if name in assignments()]
    assert len(with_exercise) > 5
    assert in_chapter_order() == [*with_exercise, "quiz"]


def test_each_exercise_has_a_link_that_leads_to_it():
    text = start_page().cells[0].source
    links = re.findall(r"^- \[(.+)\]\((.+)\)$", text, re.MULTILINE)
    assert [target for _, target in links] == [
        f"{name}/{name}.ipynb" for name in in_chapter_order()
    ]
    for title, target in links:
        first = nbformat.read(EXERCISES / target, as_version=4).cells[0].source
        assert first.startswith(f"# {title}\n")


def test_the_committed_page_is_up_to_date(tmp_path):
    assert write_start_page(tmp_path) == "start: released"
    assert (tmp_path / NAME).read_bytes() == (EXERCISES / NAME).read_bytes()
    assert write_start_page(tmp_path) == "start: up to date"


def test_cells_that_a_learner_added_stay(tmp_path):
    write_start_page(tmp_path)
    notebook = nbformat.read(tmp_path / NAME, as_version=4)
    notebook.cells[0].source = "# Old links"
    notebook.cells.append(new_markdown_cell("mine", id="mine"))
    nbformat.write(notebook, tmp_path / NAME)
    assert write_start_page(tmp_path) == "start: released"
    links, added = nbformat.read(tmp_path / NAME, as_version=4).cells
    assert links == start_page().cells[0]
    assert added.source == "mine"
    assert write_start_page(tmp_path) == "start: up to date"
