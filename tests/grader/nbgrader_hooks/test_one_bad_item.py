"""In nbgrader's own commands one bad folder or note stops only itself, and is told."""

from __future__ import annotations

import io
import logging
import os
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from grader.course import EXERCISES, SOLUTIONS, configuration, nbgrader_for
from grader.gradebook import reading
from grader.nbgrader_hooks.exchange import CollectFiles
from grader.reporting import nbgrader_pages
from tests.grader.corpus.notes import NO_TIMES
from tests.grader.sandbox.probes import need_bubblewrap

# nbgrader's own code adds rows in an order about which SQLAlchemy 2.1 warns.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
STUB = (EXERCISES / ASSIGNMENT / NOTEBOOK).read_bytes()
LATIN = os.fsdecode(b"Jos\xe9")
#: What some students have in the place of their note, by which they are called too.
NOTES = ("bytes", "a folder")


def hand_in(folder: Path, note: str = "") -> None:
    folder.mkdir(parents=True)
    (folder / NOTEBOOK).write_bytes(STUB)
    if note:
        NO_TIMES[note](folder / "timestamp.txt")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with odd notes and names, and the API of nbgrader for it."""
    need_bubblewrap()
    folder = tmp_path_factory.mktemp("course")
    for student in ("zoe", "a\nb", LATIN):
        hand_in(folder / "submitted" / student / ASSIGNMENT)
    for note in NOTES:
        hand_in(folder / "submitted" / note / ASSIGNMENT, note)
    url = reading.sqlite_url(folder)
    api = nbgrader_for({"root": folder, "source_directory": SOLUTIONS, "db_url": url})
    assert api.generate_assignment(ASSIGNMENT)["success"]
    yield folder, api
    nbgrader_pages.close()


def test_the_rest_of_a_class_is_autograded_and_has_feedback(course):
    folder, api = course
    done = api.autograde(ASSIGNMENT, "*")
    assert not done["success"]  # because one could not be entered
    graded = {"zoe", *NOTES}
    assert set(reading.entries(reading.sqlite_url(folder), ASSIGNMENT)) == graded
    assert done["log"].count("so it was ignored") == len(NOTES)
    assert "a\\nb" in next(line for line in done["log"].splitlines() if "Left out: " in line)
    assert f"for student '{LATIN}'" in done["log"]
    hand_in(folder / "autograded" / "a\nb" / ASSIGNMENT)
    done = api.generate_feedback(ASSIGNMENT, "*")
    assert done["success"], done["log"]
    assert "Left out: " in done["log"]
    assert {path.parts[-3] for path in (folder / "feedback").rglob("*.html")} == graded


@pytest.mark.parametrize("name", NO_TIMES)
def test_formgrader_lists_a_class_whatever_a_note_says(name, tmp_path, monkeypatch):
    hand_in(tmp_path / "submitted" / "ada" / ASSIGNMENT, name)
    hand_in(tmp_path / "submitted" / "bo" / ASSIGNMENT)
    (tmp_path / "submitted" / "bo" / ASSIGNMENT / "timestamp.txt").write_text("2026-03-01 10:00")
    monkeypatch.setattr(NbGraderAPI, "get_submitted_timestamp", nbgrader_pages._submitted_timestamp)
    api = nbgrader_for({"root": tmp_path})
    times = {s: api.get_submitted_timestamp(ASSIGNMENT, s) for s in ("ada", "bo")}
    assert times["ada"] is None
    assert str(times["bo"]) == "2026-03-01 10:00:00"


class TestCollecting:
    """`nbgrader collect` of a class in which others than ada and bo put something odd."""

    TIME = "2026-03-01 10:00:00.000000 UTC"

    @pytest.fixture
    def inbound(self, tmp_path) -> Path:
        folder = tmp_path / "exchange" / "attention" / "inbound"
        for student in ("ada", "bo"):
            hand_in(folder / f"{student}+{ASSIGNMENT}+{self.TIME}+x")
        return folder

    @pytest.fixture
    def collect(self, tmp_path, monkeypatch):
        class NoGradebook:
            __enter__ = __exit__ = find_assignment = lambda self, *_: self
            duedate = None

        monkeypatch.setattr("nbgrader.exchange.default.collect.Gradebook", lambda *_: NoGradebook())

        def run(**options: bool) -> tuple[set[str], str]:
            config = configuration()
            config.CourseDirectory.update({"root": str(tmp_path), "assignment_id": ASSIGNMENT})
            config.Exchange.root = str(tmp_path / "exchange")
            config.CollectFiles.update(options)
            collector = CollectFiles(
                coursedir=CourseDirectory(config=config), authenticator=None, config=config
            )
            told = io.StringIO()
            handler = logging.StreamHandler(told)
            collector.log.addHandler(handler)
            try:
                collector.start()
            finally:
                collector.log.removeHandler(handler)
            folders = (tmp_path / "submitted").glob(f"*/{ASSIGNMENT}/{NOTEBOOK}")
            return {path.parts[-3] for path in folders}, told.getvalue()

        return run

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("eve+{}+yesterday+x", "does not end with a time (Unknown string format: yesterday)"),
            ("eve+{}+99999-01-01 00:00:00 UTC+x", "does not end with a time (year 99999 is out"),
            (f"eve+{{}}+{'9' * 200}+x", "does not end with a time"),
            ("eve+{}+x", "does not end with a time"),
            ("+{}+2026-03-01 10:00:00 UTC+x", "does not begin with a learner's id"),
        ],
    )
    def test_a_folder_whose_name_says_nothing(self, name, told, inbound, collect):
        hand_in(inbound / name.format(ASSIGNMENT))
        collected, said = collect()
        assert collected == {"ada", "bo"}
        assert f"Not collected: {inbound}" in said
        assert told in said

    @pytest.mark.parametrize(
        "make",
        [
            lambda path: path.symlink_to("no/where"),
            lambda path: path.symlink_to(path.name),
            lambda path: path.symlink_to("/"),
            lambda path: path.write_text("a file"),
            os.mkfifo,
        ],
        ids=["a link to nothing", "a loop", "a link to the root", "a file", "a pipe"],
    )
    def test_something_else_than_a_folder(self, make, inbound, collect):
        make(inbound / f"eve+{ASSIGNMENT}+{self.TIME}+x")
        collected, said = collect()
        assert collected == {"ada", "bo"}
        assert "it is not a folder, and links are not followed" in said

    @pytest.mark.parametrize("name", NO_TIMES)
    def test_a_note_beside_what_was_collected_before(self, name, inbound, collect, tmp_path):
        earlier = tmp_path / "submitted" / "ada" / ASSIGNMENT
        hand_in(earlier, name)
        (earlier / NOTEBOOK).unlink()
        collected, said = collect(update=True)
        assert collected == {"ada", "bo"}
        assert "timestamp.txt" in said

    def test_names_that_are_odd_but_can_be_collected(self, inbound, collect):
        odd = ["a+b", "a\nb", LATIN, "\x1b[2J", "=1+1", "x" * 120]
        for name in odd:
            hand_in(inbound / f"{name}+{ASSIGNMENT}+{self.TIME}+x")
        assert collect()[0] == {"ada", "bo", *odd}
