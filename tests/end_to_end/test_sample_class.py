"""The sample class, graded from the released notebook to feedback and CSV."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.utils import is_solution
from traitlets.config import Config

from grader import __main__ as commands
from grader.command_line import sample_class
from grader.command_line.grading import grade
from grader.course import nbgrader_for
from grader.gradebook import reading
from grader.releasing.answer_files import fill, read_answers
from grader.releasing.release import generate
from grader.reporting.export import FORMULA_STARTS
from grader.reporting.results import Result
from grader.reporting.summary import table
from grader.running.pipeline import Run
from tests.exercises.proof.notebook import read, secret_lines
from tests.grader.gradebook.rows import rows

pytestmark = pytest.mark.usefixtures("runs_share_a_sandbox")

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"


@dataclass
class Class:
    folder: Path
    results: dict[str, Result]

    def graded_notebook(self, student: str) -> Path:
        return self.folder / "autograded" / student / ASSIGNMENT / NOTEBOOK

    def feedback(self, student: str) -> str:
        page = self.folder / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        return page.read_text(encoding="utf-8")

    def feedback_text(self, student: str) -> str:
        """Return the visible text in one line."""
        body = self.feedback(student).partition("<body>")[2]
        return " ".join(html.unescape(re.sub(r"<[^>]+>", "", body)).split())


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory) -> Class:
    folder = tmp_path_factory.mktemp("class")
    graded = sample_class.grade_sample_class(into=folder)
    assert graded.without_feedback == {}
    return Class(folder, {result.student: result for result in graded.results})


@pytest.fixture(scope="module")
def expected(root) -> dict[str, dict[str, str]]:
    with (root / "tests/sample_class/expected.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def grades(graded_class) -> list[dict[str, str]]:
    with (graded_class.folder / f"grades-{ASSIGNMENT}.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def roster() -> dict[str, tuple[str, str]]:
    return sample_class.read_roster(sample_class.SAMPLE / "roster.csv")


class TestScores:
    def test_every_answer_has_a_student_and_an_expectation(self, root, expected, roster):
        answers = {path.stem for path in (root / "tests/sample_class/answers").glob("*.py")}
        assert answers == set(expected) == set(roster)

    def test_scores_are_exactly_as_expected(self, graded_class, expected):
        for student, result in graded_class.results.items():
            row = expected[student]
            wanted = {cell: float(row[cell]) for cell in result.entry.points if row[cell]}
            assert result.entry.scores == wanted, student
            assert result.status == row["status"], student

    def test_likely_causes_are_named(self, graded_class, expected):
        for student, result in graded_class.results.items():
            assert list(result.mistakes) == expected[student]["mistakes"].split(), student

    def test_written_answers_need_manual_grading(self, graded_class):
        waiting = {s for s, result in graded_class.results.items() if result.entry.to_read}
        assert set(graded_class.results) - waiting == {"blank", "half-done"}

    def test_the_gradebook_has_the_same_scores(self, graded_class, roster):
        entries = reading.entries(reading.sqlite_url(graded_class.folder), ASSIGNMENT)
        learners = reading.learners(reading.sqlite_url(graded_class.folder))
        assert {student: learner[:2] for student, learner in learners.items()} == roster
        assert entries.keys() == roster.keys()
        with sqlite3.connect(graded_class.folder / "gradebook.db") as database:
            rows = database.execute(
                "select s.student_id, sum(g.auto_score) from grade g"
                " join submitted_notebook n on n.id = g.notebook_id"
                " join submitted_assignment s on s.id = n.assignment_id group by s.student_id"
            ).fetchall()
        assert dict(rows) == {s: result.score for s, result in graded_class.results.items()}

    def test_the_summary_matches_the_class(self, graded_class, expected):
        summary = json.loads((graded_class.folder / "summary.json").read_text(encoding="utf-8"))
        scores = [result.score for result in graded_class.results.values()]
        assert summary == {
            "graded": len(expected),
            "failed": 0,
            "full_marks": 3,
            "to_read": len(expected) - 2,
            "points": 20,
            "mean": round(sum(scores) / len(scores), 2),
            "feedback": str(graded_class.folder / "feedback"),
            "grades": str(graded_class.folder / f"grades-{ASSIGNMENT}.csv"),
        }

    def test_the_readme_says_what_the_report_shows(self, root, graded_class):
        report = (graded_class.folder / f"report-{ASSIGNMENT}.html").read_text(encoding="utf-8")
        scores = re.search(
            r"Scores of (\d+) students: from (\S+) to (\S+) of (\S+) points, median (\S+),", report
        )
        hardest = re.search(r"The hardest cell is (\w+)-tests: (\d+)% of its points", report)
        calls = re.findall(r"<li>.*: \d+% in dot-products, where the median", report)
        readme = " ".join((root / "README.md").read_text(encoding="utf-8").split())
        assert (
            "The report on a graded class of {}: a histogram of the scores, from {} to {} of {} "
            "points with a median of {}, and the names of {} students who need a call, with the "
            "reason. The hardest cell is {}, with {} % of its points on average."
        ).format(*scores.groups(), len(calls), *hardest.groups()) in readme

    def test_the_table_has_a_line_for_each_student(self, graded_class):
        lines = table(list(graded_class.results.values())).splitlines()
        assert len(lines) == 1 + len(graded_class.results)
        line = next(line for line in lines if line.startswith("divides-by-d-k"))
        assert line.split() == ["divides-by-d-k", "14", "of", "20", "to", "read", "divide-by-d_k"]


class TestFeedback:
    def test_it_contains_the_expected_hint(self, graded_class, expected):
        for student in graded_class.results:
            assert expected[student]["told"] in graded_class.feedback_text(student), student

    def test_it_shows_the_answers_and_the_visible_tests(self, graded_class):
        text = graded_class.feedback_text("divides-by-d-k")
        assert "return softmax(score_matrix(q, k) / d_k) @ v" in text
        assert "Score: 14.0 / 20.0" in text
        assert 'check.part("attention of one query", points=1)' in text

    def test_no_line_of_a_hidden_test_or_a_solution_is_in_it(self, graded_class, root):
        cells = read(root / "solutions" / ASSIGNMENT / NOTEBOOK)
        answers = [cell for cell in cells if is_solution(cell)]
        lines = secret_lines([cell for cell in cells if cell not in answers])
        hidden = [" ".join(line.split()) for line in lines if line != "}"]
        assert len(hidden) > 20
        for student in graded_class.results:
            text = graded_class.feedback_text(student)
            assert [line for line in hidden if line in text] == [], student
            assert "HIDDEN" not in text

    def test_it_needs_no_other_host(self, graded_class):
        page = graded_class.feedback("divides-by-d-k")
        assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", page) == []
        assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", page) == []


class TestCsv:
    def test_it_has_every_student_with_name_and_points(self, grades, graded_class, roster):
        assert [row["student"] for row in grades] == sorted(roster)
        for row in grades:
            result = graded_class.results[row["student"]]
            assert float(row["score"]) == result.score
            assert float(row["points"]) == 20
            assert row["status"] == result.status
            assert row["mistakes"].split() == list(result.mistakes)
            first, last = roster[row["student"]]
            assert row["first_name"].removeprefix("'") == first
            assert row["last_name"].removeprefix("'") == last

    def test_cells_are_in_the_order_of_the_notebook(self, grades, expected, graded_class):
        cells = list(grades[0])[9:]
        assert cells == list(expected["blank"])[1:8]
        for row in grades:
            scores = graded_class.results[row["student"]].entry.scores
            assert {c: float(row[c]) for c in cells if row[c]} == scores

    def test_texts_are_quoted_and_no_cell_is_a_formula(self, graded_class, grades):
        text = (graded_class.folder / f"grades-{ASSIGNMENT}.csv").read_text(encoding="utf-8-sig")
        formula = '\'=HYPERLINK(""http://example.org"")'
        assert f'"Sheet","{formula}"' in text
        assert '"\'-Minus","\'+Plus"' in text
        assert '"\'@Home"' in text
        assert '"van \'t Hoff","Ruth, Jr."' in text
        cells = [cell for row in grades for cell in row.values()]
        assert [cell for cell in cells if cell.startswith(FORMULA_STARTS)] == []


class TestAgain:
    def test_an_unchanged_class_is_not_graded_again(self, graded_class):
        names = [f"grades-{ASSIGNMENT}.csv", "summary.json", "gradebook.db"]
        before = {name: (graded_class.folder / name).read_bytes() for name in names}
        page = graded_class.folder / "feedback/blank/dot-products/dot-products.html"
        written = page.stat().st_mtime_ns
        begun = []
        results = sample_class.grade_sample_class(
            into=graded_class.folder, progress=begun.append
        ).results
        assert begun == []
        assert {result.student: result for result in results} == graded_class.results
        assert page.stat().st_mtime_ns == written
        for name in names[:2]:
            assert (graded_class.folder / name).read_bytes() == before[name]

    def test_only_a_changed_submission_is_graded_again(self, graded_class, root, tmp_path):
        shutil.copytree(graded_class.folder, tmp_path, dirs_exist_ok=True)
        path = tmp_path / "submitted" / "blank" / ASSIGNMENT / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        answers = read_answers(root / "tests/sample_class/answers/half-done.py")
        fill(notebook, answers)
        nbformat.write(notebook, path)
        begun = []
        results = grade(
            Run(ASSIGNMENT, tmp_path / "submitted", tmp_path),
            progress=lambda line: begun.append(str(line)),
        ).results
        assert begun == ["graded 1 of 1: blank", "feedback 1 of 1: blank"]
        scores = {result.student: result.score for result in results}
        before = {student: result.score for student, result in graded_class.results.items()}
        assert scores == before | {"blank": 5.0}
        page = tmp_path / "feedback/blank/dot-products/dot-products.html"
        assert "Score: 5.0 / 20.0" in page.read_text(encoding="utf-8")

    def test_a_deleted_cell_loses_its_points(self, graded_class, tmp_path):
        """One student resubmits without some cells; another submits a notebook without any."""
        student = "full-marks-loops"
        for name in ("submitted", "autograded", "feedback"):
            shutil.copytree(graded_class.folder / name / student, tmp_path / name / student)
        for name in ("gradebook.db", f"graded-{ASSIGNMENT}.jsonl"):
            shutil.copy(graded_class.folder / name, tmp_path)
        path = tmp_path / "submitted" / student / ASSIGNMENT / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        deleted = ("score-matrix-tests", "shapes", "in-words")
        notebook.cells = [cell for cell in notebook.cells if cell.id not in deleted]
        nbformat.write(notebook, path)
        bare = tmp_path / "submitted" / "nothing-left" / ASSIGNMENT / NOTEBOOK
        bare.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(), bare)
        run = Run(ASSIGNMENT, tmp_path / "submitted", tmp_path, add_students=True)

        results = grade(run).results

        # A deleted test is restored; deleted answers score nothing.
        kept, bare = results
        assert (kept.student, kept.score, kept.points, kept.lost) == (student, 16, 20, 4)
        assert kept.status == "graded, without shapes and in-words"
        assert kept.entry.scores["score-matrix-tests"] == 2
        assert kept.entry.scores["shapes-tests"] == kept.entry.scores["in-words"] == 0
        assert any("score-matrix-tests" in remark for remark in kept.remarks)
        assert (bare.student, bare.score, bare.lost) == ("nothing-left", 0, 20)
        assert bare.status.startswith("graded, without learner-id, score-matrix")
        page = tmp_path / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        assert "Score: 16.0 / 20.0" in page.read_text(encoding="utf-8")
        assert grade(run).results == results

    def test_ungradable_submissions_are_reported_without_score(
        self, graded_class, tmp_path, capsys
    ):
        """Two students resubmit, one with a broken file, the other with an empty folder."""
        for name in ("submitted", "autograded", "feedback"):
            for student in ("full-marks-loops", "half-done", "overflows"):
                shutil.copytree(graded_class.folder / name / student, tmp_path / name / student)
        for name in ("gradebook.db", f"graded-{ASSIGNMENT}.jsonl"):
            shutil.copy(graded_class.folder / name, tmp_path)
        submitted = tmp_path / "submitted"
        (submitted / "full-marks-loops" / ASSIGNMENT / NOTEBOOK).write_text('{"cells": [')
        (submitted / "half-done" / ASSIGNMENT / NOTEBOOK).unlink()

        arguments = ["grade", ASSIGNMENT, "--submitted", str(submitted), "--into", str(tmp_path)]
        status = commands.main(arguments)

        assert status == 1
        out = capsys.readouterr().out
        assert re.search(
            r"^full-marks-loops +failed: the file is not a notebook", out, re.MULTILINE
        )
        assert re.search(r"^half-done +failed: nothing submitted", out, re.MULTILINE)
        assert re.search(r"^overflows +16 of 20 +to read", out, re.MULTILINE)
        assert "1 submission graded" in out
        assert "2 could not be graded" in out
        entries = reading.entries(reading.sqlite_url(tmp_path), ASSIGNMENT)
        assert {"full-marks-loops", "half-done"} & set(entries) == set()
        for student in ("full-marks-loops", "half-done"):
            assert not (tmp_path / "feedback" / student / ASSIGNMENT).exists()
            assert not (tmp_path / "autograded" / student / ASSIGNMENT).exists()
        with (tmp_path / f"grades-{ASSIGNMENT}.csv").open(encoding="utf-8-sig", newline="") as file:
            grades = {row["student"]: row for row in csv.DictReader(file)}
        handed_in = ("full-marks-loops", "half-done", "overflows")
        assert [grades[student]["score"] for student in handed_in] == ["", "", "16.0"]
        # The file lists everyone who was ever graded into this folder.
        assert len(grades) == len(graded_class.results)


class TestStockNbgrader:
    """nbgrader's own commands give the same results with the course's configuration."""

    # nbgrader's own code adds rows in an order about which SQLAlchemy 2.1 warns.
    @pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
    @pytest.mark.usefixtures("kernels_start_warm")
    def test_stock_autograde_gives_the_same_rows(self, graded_class, roster, tmp_path):
        """Every score, comment and flag in the gradebook equals what stock nbgrader enters."""
        url = reading.sqlite_url(tmp_path)
        generate(ASSIGNMENT, tmp_path / "released", db_url=url)
        with Gradebook(url, "attention") as book:
            for student, (first, last) in roster.items():
                book.add_student(student, first_name=first, last_name=last)
        folders = {
            "submitted_directory": graded_class.folder / "submitted",
            "autograded_directory": tmp_path / "autograded",
            "db_url": url,
        }
        stock = {
            name: [
                step.__module__ + "." + step.__name__ for step in getattr(Autograde, name).default()
            ]
            for name in ("sanitize_preprocessors", "autograde_preprocessors")
        }
        done = nbgrader_for(folders, Config({"Autograde": stock})).autograde(ASSIGNMENT, "*")
        assert done["success"], done
        ours = rows(reading.sqlite_url(graded_class.folder))
        assert ours == rows(url)
        assert len(ours["grade"]) == len(roster) * 7

    def test_from_release_to_feedback(self, graded_class, root, tmp_path, warm_nbgrader):
        shutil.copy(root / "nbgrader_config.py", tmp_path)
        shutil.copytree(root / "solutions", tmp_path / "solutions")
        shutil.copytree(
            root / "grader" / "reporting" / "templates",
            tmp_path / "grader" / "reporting" / "templates",
        )
        student = "rounds-midway"
        shutil.copytree(
            graded_class.folder / "submitted" / student, tmp_path / "submitted" / student
        )
        for command in ("generate_assignment", "autograde", "generate_feedback"):
            done = warm_nbgrader.run([command, ASSIGNMENT], tmp_path)
            assert done.returncode == 0, done.stderr
        released = (tmp_path / "exercises" / ASSIGNMENT / NOTEBOOK).read_bytes()
        assert released == (root / "exercises" / ASSIGNMENT / NOTEBOOK).read_bytes()
        entries = reading.entries(reading.sqlite_url(tmp_path), ASSIGNMENT)
        assert entries[student].scores == graded_class.results[student].entry.scores
        page = tmp_path / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        assert "HIDDEN" not in page.read_text(encoding="utf-8")
        assert "cdnjs" not in page.read_text(encoding="utf-8")

    def test_validate_accepts_right_answers(self, graded_class, tmp_path, warm_nbgrader):
        submitted = graded_class.folder / "submitted" / "full-marks-loops" / ASSIGNMENT
        shutil.copy(submitted / NOTEBOOK, tmp_path)
        said = warm_nbgrader.run(["validate", NOTEBOOK], tmp_path)
        assert said.stdout.strip() == "Success! Your notebook passes all the tests."

    def test_validate_rejects_the_stub(self, root, tmp_path, warm_nbgrader):
        shutil.copy(root / "exercises" / ASSIGNMENT / NOTEBOOK, tmp_path)
        said = warm_nbgrader.run(["validate", NOTEBOOK], tmp_path)
        # The six test cells and the written answer fail.
        assert said.stdout.startswith("VALIDATION FAILED ON 7 CELL(S)!")
        errors = re.findall(r"The error was:\n\n(.*?)\n\n", said.stdout, re.DOTALL)
        assert len(errors) == 7
        assert "score_matrix: not written yet." in errors[0]
        # nbgrader truncates long lines with dots, so lines of our reports must be short enough.
        assert [line for error in errors for line in error.splitlines() if "..." in line] == []
