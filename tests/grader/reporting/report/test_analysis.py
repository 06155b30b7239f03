"""The numbers in the report on a class, from results that are written down here."""

from __future__ import annotations

import html
import re
from datetime import datetime
from pathlib import Path

import pytest

from grader.gradebook.reading import Entry
from grader.judging.findings import Choice, JudgedFinding, JudgedPart
from grader.reporting.report.analysis import (
    ChoiceCount,
    PartCount,
    choices,
    items,
    mistakes,
    parts,
)
from grader.reporting.report.lecture import histogram, write_report
from grader.reporting.report.standing import Standing
from grader.reporting.results import Result

POINTS = {"softmax-tests": 3.0, "attention-tests": 4.0, "in-words": 2.0}


def part(title: str, *mistakes: str | None) -> JudgedPart:
    """Return a part with these mistakes, None for an unknown one; without any, it is passed."""
    findings = tuple(JudgedFinding("f", f"{title}: ok\nother: ok", mistake) for mistake in mistakes)
    return JudgedPart(title, 1.0, not mistakes, findings)


def result(student: str, softmax: float, attention: float, **more) -> Result:
    scores = {"softmax-tests": softmax, "attention-tests": attention}
    return Result(student, Entry(student, scores, dict(POINTS), ["in-words"]), **more)


CLASS = [
    result(
        "ada",
        3,
        4,
        parts={
            "softmax-tests": (part("rows"), part("large")),
            "attention-tests": (part("one query"),),
        },
    ),
    result(
        "bo",
        3,
        2,
        parts={
            "softmax-tests": (part("rows"), part("large", None)),
            "attention-tests": (part("one query", "no-scale", "no-scale"),),
        },
    ),
    result("cy", 0, 1, parts={"attention-tests": (part("one query", "no-scale", "<odd>"),)}),
    result("dee", 0, 0, remarks=("<b>Two</b> cells were the same.",)),
    Result("ed", None, reason="nothing submitted"),
]


def test_items():
    softmax, attention, words = items(CLASS, list(POINTS))
    assert (softmax.points, softmax.number, softmax.mean) == (3, 4, 0.5)
    assert (softmax.full, softmax.none) == (2, 2)
    assert attention.mean == pytest.approx(7 / 16)
    assert (attention.full, attention.none) == (1, 1)
    # Scores (3, 3, 0, 0) and the rest (4, 2, 1, 0).
    assert softmax.discrimination == pytest.approx(0.8451542547)
    assert (words.number, words.waiting, words.points) == (0, 4, 2)
    assert (softmax.waiting, softmax.mostly_scored, words.mostly_scored) == (0, True, False)


def text_of(path: Path, results) -> str:
    """Write the report on a class of which nothing else is known, and return its text."""
    nothing = Standing((), {}, {}, {}, {}, {}, datetime(2026, 3, 2))
    write_report("dot-products", results, path, nothing, path.parent)
    page = path.read_text(encoding="utf-8").partition("<main>")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_statistics_need_a_majority_of_graded_answers(tmp_path):
    path = tmp_path / "report.html"
    known = [result(student, 3, points) for student, points in (("a", 0), ("b", 1), ("c", 4))]
    for each, points in zip(known, (0.0, 1.0, 2.0), strict=True):
        each.entry.scores["in-words"] = points
    text = text_of(path, [*known, *CLASS[:3]])
    assert "2 points. Of 3 students, 1 had all points and 1 none. 3 answers to read." in text
    assert "hardest cell is attention-tests" in text
    text = text_of(path, [*known, *CLASS[:2]])
    assert (
        "Mean 50% of 2 points. Of 3 students, 1 had all points and 1 none. 2 answers to read. "
        "Discrimination 0.96." in text
    )


def test_an_ungraded_class_has_no_hardest_cell(tmp_path):
    entry = Entry("ada", {}, dict(POINTS), list(POINTS))
    text = text_of(tmp_path / "report.html", [Result("ada", entry)])
    assert "The hardest cell" not in text
    assert "2 points. Of 0 students, 0 had all points and 0 none. 1 answer to read." in text


def test_a_correlation_of_almost_nothing_has_no_sign(tmp_path):
    # Scores (0, 3, 0, 3.01) and (1, 2, 3, 2): a correlation of about -0.001 with the other cell.
    pairs = ((0, 1), (3, 2), (0, 3), (3.01, 1.99))
    found = [result(f"s{n}", *pair) for n, pair in enumerate(pairs)]
    (softmax,) = items(found, ["softmax-tests"])
    assert -0.005 < softmax.discrimination < 0
    text = text_of(tmp_path / "report.html", found)
    assert "Discrimination 0.00." in text
    assert "-0" not in text


