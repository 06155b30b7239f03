"""ARCHITECTURE.md matches the code: the names it mentions exist, imports follow its arrows."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from grader.sandbox.visible_files import INSIDE

PAGE = "ARCHITECTURE.md"
ROOMS = {
    *("attn_lib", "benchmarks", "book", "exercises", "grader", "solutions", "tests", "tools"),
}
#: Folders that are not rooms: settings for Binder, and the README's pictures.
SETTINGS = {"binder", "docs"}
#: The rooms that each room may import.
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


@functools.cache
def imported(path) -> set[str]:
    """Return everything a file imports, at any level of nesting, as full dotted names."""
    found = set()
    for node in ast.walk(ast.parse(code_of(path))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_every_path_mentioned_exists(root, page):
    named = set(re.findall(rf"\b(?:{'|'.join(ROOMS)})/[\w./-]*\w", page))
    drawn = set(re.findall(r"\b[a-z_]+/[a-z_/]+\.py\b", section(page, "The path of a submission")))
    named |= {
        path if path.startswith(("grader/", "attn_lib/")) else f"grader/{path}" for path in drawn
    }
    assert len(named) > 20
    assert [path for path in sorted(named) if not (root / path).exists()] == []


def test_every_function_mentioned_exists(page):
    named = re.findall(r"`?(\w+)(?:\(\))?`? in `?([a-z_/]+)\.py", page)
    assert len(named) > 2
    for function, path in named:
        assert callable(getattr(importlib.import_module(path.replace("/", ".")), function))


def test_the_drawing_shows_every_room(root, page):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False
    )
    if tracked.returncode:
        pytest.skip("Not a git clone, so tracked files cannot be listed.")
    folders = {name.split("/")[0] for name in tracked.stdout.splitlines() if "/" in name}
    assert {name for name in folders if name[0] != "."} - SETTINGS == ROOMS
    drawn = set(re.findall(r"\w+", section(page, "Who uses whom").split("```")[1]))
    assert drawn >= ROOMS
    listed = section((root / "CONTRIBUTING.md").read_text(encoding="utf-8"), "The rooms")
    assert set(re.findall(r"^(\w+)/ ", listed, re.MULTILINE)) == ROOMS | SETTINGS


@pytest.mark.parametrize("room", ARROWS)
def test_rooms_import_only_along_the_arrows(root, room):
    folder = root / room
    files = [*folder.rglob("*.py"), *folder.glob("*.md"), *folder.glob("*/*.ipynb")]
    assert files
    ours = ROOMS | {"_ext"}
    for file in files:
        used = {name.partition(".")[0] for name in imported(file)} & ours
        assert used <= ARROWS[room], file


#: The rooms of attn_lib and grader, lowest first, with the rooms that each may use. The folder
#: `figures/chapters` counts as a part of `figures`.
GROUND_UP = {
    "attn_lib": set(),
    "attn_lib.model": {"attn_lib"},
    "attn_lib.course": {"attn_lib", "attn_lib.model"},
    "attn_lib.figures": {"attn_lib", "attn_lib.course", "attn_lib.model"},
    "grader.errors": set(),
    "grader.files": set(),
    "grader.printable": set(),
    "grader.times": set(),
    "grader.course": {"grader.errors"},
    "grader.sandbox.inside": {"attn_lib.course", "attn_lib.figures"},
    "grader.sandbox": {
        *("grader.sandbox.inside", "attn_lib.course", "grader.course", "grader.errors"),
    },
    "grader.submission": {
        *("grader.errors", "grader.files", "grader.printable", "attn_lib.course"),
    },
    "grader.judging": {
        *("grader.sandbox", "grader.sandbox.inside", "grader.submission", "attn_lib.course"),
        "grader.errors",
    },
    "grader.nbgrader_hooks": {
        *("grader.judging", "grader.sandbox", "grader.sandbox.inside", "grader.submission"),
        *("grader.course", "grader.files", "grader.printable", "grader.times", "grader.errors"),
    },
    "grader.gradebook": {
        *("grader.judging", "grader.course", "grader.errors", "grader.printable"),
    },
    "grader.running": {
        *("grader.gradebook", "grader.nbgrader_hooks", "grader.judging", "grader.sandbox"),
        *(
            "grader.sandbox.inside",
            "grader.submission",
            "grader.course",
            "grader.files",
            "grader.errors",
            "grader.times",
            "attn_lib",
        ),
    },
    "grader.reporting": {
        *("grader.running", "grader.gradebook", "grader.judging", "grader.submission"),
        *("grader.course", "grader.files", "grader.errors", "grader.printable", "attn_lib.course"),
        "grader.times",
    },
    "grader.releasing": {"grader.course", "grader.errors", "attn_lib.course"},
    "grader.command_line": {
        *("grader.releasing", "grader.reporting", "grader.running", "grader.gradebook"),
        "grader.nbgrader_hooks",
        *("grader.sandbox", "grader.sandbox.inside", "grader.course", "grader.errors"),
        *("grader.files", "grader.printable", "grader.times"),
    },
}
#: Rooms whose `__init__.py` lists the modules that other rooms may use. Of a room that is not in
#: this set, all modules may be used.
WITH_DOORS = {
    *("grader.gradebook", "grader.judging", "grader.nbgrader_hooks", "grader.releasing"),
    *("grader.reporting", "grader.running", "grader.sandbox"),
}


def room_of(module: str) -> str | None:
    """Return the room of a module: the longest room name that is a prefix of its name."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (room := ".".join(parts[:length])) in GROUND_UP:
            return room
    return None


