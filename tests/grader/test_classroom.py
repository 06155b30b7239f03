"""Submissions that are not what was expected. No kernel runs here, so these are fast."""

from __future__ import annotations

import csv
import json

import pytest
from nbgrader.api import Gradebook

from grader import __main__ as commands
from grader import gradebook

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
NO_NOTEBOOKS = {
    "empty": b"",
    "text": b"def softmax(scores): ...",
    "object": b"{}",
    "list": b"[]",
    "bytes": b"\xff\xfe\x00",
    "no-cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "cells-are-a-number": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}',
}


@pytest.fixture
def hand_in(tmp_path):
    """Write a student's file below the folder `submitted`."""

    def write(student: str, content: bytes, name: str = NOTEBOOK) -> None:
        path = tmp_path / "submitted" / student / ASSIGNMENT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return write


@pytest.fixture
def grade(tmp_path, capsys):
    """Run the command ``grade`` and return each student's line in grades.csv."""

    def run() -> dict[str, dict[str, str]]:
        submitted = str(tmp_path / "submitted")
        arguments = ["grade", ASSIGNMENT, "--submitted", submitted, "--into", str(tmp_path)]
        assert commands.main(arguments) == 1
        assert "Error" not in capsys.readouterr().out
        with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    return run


def pretend_to_have_graded(folder, student: str, assignment: str = ASSIGNMENT) -> None:
    """Leave the files of an earlier grading."""
    for step, name in (("autograded", "x.ipynb"), ("feedback", "x.html")):
        path = folder / step / student / assignment / name
        path.parent.mkdir(parents=True)
        path.write_text("old")


def enter_submission(folder, student: str, scores: dict[str, float]) -> None:
    """Enter a student's scores of an earlier grading in the gradebook."""
    with Gradebook(gradebook.database(folder)) as book:
        book.update_or_create_student(student)
        submission = book.update_or_create_submission("week-1", student)
        for grade in submission.notebooks[0].grades:
            grade.auto_score = scores.get(grade.name)
            grade.needs_manual_grade = grade.auto_score is None
        book.db.commit()


@pytest.fixture
def week(tmp_path):
    """A folder with a gradebook that has an assignment of three cells."""
    with Gradebook(gradebook.database(tmp_path)) as book:
        book.add_assignment("week-1")
        book.add_notebook("week-1", "week-1")
        for name, cell_type in (("a-tests", "code"), ("b-tests", "code"), ("words", "markdown")):
            book.add_grade_cell(name, "week-1", "week-1", max_score=2, cell_type=cell_type)
    return tmp_path


def test_files_that_are_no_notebooks_are_told_in_plain_words(hand_in, grade):
    for student, content in NO_NOTEBOOKS.items():
        hand_in(student, content)
    statuses = {student: row["status"] for student, row in grade().items()}
    assert statuses == dict.fromkeys(NO_NOTEBOOKS, "failed: dot-products.ipynb is not a notebook")


def test_a_file_that_is_no_notebook_leaves_nothing_of_an_earlier_grading(hand_in, grade, tmp_path):
    hand_in("dora", b"text")
    grade()  # enters the assignment in the gradebook
    with Gradebook(gradebook.database(tmp_path)) as book:
        book.update_or_create_student("dora")
        book.update_or_create_submission(ASSIGNMENT, "dora")
    pretend_to_have_graded(tmp_path, "dora")
    record = {"autograded": {"dora": "1"}, "feedback": {"dora": "2"}}
    record_path = tmp_path / f"graded-{ASSIGNMENT}.json"
    record_path.write_text(json.dumps(record), encoding="utf-8")
    hand_in("dora", b"{}")
    assert grade()["dora"]["score"] == ""
    assert gradebook.read(gradebook.database(tmp_path), ASSIGNMENT) == {}
    assert not (tmp_path / "autograded" / "dora").exists()
    assert not (tmp_path / "feedback" / "dora").exists()
    record = json.loads(record_path.read_text(encoding="utf-8"))
    assert record == {"autograded": {}, "feedback": {}}


def test_other_assignments_are_left_alone(hand_in, grade, tmp_path):
    hand_in("dora", b"{}")
    pretend_to_have_graded(tmp_path, "dora")
    pretend_to_have_graded(tmp_path, "dora", "another")
    grade()
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/dora/*"))
    assert left == [
        "autograded/dora/another",
        "feedback/dora/another",
        "submitted/dora/dot-products",
    ]


def test_notebooks_under_other_names_are_told(hand_in, grade, tmp_path):
    hand_in("carl", b"{}", "Dot Products (1).ipynb")
    hand_in("cleo", b"{}", "b.ipynb")
    hand_in("cleo", b"{}", "a.ipynb")
    hand_in("cyd", b"{}", "notes.txt")
    (tmp_path / "submitted" / "dan").mkdir()
    (tmp_path / "submitted" / "eve" / ASSIGNMENT / NOTEBOOK).mkdir(parents=True)
    assert {student: row["status"] for student, row in grade().items()} == {
        "carl": "failed: found 'Dot Products (1).ipynb', expected dot-products.ipynb",
        "cleo": "failed: found 'a.ipynb' and 'b.ipynb', expected dot-products.ipynb",
        "cyd": "failed: nothing submitted, expected dot-products.ipynb",
        "dan": "failed: nothing submitted, expected dot-products.ipynb",
        "eve": "failed: nothing submitted, expected dot-products.ipynb",
    }


def test_a_cell_that_was_not_handed_in_scores_nothing(week):
    """The old score of a-tests goes, and nobody has to read words."""
    enter_submission(week, "ada", {"a-tests": 2.0, "b-tests": 2.0})
    url = gradebook.database(week)
    (before,) = gradebook.read(url, "week-1").values()
    assert (before.scores, before.to_read) == ({"a-tests": 2.0, "b-tests": 2.0}, ["words"])
    assert before.missing == []
    gradebook.enter_missing(url, "week-1", "ada", {"b-tests"})
    (entry,) = gradebook.read(url, "week-1").values()
    assert entry.scores == {"a-tests": 0.0, "b-tests": 2.0, "words": 0.0}
    assert entry.points == {"a-tests": 2.0, "b-tests": 2.0, "words": 2.0}
    assert entry.missing == ["a-tests", "words"]
    assert entry.to_read == []


def test_a_cell_without_a_row_in_the_gradebook_scores_nothing(week):
    enter_submission(week, "ada", {"a-tests": 2.0, "b-tests": 1.0, "words": 0.0})
    url = gradebook.database(week)
    with Gradebook(url) as book:
        book.db.delete(book.find_grade("b-tests", "week-1", "week-1", "ada"))
        book.db.commit()
    (entry,) = gradebook.read(url, "week-1").values()
    assert entry.scores == {"a-tests": 2.0, "b-tests": 0.0, "words": 0.0}
    assert sum(entry.points.values()) == 6
    assert entry.missing == ["b-tests"]
