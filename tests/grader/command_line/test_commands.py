"""What the grading commands print, write and return, with the real judge."""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader import course
from grader.command_line import actions, commands
from grader.course import EXERCISES, ROOT, SOLUTIONS, configuration
from grader.gradebook import reading
from grader.running import journal
from tests.grader.gradebook.rows import rows

pytestmark = pytest.mark.usefixtures("runs_share_a_sandbox")

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
STUB = (EXERCISES / ASSIGNMENT / NOTEBOOK).read_bytes()
NO_NOTEBOOKS = {
    "empty": b"",
    "text": b"def softmax(scores): ...",
    "list": b"[]",
    "bytes": b"\xff\xfe\x00",
    "cells-are-a-number": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}',
}


@pytest.fixture
def hand_in(tmp_path):
    """A function that writes a student's file below the folder `submitted`."""

    def write(student: str, content: bytes, name: str = NOTEBOOK) -> None:
        path = tmp_path / "submitted" / student / ASSIGNMENT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return write


@pytest.fixture
def run(tmp_path, capsys):
    """A function that runs a command on the folder and returns its exit status and outputs."""

    def main(command: str, *arguments: str) -> tuple[int, str, str]:
        where = ["--into", str(tmp_path)]
        if command in ("grade", "autograde"):
            where += ["--submitted", str(tmp_path / "submitted")]
        status = commands.main([command, ASSIGNMENT, *where, *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return main


def grades(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / f"grades-{ASSIGNMENT}.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_from_grading_to_the_report(hand_in, run, tmp_path):
    """Stubs get no points, and files that are not notebooks get a plain reason."""
    for student, content in NO_NOTEBOOKS.items():
        hand_in(student, content)
    hand_in("ada", STUB)
    hand_in("bo", STUB, "Dot Products (1).ipynb")
    hand_in("cleo", STUB, "b.ipynb")
    hand_in("cleo", STUB, "a.ipynb")
    hand_in("eve", (EXERCISES / "masking" / "masking.ipynb").read_bytes())
    (tmp_path / "submitted" / "dan").mkdir()

    status, out, err = run("grade")

    assert (status, err) == (1, "")
    assert "Error" not in out
    assert "bo: 'Dot Products (1).ipynb' was used in place of dot-products.ipynb." in out
    assert "2 submissions graded, 0 lost no point, mean 0 of 20 points." in out
    assert "8 could not be graded." in out
    lines = grades(tmp_path)
    assert {s for s, row in lines.items() if row["score"] == "0.0"} == {"ada", "bo"}
    for student in NO_NOTEBOOKS:
        assert lines[student]["status"].startswith("failed: the file "), student
        assert lines[student]["score"] == ""
    assert lines["cleo"]["status"].startswith("failed: found 'a.ipynb' and 'b.ipynb'")
    assert lines["eve"]["status"].startswith(
        "failed: expected this assignment's notebook, found that of masking: "
    )
    assert lines["dan"]["status"] == "failed: nothing submitted: expected dot-products.ipynb"
    assert sorted(reading.entries(reading.sqlite_url(tmp_path), ASSIGNMENT)) == ["ada", "bo"]
    page = tmp_path / "feedback" / "bo" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert "was used in place of dot-products.ipynb" in page.read_text(encoding="utf-8")

    assert run("feedback", "--student", "a*") == (0, f"1 page in {tmp_path / 'feedback'}.\n", "")
    status, out, _ = run("export", "--format", "moodle")
    path = tmp_path / f"grades-{ASSIGNMENT}-moodle.csv"
    left_out = "bytes, cells-are-a-number, cleo, dan, empty, eve, list, text"
    assert (status, out) == (
        0,
        f"2 students in {path}.\nLeft out, because the work has no grade: 8 ({left_out}).\n",
    )
    assert [line.split(",")[0] for line in path.read_text(encoding="utf-8").splitlines()] == [
        '"username"',
        '"ada"',
        '"bo"',
    ]
    status, out, _ = run("report")
    assert (status, out.splitlines()) == (
        0,
        [
            f"{tmp_path / 'report-dot-products.html'}",
            f"{tmp_path / 'report-students.html'} and 10 pages in {tmp_path / 'report-students'}",
        ],
    )
    assert "cleo" in Path(out.splitlines()[0]).read_text(encoding="utf-8")


def test_what_an_update_does_to_grades_is_said_first(hand_in, run, tmp_path):
    """Grades stay with one option, also if the model answers would now be judged otherwise."""
    hand_in("ada", STUB)
    assert run("autograde")[0] == 0
    path = journal.path_in(tmp_path, ASSIGNMENT)
    line = json.loads(path.read_text(encoding="utf-8"))
    line["digest"], line["made_from"]["code"] = "older", "older"
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    status, out, err = run("autograde", "--keep-grades")
    assert (status, err) == (0, "")
    said = (
        "Changed since submissions were graded: the code of the course. 1 finished submission keeps"
    )
    assert " ".join(out.split()).startswith(said)
    assert "student  points" in out
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after["provenance"] == line["provenance"]
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    status, out, err = run("autograde", "--json")
    assert json.loads(out)["exit_status"] == status == 0
    assert "1 finished submission is judged again. To keep" in " ".join(err.split())
    *_, last = journal.read(path)
    assert last.provenance != line["provenance"]


def test_an_invalid_file_removes_the_earlier_grade(hand_in, run, tmp_path):
    hand_in("dora", STUB)
    assert run("grade")[0] == 0
    other = tmp_path / "feedback" / "dora" / "another" / "x.html"
    other.parent.mkdir()
    other.write_text("of another assignment")
    hand_in("dora", b"{}")
    assert run("grade")[0] == 1
    assert grades(tmp_path)["dora"]["score"] == ""
    assert reading.entries(reading.sqlite_url(tmp_path), ASSIGNMENT) == {}
    assert not (tmp_path / "autograded" / "dora").exists()
    assert [path.name for path in (tmp_path / "feedback" / "dora").iterdir()] == ["another"]


def test_an_error_in_a_test_ends_the_run_and_changes_nothing(hand_in, run, tmp_path, monkeypatch):
    """The test has one misspelled name, so it fails for every submission."""
    for student in ("ada", "bo"):
        hand_in(student, STUB)
    assert run("grade")[0] == 0
    with Gradebook(reading.sqlite_url(tmp_path)) as book:
        grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.find_comment("in-words", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Good."
        book.db.commit()
    assert run("grade")[0] == 0  # so that the report and the grades have points
    kept = ("feedback", "autograded", f"grades-{ASSIGNMENT}.csv", f"graded-{ASSIGNMENT}.jsonl")
    files = {path: path.read_bytes() for name in kept for path in files_in(tmp_path / name)}
    before = rows(reading.sqlite_url(tmp_path))
    right = (SOLUTIONS / ASSIGNMENT / NOTEBOOK).read_text(encoding="utf-8")
    word = 'check.part(\\"softmax of large scores\\"'
    assert right.count(word) == 1
    folder = tmp_path / "solutions" / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / NOTEBOOK).write_text(
        right.replace(word, word.replace("check", "checks")), encoding="utf-8"
    )
    monkeypatch.setattr(course, "SOLUTIONS", tmp_path / "solutions")

    status, out, err = run("grade")

    assert (status, out.count("\n\n")) == (2, 1)  # it says no more than what has changed
    assert out.startswith("Changed since submissions were graded: the assignment's notebook in ")
    assert err.startswith(
        f"{ASSIGNMENT}: the test cell softmax-tests raised NameError: name 'checks' is not defined."
    )
    assert f"Correct the cell in solutions/{ASSIGNMENT}/{NOTEBOOK}, then give the command" in err
    found = rows(reading.sqlite_url(tmp_path))
    assert {name: found[name] for name in found if name != "source cells"} == {
        name: before[name] for name in before if name != "source cells"
    }
    assert files == {path: path.read_bytes() for name in kept for path in files_in(tmp_path / name)}

    (folder / NOTEBOOK).write_text(right, encoding="utf-8")
    status, out, _ = run("grade")
    assert (status, out.splitlines()[1].split()) == (0, ["ada", "1.5", "of", "20", "graded"])


def files_in(path: Path) -> list[Path]:
    return [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]


def test_manual_scores_are_in_feedback_and_export(hand_in, run, tmp_path):
    notebook = nbformat.reads(STUB.decode("utf-8"), as_version=4)
    next(cell for cell in notebook.cells if cell.id == "in-words").source = "Because."
    hand_in("ada", nbformat.writes(notebook).encode("utf-8"))
    assert run("autograde")[0] == 0
    assert not (tmp_path / "feedback").exists()
    assert "\n1 has an answer that waits to be read, so the points" in run("export")[1]
    with Gradebook(reading.sqlite_url(tmp_path)) as book:
        grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
        assert grade.needs_manual_grade
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    assert run("grade")[1].splitlines()[1].split() == ["ada", "1.5", "of", "20", "graded"]
    assert grades(tmp_path)["ada"]["in-words"] == "1.5"
    page = tmp_path / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert "Score: 1.5 / 20.0" in page.read_text(encoding="utf-8")
    assert run("export")[1] == f"1 student in {tmp_path / 'grades-dot-products.csv'}.\n"


def test_the_gradebook_is_configured_or_in_the_given_folder(tmp_path, monkeypatch):
    elsewhere = configuration()
    elsewhere.CourseDirectory.db_url = "postgresql+psycopg://teacher@db/gradebook"
    monkeypatch.setattr(actions.course, "configuration", lambda: elsewhere)

    def meant(into: Path, db: str | None = None) -> str:
        return actions.gradebook_address(argparse.Namespace(into=into, db=db))

    assert meant(ROOT) == "postgresql+psycopg://teacher@db/gradebook"
    assert meant(tmp_path) == reading.sqlite_url(tmp_path)
    assert meant(ROOT, "sqlite:///mine.db") == "sqlite:///mine.db"


def test_missing_files_are_reported(hand_in, run, tmp_path):
    status, out, err = run("autograde")
    assert (status, out) == (2, "")
    assert err == (
        f"expected a folder of submissions, found no {tmp_path / 'submitted'}. Collect first: the "
        "guide for instructors says how.\n"
    )
    for command in ("feedback", "export", "report"):
        status, out, err = run(command, "--student", "b*")
        assert (status, out) == (2, "")
        assert err.startswith(f"expected graded work on {ASSIGNMENT} by 'b*' in {tmp_path}, found")
    hand_in("ada", STUB)
    status, out, err = run("autograde", "--student", "b*")
    assert (status, out) == (2, "")
    assert err == f"'b*' matches no folder in {tmp_path / 'submitted'}.\n"
    status, out, err = run("autograde", "--db", "sqlite:////no/such/folder/gradebook.db")
    assert (status, out) == (2, "")
    assert err == (
        "the gradebook could not be used: unable to open database file. Name an existing folder "
        "that you may write into.\n"
    )
    with journal.Journal(journal.path_in(tmp_path, ASSIGNMENT)):
        status, out, err = run("autograde")
    assert (status, out) == (2, "")
    assert "expected no other run" in err


def test_without_a_sandbox_nothing_is_graded_and_help_is_given(hand_in, tmp_path):
    hand_in("ada", STUB)
    command = [sys.executable, "-m", "grader", "autograde", ASSIGNMENT, "--into", str(tmp_path)]
    done = subprocess.run(
        [*command, "--submitted", str(tmp_path / "submitted")],
        cwd=ROOT,
        env=os.environ | {"PATH": "/no/such/folder"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "apt-get install bubblewrap" in done.stderr
    assert "Traceback" not in done.stderr
    assert reading.entries(reading.sqlite_url(tmp_path), ASSIGNMENT) == {}
    assert list(journal.read(journal.path_in(tmp_path, ASSIGNMENT))) == []


def test_a_run_without_isolation_prints_a_warning(hand_in, run):
    hand_in("ada", STUB)
    status, out, err = run("autograde", "--isolation", "none", "--workers", "1")
    assert status == 0
    assert "1 submission graded" in out
    assert err.startswith("WARNING: isolation is none. Learners' code runs unprotected")


@pytest.mark.parametrize("number", ["0", "-1"])
def test_the_number_of_workers_must_be_positive(run, capsys, number):
    with pytest.raises(SystemExit) as stop:
        run("autograde", "--workers", number)
    assert stop.value.code == 2
    assert f"expected a whole number of at least 1, got {number}" in capsys.readouterr().err