def arrows(root) -> Iterator[tuple[str, str, str]]:
    """Yield the imports of all modules in rooms, as (importing module, its room, imported name)."""
    for file in sorted([*(root / "attn_lib").rglob("*.py"), *(root / "grader").rglob("*.py")]):
        module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if (room := room_of(module)) is not None:
            yield from ((module, room, name) for name in sorted(imported(file)))


def test_rooms_use_only_rooms_below_them(root):
    below: set[str] = set()
    for room, uses in GROUND_UP.items():
        assert uses <= below, f"An arrow of {room} points upwards."
        below.add(room)
    found = set()
    for module, room, name in arrows(root):
        used = room_of(name)
        if used not in (None, room):
            assert used in GROUND_UP[room], f"{module} imports {name}"
            found.add((room, used))
    allowed = {(room, used) for room, uses in GROUND_UP.items() for used in uses}
    assert found == allowed, "GROUND_UP allows an arrow that no import uses."


def test_other_rooms_import_only_listed_modules(root):
    doors = {}
    for room in WITH_DOORS:
        text = (root / Path(*room.split(".")) / "__init__.py").read_text(encoding="utf-8")
        doors[room] = set(re.findall(r"^- `(\w+)`:", text, re.MULTILINE))
        assert doors[room], room
    for module, room, name in arrows(root):
        used = room_of(name)
        if used in WITH_DOORS and used != room:
            assert name.removeprefix(f"{used}.").split(".")[0] in doors[used], (module, name)


def test_no_folder_has_more_than_16_modules(root):
    for package in ("attn_lib", "grader", "tests", "tools", "book", "benchmarks"):
        for folder in [root / package, *(root / package).rglob("*/")]:
            if folder.name != "answers":  # one file for each student of the sample class
                assert len([*folder.glob("*.py")]) <= 16, folder


def test_modules_inside_the_sandbox_import_nothing_from_outside(root):
    inside = {root / "grader" / "sandbox" / "inside"}
    assert {path for path in INSIDE if path.is_dir()} == inside
    assert {path.name for path in {*INSIDE} - inside} == {"__init__.py"}
    for folder in inside:
        for file in folder.glob("*.py"):
            ours = {name for name in imported(file) if name.startswith("grader.")}
            assert all(name.startswith("grader.sandbox.inside.") for name in ours), file
    for path in {*INSIDE} - inside:
        assert imported(path) == set(), path


def test_the_steps_of_a_submission_are_in_order(page):
    drawing = section(page, "The path of a submission").split("```")[1]
    steps = ["locating", "jobs", "judge.py", "verdict", "autograded", "writing", "journal"]
    places = [drawing.index(step) for step in steps]
    assert places == sorted(places)
