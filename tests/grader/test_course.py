"""nbgrader is configured in one place: its configuration is read once, imports change nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from nbgrader.dbutil import _temp_alembic_ini
from sqlalchemy import text

from grader import course
from grader.gradebook.reading import open_gradebook, sqlite_url
from grader.judging.assignment_source import read_source
from grader.reporting.feedback_page import feedback_job, settings_of

ASSIGNMENT = "dot-products"


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """The path of a log to which the test's nbgrader_config.py writes whenever it is executed."""
    notes = tmp_path / "notes"
    path = tmp_path / "nbgrader_config.py"
    path.write_text(
        f"with open({str(notes)!r}, 'a') as file:\n    file.write('executed\\n')\n"
        "c = get_config()\nc.CourseDirectory.course_id = 'elsewhere'\n"
        "c.HTMLExporter.anchor_link_text = 'here'\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(course, "CONFIGURATION", path)
    course._executed_configuration.cache_clear()
    yield notes
    course._executed_configuration.cache_clear()


def test_the_configuration_is_executed_once_and_callers_get_copies(configured):
    one = course.configuration()
    one.CourseDirectory.course_id = "changed"
    api = course.nbgrader_for({"submitted_directory": "handed-in"})
    assert course.configuration().CourseDirectory == {"course_id": "elsewhere"}
    assert (api.coursedir.course_id, api.coursedir.submitted_directory) == (
        "elsewhere",
        "handed-in",
    )
    assert configured.read_text(encoding="utf-8") == "executed\n"


def test_no_other_module_executes_it(root):
    loading = [p for p in (root / "grader").rglob("*.py") if "PyFileConfigLoader" in p.read_text()]
    assert loading == [root / "grader" / "course.py"]


def test_a_feedback_page_gets_its_settings_from_its_job():
    """A worker that makes pages does not execute nbgrader_config.py."""

    class OfTheCourse:
        """A class defined in nbgrader_config.py, which cannot be pickled for another process."""

    config = course.configuration()
    config.AssignLatePenalties.plugin_class = OfTheCourse
    config.HTMLExporter.exclude_input = True
    source = read_source(course.read_solution_notebook(ASSIGNMENT))
    job = {
        "assignment": ASSIGNMENT,
        "notebook": nbformat.writes(source.stub),
        "scores": {},
        "points": source.points,
        "comments": {},
        "late_penalty": 0.0,
        "remarks": (),
        "digest": "0abc",
    }
    shown = feedback_job(job | {"settings": settings_of(course.configuration())})
    hidden = feedback_job(job | {"settings": settings_of(config)})
    word = "NotImplementedError"
    in_code, in_text = (
        sum(cell.source.count(word) for cell in source.stub.cells if cell.cell_type == kind)
        for kind in ("code", "markdown")
    )
    assert in_code > in_text
    assert (shown.count(word), hidden.count(word)) == (in_code + in_text, in_text)


def test_no_import_changes_the_environment(root):
    modules = [
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((root / "grader").rglob("*.py"))
        if path.name != "__main__.py"
    ]
    code = (
        "import importlib, json, os, sys\n"
        "import distributed, matplotlib, nbgrader.apps, nbconvert.exporters\n"  # not ours
        "before = dict(os.environ)\n"
        f"for name in {modules!r}:\n    importlib.import_module(name)\n"
        "print(json.dumps([before, dict(os.environ)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env=os.environ | {"PATH": "/no/such/folder"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = json.loads(done.stdout.splitlines()[-1])
    assert before["PATH"] == "/no/such/folder"
    assert after == before


@pytest.mark.parametrize(
    ("before", "after"),
    [("/a:/b", "{scripts}:/a:/b"), ("/a:{scripts}", "/a:{scripts}"), ("", "{scripts}:")],
)
def test_alembic_is_found_next_to_this_python(before, after, monkeypatch):
    scripts = sysconfig.get_path("scripts")
    monkeypatch.setenv("PATH", before.format(scripts=scripts))
    course.put_alembic_on_path()
    course.put_alembic_on_path()
    assert os.environ["PATH"] == after.format(scripts=scripts)
    assert (Path(scripts) / "alembic").exists()


def test_a_new_gradebook_has_its_version_and_no_program_is_started(tmp_path, monkeypatch):
    with _temp_alembic_ini("sqlite://") as settings:
        alembic = Path(sysconfig.get_path("scripts")) / "alembic"
        told = subprocess.check_output([alembic, "-c", settings, "heads"], text=True)
    monkeypatch.setenv("PATH", "/no/such/folder")
    with open_gradebook(sqlite_url(tmp_path)) as gradebook:
        (version,) = gradebook.db.scalars(text("select version_num from alembic_version"))
    assert told.split() == [version, "(head)"]
