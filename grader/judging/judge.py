"""The judge: the instructor's tests on a learner's answers, which run in another process.

Learner code runs in a session of the sandbox. A test cell is executed here, in a fresh namespace
in which each name that the learner had to define is a stand-in: a call sends the arguments into
the session by value and brings the result back by value. So nothing that a learner writes can
reach a test, an expected value, the marks or the files of the instructor.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import io
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade, is_locked, is_solution

from attn_lib.course.checks import ChecksFailed, earlier, listening
from attn_lib.course.checks.core import SEED
from attn_lib.course.checks.findings import shortened
from attn_lib.course.notebooks.cells import seed_of_answers
from attn_lib.course.personal.core import is_salted, salted
from attn_lib.course.personal.ids import checked_id
from grader.errors import GraderError
from grader.judging.assignment_source import Source, is_unanswered, read_source
from grader.judging.bounds import TookTooMuch, bounded
from grader.judging.findings import JudgedPart, PartsListener
from grader.judging.handing_out import LEARNER_ID, HandedOutNumbers
from grader.judging.live import Live
from grader.judging.mentions import mentioned
from grader.judging.notebook_file import written
from grader.judging.open_feedback import keep_without_expected
from grader.judging.outputs import missing_library_in, new_output, stopped_output, writable
from grader.judging.repairing import repair_within_limits
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.submission import Repaired, Unreadable, repair
from grader.submission.wording import listed

_MAX_PROBLEM = 300  # characters of an error of a test cell, which may quote a learner's value
_WHOSE_FAULT = (
    "The model answers and the released notebook do not cause this: look at what was handed in, "
    "and tell whoever maintains the course."
)


class CourseError(GraderError):
    """Raised when a test cell itself is at fault.

    The message is for the instructor. It begins with a lower-case letter, because it follows
    "failed:" or the assignment's name.
    """


@dataclass(frozen=True)
class Judged:
    """The graded notebook of a submission, with remarks and parts."""

    notebook: NotebookNode
    remarks: tuple[str, ...]
    learner_ids: tuple[str, ...] = ()  #: `learner_id` as each test cell saw it, if it was valid
    parts: dict[str, tuple[JudgedPart, ...]] = field(default_factory=dict)  #: by test cell


def judge_submission(
    source: bytes,
    submitted: bytes,
    *,
    assignment: str,
    student: str,
    limits: Limits,
    sandbox: Sandbox,
    salt: str = "",
) -> Verdict:
    """Return the verdict on one submission, without touching any file or database.

    Parameters
    ----------
    source : bytes
        The instructor's notebook file.
    submitted : bytes
        The learner's notebook file.
    assignment, student : str
        Names for the verdict; remarks compare the student's with the notebook's learner_id.
    limits : Limits
        How much a submission may use.
    sandbox : Sandbox
        Where learner code runs.
    salt : str
        The secret that learners' numbers depend on; "" for none. It does not enter the sandbox.

    Raises
    ------
    CourseError
        If a test cell is at fault with the model answers or the released notebook too.
    """
    begun = time.monotonic()
    known = read_source(source)
    provenance: dict[str, Any] = {
        "source": hashlib.sha256(source).hexdigest(),
        "submission": hashlib.sha256(submitted).hexdigest(),
        "isolation": sandbox.isolation,
        "versions": versions(),
    }
    try:
        repaired = repair_within_limits(submitted, known.stub, limits)
        provenance["seed"] = seed_of(repaired.notebook)
        judged = judge_notebook(known, repaired.notebook, limits=limits, sandbox=sandbox, salt=salt)
        verdict = _verdict(repaired, judged, assignment, student)
    except Unreadable as problem:
        verdict = Verdict(assignment, student, FAILED, reason=str(problem))
    provenance["seconds"] = round(time.monotonic() - begun, 3)
    return replace(verdict, points=dict(known.points), provenance=provenance)


def judge_notebook(
    source: Source, notebook: NotebookNode, *, limits: Limits, sandbox: Sandbox, salt: str = ""
) -> Judged:
    """Judge a repaired notebook: its answers in the sandbox, the instructor's tests here.

    An odd answer on which a test cell meets an error costs the points of that cell only.

    Parameters
    ----------
    source : Source
        The instructor's notebook.
    notebook : NotebookNode
        As `grader.submission.repair` returns it. Its outputs are replaced in place. The hidden
        inputs depend on its answers only; see `seed_of`.
    limits, sandbox, salt
        As in `judge_submission`.

    Raises
    ------
    CourseError
        If a test cell raises anything but `ChecksFailed`, or its mark is not a number from 0 to
        its points, and the same happens with the model answers or the released notebook.
    """
    seed = seed_of(notebook)
    faults: list[str] = []
    with salted(salt):
        judged = _judge_with_seed(seed, source, notebook, limits, sandbox, faults)
        if faults:
            _raise_if_the_course_is_at_fault(source, seed, limits, sandbox)
    return judged


def seed_of(notebook: NotebookNode) -> int:
    """Return the seed of a submission's hidden inputs; equal answers give equal seeds.

    It depends on what the learner wrote: the answers with their ids, and other code that the
    learner may edit. Outputs, execution counts, other metadata and the encoding of the file make
    no difference.

    Parameters
    ----------
    notebook : NotebookNode
        As `grader.submission.repair` returns it.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> one, two = (new_notebook(cells=[new_code_cell(f"x = {x}")]) for x in (1, 2))
    >>> seed_of(one) == seed_of(two)
    False
    >>> two.cells[0].update(source="x = 1", execution_count=3)
    >>> seed_of(one) == seed_of(two)
    True
    """
    return seed_of_answers(
        (cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        for cell in notebook.cells
        if is_solution(cell) or (cell.cell_type == "code" and not is_locked(cell))
    )


def _judge_with_seed(
    seed: int,
    source: Source,
    notebook: NotebookNode,
    limits: Limits,
    sandbox: Sandbox,
    faults: list[str] | None = None,
) -> Judged:
    """Judge a notebook as `judge_notebook` does, with the hidden inputs of this seed.

    Errors of test cells are appended to `faults`, and their cells have no points. Without such a
    list, the first one is raised.
    """
    with _grading(seed), earlier.notebook(), Live(sandbox, limits) as live:
        count, learner_ids = 0, []
        numbers = HandedOutNumbers(live, source) if is_salted() else None
        parts: dict[str, tuple[JudgedPart, ...]] = {}
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            count += 1
            cell.execution_count = count
            if source.is_test(cell):
                answers = live.stand_ins(source.names)
                learner_ids += _ids(answers)
                listener = PartsListener()
                try:
                    with listening(listener):
                        cell.outputs = _judge_cell(cell, answers, count, limits)
                    parts[cell.metadata.nbgrader.grade_id] = listener.parts
                    keep_without_expected(cell, listener.without_expected)
                except TookTooMuch as stopped:
                    problem = f"judging it was stopped because {stopped}"
                    cell.outputs = [stopped_output(problem)]
                    live.remarks.append(f"The cell {_name(cell, count)} has no points: {problem}.")
                except CourseError as fault:
                    if faults is None:
                        raise
                    faults.append(str(fault))  # its traceback would keep the answers in memory
                    cell.outputs = [stopped_output("its test met an error with this answer")]
                    live.remarks.append(
                        f"The cell {_name(cell, count)} has no points: {fault} {_WHOSE_FAULT}"
                    )
                answers.clear()  # frees their memory before the next test reads its answers
            else:
                if numbers:
                    numbers.hand_out(cell.source)
                cell.outputs = live.execute(_name(cell, count), cell.source)
                if missing := missing_library_in(cell.outputs):
                    live.remarks.append(f"The cell {_name(cell, count)} was stopped: {missing}")
        return Judged(notebook, tuple(live.remarks), tuple(learner_ids), parts)


def _raise_if_the_course_is_at_fault(
    source: Source, seed: int, limits: Limits, sandbox: Sandbox
) -> None:
    """Raise `CourseError` if a test cell fails on the model answers or the released notebook too.

    One learner's odd value may trigger a fault in a test cell that no other submission triggers.
    That must not stop the others from being judged.

    Parameters
    ----------
    source, limits, sandbox
        As in `judge_notebook`.
    seed : int
        The seed of the submission on which the test cell failed.
    """
    for submitted in (source.file, nbformat.writes(source.stub).encode()):
        notebook = repair(submitted, source.stub).notebook
        _judge_with_seed(seed, source, notebook, limits, sandbox)


def _verdict(repaired: Repaired, judged: Judged, assignment: str, student: str) -> Verdict:
    """Return the verdict on a judged submission, still without points and provenance."""
    remarks = (
        *repaired.remarks,
        *judged.remarks,
        *_other_ids(judged.learner_ids, student),
        *_mentions(judged.notebook),
    )
    graded = [cell for cell in judged.notebook.cells if is_grade(cell)]
    scores = {cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in graded}
    return Verdict(
        assignment,
        student,
        REMARKS if remarks else GRADED,
        remarks=remarks,
        scores={name: float(score) for name, score in scores.items() if score is not None},
        to_read=tuple(name for name, score in scores.items() if score is None),
        missing=tuple(repaired.missing),
        unanswered=tuple(
            cell.metadata.nbgrader.grade_id for cell in judged.notebook.cells if is_unanswered(cell)
        ),
        parts=judged.parts,
        notebook=written(judged.notebook),
    )


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and the packages that a verdict depends on."""
    found = {name: importlib.metadata.version(name) for name in ("attn_lib", "numpy", "nbgrader")}
    return {"python": sys.version.split()[0], **found}


