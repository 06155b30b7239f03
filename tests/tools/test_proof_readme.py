"""The README of the exercises' proof mentions all folders and tests, and all it mentions exists."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from tests.exercises.proof.proof import Proof, proofs

FOLDER = "tests/exercises"


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def named(page) -> set[str]:
    """The paths in inline code and links, relative to the root or to the folder."""
    in_code = re.findall(r"`((?:[\w-]+/)+[\w-]*(?:\.\w+)?|\w+\.py)`", page)
    in_commands = re.findall(r"tests/[\w/]+(?:\.py)?", page)
    return {*in_code, *in_commands, *re.findall(r"\]\(([^)#]+)", page)}


def test_every_path_mentioned_exists(root, named):
    assert len(named) > 15
    missing = {
        path for path in named if not any((root / room / path).exists() for room in ("", FOLDER))
    }
    assert missing == set()


def test_every_folder_and_test_file_is_mentioned(root, named):
    folder = root / FOLDER
    assert {f"{path.parent.name}/" for path in folder.glob("*/*.py")} <= named
    of_all = {
        path
        for path in folder.glob("*/test_*.py")
        if path.stem.removeprefix("test_") not in {name.replace("-", "_") for name in proofs()}
    }
    assert {path.relative_to(folder).as_posix() for path in of_all} <= named


def test_modules_in_commands_and_fields_exist(root, page):
    modules = re.findall(r"python -m ([\w.]+)", page)
    assert modules
    for module in modules:
        assert (root / module.replace(".", "/")).with_suffix(".py").exists()
    told = set(re.findall(r"`(\w+)` of the `PROOF`|`(\w+)` or `(\w+)` of the", page))
    words = {word for found in told for word in found if word}
    assert words == {"right", "slips", "survivors"}
    assert words <= {field.name for field in fields(Proof)}


def test_the_assignment_in_the_examples_exists(page):
    assert set(re.findall(r"-k (\w+)|naming (\w+)", page)) == {("masking", ""), ("", "masking")}
    assert "masking" in proofs()
