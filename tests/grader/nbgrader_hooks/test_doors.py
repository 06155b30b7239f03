"""Our command, ``nbgrader autograde`` and ``nbgrader generate_feedback`` refuse the same things."""

from __future__ import annotations

import io
import logging
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.course import SOLUTIONS, configuration, nbgrader_for
from grader.gradebook import reading
from grader.judging.assignment_source import read_source
from grader.nbgrader_hooks.exchange import CollectFiles
from grader.reporting import nbgrader_pages
from grader.submission import Unreadable, find, load, repair
from tests.grader.corpus.doors import (
    ASSIGNMENT,
    NOTEBOOK,
    REFUSED,
    SECRET,
    SOLUTION,
    beside_an_honest_notebook,
)
from tests.grader.sandbox.probes import need_bubblewrap

# nbgrader's own code adds rows in an order about which SQLAlchemy 2.1 warns.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

HONEST = "honest"
SOURCE = SOLUTIONS / ASSIGNMENT / NOTEBOOK


def student(name: str) -> str:
    return name.replace(" ", "-").replace("'", "")


@pytest.fixture(scope="module")
def course(tmp_path_factory, handed_in) -> Path:
    """A course with a submission for each entry of the table, and an honest one."""
    folder, secrets = (tmp_path_factory.mktemp(name) for name in ("course", "secrets"))
    solution = nbformat.read(SOURCE, as_version=4)
    solution.cells.append(nbformat.v4.new_markdown_cell(SECRET))
    nbformat.write(solution, secrets / SOLUTION)
    honest = nbformat.writes(nbformat.from_dict(handed_in)).encode()
    doors = {name: door for name, (door, _) in REFUSED.items()}
    for name, door in {**doors, HONEST: beside_an_honest_notebook}.items():
        place = folder / "submitted" / student(name) / ASSIGNMENT
        place.mkdir(parents=True)
        door(place, secrets, honest)
    return folder


@pytest.fixture(scope="module")
def api(course):
    need_bubblewrap()
    settings = {
        "root": course,
        "source_directory": SOLUTIONS,
        "db_url": reading.sqlite_url(course),
    }
    api = nbgrader_for(settings)
    assert api.generate_assignment(ASSIGNMENT)["success"]
    yield api
    nbgrader_pages.close()