def _judge_cell(
    cell: NotebookNode, answers: Mapping[str, Any], count: int, limits: Limits
) -> list[NotebookNode]:
    """Execute a test cell here and return its outputs, with the mark where nbgrader reads it."""
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
        outputs.append(new_output("error", ename=kind, evalue=text, traceback=text.splitlines()))
        return outputs
    mark = _checked_mark(mark, max_points, name)
    result = {"data": NotebookNode({"text/plain": repr(mark)}), "metadata": NotebookNode()}
    outputs.append(new_output("execute_result", execution_count=count, **result))
    return outputs


@functools.lru_cache(maxsize=256)  # all submissions have the same test cells
def _compiled(source: str, name: str) -> tuple[CodeType, CodeType]:
    """Return the statements of a test cell and its last expression, which gives the mark."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        raise ValueError("expected check.finish(), which gives the mark, in its last line")
    return (
        compile(ast.Module(body, []), f"<{name}>", "exec"),
        compile(ast.Expression(last.value), f"<{name}>", "eval"),
    )


@contextlib.contextmanager
def _grading(seed: int) -> Iterator[None]:
    """Let `Checks` give marks, and seed hidden inputs with this seed, within this context."""
    before = dict(os.environ)
    os.environ |= {"NBGRADER_EXECUTION": "autograde", SEED: str(seed)}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def _checked_mark(mark: object, max_points: float, name: str) -> float:
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


def _name(cell: Mapping[str, Any], count: int) -> str:
    return cell.get("id") or f"cell-{count}"
