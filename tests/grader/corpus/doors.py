"""Folders of submissions in which something else than a file has the notebook's name.

Each function gets the folder of a submission, a folder that no learner may read, and the content of
an honest notebook. It puts something into the folder of the submission.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"

#: In the folder that no learner may read: a notebook with the instructor's answers.
SOLUTION = "solution.ipynb"
SECRET = "the marking scheme"

Door = Callable[[Path, Path, bytes], None]


def _instead(make: Callable[[Path, Path], object]) -> Door:
    """Return a door with something in place of the notebook."""

    def door(folder: Path, secrets: Path, honest: bytes) -> None:
        make(folder / NOTEBOOK, secrets)

    return door


def _linked_folder(folder: Path, secrets: Path, honest: bytes) -> None:
    (secrets / NOTEBOOK).write_bytes((secrets / SOLUTION).read_bytes())
    folder.rmdir()
    folder.symlink_to(secrets)


def _linked_student(folder: Path, secrets: Path, honest: bytes) -> None:
    elsewhere = secrets / "student"
    (elsewhere / ASSIGNMENT).mkdir(parents=True)
    shutil.copy(secrets / SOLUTION, elsewhere / ASSIGNMENT / NOTEBOOK)
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(elsewhere)


def _sparse(path: Path, secrets: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


def _linked_below(folder: Path, secrets: Path, honest: bytes) -> None:
    (folder / "work").mkdir()
    (folder / "work" / NOTEBOOK).symlink_to(secrets / SOLUTION)
    (folder / NOTEBOOK).symlink_to("work/" + NOTEBOOK)


#: What is refused, and why.
REFUSED: dict[str, tuple[Door, str]] = {
    "a link to the solution": (
        _instead(lambda path, secrets: path.symlink_to(secrets / SOLUTION)),
        "links are not followed",
    ),
    "a relative link": (
        _instead(lambda path, secrets: path.symlink_to(os.path.relpath(secrets / SOLUTION, path))),
        "links are not followed",
    ),
    "a link to a link": (_linked_below, "links are not followed"),
    "a link to a device": (
        _instead(lambda path, secrets: path.symlink_to("/dev/zero")),
        "links are not followed",
    ),
    "a link to nothing": (
        _instead(lambda path, secrets: path.symlink_to("nothing")),
        "links are not followed",
    ),
    "a folder that is a link": (_linked_folder, "its folder is a link"),
    "a student's folder that is a link": (_linked_student, "its folder is a link"),
    "a pipe": (_instead(lambda path, secrets: os.mkfifo(path)), "but no notebook"),
    "a folder": (_instead(lambda path, secrets: path.mkdir()), "but no notebook"),
    "a sparse file": (_instead(_sparse), "larger than 20 MiB"),
    "not a notebook": (
        _instead(lambda path, secrets: path.write_bytes(b"[" * 100_000)),
        "nested too deeply",
    ),
}


def beside_an_honest_notebook(folder: Path, secrets: Path, honest: bytes) -> None:
    """Put an honest notebook into the folder, and all that nbgrader would copy with it."""
    (folder / NOTEBOOK).write_bytes(honest)
    (folder / "data.csv").symlink_to(secrets / SOLUTION)
    (folder / "all").symlink_to(secrets)
    (folder / "endless").symlink_to("/dev/zero")
    (folder / "timestamp.txt").symlink_to("/dev/zero")
    (folder / "index.html").write_text("<script>act()</script>", encoding="utf-8")
    (folder / "nbgrader_config.py").write_text("raise SystemExit", encoding="utf-8")
    (folder / "deeper").mkdir()
    (folder / "deeper" / NOTEBOOK.upper()).symlink_to(secrets / SOLUTION)
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "other.ipynb")
    os.truncate(folder / "index.html", 2**40)
