"""What goes wrong with files, options and the gradebook is a sentence that says what to do."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook
from psycopg.errors import InvalidCatalogName
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from grader import course
from grader.command_line import commands, problems
from grader.nbgrader_hooks.settings import Grading, configured
from grader.running import pipeline

pytestmark = pytest.mark.usefixtures("runs_share_a_sandbox")

ASSIGNMENT = "dot-products"


@pytest.fixture
def configured_by(tmp_path, monkeypatch):
    """A function that puts a line into an nbgrader_config.py that is then the course's."""

    def configure(line: str) -> None:
        path = tmp_path / "nbgrader_config.py"
        path.write_text(f"c = get_config()\nc.CourseDirectory.root = {str(tmp_path)!r}\n{line}\n")
        found = course.executed_configuration
        monkeypatch.setattr(course, "_executed_configuration", lambda: found(tmp_path))

    return configure


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("c.Grading.call_seconds = fast", "line 3: NameError: name 'fast' is not defined."),
        ("x = (", "line 3: SyntaxError: '(' was never closed."),
        ("raise SystemExit(3)", "line 3: SystemExit: 3."),
        ("c.Grading.call_secnds = 3", "sets c.Grading.call_secnds, which is no option. Did you"),
        ("c.Grading.call_seconds = 'fast'", "'call_seconds' trait of a Grading instance expected"),
        (
            "c.Gradng.call_seconds = 3",
            "options of c.Gradng, which does not exist. Did you mean c.G",
        ),
        (
            "c.NbGraderAPI.timezone = 'Europe/Berln'",
            "to 'Europe/Berln'. Expected the name of a time",
        ),
        (
            "c.CourseDirectory.db_url = 3",
            "sets c.CourseDirectory.db_url to 3. Expected a text: put",
        ),
        (
            "c.LateSubmissionPlugin.penalty_method = 'half'",
            "for late work. The 'penalty_method' tr",
        ),
        (
            "c.AssignLatePenalties.plugin_class = 'late.No'",
            "'late.No' in c.AssignLatePenalties.plu",
        ),
        ("c.PersonalNumbers.pepper = 'x'", "c.PersonalNumbers.pepper, which is no option; they"),
    ],
)
def test_a_mistake_in_the_configuration_is_a_sentence(tmp_path, configured_by, capsys, line, told):
    configured_by(line)
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    where = ["--submitted", str(tmp_path / "submitted"), "--into", str(tmp_path)]
    assert commands.main(["autograde", ASSIGNMENT, *where, "--workers", "1"]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert told in said.err


def test_a_folder_that_the_commands_would_not_find_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.feedback_directory = 'pages'\n"
    )
    found = course.executed_configuration(tmp_path)
    monkeypatch.setattr(course, "executed_configuration", lambda _: found)
    monkeypatch.setattr(
        course, "_executed_configuration", course._executed_configuration.__wrapped__
    )
    assert commands.main(["autograde", ASSIGNMENT]) == 2
    told = "feedback_directory to 'pages', but this course has it in 'feedback'. Set that, and"
    assert told in capsys.readouterr().err


def test_sections_of_nbgrader_itself_are_no_slips(tmp_path):
    names = (
        "ExchangeList",
        "ExchangeFactory",
        "NbGraderApp",
        "Feedback",
        "HTMLExporter",
        "Execute",
    )
    lines = [f"c.{name}.x = 1" for name in names]
    (tmp_path / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines]))
    assert set(names) <= course.executed_configuration(tmp_path).keys()


def test_options_are_read_as_they_are_set(configured_by):
    configured_by("c.Grading.call_seconds = 3.5")
    assert configured().call_seconds == 3.5
    assert course.options(Grading, Config()).call_seconds == Grading().call_seconds


def test_the_folder_of_submissions_is_the_configured_one(tmp_path, configured_by, monkeypatch):
    configured_by("c.CourseDirectory.submitted_directory = 'handed-in'")
    (tmp_path / "handed-in" / "ada" / ASSIGNMENT).mkdir(parents=True)
    runs = []

    def autograde(run, *_):
        runs.append(run)
        raise course.NbGraderFailed("enough")

    monkeypatch.setattr(pipeline, "autograde", autograde)
    assert commands.main(["autograde", ASSIGNMENT, "--into", str(tmp_path)]) == 2
    assert [run.submitted for run in runs] == [tmp_path / "handed-in"]
    other = tmp_path / "other"
    (other / "ada").mkdir(parents=True)
    arguments = ["autograde", ASSIGNMENT, "--into", str(tmp_path), "--submitted", str(other)]
    assert commands.main(arguments) == 2
    assert runs[-1].submitted == other


@pytest.mark.parametrize("command", ["export", "report"])
def test_a_file_in_no_folder_is_a_sentence(tmp_path, capsys, command):
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        gradebook.add_assignment(ASSIGNMENT)
    (tmp_path / f"graded-{ASSIGNMENT}.jsonl").write_text(
        '{"student": "ada", "digest": "", "status": "failed", "reason": "r", "remarks": [], '
        '"missing": [], "parts": {}, "provenance": null}\n'
    )
    place = tmp_path / "none" / "x.csv"
    arguments = [command, ASSIGNMENT, "--into", str(tmp_path), "--output", str(place)]
    assert commands.main(arguments) == 2
    assert capsys.readouterr().err == (
        f"expected a folder for x.csv, found no {place.parent}. Make it, or name another file with "
        "--output.\n"
    )
    assert commands.main([command, ASSIGNMENT, "--into", str(place)]) == 2
    assert f"a class that was graded, found no {place}." in capsys.readouterr().err


def test_who_has_a_file_open_is_named(tmp_path):
    path = tmp_path / "gradebook.db"
    path.touch()
    assert problems.open_in(path) == []
    with (
        path.open() as file,
        subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[file.fileno()]
        ) as holder,
    ):
        (named,) = problems.open_in(path)
        assert named.endswith(f" (process {holder.pid})")
        locked = OperationalError("select", {}, sqlite3.OperationalError("database is locked"))
        said = problems.sentence_on(locked, f"sqlite:///{path}")
        assert said == (
            f"the gradebook could not be used: database is locked. It is open in {named}. "
            "Close that, then give the command again."
        )
        holder.communicate(b"\n")
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    assert problems.open_in(path) == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InvalidCatalogName('database "marks" does not exist'), "`createdb marks`, as a user"),
        (sqlite3.OperationalError("no such column: x"), "`nbgrader db upgrade` brings it up"),
        (sqlite3.OperationalError("unable to open database file"), "an existing folder that you"),
    ],
)
def test_a_gradebook_that_cannot_be_used_says_what_to_do(error, told):
    said = problems.sentence_on(OperationalError("select", {}, error))
    assert said.startswith(f"the gradebook could not be used: {error}. ")
    assert told in said


def test_other_errors_are_bugs():
    assert problems.sentence_on(KeyError("x")) == ""
    assert problems.sentence_on(FileNotFoundError(2, "No such file", "x")) == ""
