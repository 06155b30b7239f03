"""Executing an exercise notebook and its test cells without Jupyter."""

from __future__ import annotations

import ast
import contextlib
import io
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

from attn_lib.course.checks import earlier
from attn_lib.course.checks.core import SEED
from attn_lib.course.checks.events import Event, Finished, listening
from attn_lib.course.checks.findings import ChecksFailed
from attn_lib.course.checks.observation import has_statements
from attn_lib.course.checks.terminal import alarming
from attn_lib.course.jupyter.words import about_id
from attn_lib.course.notebooks.cells import (
    Cell,
    functions_defined,
    names_defined,
    seed_of_answers,
    visible,
    without_hidden_tests,
)
from attn_lib.course.notebooks.libraries import WHAT_IS_THERE, imported_libraries
from attn_lib.course.notebooks.magics import without_magics
from attn_lib.course.notebooks.patience import patient


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
    earned: float = 0.0  #: points of the tests, if it was graded
    points: float = 0.0  #: the maximum of `earned`
    to_read: float = 0.0  #: points of the answers that a person reads

    @property
    def all_pass(self) -> bool:
        """Whether every test cell passes and no cell is duplicated."""
        return self.passed == self.tests and not self.problems

    def tell(self, text: str) -> None:
        """Add lines to the current task."""
        self.tasks[-1].lines += text.splitlines()


def execute(cells: list[Cell], folder: Path) -> Outcome:
    """Execute all code cells in order in one fresh namespace; return what the tests found.

    A test cell leaves no names behind, as when the notebook is graded.

    Parameters
    ----------
    cells : list of Cell
    folder : Path
        The notebook's folder. It is the working directory while the cells are executed.
    """
    execution = _Execution()
    copies = {id for id, count in Counter(cell.id for cell in cells).items() if count > 1}
    with _as_in_jupyter(folder), earlier.notebook():
        for cell in cells:
            execution.begin(cell)
            if cell.id in copies:
                copies.remove(cell.id)
                execution.outcome.problems += 1
                execution.outcome.tell(
                    f"{cell.id}: expected one cell with this id, found several. "
                    "Only one of them is graded: delete the copy."
                )
            if cell.is_test:
                if cell.was_changed:
                    execution.answer(cell)
                execution.test(cell)
            elif cell.is_code:
                execution.answer(cell)
    return execution.outcome


def grade(cells: list[Cell], source: list[Cell], folder: Path) -> Outcome:
    """Execute a learner's cells as `execute` does, with the tests of the instructor's notebook.

    Given cells and tests are those of the instructor's notebook, where they belong. Points and
    hidden inputs are those that the grader gives and takes for the same answers.

    Parameters
    ----------
    cells, source : list of Cell
        The cells of the learner's and of the instructor's notebook.
    folder : Path
        As in `execute`.
    """
    assigned = {cell.id: cell for cell in source if cell.is_locked}

    def is_the_learners(cell: Cell) -> bool:
        own = assigned.get(cell.id)
        released = (own.source, without_hidden_tests(own.source)) if own else ()
        return cell.is_code and visible(cell.source) not in map(visible, released)

    written = [
        (cell.id if cell.is_answer else None, cell.source)
        for cell in cells
        if cell.is_answer or is_the_learners(cell)
    ]
    execution = _Execution(
        answers={
            name
            for cell in source
            if cell.is_code and not cell.is_test
            for name in (names_defined if cell.is_answer else functions_defined)(cell.source)
        },
        seed=seed_of_answers(written),
    )
    execution.outcome.to_read = sum(cell.points for cell in source if cell.is_read_by_a_person)
    places = {cell.id: place for place, cell in enumerate(source)}
    last = {cell.id: number for number, cell in enumerate(cells)}
    missing = [cell for cell in assigned.values() if cell.id not in last]
    with _as_in_jupyter(folder), earlier.notebook():
        for number, cell in enumerate(cells):
            while missing and places[missing[0].id] < places.get(cell.id, -1):
                execution.assigned(missing.pop(0))
            execution.begin(cell)
            if is_the_learners(cell):
                execution.answer(cell)
            if cell.id in assigned and number == last[cell.id]:
                execution.assigned(assigned[cell.id])
        for cell in missing:
            execution.assigned(cell)
    return execution.outcome


