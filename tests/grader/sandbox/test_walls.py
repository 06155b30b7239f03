"""A submission sees what is listed, and holds no memory out of sight, whoever grades."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.sandbox.bubblewrap import _files
from grader.sandbox.visible_files import Visible
from tests.grader.sandbox import walls
from tests.grader.sandbox.ordinary_user import (
    is_world_executable,
    run_as_ordinary_user,
    ways_to,
)
from tests.grader.sandbox.probes import need_bubblewrap


@pytest.fixture(scope="module", params=["the grader", "an ordinary user"])
def said(request):
    """What each program printed, or how its session ended."""
    need_bubblewrap()
    if request.param == "the grader":
        return walls.look()
    if os.getuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    ran = run_as_ordinary_user(walls.__name__)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def programs():
    need_bubblewrap()
    return walls.programs()


def test_all_programs_are_named(programs):
    assert [*programs] == [*walls.NAMES]


@pytest.mark.parametrize("name", walls.NAMES)
def test_it_is_stopped(name, programs, said):
    program = programs[name]
    if program.printed:
        assert json.loads(said[name]) == json.loads(program.printed)
    else:
        assert program.ended in said[name]


def test_what_lies_in_a_covered_folder_is_mounted_after_it():
    listed, covered, below = (
        Path("/usr/lib/os"),
        Path("/usr/lib/os/course"),
        Path("/usr/lib/os/course/x"),
    )
    arguments = _files(Visible((listed, below), (covered,)))
    places = [arguments.index(str(path)) for path in (listed, covered, below)]
    assert places == sorted(places)
    assert arguments[places[1] - 1] == "--tmpfs"


def test_closed_folders_are_replaced_by_their_needed_contents(tmp_path):
    home, course, python = (tmp_path / name for name in ("home", "course", "home/own/python"))
    for folder in (python, course / "grader"):
        folder.mkdir(parents=True)
    covers = ["--perms", "0755", "--tmpfs"]
    found = ways_to([python, course, Path("/usr")], lambda folder: folder not in (home, course))
    assert [*found] == [
        *(*covers, str(course), *covers, str(home)),
        *("--ro-bind", str(course / "grader"), str(course / "grader")),
        *("--dir", str(home / "own"), "--ro-bind", str(python), str(python)),
    ]


def test_only_the_mode_bits_for_others_count(tmp_path):
    for mode, entered in ((0o770, False), (0o701, True), (0o704, False)):
        tmp_path.chmod(mode)
        assert is_world_executable(tmp_path) is entered
