"""Where bubblewrap is installed but blocked, each command says so and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.command_line.actions import NOT_DONE, SKIPPED

ROOT = Path(__file__).resolve().parents[3]
BLOCKED = "bwrap: No permissions to create new namespace"


@pytest.fixture
def run(tmp_path):
    """A function that runs a command where bwrap may not make a namespace."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{BLOCKED}' >&2\nexit 1\n")
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}

    def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "grader", *arguments, "--into", str(tmp_path / "class")]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )

    return run_command


def test_grading_ends_with_the_reason_and_the_way_out(run):
    ended = run("sample-class")
    assert ended.returncode == NOT_DONE
    assert BLOCKED in ended.stderr
    assert "bubblewrap is installed, but something on this machine blocks it" in ended.stderr
    assert "`python -m grader doctor` says what" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_making_the_course_goes_on_without_the_class(run, tmp_path):
    skipped = run("sample-class", "--skip-without-sandbox")
    assert skipped.returncode == SKIPPED
    (sentence,) = [line for line in skipped.stdout.splitlines() if "not graded" in line]
    assert BLOCKED in sentence
    assert not (tmp_path / "class" / "summary.json").exists()
    assert f"--skips-with {SKIPPED} " in (ROOT / "Makefile").read_text(encoding="utf-8")
