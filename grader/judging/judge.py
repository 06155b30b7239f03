"""The judge: an instructor's tests on a learner's answers that run somewhere else.

Learner code runs in a session of the sandbox. A test cell runs here, in a fresh namespace in
which each name the learner had to define is a stand-in: a call sends the arguments into the
session by value and brings the result back by value. So nothing a learner writes can reach a
test, an expected value, the marks or the files of the one who grades.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import io
import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade, is_locked, is_solution

from attn_lib.course.checks import ChecksFailed, listening
from attn_lib.course.checks.core import SEED
from attn_lib.course.personal.core import checked_id
from grader.errors import GraderError
from grader.judging.assignment_source import Source, is_unanswered, read_source
from grader.judging.bounds import TookTooMuch, bounded
from grader.judging.findings import JudgedPart, Reports
from grader.judging.live import Live
from grader.judging.outputs import stopped_output, writable
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.sandbox.inside.limits import Limits
from grader.sandbox.warm_process import Sandbox
from grader.submission import Repaired, Unreadable, repair

#: The name under which a notebook asks for the learner's id.
LEARNER_ID = "learner_id"


class CourseError(GraderError):
    """Raised when a test cell itself is at fault.

    The message is for the instructor. It begins with a small letter, since it stands behind
    "failed:" or the assignment's name.
    """


@dataclass(frozen=True)
class Judged:
    """A graded notebook and what is to be said about it."""

    notebook: NotebookNode
    remarks: tuple[str, ...]
    learner_ids: tuple[str, ...] = ()  #: what the learner said to be called, cell by cell
    parts: dict[str, tuple[JudgedPart, ...]] = field(default_factory=dict)  #: by test cell


def judge_submission(
    source: bytes,
    submitted: bytes,
    *,
    assignment: str,
    student: str,
    limits: Limits,
    sandbox: Sandbox,
) -> Verdict:
    """Return the verdict on one submission. It touches no file and no database.

    Parameters
    ----------
    source : bytes
        The instructor's notebook.
    submitted : bytes
        The learner's.
    assignment, student : str
        Whose work it is.
    limits : Limits
        How much a submission may use.
    sandbox : Sandbox
        Where learner code runs.

    Raises
    ------
    CourseError
        If a test cell is at fault whatever is handed in.
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
        repaired = repair(submitted, known.stub)
        provenance["seed"] = seed_of(repaired.notebook)
        judged = _judge_with_seed(provenance["seed"], known, repaired.notebook, limits, sandbox)
        verdict = _verdict(repaired, judged, assignment, student)
    except Unreadable as problem:
        verdict = Verdict(assignment, student, FAILED, reason=str(problem))
    except CourseError as problem:
        _raise_if_the_course_is_at_fault(known, provenance["seed"], limits, sandbox)
        reason = (
            f"{problem} The model answers and the released notebook do not lead to that: look at "
            "what was handed in, and tell whoever maintains the course."
        )
        verdict = Verdict(assignment, student, FAILED, reason=reason)
    provenance["seconds"] = round(time.monotonic() - begun, 3)
    return replace(verdict, points=dict(known.points), provenance=provenance)


def judge_notebook(
    source: Source, notebook: NotebookNode, *, limits: Limits, sandbox: Sandbox
) -> Judged:
    """Run a repaired notebook: its answers in the sandbox, the instructor's tests here.

    Parameters
    ----------
    source : Source
        The instructor's notebook.
    notebook : NotebookNode
        As `grader.submission.repair` returns it. It is changed and returned. Its answers alone
        decide on the hidden inputs; see `seed_of`.
    limits, sandbox
        As in `judge_submission`.

    Raises
    ------
    CourseError
        If a test cell gives no mark between 0 and its points, or raises what is no finding.
    """
    return _judge_with_seed(seed_of(notebook), source, notebook, limits, sandbox)


