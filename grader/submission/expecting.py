"""The cells of an assignment: the role of each, and how it can be recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from attn_lib.course.notebooks.cells import visible, without_hidden_tests

TEXT = "text"  #: explains a task; nbgrader does not track it
GIVEN = "given"  #: cannot be edited, gives no points itself
ANSWER = "answer"  #: the learner writes it
TEST = "test"  #: cannot be edited and gives points

#: Longer texts are not searched for names; no honest answer is as long.
MAX_SEARCHED = 100_000

# Line by line: a learner's text could crash Python's own parser.
_DEFINED = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*=(?!=)", re.MULTILINE)
# A stub asks for a value by a comment such as "# weights_shape = ( , )".
_ASKED_FOR = re.compile(r"^# (\w+) =", re.MULTILINE)


@dataclass(frozen=True)
class Expected:
    """One cell of the instructor's notebook."""

    cell: NotebookNode
    name: str  #: nbgrader's grade_id, or else the notebook format's id
    role: str  #: `TEXT`, `GIVEN`, `ANSWER` or `TEST`
    released: str  #: its text as released to learners
    asked_for: frozenset[str]  #: the names that its stub asks for
    block: int  #: number of its group; each group of cells ends with tests

    @property
    def is_locked(self) -> bool:
        """Whether learners cannot edit it."""
        return self.role in (GIVEN, TEST)

    @property
    def id(self) -> str:
        """The notebook format's id, or ""."""
        return self.cell.get("id", "")


def expected_cells(source: NotebookNode) -> list[Expected]:
    """Return the cells of the instructor's notebook, from which solutions have been removed."""
    cells, block, ended = [], 0, False
    for cell in source.cells:
        role = _role(cell)
        if ended and role in (GIVEN, ANSWER):
            block += 1
        if role != TEXT:
            ended = role == TEST
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "")
        asked_for: frozenset[str] = frozenset()
        if role == ANSWER and cell.cell_type == "code":
            asked_for = defined(cell.source) | frozenset(_ASKED_FOR.findall(cell.source))
        cells.append(
            Expected(cell, name, role, without_hidden_tests(cell.source), asked_for, block)
        )
    return cells


def defined(text: str) -> frozenset[str]:
    r"""Return the names that a cell defines at its top level.

    Examples
    --------
    >>> sorted(defined("a, b = 1, 2\ndef f(x):\n    c = x == 1\n    return c"))
    ['a', 'b', 'f']
    """
    if len(text) > MAX_SEARCHED:
        return frozenset()
    assigned = [name.strip() for names in _ASSIGNED.findall(text) for name in names.split(",")]
    return frozenset(_DEFINED.findall(text)) | frozenset(assigned)


def same(one: str, other: str) -> bool:
    """Return whether two texts are equal apart from invisible white space; see `visible`."""
    return visible(one) == visible(other)


def _role(cell: NotebookNode) -> str:
    if is_solution(cell):
        return ANSWER
    if is_grade(cell):
        return TEST
    return GIVEN if is_locked(cell) or is_task(cell) else TEXT
