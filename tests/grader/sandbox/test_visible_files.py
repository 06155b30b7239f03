"""The list of visible files has what Python needs, and only that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nbgrader.exchange.default import Exchange

from grader import course
from grader.sandbox import visible_files
from grader.sandbox.shared_objects import _batches, _modules, shared_objects


def test_the_shared_objects_are_those_that_ldd_names():
    folder = Path(np.__file__).parent
    modules = sorted(str(folder / name) for name in _modules(folder))
    assert any("_multiarray_umath" in name for name in modules)
    said = subprocess.run(
        ["ldd", *modules, "/bin/sh"], capture_output=True, text=True, check=False
    ).stdout
    expected = {
        Path(line.split("=>")[1].split("(")[0].strip())
        for line in said.splitlines()
        if "=>" in line
    }
    found = shared_objects(os.path.realpath(sys.executable), [folder], [Path("/bin/sh")])
    assert {path.resolve() for path in expected} <= {path.resolve() for path in found}
    assert {path.name.split(".so")[0] for path in expected} > {"libc", "libm"}


def test_modules_are_found_in_any_depth(tmp_path):
    for name in ("a/b/one.so", "x.libs/two.so.3", "a/__pycache__/three.so", "y.dist-info/four.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(_modules(tmp_path)) == ["a/b/one.so", "x.libs/two.so.3"]


def test_many_modules_are_asked_about_in_turn():
    names = ["./" + 998 * "x" + str(number % 10) for number in range(250)]
    batches = [*_batches(names)]
    assert [name for batch in batches for name in batch] == names
    assert max(len(":".join(batch)) for batch in batches) <= 100_000
    assert [*_batches([])] == [[]]


def test_nothing_is_listed_but_python_its_libraries_and_commands():
    files = visible_files.visible_files().files
    folders = {path for path in files if path.is_dir()}
    assert {path.name for path in folders} <= {
        *("site-packages", "dist-packages", "lib-dynload", "attn_lib", "inside"),
        *("locale", "zoneinfo", Path(os.__file__).parent.name),
    }
    commands = {path.name for path in files if path.parent.name == "bin"}
    assert commands <= {*visible_files.PROGRAMS, Path(visible_files.interpreter()).name}
    assert {"sh", "ls"} <= commands
    libraries = {path for path in files if ".so" in path.name}
    rest = {*files} - folders - libraries - {path for path in files if path.parent.name == "bin"}
    assert {path.name for path in rest} <= {"ld.so.cache", "__init__.py", "python311.zip"}


def test_fonts_that_take_long_to_read_are_covered():
    fonts = {Path(os.path.realpath(folder)) for folder in visible_files._unread_fonts()}
    assert len(fonts) == 2
    assert fonts <= {*visible_files.visible_files().covered}


def test_only_private_folders_that_would_be_visible_are_covered(tmp_path):
    listed = tmp_path / "listed"
    course, below = listed / "course", listed / "course" / "attn_lib"
    inner = listed / "inner"
    for folder in (below, inner):
        folder.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(course)
    private = [link, tmp_path / "elsewhere", tmp_path, listed]
    found = visible_files._plan({listed, below, inner, tmp_path / "missing"}, private)
    assert found == visible_files.Visible((listed, below), (course,))


def test_private_folders_are_the_configured_ones(monkeypatch):
    config = course.configuration()
    assert course.private_folders()[0] == course.ROOT
    assert Path(course.EXCHANGE) in course.private_folders()
    config.CourseDirectory.root = "/srv/course"
    config.CourseDirectory.submitted_directory = "/srv/handed-in"
    config.Exchange.root = "/srv/exchange"
    monkeypatch.setattr(course, "configuration", lambda: config)
    found = set(map(str, course.private_folders()))
    assert found >= {"/srv/course", "/srv/handed-in", "/srv/course/solutions", "/srv/exchange"}


def test_the_exchange_is_where_nbgrader_puts_it(monkeypatch):
    monkeypatch.delenv("NBGRADER_EXCHANGE_ROOT", raising=False)
    assert Exchange().root == course.EXCHANGE


@pytest.mark.parametrize("conda", [True, False])
def test_the_library_folder_of_conda_is_listed(conda, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    (tmp_path / ("conda-meta" if conda else "share")).mkdir()
    assert (tmp_path / "lib" in visible_files._standard_library()) is conda
