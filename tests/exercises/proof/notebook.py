"""Run an exercise notebook in this process, the way nbgrader runs it in a kernel."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbgrader.utils import is_grade, is_solution

from attn_lib.course.checks import ChecksFailed, Part, earlier, listening
from attn_lib.course.checks.core import SEED
from attn_lib.course.checks.events import Event, Finished

#: A function of a test cell's id and an event of its checks.
Listener = Callable[[str, Event], object]


@dataclass
class Run:
    """The results of a notebook's test cells."""

    scores: dict[str, float] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    parts: dict[str, list[Part]] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return sum(self.scores.values())

    def lost(self, points: dict[str, float]) -> dict[str, float]:
        """Return the lost points by cell, for cells that lost any."""
        return {
            cell: points[cell] - score
            for cell, score in self.scores.items()
            if score != points[cell]
        }

    def mistakes(self, cell: str) -> list[str]:
        """Return the mistakes that a test cell named, without repetitions."""
        named = (mistake for part in self.parts[cell] for mistake in part.mistakes)
        return list(dict.fromkeys(named))


@dataclass(frozen=True)
class Wrap:
    """A function that makes a replacement of the reference from the reference."""

    wrap: Callable[[Any], Any]


def read(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


def points(cells: list[Any]) -> dict[str, float]:
    """Return the points of the test cells."""
    return {
        cell.id: cell.metadata.nbgrader.points
        for cell in cells
        if is_grade(cell) and cell.cell_type == "code"
    }


def secret_lines(cells: list[Any]) -> set[str]:
    """Return the lines that occur only in solutions and hidden tests."""
    region = re.compile(r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)### END", re.DOTALL)
    secret = {
        line.strip()
        for cell in cells
        for lines in region.findall(cell.source)
        for line in lines.splitlines()
    }
    shown = {line.strip() for cell in cells for line in region.sub("", cell.source).splitlines()}
    return secret - shown


def run(
    cells: list[Any],
    answers: dict[str, str] | None = None,
    *,
    seed: int | None = None,
    execution: str = "autograde",
    put: Mapping[str, Mapping[str, Any]] | None = None,
    without: Collection[str] = (),
    listener: Listener = lambda cell, event: None,
) -> Run:
    """Run all code cells in one namespace.

    Parameters
    ----------
    cells : list
        The notebook's cells.
    answers : dict, optional
        Sources to run instead of those of the solution cells.
    seed : int, optional
        Seed for other hidden inputs, set as by the judge.
    execution : str
        Value of NBGRADER_EXECUTION. As in nbgrader, errors in solution cells are ignored. An
        error in a test cell is raised unless it is a report of checks.
    put : dict, optional
        By cell, the names to redefine after the cell has run, with their values.
    without : collection of str
        Test cells to skip.
    listener : callable
        Called with all events of the checks in test cells. An exception in it ends the run.
    """
    answers, put = answers or {}, put or {}
    names: dict[str, Any] = {"__name__": "__main__"}
    result = Run()
    # A notebook may set NumPy's print options, which are global in this process.
    settings = {"NBGRADER_EXECUTION": execution}
    if seed is not None:
        settings[SEED] = str(seed)
    with _environment(settings), np.printoptions(), earlier.notebook():
        for cell in cells:
            if cell.cell_type != "code" or cell.id in without:
                continue
            if is_grade(cell):
                _run_tests(cell.id, cell.source, names, result, listener)
            else:
                source = answers.get(cell.id, cell.source) if is_solution(cell) else cell.source
                execute(cell, source, names)
                for name, value in put.get(cell.id, {}).items():
                    names[name] = value.wrap(names[name]) if isinstance(value, Wrap) else value
    plt.close("all")  # a kernel closes figures when it shows them
    return result


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables."""
    # Not mock.patch.dict, which writes all variables back. That takes as long as a small cell.
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield


def execute(cell: Any, source: str, names: dict[str, Any]) -> None:
    """Execute a cell that is no test, with this source, as in nbgrader without its errors."""
    quietly = contextlib.ExitStack()
    if not is_solution(cell):
        # What given cells draw is for readers, and drawing takes long. test_given.py looks at it.
        quietly.enter_context(mock.patch.object(plt, "figure"))
    with quietly, contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        exec(_compiled(source, cell.id), names)


@functools.cache
def _compiled(source: str, cell_id: str) -> CodeType:
    return compile(source, f"<{cell_id}>", "exec")


@functools.cache
def _compiled_tests(source: str, cell_id: str) -> tuple[CodeType, CodeType]:
    """Return the code of a test cell: all statements but the last, and its last expression."""
    *body, last = ast.parse(source).body
    return (
        compile(ast.Module(body, []), f"<{cell_id}>", "exec"),
        compile(ast.Expression(last.value), f"<{cell_id}>", "eval"),
    )


def _run_tests(
    cell_id: str, source: str, names: dict[str, Any], result: Run, listener: Listener
) -> None:
    """Run a test cell; as in nbgrader, its score is the value of its last expression."""

    def hear(event: Event) -> None:
        if isinstance(event, Finished):
            result.parts[cell_id] = list(event.parts)
        listener(cell_id, event)

    statements, last = _compiled_tests(source, cell_id)
    out = io.StringIO()
    score = 0.0
    try:
        with contextlib.redirect_stdout(out), listening(hear):
            exec(statements, names)
            value = eval(last, names)
        score = value if value is not None else float("nan")
    except ChecksFailed as failed:
        out.write(str(failed))
    result.scores[cell_id] = score
    result.reports[cell_id] = out.getvalue()
