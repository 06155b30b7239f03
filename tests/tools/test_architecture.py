"""What ARCHITECTURE.md says of the rooms is so: names exist, arrows hold."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess

import nbformat
import pytest

from grader.bubblewrap import INSIDE

PAGE = "ARCHITECTURE.md"
ROOMS = {
    *("attn_lib", "benchmarks", "book", "exercises", "grader", "solutions", "tests", "tools"),
}
#: Folders of settings for somebody else's tool.
SETTINGS = {"binder", "docs"}
#: What a room may import of ours.
ARROWS = {
    "attn_lib": {"attn_lib"},
    "grader": {"attn_lib", "grader"},
    "book": {"attn_lib", "_ext"},
    "benchmarks": {"attn_lib", "grader", "benchmarks"},
    "tools": {"tools"},
    "solutions": {"attn_lib"},
}


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / PAGE).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def code_of(path) -> str:
    """Return the code of a module, a page or a notebook, without magics."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    fences = re.findall(r"^```\{code-cell\}.*\n((?:.*\n)*?)```$", text, re.MULTILINE)
    if path.suffix == ".ipynb":
        fences = [c.source for c in nbformat.reads(text, 4).cells if c.cell_type == "code"]
    lines = [line for cell in fences for line in cell.splitlines()]
    return "\n".join(line for line in lines if not line.startswith((":", "%", "!")))


def imported(path) -> set[str]:
    """Return the modules that a file imports anywhere, with all their names."""
    found = set()
    for node in ast.walk(ast.parse(code_of(path))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_every_path_that_is_named_exists(root, page):
    named = set(re.findall(rf"\b(?:{'|'.join(ROOMS)})/[\w./-]*\w", page))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (root / path).exists()] == []


def test_every_function_that_is_named_exists(page):
    named = re.findall(r"`?(\w+)(?:\(\))?`? in `?([a-z_/]+)\.py", page)
    assert len(named) == 2
    for function, path in named:
        assert callable(getattr(importlib.import_module(path.replace("/", ".")), function))


def test_the_drawing_has_every_room(root, page):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False
    )
    if tracked.returncode:
        pytest.skip("This is no clone, so files of the course cannot be told from others.")
    folders = {name.split("/")[0] for name in tracked.stdout.splitlines() if "/" in name}
    assert {name for name in folders if name[0] != "."} - SETTINGS == ROOMS
    drawn = set(re.findall(r"\w+", section(page, "Who uses whom").split("```")[1]))
    assert drawn >= ROOMS
    listed = section((root / "CONTRIBUTING.md").read_text(encoding="utf-8"), "The rooms")
    assert set(re.findall(r"^(\w+)/ ", listed, re.MULTILINE)) == ROOMS | SETTINGS


@pytest.mark.parametrize("room", ARROWS)
def test_a_room_imports_nothing_against_the_arrows(root, room):
    folder = root / room
    files = [*folder.rglob("*.py"), *folder.glob("*.md"), *folder.glob("*/*.ipynb")]
    assert files
    ours = ROOMS | {"_ext"}
    for file in files:
        used = {name.partition(".")[0] for name in imported(file)} & ours
        assert used <= ARROWS[room], file


def test_what_is_inside_the_sandbox_imports_nothing_from_outside(root):
    inside = {".".join(path.relative_to(root).with_suffix("").parts) for path in INSIDE}
    for file in (root / "grader" / "inside").glob("*.py"):
        for name in imported(file):
            if name.startswith("grader."):
                assert any(name.startswith(f"{module}.") for module in inside), (file, name)


def test_the_steps_of_a_submission_stand_in_the_order_in_which_they_are_taken(page):
    drawing = section(page, "The path of a submission").split("```")[1]
    steps = ["finding", "jobs", "judge", "verdict", "autograded", "gradebook_writer", "journal"]
    places = [drawing.index(step) for step in steps]
    assert places == sorted(places)
