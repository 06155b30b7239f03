"""Feedback in the form in which Moodle, Canvas and a mail merge take it.

`moodle_finds` and `canvas_finds` are what these platforms do with a name, after their source code.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import datetime

import nbformat
import pytest
from nbgrader.api import Base, Gradebook
from sqlalchemy import create_engine

from grader import __main__ as commands
from grader.course import configuration
from grader.files import replace_folder
from grader.gradebook.reading import Entry, Learner
from grader.judging.open_feedback import KEY
from grader.reporting import results as results_module
from grader.reporting.results import Result

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
POINTS = {"softmax-tests": 3.0, "in-words": 2.0}

STUDENTS = {
    "soren": ("Søren", "Ødegård", "102", "soren@example.org"),
    "ruth": ("Ruth", "=O'Brien", "103", "ruth@example.org"),
    "ada": ("Ada", "Lovelace", "101", "ada@example.org"),
    "bo": ("Bo", "Berg", "104", ""),
    "zoe": ("Zoë", "Zuse", "105", "=1+1@example.org"),
    "cy": ("Cy", "Young", "106", "cy@example.org"),
}


def moodle_finds(path: str) -> tuple[int, str] | None:
    """Return the number and the name of the file; mod/assign/feedback/file/importziplib.php."""
    parts = path.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    for place, part in enumerate(parts):
        pieces = part.split("_", 4)
        if len(pieces) >= 4 and pieces[1].isdigit() and pieces[2:4] == ["assignsubmission", "file"]:
            left = [*pieces[4:], *parts[place + 1 :]]
            return int(pieces[1]), "/".join(left).lstrip("/")
    return None


def canvas_finds(path: str) -> tuple[str, str] | None:
    """Return the learner's and the file's number; app/models/abstract_assignment.rb."""
    pieces = [piece for piece in path.rpartition("/")[2].split("_") if piece != "LATE"]
    numbers = [piece for piece in pieces if re.fullmatch(r"\d+", piece)][:2]
    return None if len(numbers) < 2 or pieces[-1].startswith("link") else (numbers[0], numbers[1])


def test_the_rules_of_the_platforms_refuse_other_names():
    assert moodle_finds("Ada_x_assignsubmission_file/a.html") is None
    assert moodle_finds("Default group_assignsubmission_file/a.html") is None
    assert moodle_finds("all/Ada_12_assignsubmission_file_/deep/a.html") == (12, "deep/a.html")
    assert canvas_finds("lovelaceada_101_a.ipynb") is None
    assert canvas_finds("lovelaceada_101_456_link.html") is None


def graded() -> str:
    """Return a graded notebook with a hidden line, and a right number that pages leave out."""
    tests = nbformat.v4.new_code_cell(
        "a = 1\n### BEGIN HIDDEN TESTS\nsecret = 2\n### END HIDDEN TESTS", id="tests"
    )
    tests.metadata["nbgrader"] = {
        "grade": True,
        "solution": False,
        "locked": True,
        "task": False,
        "schema_version": 3,
        "grade_id": "softmax-tests",
        "points": 3,
        "cell_type": "code",
    }
    tests.metadata[KEY] = "rows: 7 is not right."
    tests.outputs = [nbformat.v4.new_output("stream", text="rows: expected 5, got 7.")]
    taken = nbformat.v4.new_markdown_cell("An answer", id="feedback-0")
    return nbformat.writes(nbformat.v4.new_notebook(cells=[taken, tests]))


def of_student(student: str, **facts) -> Result:
    entry = Entry(
        student,
        {"softmax-tests": 1.5},
        dict(POINTS),
        ["in-words"],
        comments={"in-words": "Say *more*: ```x```"},
        **facts,
    )
    first, last, number, email = STUDENTS[student]
    learner = Learner(first, last, number, email)
    return Result(student, entry, remarks=("Cut & pasted.",), learner=learner)


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    """The address of a gradebook into which the class list was imported."""
    url = f"sqlite:///{tmp_path_factory.mktemp('gradebook')}/gradebook.db"
    engine = create_engine(url)
    Base.metadata.create_all(engine)  # without this, alembic would be started, which takes seconds
    engine.dispose()
    with Gradebook(url, configuration().CourseDirectory.course_id) as book:
        for student, (first, last, number, _) in STUDENTS.items():
            book.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    return url


@pytest.fixture
def give(gradebook, tmp_path, monkeypatch, capsys):
    """A function that gives the command in a graded class: its exit status, output and errors.

    bo's page is missing and cy has no grade.
    """
    found = [of_student(student) for student in STUDENTS if student != "cy"]
    found.append(Result("cy", None, reason="nothing submitted"))
    for result in found:
        notebook = tmp_path / "autograded" / result.student / ASSIGNMENT / NOTEBOOK
        page = tmp_path / "feedback" / result.student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        for path, text in ((notebook, graded()), (page, f"page of {result.student}")):
            if result.student != "bo" or path == notebook:
                path.parent.mkdir(parents=True)
                path.write_text(text, encoding="utf-8")

    def run(form: str, *options: str, due=None) -> tuple[int, str, str]:
        for result in found:
            if result.entry:
                result.entry.due = due
        monkeypatch.setattr(results_module, "results", lambda *_: found)
        of_class = ("--into", str(tmp_path), "--db", gradebook, "--downloads", str(tmp_path))
        status = commands.main(["return", ASSIGNMENT, "--format", form, *of_class, *options])
        return status, *capsys.readouterr()

    return run


def unpack(tmp_path, *paths: str) -> None:
    """Make the files that zip_collect unpacks."""
    for path in paths:
        file = tmp_path / "downloaded" / ASSIGNMENT / "extracted" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def members(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_pages_for_moodle(give, tmp_path):
    unpack(
        tmp_path,
        f"all/Søren Ødegård_12345_assignsubmission_file/{NOTEBOOK}",
        f"all/Ruth OBrien_12346_assignsubmission_file_/work/{NOTEBOOK}",
        f"all/Ada Lovelace_12347_assignsubmission_file_my_{NOTEBOOK}",
        f"all/Bo Berg_12348_assignsubmission_file/{NOTEBOOK}",
    )
    status, said, _ = give("moodle")
    path = tmp_path / f"return-{ASSIGNMENT}-moodle.zip"
    assert status == 0
    archive = tmp_path / "downloaded" / ASSIGNMENT / "extracted"
    assert said.splitlines()[:3] == [
        f"Feedback for 3 students in {path}.",
        "Without a page of feedback: 2 (bo, cy).",
        f"Moodle's archive in {archive} has no file that leads to them: 1 (zoe).",
    ]
    assert "5 have an answer that waits to be read" in said
    assert "then return again." in said
    found = {moodle_finds(name): page.decode() for name, page in members(path).items()}
    assert found == {
        (12345, f"{ASSIGNMENT}.html"): "page of soren",
        (12346, f"{ASSIGNMENT}.html"): "page of ruth",
        (12347, f"{ASSIGNMENT}.html"): "page of ada",
    }
    before = path.read_bytes()
    give("moodle")
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.glob("*return-*")} == {path.name}


def test_pages_of_a_group_for_moodle(give, tmp_path):
    folder = "Group A_57_assignsubmission_file"
    for member in ("ada", "soren"):
        unpack(tmp_path, f"for each member of a group/{member}/all/{folder}/{NOTEBOOK}")
    _, said, _ = give("moodle")
    assert "Moodle shows the pages of a group to all its members: 2 (soren, ada)." in said
    assert members(tmp_path / f"return-{ASSIGNMENT}-moodle.zip") == {
        f"{folder}/{ASSIGNMENT}-ada.html": b"page of ada",
        f"{folder}/{ASSIGNMENT}-soren.html": b"page of soren",
    }


def test_what_is_returned_as_json(give, tmp_path):
    unpack(tmp_path, f"all/Søren Ødegård_12345_assignsubmission_file/{NOTEBOOK}")
    status, said, _ = give("moodle", "--json")
    found = json.loads(said)
    place = str(tmp_path / f"return-{ASSIGNMENT}-moodle.zip")
    assert (status, found["exit_status"]) == (0, 0)
    assert (found["assignment"], found["place"], found["number"]) == (ASSIGNMENT, place, 1)
    assert found["told"]["Without a page of feedback"] == ["bo", "cy"]


def test_a_group_has_one_notebook_in_canvas(give, tmp_path):
    name = f"groupa_102_456_{NOTEBOOK}"
    for member in ("ada", "soren"):
        unpack(tmp_path, f"for each member of a group/{member}/all/{name}")
    _, said, _ = give("canvas")
    assert "Canvas shows the notebook of a group to all its members: 2 (soren, ada)." in said
    assert list(members(tmp_path / f"return-{ASSIGNMENT}-canvas.zip")) == [name]


@pytest.mark.parametrize("damaged", ["{", "[]", '{"cells": [1]}'])
def test_notebooks_for_canvas(give, tmp_path, damaged):
    second = f"odegardsoren_LATE_102_456_{ASSIGNMENT}-1.ipynb"
    first = f"lovelaceada_101_457_{NOTEBOOK}"
    unpack(
        tmp_path,
        f"all/{second}",
        f"all/lovelaceada_101_458_{ASSIGNMENT}-1.ipynb",
        f"all/{first}",
        f"all/obrienruth_103_459_work/{NOTEBOOK}",
        f"all/zusezoe_105_460_{NOTEBOOK}",
    )
    (tmp_path / "autograded" / "zoe" / ASSIGNMENT / NOTEBOOK).write_text(damaged)
    status, said, _ = give("canvas")
    assert status == 0
    assert said.splitlines()[0].startswith("Feedback for 2 students in ")
    assert "has no notebook that leads to them: 1 (ruth)." in said
    assert "The graded notebook cannot be read: 1 (zoe)." in said
    found = members(tmp_path / f"return-{ASSIGNMENT}-canvas.zip")
    assert [canvas_finds(name) for name in found] == [("101", "457"), ("102", "456")]
    assert set(found) == {first, second}
    notebook = nbformat.reads(found[second].decode(), as_version=4)
    nbformat.validate(notebook)
    summary, _, tests = notebook.cells
    assert summary.source == (
        f"# Feedback\n\n````text\n{ASSIGNMENT}: 1.5 of 5 points\n\n"
        "softmax-tests  1.5 of 3\nin-words       to be read, of 2\n\n"
        "Comment on in-words: Say *more*: ```x```\n\nCut & pasted.\n````"
    )
    assert tests.source == "a = 1"
    assert tests.outputs[0].text == "rows: expected 5, got 7."


def test_right_numbers_are_left_out_of_notebooks_until_the_deadline(give, tmp_path):
    unpack(tmp_path, f"all/odegardsoren_102_456_{NOTEBOOK}")
    give("canvas", due=datetime(9999, 1, 1))
    (notebook,) = members(tmp_path / f"return-{ASSIGNMENT}-canvas.zip").values()
    assert b"expected 5" not in notebook
    assert b"rows: 7 is not right." in notebook
    assert b"Right numbers are left out" in notebook


def test_a_folder_for_a_mail_merge(give, tmp_path):
    folder = tmp_path / f"return-{ASSIGNMENT}-mail"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "of-somebody-who-left.html").touch()
    status, said, _ = give("mail")
    assert status == 0
    assert said.splitlines()[0] == f"Feedback for 4 students in {folder}."
    assert "Not in students.csv, because the class list has no email address, or" in said
    assert "has to stand there: 1 (zoe)." in said
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    pages = {f"pages/{student}/{ASSIGNMENT}.html" for student in ("ada", "ruth", "soren", "zoe")}
    assert files == pages | {"students.csv"}
    rows = list(csv.DictReader(io.StringIO((folder / "students.csv").read_text("utf-8"))))
    assert [row["id"] for row in rows] == ["soren", "ruth", "ada"]
    assert rows[1] == {
        "id": "ruth",
        "first_name": "Ruth",
        "last_name": "'=O'Brien",
        "email": "ruth@example.org",
        "points": "1.5",
        "max_points": "5.0",
        "page": f"pages/ruth/{ASSIGNMENT}.html",
        "path": str(folder / f"pages/ruth/{ASSIGNMENT}.html"),
    }
    assert {path.name for path in tmp_path.iterdir() if "return-" in path.name} == {folder.name}


def test_a_folder_that_cannot_be_written_stays_as_it_was(tmp_path):
    folder = tmp_path / "mail"
    replace_folder(folder, {"pages/a.html": b"old"})
    with pytest.raises(OSError, match="pages"):
        replace_folder(folder, {"pages": b"a file in the way", "pages/b.html": b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["mail"]
    assert [path.read_bytes() for path in folder.rglob("*.html")] == [b"old"]


def test_nothing_to_return_is_an_error(give, tmp_path):
    status, said, problem = give("moodle")
    assert (status, said) == (2, "")
    assert "expected what `nbgrader zip_collect dot-products` has unpacked in" in problem
    unpack(tmp_path, f"all/odegardsoren_102_456_{NOTEBOOK}")
    status, said, problem = give("moodle")
    assert (status, said) == (2, "")
    assert "expected feedback that can be returned, found none." in problem
    assert "has no file that leads to them: 4 (soren, ruth, ada, zoe)." in problem
    assert not list(tmp_path.glob("return-*"))


def test_a_group_list_that_cannot_be_read_is_a_sentence(give, tmp_path):
    unpack(tmp_path, f"all/odegardsoren_102_456_{NOTEBOOK}")
    (tmp_path / "groups.csv").write_text("team,id\n")
    status, _, problem = give("canvas")
    assert status == 2
    assert "expected the columns group and id, found ['team', 'id']" in problem
