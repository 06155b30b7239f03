"""In other nbgrader courses, scores equal those of nbgrader itself, cell by cell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.command_line import commands
from grader.command_line.other_course import OtherCourse
from grader.course import do_step, read_version_here
from tests.end_to_end.nbgrader_courses import COURSES, FIRST_PROGRAMS, Course
from tests.grader.judging.plain_notebooks import answer, filled, given, graded, notebook


def rows(folder: Path, assignment: str) -> set[tuple]:
    """Return what the gradebook has for each graded cell."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        return {
            (
                *(submission.student.id, notebook.name, grade.name, grade.auto_score),
                *(grade.manual_score, grade.needs_manual_grade, grade.max_score),
            )
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@pytest.fixture(scope="module", params=COURSES)
def both_graded(request, tmp_path_factory, kernels_start_warm):
    """A course that nbgrader has graded, and a copy of it from before that."""
    course = COURSES[request.param]
    folder = tmp_path_factory.mktemp("course")
    stock, ours = folder / "stock", folder / "ours"
    stock.mkdir()
    course.write(stock)
    read_version_here()
    config = Config({"CourseDirectory": {"root": str(stock)}})
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    do_step(api.generate_assignment, course.assignment)
    shutil.copytree(stock, ours)
    for student in sorted(api.get_submitted_students(course.assignment)):
        do_step(api.autograde, course.assignment, student)
    return course, stock, ours


def test_scores_are_those_of_nbgrader_itself(both_graded, capsys):
    course, stock, ours = both_graded
    assert commands.main(["course", str(ours), course.assignment]) == 0
    told = capsys.readouterr().out
    assert rows(ours, course.assignment) == rows(stock, course.assignment)
    inside = {
        line.split(" it: ")[1].split(", because ")[0]
        for line in told.splitlines()
        if " it: " in line
    }
    assert inside == course.inside
    # What learners hand in beside notebooks, and what executing it leaves, is not copied.
    own = {name for files in course.handed_in.values() for name in files} | {"__pycache__"}
    for path in (stock / "autograded").rglob("*"):
        copy = ours / "autograded" / path.relative_to(stock / "autograded")
        assert copy.exists() == own.isdisjoint(path.parts), path


def test_where_tests_run_is_said_without_grading(both_graded, capsys):
    course, _, ours = both_graded
    before = rows(ours, course.assignment)
    assert commands.main(["course", str(ours), course.assignment, "--placement"]) == 0
    assert "points" not in capsys.readouterr().out
    assert rows(ours, course.assignment) == before


@pytest.fixture
def first_programs(tmp_path):
    FIRST_PROGRAMS.write(tmp_path)
    return tmp_path


def test_a_folder_that_is_no_course_is_said(tmp_path, capsys):
    assert commands.main(["course", str(tmp_path), "ps1"]) == 2
    assert (
        f"expected nbgrader_config.py of an nbgrader course in {tmp_path}"
        in capsys.readouterr().err
    )


