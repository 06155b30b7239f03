"""A judge in a separate process, whose memory and child processes a test can inspect."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import nbformat

from grader.course import EXERCISES, SOLUTIONS
from grader.judging.judge import judge_submission
from grader.judging.verdict import Verdict
from grader.releasing.answer_files import fill, read_answers
from grader.sandbox.inside.limits import BUBBLEWRAP, Limits
from grader.sandbox.warm_sandboxes import warm_sandbox
from tests.grader.judging.plain_notebooks import graded

ASSIGNMENT = "dot-products"
MAX_MEMORY = 400  # MiB, for the judge's process


PLAIN_TEST = "plain-test"
_PLAIN_TEST = """
import numpy as np

q, k, v = np.array([[1.0, 2.0]]), np.array([[0.5, 1.0], [3.0, -1.0]]), np.array([[4.0], [8.0]])
scores = score_matrix(q, k)
assert np.allclose(scores, [[2.5, 1.0]])
weights = softmax(scores / 2**0.5)
assert np.allclose(weights[0, 0], 1 / (1 + np.exp(-1.5 / 2**0.5)))
assert np.allclose(attention(q, k, v), weights @ v)
"""


class Court:
    """Judges notebooks one after the other in one process with one warm sandbox."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), _start_worker, (limits,)
        )
        self.process = self.pool.submit(os.getpid).result()
        # These are the warm process and the programs that start it.
        self.children = len(descendants(self.process))

    def begin(self, answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> Future[Verdict]:
        """Start judging the released stub with these answers, given by cell.

        `ASSIGNMENT` has a further test cell; see `with_plain_test`.
        """
        return self.pool.submit(_judged, dict(answers), assignment)

    def judge(self, answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> Verdict:
        return self.begin(answers, assignment).result()

    def is_quiet(self) -> bool:
        """Tell whether all processes of a submission have ended or end within a moment."""
        deadline = time.monotonic() + 20
        while len(descendants(self.process)) != self.children:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def most_memory(self) -> float:
        """Return the peak memory of the process, in MiB."""
        # Not getrusage, because its peak includes memory inherited from the parent process.
        status = Path(f"/proc/{self.process}/status").read_text("utf-8")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def with_plain_test(notebook: bytes) -> bytes:
    """Return a notebook of `ASSIGNMENT` with a further test cell, as other courses have them."""
    extended = nbformat.reads(notebook.decode(), as_version=4)
    cell = graded(PLAIN_TEST, _PLAIN_TEST, points=5)
    cell.id = PLAIN_TEST  # instead of one that is drawn, so that equal notebooks stay equal
    extended.cells.append(cell)
    return nbformat.writes(extended).encode()


def honest_answers(root: Path) -> dict[str, str]:
    return read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")


def filled_in(answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> bytes:
    """Return the released notebook with these answers, by cell."""
    notebook = nbformat.read(EXERCISES / assignment / f"{assignment}.ipynb", as_version=4)
    fill(notebook, dict(answers))
    return nbformat.writes(notebook).encode()


def without_time(verdict: Verdict) -> str:
    """Return a verdict as JSON without the times."""
    return re.sub(r'"seconds": [\d.]+', "", verdict.to_bytes().decode())


def descendants(process: int) -> set[int]:
    """Return the ids of all descendants of a process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, rest = path.read_text().split(" (", 1)
            parents[int(number)] = int(rest.rpartition(")")[2].split()[1])
    found, new = set(), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


_limits: list[Limits] = []


def _start_worker(limits: Limits) -> None:
    _limits.append(limits)
    warm_sandbox(limits, BUBBLEWRAP)


def _judged(answers: dict[str, str], assignment: str) -> Verdict:
    (limits,) = _limits
    source = (SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes()
    submitted = filled_in(answers, assignment)
    if assignment == ASSIGNMENT:
        source, submitted = with_plain_test(source), with_plain_test(submitted)
    return judge_submission(
        source,
        submitted,
        assignment=assignment,
        student="ada",
        limits=limits,
        sandbox=warm_sandbox(limits, BUBBLEWRAP),
    )
