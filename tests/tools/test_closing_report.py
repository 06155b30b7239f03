"""The five lines at the end of `make course`."""

from __future__ import annotations

from pathlib import Path

from tools.closing_report import class_sentence, report

FIGURES = {
    "graded": 9,
    "failed": 0,
    "full_marks": 3,
    "to_read": 0,
    "points": 10,
    "mean": 6.25,
    "grades": "/home/ada/a course/_class/grades-quiz.csv",
}


def test_five_lines_in_the_promised_order():
    lines = report(Path("/home/ada/a course"), FIGURES)
    assert [line.split(":")[0] for line in lines] == [
        "Book", "Exercises", "Sample", "Feedback", "Next",
    ]  # fmt: skip
    assert lines[0].endswith(" file:///home/ada/a%20course/_build/html/index.html")
    assert lines[2].endswith(" of 10 points; all in _class/grades-quiz.csv")
    assert lines[3].endswith(" file:///home/ada/a%20course/_class/feedback/")


def test_without_a_graded_class_the_other_lines_stay():
    lines = report(Path("/home/ada/a course"), None)
    assert [line.split(":")[0] for line in lines] == ["Book", "Exercises", "Sample", "Next"]
    assert "not graded" in lines[2]
    assert "grader doctor" in lines[2]


def test_class_sentence():
    assert class_sentence(FIGURES) == (
        "9 submissions graded, 3 lost no point, mean 6.25 of 10 points"
    )
    unfinished = FIGURES | {"to_read": 8, "failed": 1}
    assert class_sentence(unfinished) == (
        "9 submissions graded, 3 lost no point, mean 6.25 of 10 points, "
        "8 written answers to read, 1 could not be graded"
    )
