"""Totals over the term: the guide's example, what counts as 0, and slips in the options."""

from __future__ import annotations

import csv
import json
import os
import re
from datetime import timedelta
from fractions import Fraction

import nbformat
import pytest
from nbgrader.api import Gradebook
from traitlets import TraitError
from traitlets.config import Config

from grader import course
from grader.command_line import commands
from grader.gradebook.reading import max_scores, sqlite_url
from grader.gradebook.writing import Entered, GradebookWriter
from grader.judging.verdict import FAILED, GRADED, Verdict
from grader.reporting import export
from grader.reporting.totals.counting import Work, count
from grader.reporting.totals.term import Totals, term
from grader.running import journal
from grader.running.journal import Journal, Line
from tests.grader.gradebook.server import with_tables

POINTS = {"masking": 12.0, "complexity": 10.0, "quiz": 4.0}
#: Each student's scores; without one, nothing was handed in. None: it could not be graded.
SCORES = {
    "ada": {"masking": 9, "complexity": 5, "quiz": 4},
    "ben": {"masking": 6, "complexity": 10},
    "cy": {"masking": None, "complexity": 8, "quiz": 3},
    "=di": {},
}


def notebook(points: float) -> bytes:
    """Return an instructor's notebook with one test cell."""
    settings = {"grade": True, "solution": False, "locked": True, "task": False}
    cell = nbformat.v4.new_code_cell("assert True", id="the-tests")
    cell.metadata.nbgrader = {
        "grade_id": "the-tests", "points": points, "schema_version": 3, "cell_type": "code",
    } | settings  # fmt: skip
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A class with verdicts in gradebook and journal, and with a late penalty of Ada's."""
    folder = tmp_path_factory.mktemp("class")
    url = with_tables(sqlite_url(folder))
    for name, points in POINTS.items():
        verdicts = [
            Verdict(name, student, FAILED, reason="no notebook")
            if scores[name] is None
            else Verdict(
                name,
                student,
                GRADED,
                scores={"the-tests": float(scores[name])},
                points={"the-tests": points},
            )
            for student, scores in SCORES.items()
            if name in scores
        ]
        with GradebookWriter(url, name, notebook(points), course.configuration()) as writer:
            writer.enter_names({"ada": ("Ada", "@Lovelace"), "=di": ("Di", "Dee")})
            assert writer.enter([Entered(verdict) for verdict in verdicts]) == {}
        with Journal(journal.path_in(folder, name)) as lines:
            lines.add([Line.of(verdict, verdict.student) for verdict in verdicts])
    with Gradebook(url, "attention") as gradebook:
        gradebook.find_submission_notebook("quiz", "quiz", "ada").late_submission_penalty = 1.0
        gradebook.update_or_create_assignment("dot-products")  # a deadline, but no grades yet
        gradebook.db.commit()
    return folder


def totals(folder, **options) -> dict:
    found = term(sqlite_url(folder), folder, Totals(config=Config({"Totals": options})))
    return {one.student: one for one in found.students}


def test_the_guide_computes_its_example(root):
    """The table and the arithmetic that the guide shows are recomputed, in fractions."""
    text = (root / "book/instructor-guide.md").read_text("utf-8").partition("### Totals over")[2]
    block = re.search(r"^```python\n(c\.Totals.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    config = Config()
    exec(block, {"c": config})
    weights, number = config.Totals.weights, config.Totals.drop_lowest
    rows = re.findall(
        r"^\| ([a-z-]+) \| (\d+) of (\d+) \| (\d+) % \| (\d+) \|$", text, re.MULTILINE
    )
    assert {name: int(weight) for name, *_, weight in rows} == {
        name: weights[name] for name, *_ in rows
    }
    shares = {name: Fraction(int(got), int(of)) for name, got, of, *_ in rows}
    assert [int(percent) for *_, percent, _ in rows] == [100 * share for share in shares.values()]
    excused = [name for name, ids in config.Totals.excused.items() if "ada" in ids]
    assert excused == ["variance-growth"]
    kept = sorted(shares, key=shares.__getitem__)[number:]
    total = sum(weights[name] * shares[name] for name in kept) / sum(weights[n] for n in kept)
    assert re.search(r"a total of (\d+) %", text)[1] == f"{float(100 * total):g}"
    works = [Work(name, float(got), float(of), weights[name]) for name, got, of, *_ in rows]
    counted = count(works, number)
    assert counted.total == pytest.approx(float(100 * total))
    assert set(counted.dropped) == set(shares) - set(kept)


def test_without_options_a_total_is_the_share_of_all_points(folder):
    found = totals(folder)
    assert {student: one.total for student, one in found.items()} == pytest.approx(
        {"ada": 100 * 17 / 26, "ben": 100 * 16 / 26, "cy": 100 * 11 / 26, "=di": 0}
    )
    assert found["ben"].missing == ("quiz",)
    assert (found["cy"].failed, found["cy"].missing) == (("masking",), ())
    assert found["=di"].missing == ("complexity", "masking", "quiz")


def test_extra_time_before_any_hand_in_makes_no_assignment_count(folder):
    """It adds cells with points to the gradebook, as a grade does."""
    url = with_tables(sqlite_url(folder))
    before = totals(folder)
    with GradebookWriter(url, "week-9", notebook(5.0), course.configuration()) as writer:
        writer.extend("ada", timedelta(days=2))
    with GradebookWriter(url, "quiz", notebook(4.0), course.configuration()) as writer:
        writer.extend("ben", timedelta(days=2))  # others were graded: it stays missing
    assert max_scores(url)["week-9"] == 5.0
    found = term(url, folder, Totals())
    assert sorted(found.max_scores) == sorted(POINTS)
    assert {one.student: one for one in found.students} == before
    weighted = term(url, folder, Totals(weights={"week-9": 1.0, "quiz": 1.0}))
    assert (weighted.not_graded, [*weighted.max_scores]) == (("week-9",), ["quiz"])


def test_weights_dropping_and_excuses(folder):
    found = totals(
        folder,
        weights={"masking": 3.0, "quiz": 1.0, "dot-products": 2.0, "complexity": 0.0},
        drop_lowest=1,
        excused={"masking": ["cy", "=di"], "quiz": ["=di"]},
    )
    assert found["ada"].total == pytest.approx(
        75
    )  # 9 of 12 and, late, 3 of 4: of equals the heavier
    assert found["ada"].dropped == ("masking",)
    assert (found["ben"].total, found["ben"].dropped) == (50, ("quiz",))
    # What is left after excuses is not dropped, and nobody is failed by what was excused.
    assert (found["cy"].total, found["cy"].dropped, found["cy"].excused) == (75, (), ("masking",))
    assert (found["cy"].failed, found["=di"].total) == ((), None)


def test_dropping_never_lowers_a_total():
    shares = [(n * 7 % 11, 1 + n * 5 % 3) for n in range(9)]
    works = [Work(f"a{n}", share, 10, weight) for n, (share, weight) in enumerate(shares)]
    found = [count(works, number) for number in range(12)]
    assert sorted(one.total for one in found) == [one.total for one in found]
    assert [len(one.dropped) for one in found] == [*range(9), 8, 8, 8]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": {"maskin": 1.0}}, "'maskin', which is no assignment. Did you mean masking?"),
        ({"excused": {"quizz": ["ada"]}}, "'quizz', which is no assignment. Did you mean quiz?"),
        ({"excused": {"quiz": ["adaa"]}}, "'adaa', who is not in the gradebook. Did you mean ada?"),
        ({"weights": {"quiz": 0.0}}, "no positive weight"),
        ({"weights": {"quiz": float("nan")}}, "weights['quiz'] is nan, not a number of at least 0"),
        ({"weights": {"quiz": float("inf")}}, "weights['quiz'] is inf, not a number of at least"),
        ({"weights": {"masking": 1.0, "quiz": -1}}, "weights['quiz'] is -1, not a number of at"),
    ],
)
def test_a_slip_in_an_option_changes_no_total(folder, options, told):
    with pytest.raises(course.ConfigurationFailed, match=re.escape(told)):
        totals(folder, **options)


