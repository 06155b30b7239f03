"""The Makefile's targets are listed and documented, and fail if one of their steps fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.end_to_end.shown_commands import without_make


@pytest.fixture(scope="module")
def targets(root) -> set[str]:
    """All phony targets of the Makefile."""
    text = (root / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^\.PHONY: (\S+)$", text, re.MULTILINE))


def make(folder, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=without_make(PYTEST_XDIST_AUTO_NUM_WORKERS="1"),
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_every_target_and_is_the_default(root, targets):
    listed = make(root, "help")
    assert listed.returncode == 0, listed.stderr
    lines = [re.fullmatch(r"make (\S+) +\S.*\.", line) for line in listed.stdout.splitlines()]
    assert {line[1] for line in lines} == targets
    assert make(root).stdout == listed.stdout


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_commands_mentioned_in_texts_exist(root, targets, page):
    text = (root / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    code = "\n".join(blocks) + "\n".join(re.findall(r"`([^`\n]+)`", text))
    named = set(re.findall(r"^make ([a-z]+)", code, re.MULTILINE))
    assert named
    assert named <= targets
    paths = re.findall(r"(?:tools|\.ci|tests)/[\w./-]*\w", code)
    assert [path for path in paths if not (root / path).exists()] == []


@pytest.fixture
def project(root, tmp_path):
    """A project of one page with the course's Makefile and tools and a ready environment."""
    shutil.copy(root / "Makefile", tmp_path)
    shutil.copytree(root / "tools", tmp_path / "tools")
    write_script(tmp_path / "tools" / "environment", "exit 0")
    write_script(tmp_path / "tools" / "system_packages", "exit 0")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    write_script(tmp_path / ".venv" / "bin" / "python", f'exec "{sys.executable}" "$@"')
    for name in ("book", "attn_lib"):
        (tmp_path / name).mkdir()
    for name in ("_config.yml", "_toc.yml", "requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    return tmp_path


def write_script(path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_book_that_does_not_build_fails_make_each_time(project):
    builder = project / ".venv" / "bin" / "jupyter-book"
    write_script(builder, "mkdir -p _build/html; touch _build/html/index.html; exit 1")
    assert make(project, "book").returncode != 0
    assert make(project, "book").returncode != 0
    write_script(builder, "mkdir -p _build/html; touch _build/html/index.html")
    assert make(project, "book").returncode == 0


def test_the_book_is_built_strictly_and_from_scratch(project):
    builder = project / ".venv" / "bin" / "jupyter-book"
    write_script(
        builder, 'echo "$*"; ls -A _build; mkdir _build/html; touch _build/html/index.html'
    )
    (project / "_build").mkdir()
    (project / "_build" / "stale").touch()
    built = make(project, "book")
    assert built.returncode == 0, built.stderr
    assert built.stdout == "build . -W --keep-going -n\n"
    assert make(project, "book").stdout == "_build: up to date.\n"


def test_collecting_no_tests_is_a_failure(project):
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    tested = make(project, "test")
    assert "no tests ran" in tested.stdout
    assert tested.returncode != 0


def test_a_failed_test_is_a_failure(project):
    (project / "test_it.py").write_text("def test_it():\n    assert False\n")
    assert make(project, "test").returncode != 0
    (project / "test_it.py").write_text("def test_it():\n    assert True\n")
    passed = make(project, "test")
    assert passed.returncode == 0
    assert re.search(r"1 passed in .*$", passed.stdout.splitlines()[-1])


def test_a_missing_environment_stops_every_command_that_needs_it(project, targets):
    write_script(project / "tools" / "environment", "echo no environment >&2; exit 1")
    for target in sorted(targets - {"help", "lock", "clean"}):
        stopped = make(project, target)
        assert stopped.returncode != 0, target
        assert stopped.stderr.startswith("no environment\n"), target
        assert stopped.stdout == "", target


def test_clean_removes_only_what_make_has_made(project):
    for name in ("_build", "_class", "dist", "submitted", "exercises"):
        (project / name).mkdir()
    made = {".venv", "_build", "_class", "dist"}
    before = {path.name for path in project.iterdir()}
    assert make(project, "clean").returncode == 0
    assert before - {path.name for path in project.iterdir()} == made
