"""The judge: the instructor's tests on a learner's answers, which run in another process.

Learner code runs in a session of the sandbox. A test cell is executed here, in a namespace in which
each name that the learner had to define is a stand-in: a call sends the arguments into the session
by value and brings the result back by value. So nothing that a learner writes can reach a test, an
expected value, the marks or the files of the instructor.

`course_tests` executes the test cells of this course. `plain.tests` executes those of any nbgrader
assignment, except for those that `plain.placement` leaves in the session.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade, is_locked, is_solution

from attn_lib.course.notebooks.cells import seed_of_answers
from grader.judging import course_tests
from grader.judging.assignment_source import Source, is_unanswered, read_source
from grader.judging.bounds import TookTooMuch
from grader.judging.course_tests import CourseError, is_course_test
from grader.judging.findings import JudgedPart
from grader.judging.handing_out import HandedOutNumbers
from grader.judging.live import Live
from grader.judging.notebook_file import written
from grader.judging.outputs import error_output, missing_library_in, stopped_output
from grader.judging.plain.placement import Placement, placement_of
from grader.judging.plain.state import own_state
from grader.judging.plain.tests import PlainTests
from grader.judging.repairing import repair_within_limits
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.submission import CellIds, Repaired, Unreadable, repair

_WHOSE_FAULT = (
    "The model answers and the released notebook do not cause this: look at what was handed in, "
    "and tell whoever maintains the course."
)


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
    assignments: Callable[[], CellIds] = dict,
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
    assignments : callable
        As `grader.submission.repair` takes it.

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
        repaired = repair_within_limits(submitted, known.stub, limits, assignments)
        provenance["seed"] = seed_of(repaired.notebook)
        judged = judge_notebook(known, repaired.notebook, limits=limits, sandbox=sandbox, salt=salt)
        verdict = _verdict(repaired, judged, assignment, student)
    except Unreadable as problem:
        verdict = Verdict(assignment, student, FAILED, reason=str(problem))
    provenance["seconds"] = round(time.monotonic() - begun, 3)
    return replace(verdict, points=dict(known.points), provenance=provenance)


def judge_notebook(
    source: Source,
    notebook: NotebookNode,
    *,
    limits: Limits,
    sandbox: Sandbox,
    files: Mapping[str, bytes] = MappingProxyType({}),
    own_files: Mapping[str, bytes] = MappingProxyType({}),
    salt: str = "",
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
    files : mapping
        What lies beside the instructor's notebook, by path: cells may read it.
    own_files : mapping
        What the learner handed in beside the notebook. Of two files with one path, that of the
        instructor is there.

    Raises
    ------
    CourseError
        If a test cell that uses `Checks` raises anything but `ChecksFailed`, or its mark is not a
        number from 0 to its points, and the same happens with the model answers or the released
        notebook.
    """
    seed = seed_of(notebook)
    faults: list[str] = []
    court = _Court(source, seed, salt, limits, sandbox, files)
    judged = court.judge(notebook, own_files, faults)
    if faults:
        court.raise_if_the_course_is_at_fault()
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


@dataclass(frozen=True)
class _Court:
    """Judges notebooks of one assignment with the hidden inputs of one seed."""

    source: Source
    seed: int
    salt: str
    limits: Limits
    sandbox: Sandbox
    files: Mapping[str, bytes]

    def judge(
        self,
        notebook: NotebookNode,
        own_files: Mapping[str, bytes] = MappingProxyType({}),
        faults: list[str] | None = None,
    ) -> Judged:
        """Judge a notebook as `judge_notebook` does.

        Errors of test cells are appended to `faults`, and their cells have no points. Without such
        a list, the first one is raised.
        """
        placement = placement_of(self.source, self.files, self.limits, self.sandbox)
        files = {**own_files, **self.files}
        grading = course_tests.grading(self.seed, self.salt)
        with grading, own_state(), Live(self.sandbox, self.limits, files) as live:
            numbers = HandedOutNumbers(live, self.source) if self.salt else None
            untouched = {k: v for k, v in self.files.items() if k not in placement.written}
            plain = PlainTests(live, self.source, untouched, self.limits)
            learner_ids: list[str] = []
            parts: dict[str, tuple[JudgedPart, ...]] = {}
            code = [cell for cell in notebook.cells if cell.cell_type == "code"]
            for count, cell in enumerate(code, start=1):
                cell.execution_count = count
                if is_course_test(cell):
                    test = self._judge_course_test(cell, live, count, faults)
                    if test is not None:
                        parts[cell.metadata.nbgrader.grade_id] = test.parts
                        learner_ids += test.learner_ids
                elif self.source.is_test(cell):
                    _judge_plain_test(cell, live, count, plain, placement)
                else:
                    if numbers:
                        numbers.hand_out(cell.source)
                    cell.outputs = live.execute(_name(cell, count), cell.source)
                    if placement.outside:
                        plain.give(cell)
                    if missing := missing_library_in(cell.outputs):
                        live.remarks.append(f"The cell {_name(cell, count)} was stopped: {missing}")
            return Judged(notebook, tuple(live.remarks), tuple(learner_ids), parts)

    def _judge_course_test(
        self, cell: NotebookNode, live: Live, count: int, faults: list[str] | None
    ) -> course_tests.CourseTest | None:
        """Judge a test cell that uses `Checks`; None if it met its limits or an error."""
        try:
            return course_tests.judge(cell, live, self.source.names, count, self.limits)
        except TookTooMuch as stopped:
            why = f"judging it was stopped because {stopped}"
            cell.outputs = [stopped_output(why)]
            live.remarks.append(f"The cell {_name(cell, count)} has no points: {why}.")
        except CourseError as fault:
            if faults is None:
                raise
            faults.append(str(fault))  # its traceback would keep the answers in memory
            cell.outputs = [stopped_output("its test met an error with this answer")]
            live.remarks.append(
                f"The cell {_name(cell, count)} has no points: {fault} {_WHOSE_FAULT}"
            )
        return None

    def raise_if_the_course_is_at_fault(self) -> None:
        """Raise `CourseError` if a test cell fails on the model answers or the released notebook.

        One learner's odd value may trigger a fault in a test cell that no other submission
        triggers. That must not stop the others from being judged.
        """
        for submitted in (self.source.file, nbformat.writes(self.source.stub).encode()):
            self.judge(repair(submitted, self.source.stub).notebook)


def _verdict(repaired: Repaired, judged: Judged, assignment: str, student: str) -> Verdict:
    """Return the verdict on a judged submission, still without points and provenance."""
    remarks = (
        *repaired.remarks,
        *judged.remarks,
        *course_tests.remarks(judged.notebook, judged.learner_ids, student),
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


def _judge_plain_test(
    cell: NotebookNode, live: Live, count: int, plain: PlainTests, placement: Placement
) -> None:
    """Execute a plain test cell where it belongs, and put its outputs into it."""
    name = cell.metadata.nbgrader.grade_id
    if name in placement.outside:
        cell.outputs = plain.judge(cell, count, may_change=name in placement.changing)
    else:
        cell.outputs = live.execute(_name(cell, count), cell.source, has_mark=True)
    _limit_mark(cell)


def _limit_mark(cell: NotebookNode) -> None:
    """Replace a mark above the points of a test cell, on which nbgrader would stop, by an error."""
    try:
        determine_grade(cell)
    except ValueError as problem:
        cell.outputs = [error_output("ValueError", str(problem))]


def _name(cell: Mapping[str, Any], count: int) -> str:
    return cell.get("id") or f"cell-{count}"
