"""The pages on a planned class: every number is computed here once more, from the plan alone."""

from __future__ import annotations

import html
import re
import statistics
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from nbgrader.api import Gradebook

from grader import course
from grader.command_line import commands
from grader.gradebook.reading import sqlite_url
from grader.gradebook.writing import Entered, GradebookWriter
from grader.judging.assignment_source import read_source
from grader.judging.findings import Choice, JudgedFinding, JudgedPart
from grader.judging.verdict import FAILED, GRADED, Verdict
from grader.reporting.feedback import page_of
from grader.reporting.report import calls
from grader.reporting.report.standing import read_standing
from grader.running import journal
from tests.book.conftest import WatchedPage
from tests.grader.gradebook.server import with_tables

#: The deadline of each assignment, in the order of the term, which is not that of the alphabet.
DUE = {
    "masking": datetime(2026, 2, 2),
    "complexity": datetime(2026, 2, 9),
    "quiz": datetime(2026, 2, 16),
    "putting-it-together": datetime(2999, 1, 1),
}
NAMES = {
    "ada": ("Ada", "Lovelace"),
    "ben": ("Ben", "<i>Ash</i>"),
    "c/y & co": ("Cy", "O'Neil"),
    "dee": ("", ""),
    "eve": ("Eve", "Ng"),
    "fox": ("Fox", "Li"),
    "gil": ("Gil", "Sy"),
}
#: The share of the points in each assignment; None if it could not be graded.
SHARES = {
    "masking": {"ada": 1.0, "ben": 0.5, "dee": 0.75, "eve": None, "fox": 0.9, "gil": 0.6},
    "complexity": {"ada": 0.8, "ben": 0.6, "dee": 0.85, "fox": 0.8, "gil": 0.3},
    "quiz": {"ada": 1.0, "ben": 0.75, "dee": 0.5, "fox": 0.25, "gil": 0.15},
    "putting-it-together": {"ada": 1.0},
}
#: Whom two assignments are missing: eve failed in one, and c/y & co, who has time in the quiz.
EXCUSED = {"complexity": ["eve"]}
EXTRA = ("c/y & co", "quiz")
#: The letters that were chosen in the quiz for `why`, where B is right.
LETTERS = {"ada": "B", "ben": "D", "dee": "D", "fox": "A"}
NAMED = {"ben": ["no-scale"], "dee": ["no-scale", "divide-by-d_k"]}
BOOK = "https://example.org/attention/book"
#: Finds the heads of rows and columns with a word that is broken: they have more lines than words.
BROKEN_WORDS = """[...document.querySelectorAll('thead th, tbody th[scope=row]')].filter(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const lines = new Set([...range.getClientRects()].map(one => Math.round(one.top)));
    return lines.size > cell.innerText.trim().split(/[\\s-]+/).length;
}).map(cell => cell.innerText)"""


def parts_of(student: str) -> dict[str, tuple[JudgedPart, ...]]:
    letter = LETTERS.get(student)
    chosen = (Choice("why", letter, letter == "B"),) if letter else ()
    found = tuple(JudgedFinding("f", "off.", mistake) for mistake in NAMED.get(student, ()))
    return {"why-tests": (JudgedPart("why <divide>", 2.0, not found, found, chosen),)}


@pytest.fixture(scope="module")
def config():
    made = course.configuration()
    made.Totals.excused = EXCUSED
    made.FeedbackExporter.book = BOOK
    made.NbGraderAPI.timezone = "UTC"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "_executed_configuration", lambda: made)
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory, config):
    """A class that is graded as planned, with its pages."""
    folder = tmp_path_factory.mktemp("class")
    url = with_tables(sqlite_url(folder))
    with Gradebook(url, config.CourseDirectory.course_id) as gradebook:
        for student, (first, last) in NAMES.items():
            gradebook.add_student(student, first_name=first, last_name=last)
        for name, due in DUE.items():
            gradebook.update_or_create_assignment(name, duedate=due)
    for assignment, shares in SHARES.items():
        source = course.read_solution_notebook(assignment)
        points = read_source(source).points
        verdicts = [
            Verdict(assignment, student, FAILED, reason="<b>no</b> notebook")
            if share is None
            else Verdict(
                assignment,
                student,
                GRADED,
                remarks=("A <script> was in it.",) if student == "ben" else (),
                scores={cell: share * most for cell, most in points.items()},
                points=points,
                parts=parts_of(student) if assignment == "quiz" else {},
            )
            for student, share in shares.items()
        ]
        with GradebookWriter(url, assignment, source, config) as writer:
            writer.enter([Entered(verdict) for verdict in verdicts])
        with journal.Journal(journal.path_in(folder, assignment)) as lines:
            lines.add([journal.Line.of(verdict, "x") for verdict in verdicts])
    student, assignment = EXTRA
    where = ("--into", str(folder), "--db", url)
    assert commands.main(["extend", assignment, student, "--days", "900000", *where]) == 0
    work = page_of(folder, "quiz", "ben")
    work.parent.mkdir(parents=True)
    work.write_text('<p id="why-tests">', encoding="utf-8")
    (folder / "report-students").mkdir()
    (folder / "report-students" / "left.html").write_text("of somebody who has left")
    for assignment in ("masking", "quiz"):
        assert commands.main(["report", assignment, *where]) == 0
    return folder