class _Execution:
    """The names that the cells of one notebook have defined so far, and what was found.

    Parameters
    ----------
    answers : set of str, optional
        The names that a graded test cell sees. Default: nothing is graded.
    seed : int
        Of the hidden inputs, if the notebook is graded.
    """

    def __init__(self, answers: set[str] | None = None, seed: int = 0) -> None:
        self.outcome = Outcome()
        self._answers = answers
        self._seed = seed
        # In Jupyter `display` is always there.
        self._names: dict[str, Any] = {"__name__": "__main__", "display": print}

    def begin(self, cell: Cell) -> None:
        """Begin a new task at a heading, and tell what is known before a cell is executed."""
        heading = re.match(r"## +(.+)", cell.source)
        if not cell.is_code and heading:
            self.outcome.tasks.append(Task(heading[1].strip()))
        if cell.is_read_by_a_person:
            written = "written." if cell.is_written else "not written yet."
            self.outcome.tell(f"{cell.id}: a person will read it: {written}")

    def assigned(self, cell: Cell) -> None:
        """Execute a cell of the instructor's notebook that learners may not edit."""
        if cell.is_test:
            self.test(cell)
        elif cell.is_code:
            self._execute(cell, cell.source)

    def answer(self, cell: Cell) -> None:
        """Execute what the learner wrote, which may be in a locked cell."""
        if cell.is_locked and (self._answers is not None or cell.was_changed):
            self.outcome.tell(
                f"{cell.id}: this cell was changed. When it is graded, your version is executed "
                "first and then the one that was released."
            )
        source, skipped = without_magics(cell.source)
        for line, text in skipped:
            self.outcome.tell(
                f"{cell.id}, line {line}: skipped {text}, which only Jupyter understands."
            )
        for library in imported_libraries(source):
            self.outcome.tell(f"{cell.id}: it imports {library}. {WHAT_IS_THERE}")
        self._execute(cell, source)

    def test(self, cell: Cell) -> None:
        """Execute a test cell, and count its points if the notebook is graded."""
        self.outcome.tests += 1
        out = io.StringIO()
        passed: list[bool] = []
        earned: list[float] = []

        def listen(event: Event) -> None:
            if isinstance(event, Finished):
                passed[:] = [all(part.passed for part in event.parts)]
                earned[:] = [sum(part.points for part in event.parts if part.passed)]

        names = self._names
        if self._answers is not None:
            names = {name: names[name] for name in self._answers if name in names}
        try:
            with (
                patient(cell.id, to=sys.stderr),
                contextlib.redirect_stdout(out),
                listening(listen),
                self._grading(),
            ):
                exec(_compiled(cell, cell.source), {"__name__": "__main__", **names})
        except ChecksFailed as failed:
            out.write(str(failed))
        except (Exception, SystemExit) as error:
            passed, earned = [], []
            out.write(
                f"{cell.id}: {_error(error, cell)}\nExpected the tests as they were released."
            )
        self.outcome.passed += passed == [True]
        self.outcome.tell(out.getvalue())
        if self._answers is not None:
            self.outcome.earned += sum(earned)
            self.outcome.points += cell.points
            self.outcome.tell(f"{cell.id}: {sum(earned):g} of {cell.points:g} points")

    def _execute(self, cell: Cell, source: str) -> None:
        try:
            with (
                patient(cell.id, to=sys.stderr),
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                exec(_compiled(cell, source), self._names)
        except ChecksFailed:
            pass  # of a test cell that the learner changed; the released one tells what it finds
        except NotImplementedError as error:
            told = _error(error, cell) if has_statements(ast.parse(source).body) else ""
            self.outcome.tell(
                f"{cell.id}: {told}. Delete that line." if told else f"{cell.id}: not written yet."
            )
        except KeyboardInterrupt:
            stopped = f"{cell.id}: it was stopped. Is there a loop that does not end?"
            self.outcome.tell(alarming(stopped))
        except (Exception, SystemExit) as error:
            self.outcome.tell(alarming(f"{cell.id}: {_error(error, cell)}"))
            self.outcome.tell(about_id(error, source))

    @contextlib.contextmanager
    def _grading(self) -> Iterator[None]:
        """Let checks count points and draw the hidden inputs of this notebook, if it is graded."""
        before = dict(os.environ)
        if self._answers is not None:
            os.environ |= {"NBGRADER_EXECUTION": "autograde", SEED: str(self._seed)}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before


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