def test_a_mistake_in_the_configuration_is_said(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").write_text("c = get_conf()", encoding="utf-8")
    assert commands.main(["course", str(tmp_path), "ps1"]) == 2
    assert "nbgrader_config.py, line 1: NameError: " in capsys.readouterr().err


def test_an_unknown_assignment_and_nobody_who_handed_in_are_said(first_programs, capsys):
    assert commands.main(["course", str(first_programs), "week-9"]) == 2
    assert "expected the instructor's notebooks in" in capsys.readouterr().err
    assert commands.main(["course", str(first_programs), "functions", "--student", "z*"]) == 2
    assert "expected submissions in" in capsys.readouterr().err


def test_an_assignment_that_was_not_released_fails_and_is_told_how_to(first_programs, capsys):
    assert commands.main(["course", str(first_programs), "functions", "--student", "right"]) == 1
    told = capsys.readouterr().out
    assert "right: failed: No assignment with ID 'functions' exists in the database. Give " in told
    assert "`nbgrader generate_assignment functions` there first\n" in told


def test_a_course_as_json(first_programs, capsys):
    where = ["course", str(first_programs), "functions", "--json"]
    assert commands.main([*where, "--placement"]) == 0
    placed = json.loads(capsys.readouterr().out)
    assert (placed["exit_status"], placed["students"]) == (0, [])
    assert len(placed["placement"]) == 1 + len(FIRST_PROGRAMS.inside)
    assert commands.main([*where, "--student", "right"]) == 1  # it was not released
    (right,) = json.loads(capsys.readouterr().out)["students"]
    assert (right["student"], right["score"]) == ("right", 0.0)
    assert right["reason"].startswith("No assignment with ID 'functions' exists in the database")


def test_a_submission_without_a_notebook_fails_with_the_first_error(first_programs, capsys):
    place = first_programs / "submitted" / "late" / "functions"
    place.mkdir(parents=True)
    (place / "sorry.txt").write_text("My notebook is lost.", encoding="utf-8")
    assert commands.main(["course", str(first_programs), "functions", "--student", "late"]) == 1
    assert f"late: failed: No notebooks were matched by '{place}" in capsys.readouterr().out


@pytest.fixture
def with_header(tmp_path):
    """A released course whose notebooks get a header, from which tests take a helper."""
    near = given("def near(a, b): return abs(a - b) < 1e-9", "near")
    test = graded("t", "assert near(square(3), 9)")
    sources = notebook(answer("square", "def square(n): return n * n"), test)
    Course("week-1", {"squares": sources}).write(tmp_path)
    (tmp_path / "source" / "header.ipynb").write_bytes(notebook(near).replace(b"cell-", b"head-"))
    with (tmp_path / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write('c.IncludeHeaderFooter.header = "source/header.ipynb"\n')
    do_step(OtherCourse(tmp_path, "none").api.generate_assignment, "week-1")
    return tmp_path


def test_the_cells_of_a_header_are_the_assignments_and_remarks_are_said(with_header, capsys):
    released = (with_header / "release" / "week-1" / "squares.ipynb").read_bytes()
    cheat = {"near": "def near(a, b): return True", "square": "def square(n): return 1"}
    for student, answers in (("right", {"square": "def square(n): return n**2"}), ("odd", cheat)):
        place = with_header / "submitted" / student / "week-1"
        place.mkdir(parents=True)
        (place / "squares.ipynb").write_bytes(filled(released, answers))
    assert commands.main(["course", str(with_header), "week-1"]) == 0
    placed, _, odd, remark, right = capsys.readouterr().out.splitlines()
    assert placed == "squares: tests outside the sandbox: t."
    assert (odd, right) == ("odd: 0 of 1 points", "right: 1 of 1 points")
    assert remark.startswith("    The cell near differs from the assignment's; what was handed in")
    assert commands.main(["course", str(with_header), "week-1", "--force", "--json"]) == 0
    odd, right = json.loads(capsys.readouterr().out)["students"]
    assert ([remark.strip()], []) == (odd["remarks"], right["remarks"])


def test_a_header_that_is_missing_is_said(with_header, capsys):
    (with_header / "source" / "header.ipynb").unlink()
    assert commands.main(["course", str(with_header), "week-1", "--placement"]) == 2
    assert "expected the notebook in c.IncludeHeaderFooter, found none" in capsys.readouterr().err


def test_a_notebook_in_another_language_and_large_files_are_said(first_programs, capsys):
    where = ["course", str(first_programs), "functions", "--placement"]
    large = first_programs / "source" / "functions" / "large.bin"
    with large.open("wb") as file:
        file.truncate(33 * 2**20)
    assert commands.main(where) == 2
    assert "have 33.0 MiB together, more than the 32 MiB" in capsys.readouterr().err
    large.unlink()
    path = first_programs / "source" / "functions" / "functions.ipynb"
    source = json.loads(path.read_bytes())
    source["metadata"]["language_info"] = {"name": "julia"}
    path.write_text(json.dumps(source), encoding="utf-8")
    assert commands.main(where) == 2
    told = capsys.readouterr().err
    assert told == "functions.ipynb: expected the instructor's notebook in Python, found julia.\n"


def test_a_course_keeps_its_own_settings(first_programs):
    (first_programs / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.source_directory = 'masters'\n"
        "c.Grading.call_seconds = 1.5\n",
        encoding="utf-8",
    )
    (first_programs / "source").rename(first_programs / "masters")
    course = OtherCourse(first_programs, "none")
    assert course.config.Grading == {"call_seconds": 1.5, "isolation": "none"}
    assert len(list(course.placement("functions"))) == 1 + len(FIRST_PROGRAMS.inside)