@pytest.mark.parametrize(
    "options", [{"weights": {"quiz": "2"}}, {"drop_lowest": -1}, {"excused": {"quiz": "ada"}}]
)
def test_a_value_that_an_option_cannot_have_is_refused(options):
    with pytest.raises(TraitError):
        Totals(config=Config({"Totals": options}))


def test_the_command_writes_what_platforms_import(folder, monkeypatch, capsys):
    config = Config({"Totals": {"drop_lowest": 1, "excused": {"masking": ["=di"]}}})
    monkeypatch.setattr(course, "configuration", lambda: config)
    rows = {}
    for form in export.FORMATS:
        assert commands.main(["totals", "--into", str(folder), "--format", form]) == 0
        path = folder / f"grades-total{'' if form == 'csv' else f'-{form}'}.csv"
        out = capsys.readouterr().out
        assert out.startswith(f"Totals of 4 students over 3 assignments in {path}.\n")
        assert "takes 1 id for a formula (=di)" in out
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows[form] = list(csv.reader(file))
    head, _, ada, *_ = rows["csv"]
    assert dict(zip(head, ada, strict=True)) == {
        "student": "ada", "last_name": "'@Lovelace", "first_name": "Ada", "total": "75.0",
        "complexity (of 10)": "5.0", "masking (of 12)": "9.0", "quiz (of 4)": "3.0",
        "dropped": "complexity", "excused": "", "missing": "", "failed": "", "to_read": "",
    }  # fmt: skip
    assert rows["canvas"][0][-1] == "Term total"
    assert rows["canvas"][1][-1] == "100.0"
    assert rows["canvas"][3] == ["'@Lovelace, Ada", "", "", "ada", "", "75.0"]
    assert rows["moodle"][0][-2:] == ["Term total", "Term total feedback"]
    assert rows["moodle"][1] == [
        *("=di", "Dee", "Di", "0.0"),
        "Dropped: complexity. Excused: masking.",
    ]
    assert rows["blackboard"][2] == ["'@Lovelace", "Ada", "ada", "75.0"]
    assert rows["brightspace"][2] == ["ada", "75.0", "#"]
    assert commands.main(["totals", "--into", str(folder), "--student", "zoe"]) == 2
    assert "expected assignments of 'zoe' that are graded" in capsys.readouterr().err


def test_totals_as_json(folder, capsys):
    path = folder / "totals.csv"
    where = ("--into", str(folder), "--output", str(path), "--student", "[ac]*")
    assert commands.main(["totals", "--json", *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["exit_status"], found["file"], found["points"]) == (0, str(path), POINTS)
    ada, cy = found["students"]
    # Ada has a late penalty of one point in the quiz.
    assert ada["scores"] == {"complexity": 5, "masking": 9, "quiz": 3}
    assert ada["total"] == pytest.approx(100 * 17 / 26)
    assert (cy["failed"], cy["missing"], cy["dropped"]) == (["masking"], [], [])
    assert path.exists()


def test_a_reader_that_has_ended_ends_a_command_quietly(folder, monkeypatch, capsys):
    """As in `grader totals --json | head`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as nobody_reads:
        monkeypatch.setattr("sys.stdout", nobody_reads)
        where = ("--into", str(folder), "--output", str(folder / "totals.csv"))
        assert commands.main(["totals", "--json", *where]) == 141
        assert capsys.readouterr().err == ""