def text_of(page: Path) -> str:
    """Return the text of a page, with spaces only where a reader sees them."""
    body = page.read_text(encoding="utf-8").partition("<main>")[2]
    body = re.sub(r"</?(a|strong|span|code|i|b)\b[^>]*>", "", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture(scope="module")
def quiz(folder) -> str:
    return text_of(folder / "report-quiz.html")


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def known(assignment: str) -> list[float]:
    return [share for share in SHARES[assignment].values() if share is not None]


def test_the_page_has_the_scores_of_the_class(quiz):
    scores = [20 * share for share in known("quiz")]
    assert (
        f"Scores of {len(scores)} students: from {min(scores):g} to {max(scores):g} of 20 points, "
        f"median {statistics.median(scores):g}, mean {statistics.mean(scores):.2f}." in quiz
    )
    # Scores 3, 5, 10, 15 and 20 in ranges of two points.
    assert re.findall(r"\d+–\d+ (\d)", quiz.partition("Students who need")[0]) == [
        *("0", "1", "1", "0", "0", "1", "0", "1", "0", "1"),
    ]


def test_who_handed_in_nothing_is_named(folder, quiz):
    assert "Nothing was handed in by 1 student: Eve Ng (eve) " in quiz
    assert "There is still time for 1 student: Cy O'Neil (c/y & co) " in quiz
    masking = text_of(folder / "report-masking.html")
    assert "Nothing was handed in by 1 student: Cy O'Neil (c/y & co) " in masking
    assert "still time" not in masking


def test_the_trend_has_the_assignments_in_the_order_of_the_term(folder, quiz):
    rows = [
        f"{name} {len(known(name))} {missing} {percent(statistics.mean(known(name)))}"
        for name, missing in (("masking", 1), ("complexity", 1), ("quiz", 1))
    ]
    failed = "In masking, 1 submission could not be graded."
    assert f"graded missing mean {' '.join(rows)} {failed} Cells" in quiz
    assert "The term so far" not in text_of(folder / "report-masking.html")  # it is the first
    page = (folder / "report-quiz.html").read_text(encoding="utf-8")
    for name in ("masking", "complexity", "quiz"):
        mean, median = statistics.mean(known(name)), statistics.median(known(name))
        assert f'width: {100 * mean:.1f}%"></span><i style="left: {100 * median:.1f}%"' in page


def test_who_needs_a_call_is_named_with_the_reason(folder, quiz):
    median = percent(statistics.median(known("quiz")))
    named = quiz.partition("Students who need a call")[2].partition("Named are")[0]
    assert named.strip() == (
        # Nothing in masking and complexity; the quiz may still come.
        "Cy O'Neil (c/y & co): Nothing was handed in for masking and complexity. "
        "dee: 50% in quiz, after 80% on average in 2 earlier assignments. "
        # Failed in masking, excused from complexity, nothing in the quiz.
        "Eve Ng (eve): Nothing was handed in for quiz, and what was handed in for masking could "
        "not be graded. "
        # Half of the median, 50 %, is 25 %, which is not below it.
        "Fox Li (fox): 25% in quiz, after 85% on average in 2 earlier assignments. "
        f"Gil Sy (gil): 15% in quiz, where the median of the class is {median}. "
        "15% in quiz, after 45% on average in 2 earlier assignments."
    )
    assert f"Named are {calls.RULE}." in quiz
    # After the first assignment nobody was missing twice or had earlier work.
    masking = text_of(folder / "report-masking.html")
    assert "Students who need a call None." in masking


def test_letters_mistakes_and_cells_are_counted(quiz):
    assert (
        "why: 1 of 5 students chose the right letter, 1 none. Wrong letters: "
        "D (for memory: smaller numbers need less space): 2 "
        "A (for speed: softmax is faster on small numbers): 1 " in quiz
    )
    assert "why-tests 2. Why divide Mean 53% of 2 points. Of 5 students, 1 had all points" in quiz
    assert "why <divide> 3 5 60%" in quiz
    assert (
        "Without all points: 4 students Gil Sy (gil) Fox Li (fox) dee Ben <i>Ash</i> (ben) "
        "(feedback)" in quiz
    )
    assert "The most frequent mistake is no-scale: 2 of 5 students." in quiz
    assert "2 students, 40% Ben <i>Ash</i> (ben) (feedback) dee" in quiz
    assert "1 student, 20% dee" in quiz
    assert "Ben <i>Ash</i> (ben) (feedback): A <script> was in it." in quiz


def test_links_lead_to_the_book_to_work_and_to_students(folder):
    page = (folder / "report-quiz.html").read_text(encoding="utf-8")
    links = {html.unescape(link) for link in re.findall(r'href="([^"]*)"', page)}
    outside = {link for link in links if link.startswith("https:")}
    assert outside == {f"{BOOK}/variance-growth.html#why-the-root"}
    assert "./feedback/ben/quiz/quiz.html#why-tests" in links
    students = [link for link in links if link.startswith("./report-students/")]
    assert len(students) == len(NAMES) - 1  # nothing is said of ada
    # No folder in a name, and each link in each page leads to a file.
    for start in (folder / "report-quiz.html", *folder.glob("report-students*/**/*.html")):
        for link in re.findall(r'href="([^"#]*)', start.read_text(encoding="utf-8")):
            if not urlsplit(link).scheme:
                assert (start.parent / unquote(html.unescape(link))).is_file(), (start, link)
    assert {path.name for path in (folder / "report-students").iterdir()} == {
        "c%2Fy%20%26%20co.html",
        *(f"{student}.html" for student in NAMES if student != "c/y & co"),
    }


def test_a_student_has_a_page_over_the_term(folder):
    text = text_of(folder / "report-students" / "ben.html")
    shares = [of[student] for of in SHARES.values() if (student := "ben") in of]
    total = sum(shares) / 4  # each assignment has 20 points; one is not handed in
    assert text.startswith(f"Ben <i>Ash</i> (ben) All students Total so far: {percent(total)}.")
    for name in ("masking", "complexity", "quiz"):
        share, median = SHARES[name]["ben"], statistics.median(known(name))
        assert (
            f"{name} {20 * share:g} of 20 points, {percent(share)} of what is scored; graded. "
            f"Median of the class: {percent(median)}." in text
        )
    assert "Median of the class: 50%. Feedback on quiz no-scale: It leaves out the" in text
    assert "putting-it-together nothing yet. Median of the class: 100%." in text
    eve = text_of(folder / "report-students" / "eve.html")
    assert "masking failed: <b>no</b> notebook. Median of the class: 75%." in eve
    assert "complexity excused." in eve
    assert "quiz nothing was handed in." in eve
    assert "Needs a call Nothing was handed in for quiz, and what was" in eve
    gil = text_of(folder / "report-students" / "gil.html")
    assert "Needs a call 15% in quiz, where the median of the class is 50%." in gil


def test_the_list_of_students_leads_to_their_pages(folder):
    text = text_of(folder / "report-students.html")
    assert "7 students, 4 assignments." in text
    # Graded, had to be handed in, total.
    assert "Ada Lovelace (ada) 4 4 95%" in text
    assert "Gil Sy (gil) needs a call 3 3 26%" in text
    assert "Eve Ng (eve) needs a call 0 2 0%" in text
    assert "Cy O'Neil (c/y & co) needs a call 0 2 0%" in text


def test_nothing_that_somebody_named_is_markup(folder):
    for page in folder.glob("report-*/**/*.html"):
        body = page.read_text(encoding="utf-8").partition("<main>")[2]
        assert not re.search(r"<(script|b|i)>", body)


def test_pages_of_some_students_leave_the_others(folder, config, capsys):
    there = {path: path.read_bytes() for path in (folder / "report-students").iterdir()}
    where = ("--into", str(folder), "--output", str(folder / "one.html"))
    assert commands.main(["report", "quiz", "--student", "ben", "--json", *where]) == 0
    assert '"pages": 1' in capsys.readouterr().out
    assert {path: path.read_bytes() for path in (folder / "report-students").iterdir()} == there
    text = text_of(folder / "one.html")
    assert "Scores of 1 student" in text
    assert "Eve" not in text
    (folder / "one.html").unlink()


def test_a_mean_of_earlier_shares_does_not_flag_by_rounding(folder, config):
    standing = read_standing(sqlite_url(folder), folder, datetime(2026, 2, 20))
    assert calls.reasons(standing, "ben", "quiz") == []
    assert calls.reasons(standing, "dee", "complexity") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_are_accessible(folder, chromium, scheme):
    context = chromium.new_context(color_scheme=scheme)
    tab = context.new_page()
    try:
        pages = ["report-quiz.html", "report-students.html", "report-students/ben.html"]
        for name in pages:
            page = WatchedPage(tab)
            tab.set_viewport_size({"width": 900, "height": 700})
            tab.goto((folder / name).as_uri())
            tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.axe() == []
            for width in (375, 320):
                tab.set_viewport_size({"width": width, "height": 700})
                assert page.overflow() == 0, (name, width)
                assert tab.evaluate(BROKEN_WORDS) == [], (name, width)
            ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}[scheme]
            tab.emulate_media(media="print")
            assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
            tab.emulate_media(media="screen")
            assert page.problems == []
    finally:
        context.close()
