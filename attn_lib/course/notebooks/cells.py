"""Reading the cells of an exercise notebook."""

from __future__ import annotations

import ast
import dis
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The text that nbgrader puts into an unanswered cell.
UNWRITTEN = "YOUR ANSWER HERE"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Put together, since learners' archive is searched for the whole text.
_TESTS = "HIDDEN TESTS"
_HIDDEN = (f"BEGIN {_TESTS}", f"END {_TESTS}")


class NotANotebook(ValueError):
    """Raised when a file cannot be read as a notebook with test cells; the message says why."""


@dataclass(frozen=True)
class Cell:
    """The properties of one cell that checking needs."""

    id: str
    source: str
    is_code: bool
    is_graded: bool = False
    is_answer: bool = False
    is_locked: bool = False  #: learners may not edit it
    points: float = 0.0  #: what it can earn, if it is graded
    checksum: str = ""  #: nbgrader's checksum of the cell as it was released

    @property
    def is_test(self) -> bool:
        """Whether it is a test cell, which earns points when it is executed."""
        return self.is_code and self.is_graded and not self.is_answer

    @property
    def is_read_by_a_person(self) -> bool:
        """Whether a person grades what the learner writes into it."""
        return self.is_graded and self.is_answer

    @property
    def is_written(self) -> bool:
        """Whether the learner has replaced the text that was released."""
        text = self.source.strip()
        return bool(text) and text != UNWRITTEN and "raise NotImplementedError()" not in text

    @property
    def was_changed(self) -> bool:
        """Whether it is a locked cell whose text is not the one that was released.

        Some editors let learners change locked cells. White space at the ends makes no difference.
        """
        if not self.is_locked or not self.checksum:
            return False
        return self.checksum not in map(self._checksum_of, (self.source, visible(self.source)))

    def _checksum_of(self, source: str) -> str:
        """Return what nbgrader computes for a cell with this text; see its `compute_checksum`."""
        kind = "code" if self.is_code else "markdown"
        parts = [source, kind, *map(str, (self.is_graded, self.is_answer, self.is_locked)), self.id]
        if self.is_graded:
            parts.append(str(self.points))
        return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def read(path: Path, *, needs_tests: bool = True) -> list[Cell]:
    """Return the cells of a notebook file.

    Parameters
    ----------
    path : Path
        An ``.ipynb`` file of format 4, in UTF-8, with or without a byte-order mark.
    needs_tests : bool
        Whether the notebook has to have a test cell.

    Raises
    ------
    NotANotebook
        If it is anything else.
    """
    content = _parsed(path)
    notebook = content if isinstance(content, dict) else {}
    cells = notebook.get("cells")
    if not isinstance(cells, list) or notebook.get("nbformat") != 4:
        raise NotANotebook(
            f"{path}: expected a notebook of format 4, got other JSON. "
            "Open it in Jupyter and save it."
        )
    try:
        found = [_cell(number, cell) for number, cell in enumerate(cells, start=1)]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotANotebook(
            f"{path}: expected cells with a type and a text, got one without ({error}). "
            "Take a fresh copy of the exercise and put your answers into it."
        ) from error
    if needs_tests and not any(cell.is_test for cell in found):
        raise NotANotebook(
            f"{path}: expected test cells, found none. Is it one of the exercises? If their "
            "cells were deleted, take a fresh copy and put your answers into it."
        )
    return found


def visible(text: str) -> str:
    """Return the text without leading and trailing white space, and none at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def without_hidden_tests(source: str, marks: tuple[str, str] = _HIDDEN) -> str:
    """Return the text of a test cell as it is released, without lines between the two marks."""
    begin, end = marks
    kept, hidden = [], False
    for line in source.split("\n"):
        if begin in line:
            hidden = True
        elif end in line:
            hidden = False
        elif not hidden:
            kept.append(line)
    return "\n".join(kept)


def names_defined(source: str) -> set[str]:
    r"""Return the names that the code of a cell assigns or defines.

    Examples
    --------
    >>> sorted(names_defined("a, b = 1, 2\ndef f(x):\n    c = x\n    return c"))
    ['a', 'b', 'f']
    """
    code = compile(source, "<answer>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}


def functions_defined(source: str) -> set[str]:
    r"""Return the functions that a cell defines; none if it is not plain Python.

    Examples
    --------
    >>> functions_defined("import math\ndef half(x):\n    return x / 2")
    {'half'}
    """
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a magic, for example
        return set()
    return {statement.name for statement in body if isinstance(statement, ast.FunctionDef)}


def seed_of_answers(written: Iterable[tuple[str | None, str]]) -> int:
    """Return the seed of the hidden inputs for what a learner wrote; equal texts have equal seeds.

    Parameters
    ----------
    written : iterable of (str or None, str)
        The id of each answer, None for a cell of the learner's own, and its text.

    Examples
    --------
    >>> seed_of_answers([("softmax", "x = 1")]) == seed_of_answers([("softmax", "x = 2")])
    False
    """
    text = json.dumps([list(pair) for pair in written])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:4], "big")


def _parsed(path: Path) -> object:
    if path.is_dir():
        inside = ", ".join(sorted(file.name for file in path.glob("*.ipynb"))) or "none"
        raise NotANotebook(
            f"{path}: expected a notebook, got a folder (notebooks in it: {inside})."
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = "found no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise NotANotebook(
            f"{path}: expected a notebook, {problem}. You are in {Path.cwd()}."
        ) from error
    try:
        return json.loads(content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NotANotebook(
            f"{path}: expected text in UTF-8, got other bytes. Open it in Jupyter and save it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise NotANotebook(
            f"{path}: expected a notebook, got a file that is not JSON ({error}). "
            "Is the file complete, and saved by Jupyter?"
        ) from error


def _cell(number: int, cell: dict[str, Any]) -> Cell:
    source = cell["source"]
    nbgrader = cell.get("metadata", {}).get("nbgrader", {})
    graded, answer = bool(nbgrader.get("grade")), bool(nbgrader.get("solution"))
    return Cell(
        id=str(nbgrader.get("grade_id") or cell.get("id") or f"cell {number}"),
        source=source if isinstance(source, str) else "".join(source),
        is_code=cell["cell_type"] == "code",
        is_graded=graded,
        is_answer=answer,
        is_locked=not answer and (graded or bool(nbgrader.get("locked"))),
        points=float(nbgrader.get("points") or 0),
        checksum=str(nbgrader.get("checksum") or ""),
    )
