"""The virtual environment is ready only if it is complete and up to date."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib

import pytest

from tools import environment


@pytest.fixture
def project(root, tmp_path, monkeypatch):
    """A project whose environment is marked as made by the running Python."""
    for name in ("pyproject.toml", "requirements.txt"):
        shutil.copy(root / name, tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "STAMP", tmp_path / ".venv" / ".ready")
    (tmp_path / ".venv").mkdir()
    environment.STAMP.write_text(environment.fingerprint(sys.executable), encoding="utf-8")
    return tmp_path


def edit(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_untouched_is_ready(project):
    assert environment.is_ready(sys.executable)


def test_incomplete_is_not_ready(project):
    environment.STAMP.unlink()
    assert not environment.is_ready(sys.executable)


def test_a_changed_lock_is_not_ready(project):
    edit(project / "requirements.txt", "numpy==", "numpy==0.")
    assert not environment.is_ready(sys.executable)


def test_a_changed_dependency_is_not_ready(project):
    edit(project / "pyproject.toml", "matplotlib>=", "matplotlib>")
    assert not environment.is_ready(sys.executable)


def test_settings_of_tools_do_not_matter(project):
    edit(project / "pyproject.toml", "line-length = 100", "line-length = 101")
    assert environment.is_ready(sys.executable)


def test_a_moved_folder_is_not_ready(project, monkeypatch):
    monkeypatch.setattr(environment, "VENV", project / "elsewhere" / ".venv")
    assert not environment.is_ready(sys.executable)


def test_another_python_is_not_ready(project):
    other = project / "python"
    other.write_text("#!/bin/sh\necho /opt/other 3.14\n")
    other.chmod(0o755)
    assert not environment.is_ready(str(other))
    assert environment.is_ready(sys.executable)


def test_the_command_calls_the_grader_of_the_environment(project, monkeypatch):
    monkeypatch.setattr(environment, "VENV", project / "a course's" / ".venv")
    python = environment.VENV / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    python.chmod(0o755)
    environment.write_command()
    done = subprocess.run(
        [environment.VENV / "bin" / "grader", "grade", "two words"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "-P|-m|grader|grade|two words|"


def test_the_grader_can_be_called_in_any_folder(tmp_path):
    """A folder of the same name there is not taken for it."""
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__main__.py").write_text("raise SystemExit('another grader')")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("attn_lib ")


def test_learners_get_no_command_of_the_grader(root):
    """Their package has no grader, so a script of it could not start."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert "scripts" not in project["project"]
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["attn_lib"]
