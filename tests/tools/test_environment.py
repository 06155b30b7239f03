"""The virtual environment is ready only if it is complete and up to date."""

from __future__ import annotations

import shutil
import sys

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
