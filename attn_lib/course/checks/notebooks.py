"""Executing an exercise notebook and its test cells without Jupyter."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from attn_lib.course.checks.findings import ChecksFailed

#: The text that nbgrader puts into an unanswered cell.
UNWRITTEN = "YOUR ANSWER HERE"

#: Cell magics after which the cell is still Python.
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")

_MAGIC = re.compile(r"(\s*)(?!#)(?:[%!?].*|[\w, ]+=\s*[%!].*|.*[\w)\]]\?{1,2}\s*)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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


@dataclass
class Task:
    """What was found in one task: the cells below one heading."""

    title: str
    lines: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """What executing a notebook showed."""

    tasks: list[Task] = field(default_factory=lambda: [Task("")])
    tests: int = 0  #: number of test cells
    passed: int = 0  #: number of test cells that pass
    problems: int = 0  #: number of duplicated cells

    @property
    def all_pass(self) -> bool:
        """Whether every test cell passes and no cell is duplicated."""
        return self.passed == self.tests and not self.problems

    def tell(self, text: str) -> None:
        """Add lines to the current task."""
        self.tasks[-1].lines += text.splitlines()


def read(path: Path) -> list[Cell]:
    """Return the cells of a notebook file.

    Parameters
    ----------
    path : Path
        An ``.ipynb`` file of format 4, in UTF-8, with or without a byte-order mark.

    Raises
    ------
    NotANotebook
        If it is anything else, or has no test cell.
    """
    content = _parsed(path)
    notebook = content if isinstance(content, dict) else {}
    cells = notebook.get("cells")
    if not isinstance(cells, list) or notebook.get("nbformat") != 4:
        raise NotANotebook(
            f"{path}: expected a notebook of format 4, got other JSON. "
            "Is it the .ipynb file of the exercise, saved by Jupyter?"
        )
    try:
        found = [_cell(number, cell) for number, cell in enumerate(cells, start=1)]
    except (AttributeError, KeyError, TypeError) as error:
        raise NotANotebook(
            f"{path}: expected cells with a type and a source, got one without ({error}). "
            "Take a fresh copy of the exercise and put your answers into it."
        ) from error
    if not any(cell.is_test for cell in found):
        raise NotANotebook(
            f"{path}: expected test cells, found none. Is it one of the exercises? If their "
            "cells were deleted, take a fresh copy and put your answers into it."
        )
    return found


def execute(cells: list[Cell], folder: Path) -> Outcome:
    """Execute all code cells in order in one fresh namespace; return what the tests found.

    Parameters
    ----------
    cells : list of Cell
    folder : Path
        The notebook's folder. It is the working directory while the cells are executed.
    """
    outcome = Outcome()
    # In Jupyter `display` is always there.
    names: dict[str, Any] = {"__name__": "__main__", "display": print}
    copies = {id for id, count in Counter(cell.id for cell in cells).items() if count > 1}
    with _as_in_jupyter(folder):
        for cell in cells:
            heading = re.match(r"## +(.+)", cell.source)
            if not cell.is_code and heading:
                outcome.tasks.append(Task(heading[1].strip()))
            if cell.id in copies:
                copies.remove(cell.id)
                outcome.problems += 1
                outcome.tell(
                    f"{cell.id}: expected one cell with this id, found several. "
                    "Only one of them is graded: delete the copy."
                )
            if cell.is_read_by_a_person:
                written = "written." if cell.is_written else "not written yet."
                outcome.tell(f"{cell.id}: a person will read it: {written}")
            if cell.is_test:
                _run_test(cell, names, outcome)
            elif cell.is_code:
                _run_answer(cell, names, outcome)
    return outcome


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
    return Cell(
        id=str(nbgrader.get("grade_id") or cell.get("id") or f"cell {number}"),
        source=source if isinstance(source, str) else "".join(source),
        is_code=cell["cell_type"] == "code",
        is_graded=bool(nbgrader.get("grade")),
        is_answer=bool(nbgrader.get("solution")),
    )


def _run_test(cell: Cell, names: dict[str, Any], outcome: Outcome) -> None:
    outcome.tests += 1
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(_compiled(cell, cell.source), names)
        outcome.passed += 1
    except ChecksFailed as failed:
        out.write(str(failed))
    except (Exception, SystemExit) as error:
        out.write(f"{cell.id}: {_error(error, cell)}\nExpected the tests as they were released.")
    outcome.tell(out.getvalue())


def _run_answer(cell: Cell, names: dict[str, Any], outcome: Outcome) -> None:
    source, skipped = _without_magics(cell)
    for line, text in skipped:
        outcome.tell(f"{cell.id}, line {line}: skipped {text}, which only Jupyter understands.")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(_compiled(cell, source), names)
    except NotImplementedError:
        outcome.tell(f"{cell.id}: not written yet.")
    except KeyboardInterrupt:
        outcome.tell(f"{cell.id}: it was stopped. Is there a loop that does not end?")
    except (Exception, SystemExit) as error:
        outcome.tell(f"{cell.id}: {_error(error, cell)}")


def _compiled(cell: Cell, source: str) -> CodeType:
    """Compile a cell so that errors can show its lines."""
    name = f"<{cell.id}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec")


def _error(error: BaseException, cell: Cell) -> str:
    """Say what was raised and in which line of the cell."""
    lines = []
    if isinstance(error, SyntaxError) and error.filename == f"<{cell.id}>":
        lines = [error.lineno or 1]
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == f"<{cell.id}>":
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    message = error.msg if isinstance(error, SyntaxError) else error
    told = f"it raised {type(error).__name__}: {message}".rstrip(": ")
    if not lines:
        return told
    text = linecache.getline(f"<{cell.id}>", lines[-1]).strip()
    return f"{told} (line {lines[-1]}: {text})"


def _without_magics(cell: Cell) -> tuple[str, list[tuple[int, str]]]:
    """Return the cell's Python code, and the lines left out, with their numbers."""
    if _is_python(cell.source):  # a line may begin with % inside brackets or a string
        return cell.source, []
    lines = cell.source.splitlines()
    first = lines[0].split()[0] if lines[0].split() else ""
    if first.startswith("%%") and first not in PYTHON_MAGICS:
        return "", [(1, f"the cell, which begins with {first}")]
    skipped = []
    for number, line in enumerate(lines):
        magic = _MAGIC.fullmatch(line)
        if magic:
            skipped.append((number + 1, f"`{line.strip()}`"))
            lines[number] = f"{magic[1]}pass"  # a block must not be empty
    return "\n".join(lines), skipped


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


@contextlib.contextmanager
def _as_in_jupyter(folder: Path) -> Iterator[None]:
    """Set up the process as Jupyter would, but without windows and without input.

    The notebook's folder becomes the working directory and the first place to import from.
    """
    environment, lines = dict(os.environ), dict(linecache.cache)
    process = {name: getattr(sys, name) for name in ("path", "argv", "stdin")}
    os.environ.update(MPLBACKEND="agg", NBGRADER_EXECUTION="validate")
    sys.path, sys.argv, sys.stdin = [str(folder), *sys.path], [""], io.StringIO()
    try:
        with contextlib.chdir(folder), np.printoptions():
            yield
    finally:
        for name, value in process.items():
            setattr(sys, name, value)
        os.environ.clear()
        os.environ.update(environment)
        linecache.cache.clear()
        linecache.cache.update(lines)
