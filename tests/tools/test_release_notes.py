"""The text of a GitHub release is the changelog's section about that version."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tools.release_notes import notes

CHANGELOG = """# Changelog

## Unreleased

- Not yet.

## 0.10.0 - 2027-03-01

### For learners

- A chapter.

## 0.1.0 - 2026-11-28

- The first.
"""


def test_only_the_section_of_this_version_is_printed():
    assert notes("v0.10.0", CHANGELOG, "0.10.0") == "### For learners\n\n- A chapter."
    assert notes("v0.1.0", CHANGELOG, "0.1.0") == "- The first."


@pytest.mark.parametrize(
    ("tag", "version", "told"),
    [
        ("v0.1.0", "0.10.0", "expected the tag v0.10.0, as in pyproject.toml, got v0.1.0."),
        ("0.1.0", "0.1.0", "expected the tag v0.1.0"),
        ("v0.1", "0.1", "expected a section ## 0.1 - DATE in CHANGELOG.md, found none."),
    ],
)
def test_a_wrong_tag_or_missing_section_is_reported(tag, version, told):
    with pytest.raises(ValueError, match=told.replace(".", r"\.")):
        notes(tag, CHANGELOG, version)


def test_the_command_reads_the_current_version(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    command = [sys.executable, root / "tools" / "release_notes.py"]
    run = subprocess.run(
        [*command, f"v{project['version']}"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("### ")
    wrong = subprocess.run([*command, "v999"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