def test_no_discrimination_if_all_scores_are_equal():
    alike = [result("a", 3, 1), result("b", 3, 2), result("c", 3, 4)]
    assert [item.discrimination for item in items(alike, ["softmax-tests", "attention-tests"])] == [
        None,
        None,
    ]


def test_parts():
    """Text that a finding quotes from an answer does not count."""
    assert parts(CLASS) == [
        PartCount("softmax-tests", "rows", 2, 2),
        PartCount("softmax-tests", "large", 1, 2),
        PartCount("attention-tests", "one query", 1, 3),
    ]


def test_the_last_report_of_a_part_counts():
    twice = result("ada", 3, 4, parts={"softmax-tests": (part("rows", None), part("rows"))})
    assert parts([twice]) == [PartCount("softmax-tests", "rows", 1, 1)]


def test_mistakes_are_sorted_by_frequency():
    assert list(mistakes(CLASS).items()) == [("no-scale", ["bo", "cy"]), ("<odd>", ["cy"])]


@pytest.mark.parametrize(
    ("scores", "counts"),
    [
        ([], [0] * 10),
        ([0, 1.99, 2, 20, 19.9, 18], [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]),
        ([25, -1], [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ],
)
def test_histogram(scores, counts):
    labels, found = histogram(scores, 20)
    assert found == counts
    assert labels[0] == "0–2"
    assert labels[-1] == "18–20"


def chose(student: str, **letters: tuple[str, bool]) -> Result:
    chosen = tuple(Choice(name, *letter) for name, letter in letters.items())
    cell = (JudgedPart("why", 1.0, False, choices=chosen),)
    return result(student, 3, 4, parts={"why-tests": cell})


def test_letters_are_counted_by_answer():
    """A letter may be right for one student and wrong for another."""
    found = [
        chose("ada", why=("B", True), paper=("A", True)),
        chose("bo", why=("D", False), paper=("A", False)),
        chose("cy", why=("A", False), paper=("C", True)),
        chose("dee", why=("D", False)),
        chose("ed"),
    ]
    why, paper = choices(found)
    assert why == ChoiceCount("why-tests", "why", 5, 1, {"D": 2, "A": 1})
    assert paper == ChoiceCount("why-tests", "paper", 5, 2, {"A": 1})
    assert list(why.wrong) == ["D", "A"]
    assert (why.without, paper.without) == (1, 2)


def test_students_without_all_points_are_listed_by_score():
    softmax, attention, words = items(CLASS, list(POINTS))
    assert softmax.below == ("cy", "dee")
    assert attention.below == ("dee", "cy", "bo")
    assert words.below == ()


def test_the_page(tmp_path):
    path = tmp_path / "report.html"
    text = text_of(path, CLASS)
    page = path.read_text(encoding="utf-8")
    assert "4 submissions graded, 1 lost no point, mean 3.25 of 9 points." in text
    assert "Scores of 4 students: from 0 to 7 of 9 points, median 3, mean 3.25." in text
    assert "0–0.9 1 0.9–1.8 1 1.8–2.7 0" in text
    assert "The hardest cell is attention-tests: 44% of its points on average." in text
    assert "Mean 50% of 3 points. Of 4 students, 2 had all points and 2 none." in text
    assert "Discrimination 0.85." in text
    assert "rows 2 2 100% large 1 2 50%" in text
    assert "The most frequent mistake is no-scale: 2 of 4 students." in text
    assert "It leaves out the division by √d_k" in text
    assert "ed : failed: nothing submitted" in text
    assert "dee : <b>Two</b> cells were the same." in text
    assert "<b>Two" not in page
    assert "<odd>" not in page
    # The page is a single file, loads no other and executes nothing.
    assert [p.name for p in tmp_path.rglob("*")] == ["report.html"]
    assert re.findall(r"<(?:script|link|iframe|img|svg)\b", page) == []
    assert re.findall(r"(?:href|src|url\()=?[\"']?https?:", page) == []
    assert "default-src 'none'" in html.unescape(page)


def test_the_page_of_a_class_without_grades(tmp_path):
    text = text_of(tmp_path / "report.html", CLASS[4:])
    assert "1 could not be graded" in text
    assert "Scores" not in text
