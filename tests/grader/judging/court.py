"""A judge in a process of its own, which a test can look at from outside."""

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
from grader.sandbox.kept import warm_sandbox

ASSIGNMENT = "dot-products"
MOST_MEMORY = 400  # MiB of the process that judges


class Court:
    """Judges notebooks one after the other with one warm sandbox."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), _take_a_seat, (limits,)
        )
        self.process = self.pool.submit(os.getpid).result()
        self.children = len(descendants(self.process))  # the warm worker and what starts it

    def begin(self, answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> Future[Verdict]:
        """Have answers judged, by cell; the rest is the released stub."""
        return self.pool.submit(_judged, dict(answers), assignment)

    def judge(self, answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> Verdict:
        return self.begin(answers, assignment).result()

    def is_quiet(self) -> bool:
        """Say whether nothing of a submission is left alive, now or in a moment."""
        deadline = time.monotonic() + 20
        while len(descendants(self.process)) != self.children:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def most_memory(self) -> float:
        """Return the most memory that the process has ever held, in MiB."""
        # Not getrusage: what it says holds for whoever started the process, too.
        status = Path(f"/proc/{self.process}/status").read_text("utf-8")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def honest_answers(root: Path) -> dict[str, str]:
    return read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")


def filled_in(answers: Mapping[str, str], assignment: str = ASSIGNMENT) -> bytes:
    """Return the released notebook with these answers, by cell."""
    notebook = nbformat.read(EXERCISES / assignment / f"{assignment}.ipynb", as_version=4)
    fill(notebook, dict(answers))
    return nbformat.writes(notebook).encode()


def without_time(verdict: Verdict) -> str:
    """Return all of a verdict but the time it took."""
    return re.sub(r'"seconds": [\d.]+', "", verdict.to_json())


def descendants(process: int) -> set[int]:
    """Return the processes that a process has started, and those have, and so on."""
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


_seat: list[Limits] = []


def _take_a_seat(limits: Limits) -> None:
    _seat.append(limits)
    warm_sandbox(limits, BUBBLEWRAP)


def _judged(answers: dict[str, str], assignment: str) -> Verdict:
    (limits,) = _seat
    return judge_submission(
        (SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes(),
        filled_in(answers, assignment),
        assignment=assignment,
        student="ada",
        limits=limits,
        sandbox=warm_sandbox(limits, BUBBLEWRAP),
    )
