"""The test cells of this course, which use `Checks`: what judging knows about the course itself.

A test cell is executed in the judge's process. `Checks` looks at an answer through `observe`, which
the sandbox calls on a stand-in's behalf, compares it with a target, and names the mistake. Test
cells of other nbgrader assignments are plain: see `grader.judging.plain.tests`.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from attn_lib.course.checks import ChecksFailed, earlier, listening
from attn_lib.course.checks.core import SEED
from attn_lib.course.checks.findings import shortened
from attn_lib.course.notebooks.magics import parsed
from attn_lib.course.personal.core import salted
from attn_lib.course.personal.ids import checked_id
from grader.errors import GraderError
from grader.judging.bounds import bounded
from grader.judging.findings import JudgedPart
from grader.judging.handing_out import LEARNER_ID
from grader.judging.listening import PartsListener
from grader.judging.live import Live
from grader.judging.mentions import mentioned
from grader.judging.open_feedback import keep_without_expected
from grader.judging.outputs import error_output, new_output, result_output, writable
from grader.sandbox.inside.limits import Limits
from grader.submission.wording import listed

_MAX_PROBLEM = 300  # characters of an error of a test cell, which may quote a learner's value


class CourseError(GraderError):
    """Raised when a test cell itself is at fault.

    The message is for the instructor. It begins with a lower-case letter, because it follows
    "failed:" or the assignment's name.
    """


@dataclass(frozen=True)
class CourseTest:
    """What judging one test cell gave; its outputs are in the cell."""

    parts: tuple[JudgedPart, ...]
    learner_ids: tuple[str, ...]  #: `learner_id` as the cell saw it, if it was valid


def is_course_test(cell: NotebookNode) -> bool:
    """Say whether a cell is a test cell that uses `Checks`."""
    return (
        cell.cell_type == "code"
        and is_grade(cell)
        and not is_solution(cell)
        and _uses_checks(cell.source)
    )


@functools.lru_cache(maxsize=256)  # all submissions have the same test cells
def _uses_checks(source: str) -> bool:
    tree = parsed(source) or ast.Module([], [])
    return any(isinstance(node, ast.Name) and node.id == "Checks" for node in ast.walk(tree))


def judge(
    cell: NotebookNode, live: Live, names: frozenset[str], count: int, limits: Limits
) -> CourseTest:
    """Execute a test cell on the answers in a session, and put its outputs into it.

    Raises
    ------
    CourseError, TookTooMuch
        As `execute` does.
    """
    answers = live.stand_ins(names)
    listener = PartsListener()
    try:
        with listening(listener):
            cell.outputs = execute(cell, answers, count, limits)
        keep_without_expected(cell, listener.without_expected)
        return CourseTest(listener.parts, tuple(_ids(answers)))
    finally:
        answers.clear()  # frees their memory before the next test reads its answers


def remarks(notebook: NotebookNode, learner_ids: Iterable[str], student: str) -> Iterator[str]:
    """Yield remarks on another learner's id, and on what honest answers do not mention."""
    yield from _other_ids(learner_ids, student)
    yield from _mentions(notebook)


@contextlib.contextmanager
def grading(seed: int, salt: str = "") -> Iterator[None]:
    """Let `Checks` give marks, with the hidden inputs of this seed and the numbers of this salt."""
    before = dict(os.environ)
    os.environ |= {"NBGRADER_EXECUTION": "autograde", SEED: str(seed)}
    try:
        with salted(salt), earlier.notebook():
            yield
    finally:
        os.environ.clear()
        os.environ |= before


def execute(
    cell: NotebookNode, answers: Mapping[str, Any], count: int, limits: Limits
) -> list[NotebookNode]:
    """Execute a test cell here and return its outputs, with the mark where nbgrader reads it.

    Raises
    ------
    CourseError
        If it raises anything but `ChecksFailed`, or its mark is not a number from 0 to its points.
    TookTooMuch
        If it exceeds its limits; see `grader.judging.bounds`.
    """
    name, max_points = cell.metadata.nbgrader.grade_id, float(cell.metadata.nbgrader.points)
    try:
        body, last = _compiled(cell.source, name)
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"the test cell {name} cannot be executed: {error}.") from None
    names: dict[str, Any] = {"__name__": "__main__", **answers}
    said, outputs = io.StringIO(), []
    failure = None
    with contextlib.redirect_stdout(said):
        try:
            with bounded(limits):
                exec(body, names)
                mark = eval(last, names)
        except ChecksFailed as found:
            failure = type(found).__name__, writable(str(found))
        except Exception as error:
            problem = shortened(writable(f"{type(error).__name__}: {error}"), _MAX_PROBLEM)
            raise CourseError(f"the test cell {name} raised {problem}.") from error
        finally:
            names.clear()  # the cell's functions refer to this namespace: break the cycle
    if text := writable(said.getvalue()):
        outputs.append(new_output("stream", name="stdout", text=text))
    if failure is not None:
        kind, text = failure
        outputs.append(error_output(kind, text, text.splitlines()))
        return outputs
    mark = checked_mark(mark, max_points, name)
    outputs.append(result_output({"text/plain": repr(mark)}, count))
    return outputs


@functools.lru_cache(maxsize=256)
def _compiled(source: str, name: str) -> tuple[CodeType, CodeType]:
    """Return the statements of a test cell and its last expression, which gives the mark."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        raise ValueError("expected check.finish(), which gives the mark, in its last line")
    return (
        compile(ast.Module(body, []), f"<{name}>", "exec"),
        compile(ast.Expression(last.value), f"<{name}>", "eval"),
    )


def checked_mark(mark: object, max_points: float, name: str) -> float:
    """Return the mark if it is a finite float from 0 to the cell's points.

    Raises
    ------
    CourseError
        If it is anything else.
    """
    if type(mark) is float and math.isfinite(mark) and 0 <= mark <= max_points:
        return mark
    raise CourseError(
        f"the test cell {name} gave {mark!r}; "
        f"expected a number from 0 to its {max_points:g} points."
    )


def _ids(answers: Mapping[str, Any]) -> list[str]:
    """Return the learner's id in a list, empty if it is not valid: the checks say so themselves."""
    learner_id = answers.get(LEARNER_ID)
    with contextlib.suppress(ValueError):
        if isinstance(learner_id, str) and checked_id(learner_id):
            return [learner_id]
    return []


def _other_ids(learner_ids: Iterable[str], student: str) -> list[str]:
    """Return remarks if the notebook's learner_id is not the id of the student."""
    others: dict[str, None] = {}  # an ordered set
    for learner_id in learner_ids:
        with contextlib.suppress(ValueError):  # the student's id may not be a valid learner_id
            if checked_id(learner_id) != checked_id(student):
                others[f"The notebook's learner_id is {learner_id!r}"] = None
    return [f"{other}, the student's id {student!r}." for other in others]


def _mentions(notebook: NotebookNode) -> Iterator[str]:
    """Yield a remark for each answer that mentions what honest answers have no need of."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_solution(cell):
            words = mentioned(cell.source)
            if words:
                yield (
                    f"The cell {cell.metadata.nbgrader.grade_id} mentions {listed(words)}. "
                    "That took no points."
                )