def seed_of(notebook: NotebookNode) -> int:
    """Return the seed of a submission's hidden inputs: the same for the same answers.

    It depends on the text of what the learner wrote for grading: the answers, by their ids, and
    other code that the learner may edit. Outputs, execution counts, metadata, and the encoding
    of the file change nothing.

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
    written = [
        [cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source]
        for cell in notebook.cells
        if is_solution(cell) or (cell.cell_type == "code" and not is_locked(cell))
    ]
    return int.from_bytes(hashlib.sha256(json.dumps(written).encode("ascii")).digest()[:4], "big")


def _judge_with_seed(
    seed: int, source: Source, notebook: NotebookNode, limits: Limits, sandbox: Sandbox
) -> Judged:
    """Do what `judge_notebook` says, on the hidden inputs of a seed."""
    with Live(sandbox, limits) as live:
        count, learner_ids = 0, []
        parts: dict[str, tuple[JudgedPart, ...]] = {}
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            count += 1
            cell.execution_count = count
            if source.is_test(cell):
                answers = live.stand_ins(source.names)
                learner_ids += _ids(answers)
                reports = Reports()
                try:
                    with listening(reports):
                        cell.outputs = _judge_cell(cell, answers, seed, count, limits)
                    parts[cell.metadata.nbgrader.grade_id] = reports.parts
                except TookTooMuch as stopped:
                    reason = f"judging it was stopped, {stopped}"
                    cell.outputs = [stopped_output(reason)]
                    live.remarks.append(f"The cell {_name(cell, count)} has no points: {reason}.")
                answers.clear()  # before those of the next test are read
            else:
                cell.outputs = live.execute(_name(cell, count), cell.source)
        return Judged(notebook, tuple(live.remarks), tuple(learner_ids), parts)


def _raise_if_the_course_is_at_fault(
    source: Source, seed: int, limits: Limits, sandbox: Sandbox
) -> None:
    """Raise CourseError if a test cell fails at the model answers or the released notebook too.

    A learner's odd value may find a fault of a test cell that nobody else meets; it must not
    keep the others from being graded.

    Parameters
    ----------
    source, limits, sandbox
        As in `judge_notebook`.
    seed : int
        Of the submission at which the test cell failed.
    """
    for submitted in (source.file, nbformat.writes(source.stub).encode()):
        notebook = repair(submitted, source.stub).notebook
        _judge_with_seed(seed, source, notebook, limits, sandbox)


def _verdict(repaired: Repaired, judged: Judged, assignment: str, student: str) -> Verdict:
    """Return what was found of a submission, without its provenance."""
    remarks = (*repaired.remarks, *judged.remarks, *_other_ids(judged.learner_ids, student))
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
        notebook=nbformat.writes(judged.notebook) + "\n",
    )


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions that a grade depends on."""
    found = {name: importlib.metadata.version(name) for name in ("attn_lib", "numpy", "nbgrader")}
    return {"python": sys.version.split()[0], **found}


def _judge_cell(
    cell: NotebookNode, answers: Mapping[str, Any], seed: int, count: int, limits: Limits
) -> list[NotebookNode]:
    """Run a test cell here and return its outputs, which hold the mark as nbgrader reads it."""
    name, most = cell.metadata.nbgrader.grade_id, float(cell.metadata.nbgrader.points)
    try:
        body, last = _split(cell.source)
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"the test cell {name} cannot be run: {error}.") from None
    names: dict[str, Any] = {"__name__": "__main__", **answers}
    said, outputs = io.StringIO(), []
    failure = None
    with _grading(seed), contextlib.redirect_stdout(said):
        try:
            with bounded(limits):
                exec(compile(body, f"<{name}>", "exec"), names)
                mark = eval(compile(last, f"<{name}>", "eval"), names)
        except ChecksFailed as found:
            failure = type(found).__name__, writable(str(found))
        except Exception as error:
            raise CourseError(
                f"the test cell {name} raised {type(error).__name__}: {error}."
            ) from error
        finally:
            names.clear()  # functions of the cell hold these names, and these names hold them
    if text := writable(said.getvalue()):
        outputs.append(nbformat.v4.new_output("stream", name="stdout", text=text))
    if failure is not None:
        kind, text = failure
        outputs.append(
            nbformat.v4.new_output("error", ename=kind, evalue=text, traceback=text.splitlines())
        )
        return outputs
    mark = _checked_mark(mark, most, name)
    data = {"text/plain": repr(mark)}
    outputs.append(nbformat.v4.new_output("execute_result", data=data, execution_count=count))
    return outputs


def _split(source: str) -> tuple[ast.Module, ast.Expression]:
    """Return the statements of a test cell and the expression at its end, which is its mark."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        raise ValueError("expected its mark, check.finish(), in the last line")
    return ast.Module(body, []), ast.Expression(last.value)


@contextlib.contextmanager
def _grading(seed: int) -> Iterator[None]:
    with mock.patch.dict(os.environ, {"NBGRADER_EXECUTION": "autograde", SEED: str(seed)}):
        yield


def _checked_mark(mark: object, most: float, name: str) -> float:
    """Return the mark if it is one."""
    if type(mark) is float and math.isfinite(mark) and 0 <= mark <= most:
        return mark
    raise CourseError(
        f"the test cell {name} gave {mark!r}; expected a number from 0 to its {most:g} points."
    )


def _ids(answers: Mapping[str, Any]) -> list[str]:
    """Return the learner's id, or none if it is no id; of that the checks tell the learner."""
    learner_id = answers.get(LEARNER_ID)
    with contextlib.suppress(ValueError):
        if isinstance(learner_id, str) and checked_id(learner_id):
            return [learner_id]
    return []


def _other_ids(learner_ids: Iterable[str], student: str) -> list[str]:
    """Say when the numbers of a task were those of another id."""
    others: dict[str, None] = {}  # an ordered set
    for learner_id in learner_ids:
        with contextlib.suppress(ValueError):  # the student's own may be no id
            if checked_id(learner_id) != checked_id(student):
                others[f"The notebook's learner_id is {learner_id!r}"] = None
    return [f"{other}, the student's id {student!r}." for other in others]


def _name(cell: Mapping[str, Any], count: int) -> str:
    return cell.get("id") or f"cell-{count}"
