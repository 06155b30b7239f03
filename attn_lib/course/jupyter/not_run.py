"""Cells that were changed after they were last run, told from the kernel's history and the file.

The file says how a cell stands now only if it was saved after the cell was run. Where anything is
not known, nothing is said.
"""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attn_lib.course.jupyter.front_end import notebook_file, shell
from attn_lib.course.notebooks.cells import Cell, NotANotebook, names_defined, read

_CHANGED = (
    "In the saved notebook, the cell of {name} differs from what you last ran. "
    "Run it (Shift+Enter), then run this test again."
)

_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


class Runs:
    """When the cells of a kernel were run.

    Parameters
    ----------
    shell
        IPython's shell.
    """

    def __init__(self, shell: Any) -> None:  # noqa: ANN401
        self._shell = shell
        self._since = time.time()
        self._begun: dict[int, float] = {}
        shell.events.register("pre_run_cell", self._note)

    def _note(self, info: Any = None) -> None:  # noqa: ANN401
        self._begun[self._shell.execution_count] = time.time()

    def begun(self, count: int) -> float:
        """Return when a cell was run; for one that ran before we looked, the latest time it can be.

        Parameters
        ----------
        count : int
            The number that Jupyter shows beside the cell.
        """
        return self._begun.get(count, self._since)


def runs_of(shell: Any) -> Runs:  # noqa: ANN401
    """Return the `Runs` of a kernel, which are noted from the first call on."""
    if not hasattr(shell, "attn_lib_runs"):
        shell.attn_lib_runs = Runs(shell)
    return shell.attn_lib_runs


def changed_since_run(names: Iterable[str]) -> list[str]:
    """Return a sentence for each answer whose cell was changed and saved after it was last run.

    Parameters
    ----------
    names : iterable of str
        The names of answers.
    """
    found, file = shell(), notebook_file()
    if found is None or file is None:
        return []
    runs = runs_of(found)
    try:
        saved, cells = file.stat().st_mtime, read(file, needs_tests=False)
    except (OSError, NotANotebook):
        return []
    return [
        _CHANGED.format(name=name)
        for name in dict.fromkeys(names)
        if _differs(name, found.history_manager.input_hist_parsed, runs, saved, _code(found, cells))
    ]


def cells_defining(name: str, file: Path, found: Any) -> list[tuple[str, Cell]]:  # noqa: ANN401
    """Return the cells of a notebook that define a name, each with the heading above it."""
    try:
        cells = read(file, needs_tests=False)
    except NotANotebook:
        return []
    heading, defining = "", []
    for cell in cells:
        if not cell.is_code:
            headings = _HEADING.findall(cell.source)
            heading = headings[-1] if headings else heading
        elif not cell.is_test and _defines(found.transform_cell(cell.source), name):
            defining.append((heading, cell))
    return defining


def _code(found: Any, cells: Iterable[Cell]) -> list[str]:  # noqa: ANN401
    return [found.transform_cell(c.source) for c in cells if c.is_code and not c.is_test]


def _differs(name: str, history: list[str], runs: Runs, saved: float, cells: list[str]) -> bool:
    ran = next((n for n in range(len(history) - 1, 0, -1) if _defines(history[n], name)), None)
    defining = [cell for cell in cells if _defines(cell, name)]
    if ran is None or len(defining) != 1 or saved <= runs.begun(ran):
        return False
    return _meaning(defining[0]) != _meaning(history[ran])


def _defines(code: str, name: str) -> bool:
    if name not in code:
        return False
    with warnings.catch_warnings(action="ignore"):
        try:
            return name in names_defined(code)
        except (SyntaxError, ValueError):
            return False


def _meaning(code: str) -> str:
    """Return the code without comments and spaces, which change nothing."""
    with warnings.catch_warnings(action="ignore"):
        return ast.dump(ast.parse(code))