def contents(folder: Path) -> dict[str, str]:
    """Return the content of each file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace")
        for path in folder.rglob("*")
        if path.is_file()
    }


def read_by_our_command(folder: Path) -> None:
    path, _ = find(folder, ASSIGNMENT)
    repair(load(path), read_source(SOURCE.read_bytes()).stub)


@pytest.mark.parametrize("name", REFUSED)
def test_both_commands_refuse_it_for_the_same_reason(name, course, api):
    place = course / "submitted" / student(name) / ASSIGNMENT
    with pytest.raises(Unreadable, match=REFUSED[name][1]) as refused:
        read_by_our_command(place)
    done = api.autograde(ASSIGNMENT, student(name))
    assert not done["success"]
    if not any(place.glob("*.ipynb")):
        assert "No notebooks were matched" in done["log"]
    else:
        assert str(refused.value) in done["log"]
    assert contents(course / "autograded" / student(name)) == {}
    entries = reading.entries(reading.sqlite_url(course), ASSIGNMENT)
    assert not any(entries[student(name)].scores.values() if student(name) in entries else ())


def test_beside_an_honest_notebook_nothing_is_followed_or_copied(course, api):
    done = api.autograde(ASSIGNMENT, HONEST)
    assert done["success"], done["log"]
    assert "'other.ipynb'" not in done["log"]
    graded = contents(course / "autograded" / HONEST)
    assert [*graded] == [f"{ASSIGNMENT}/{NOTEBOOK}"]
    entry = reading.entries(reading.sqlite_url(course), ASSIGNMENT)[HONEST]
    assert sum(entry.scores.values()) == 18
    done = api.generate_feedback(ASSIGNMENT, HONEST)
    assert done["success"], done["log"]
    pages = contents(course / "feedback" / HONEST)
    assert [*pages] == [f"{ASSIGNMENT}/{ASSIGNMENT}.html"]
    assert SECRET not in "".join([*graded.values(), *pages.values()])
    assert "score matrix" in pages[f"{ASSIGNMENT}/{ASSIGNMENT}.html"]


def test_feedback_is_made_of_files_only(course, api):
    graded = course / "autograded" / "linked" / ASSIGNMENT / NOTEBOOK
    graded.parent.mkdir(parents=True)
    graded.symlink_to(SOURCE)
    done = api.generate_feedback(ASSIGNMENT, "linked")
    assert not done["success"]
    assert "links are not followed" in done["log"]
    assert contents(course / "feedback" / "linked") == {}


def test_a_hard_link_to_the_file_of_another_user_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "other.ipynb"
    other.write_text("{}", encoding="utf-8")
    place = tmp_path / "ada" / ASSIGNMENT
    place.mkdir(parents=True)
    os.link(other, place / NOTEBOOK)
    assert load(find(place, ASSIGNMENT)[0]) == b"{}"  # as in a backup made of hard links
    real = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:10]))

    monkeypatch.setattr(os, "fstat", of_another)
    with pytest.raises(Unreadable, match="is a hard link to a file of another user"):
        load(find(place, ASSIGNMENT)[0])
    other.unlink()
    assert load(find(place, ASSIGNMENT)[0]) == b"{}"


class TestCollecting:
    """From the exchange only ordinary files are copied, and the rest is told."""

    @pytest.fixture
    def collect(self, tmp_path):
        def do_copy(inbound: Path, **settings: int) -> tuple[dict[str, str], str]:
            told = io.StringIO()
            config = configuration()
            config.CourseDirectory.update({"root": str(tmp_path), **settings})
            collector = CollectFiles(
                coursedir=CourseDirectory(config=config), authenticator=None, config=config
            )
            handler = logging.StreamHandler(told)
            collector.log.addHandler(handler)
            try:
                collector.do_copy(str(inbound), str(tmp_path / "submitted"))
            finally:
                collector.log.removeHandler(handler)
            return contents(tmp_path / "submitted"), told.getvalue()

        return do_copy

    @pytest.fixture
    def secrets(self, tmp_path):
        path = tmp_path / "secrets"
        path.mkdir()
        (path / SOLUTION).write_text(SECRET, encoding="utf-8")
        return path

    @pytest.fixture
    def inbound(self, tmp_path):
        path = tmp_path / "inbound" / "ada"
        path.mkdir(parents=True)
        return path

    def test_configured(self):
        assert ExchangeFactory(config=configuration()).collect is CollectFiles

    def test_ordinary_files(self, collect, inbound):
        (inbound / "data").mkdir()
        files = {NOTEBOOK: "{}", "timestamp.txt": "2026-03-01 10:00:00 UTC", "data/a.csv": "1"}
        for name, text in files.items():
            (inbound / name).write_text(text, encoding="utf-8")
        assert collect(inbound) == (files, "")

    @pytest.mark.parametrize("name", REFUSED)
    def test_refused(self, name, collect, inbound, secrets):
        REFUSED[name][0](inbound, secrets, b"{}")
        if name == "a student's folder that is a link":  # the exchange has no such folders
            inbound = inbound.parent
        copied, told = collect(inbound)
        assert SECRET not in "".join(copied.values())
        if name == "not a notebook":
            assert (copied, told) == ({NOTEBOOK: "[" * 100_000}, "")
        elif name == "a folder":
            assert (copied, told) == ({}, "")
        else:
            assert copied == {}
            assert "Not collected: " in told

    def test_beside_an_honest_notebook(self, collect, inbound, secrets):
        beside_an_honest_notebook(inbound, secrets, b"{}")
        copied, told = collect(inbound)
        assert copied == {NOTEBOOK: "{}", "nbgrader_config.py": "raise SystemExit"}
        assert told.count("links are not followed") == 5
        assert told.count("not an ordinary file") == 2
        assert told.count("which is too large") == 1

    def test_too_much(self, collect, inbound):
        for name in ("a", "b", "c"):
            (inbound / name).write_bytes(b"x" * 900)
        copied, told = collect(inbound, max_dir_size=2)
        assert sorted(copied) == ["a", "b"]
        assert "c: it has 900 bytes, which is too large" in told
        for number in range(1001):
            (inbound / f"{number}").touch()
        shutil.rmtree(inbound.parent.parent / "submitted")
        copied, told = collect(inbound)
        assert copied == {}
        assert "it has more than 1000 files" in told
