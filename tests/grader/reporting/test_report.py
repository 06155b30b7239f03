"""The instructor's report has the right numbers and is a self-contained page."""

from __future__ import annotations

import re

import pytest

from grader.gradebook.reading import Entry
from grader.judging.findings import JudgedFinding, JudgedPart
from grader.reporting.charts import columns, rows
from grader.reporting.item_analysis import PartCount, items, mistakes, parts
from grader.reporting.report import histogram, write_report
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


def test_statistics_need_a_majority_of_graded_answers(tmp_path):
    path = tmp_path / "report.html"
    known = [result(student, 3, points) for student, points in (("a", 0), ("b", 1), ("c", 4))]
    for each, points in zip(known, (0.0, 1.0, 2.0), strict=True):
        each.entry.scores["in-words"] = points

    def row(results) -> list[str]:
        write_report("dot-products", results, path)
        page = path.read_text(encoding="utf-8")
        line = re.search(r"(?s)<tr>\s*<td>in-words</td>.*?</tr>", page)[0]
        return re.findall(r"<td[^>]*>(.*?)</td>", line)[1:]

    # Points, mean, all points, no point, students, to read, discrimination.
    assert row([*known, *CLASS[:3]]) == ["2", "", "1", "1", "3", "3", ""]
    assert "hardest cell is attention-tests" in path.read_text(encoding="utf-8")
    assert row([*known, *CLASS[:2]]) == ["2", "50%", "1", "1", "3", "2", "0.96"]


def test_an_ungraded_class_has_no_hardest_cell(tmp_path):
    entry = Entry("ada", {}, dict(POINTS), list(POINTS))
    path = tmp_path / "report.html"
    write_report("dot-products", [Result("ada", entry)], path)
    page = path.read_text(encoding="utf-8")
    assert "The hardest cell" not in page
    assert "<td>in-words</td>" in page


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


def test_the_page(tmp_path):
    path = tmp_path / "report.html"
    write_report("dot-products", CLASS, path)
    page = path.read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "4 submissions graded, 1 lost no point, mean 3.25 of 9 points." in text
    assert "Scores of 4 students: from 0 to 7 of 9 points, median 3, mean 3.25." in text
    assert "The hardest cell is attention-tests: 44% of its points on average." in text
    assert "softmax-tests 3 50% 2 2 4 0 0.85" in text
    assert "softmax-tests large 1 2 50%" in text
    assert "The most frequent mistake is no-scale: 2 of 4 students." in text
    assert "It leaves out the division by √d_k" in text
    assert "ed failed: nothing submitted" in text
    assert "dee &lt;b&gt;Two&lt;/b&gt; cells were the same." in text
    assert "<odd>" not in page
    labels = re.findall(r'<svg role="img" aria-label="([^"]+)"', page)
    assert len(labels) == 3
    assert labels[0].startswith("Scores of 4 students")
    # The page is a single file and loads no other.
    assert [p.name for p in tmp_path.rglob("*")] == ["report.html"]
    assert re.findall(r"<(?:script|link|iframe|img)\b", page) == []
    assert re.findall(r"(?:href|src|url\()=?[\"']?https?:", page) == []


def test_the_page_of_a_class_without_grades(tmp_path):
    path = tmp_path / "report.html"
    write_report("dot-products", CLASS[4:], path)
    page = path.read_text(encoding="utf-8")
    assert "1 could not be graded" in page
    assert "<svg" not in page


def test_figures_have_the_right_bars_and_are_reproducible():
    made = columns(["a", "b", "c"], [1, 0, 2], "points", 'it says "x"')
    assert made == columns(["a", "b", "c"], [1, 0, 2], "points", 'it says "x"')
    assert 'aria-label="it says &quot;x&quot;"' in made
    lying = rows(["softmax-tests"], [0.5], "%", "half")
    assert ">softmax-tests</text>" in lying
    assert "<metadata" not in lying
