"""Autograde a folder of submissions: read each, let workers judge it, enter the verdicts.

Workers only judge. This process reads the submissions and writes the graded notebooks, the
gradebook and the journal, in that order. So however a run is stopped, the next run finds each
submission either completely done or still to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from grader import submission
from grader.course import (
    configuration,
    graded_notebook,
    matches_student,
    read_solution_notebook,
)
from grader.files import TIMESTAMP, copy_notes, is_small_file, remove_folder, write_atomically
from grader.gradebook import reading
from grader.gradebook.times import read_time
from grader.gradebook.writing import Entered, GradebookWriter
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.nbgrader_hooks import settings
from grader.running.digests import course_digest, digest
from grader.running.journal import Journal, Line, path_in
from grader.running.local_workers import JUDGE_JOB, CannotWork, Done, LocalWorkers
from grader.sandbox.inside.limits import Limits

#: Verdicts that are entered in the gradebook in one transaction: enough to save transactions, and
#: few enough that most verdicts are entered while other submissions are still being judged.
BATCH = 10

WARM_UP = "grader.running.jobs:warm_up"


class Workers(Protocol):
    """What `LocalWorkers` and `ClusterWorkers` have in common: a context manager that does jobs."""

    def __enter__(self) -> Workers: ...

    def __exit__(self, *_: object) -> None: ...

    def do(self, jobs: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Done]:
        """Do the jobs, and yield the outcome of each."""


@dataclass(frozen=True)
class Progress:
    """How many submissions of a run are done."""

    done: int
    total: int
    failed: int
    student: str  #: the student whose submission was judged last

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"graded {self.done} of {self.total}{failed}: {self.student}"


@dataclass
class Run:
    """What to autograde, and with which limits.

    Parameters
    ----------
    assignment : str
        The name of a folder in solutions/.
    submitted : Path
        The folder with ``STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb`` in it.
    into : Path
        The folder for the folder autograded, the gradebook and the journal.
    student : str
        A student's id, or a pattern with ``*`` and ``?`` for several.
    force : bool
        Whether to judge again what has not changed since it was graded.
    db_url : str, optional
        The gradebook's address. Default: gradebook.db in `into`.
    limits, isolation : optional
        Default: those of nbgrader_config.py.
    names : mapping
        First and last name by student, for the gradebook.
    """

    assignment: str
    submitted: Path
    into: Path
    student: str = "*"
    force: bool = False
    db_url: str = ""
    limits: Limits = field(default_factory=lambda: _grading().limits)
    isolation: str = ""
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.isolation = self.isolation or _grading().isolation
        self.submitted, self.into = self.submitted.resolve(), self.into.resolve()
        self.db_url = self.db_url or reading.sqlite_url(self.into)

    def students(self) -> list[str]:
        """Return the students that match `student` and have a submission."""
        return sorted(
            path.name
            for path in self.submitted.iterdir()
            if path.is_dir()
            and not path.name.startswith(".")
            and self._is_of_this_assignment(path)
            and matches_student(path.name, self.student)
        )

    def _is_of_this_assignment(self, folder: Path) -> bool:
        """Say whether a student's folder holds this assignment, or nothing at all."""
        return os.path.lexists(folder / self.assignment) or not any(folder.iterdir())

    @property
    def seconds(self) -> float:
        """Seconds after which a worker is killed: far more than the limits allow a submission."""
        return 2 * self.limits.submission_seconds + 60


def _grading() -> settings.Grading:
    return settings.Grading(config=configuration())


def local_workers(run: Run, number: int | None = None, function: str = JUDGE_JOB) -> LocalWorkers:
    """Return workers on this machine for a run.

    Parameters
    ----------
    run : Run
    number : int, optional
        The number of processes. Default: one for each core.
    function : str
        ``module:name`` of the function that judges.
    """
    warm = {"limits": asdict(run.limits), "isolation": run.isolation}
    return LocalWorkers(
        function, number, run.seconds, (WARM_UP, warm) if function == JUDGE_JOB else None
    )


def autograde(
    run: Run, workers: Workers, progress: Callable[[Progress], None] = lambda progress: None
) -> list[str]:
    """Autograde submissions that are new or have changed, and return all students of the run.

    A submission that cannot be judged gets the status failed, and the run continues.

    Parameters
    ----------
    run : Run
    workers : Workers
        A context manager that has not been entered yet.
    progress : callable
        Called after each submission.

    Raises
    ------
    CannotWork
        If no job can be done, for example without a sandbox. Verdicts found until then stay in
        the gradebook.
    grader.running.journal.Busy
        If another run is grading this assignment into the same folder.
    grader.gradebook.writing.CellsChanged
        If the gradebook has other cells for this assignment than the instructor's notebook.
    grader.gradebook.writing.LateRuleFailed
        If the course's rule for late work is missing or raises an error.
    """
    students = run.students()
    run.into.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(path_in(run.into, run.assignment)))
        source = read_solution_notebook(run.assignment)
        workers = stack.enter_context(workers)  # they start while the gradebook is opened
        writer = stack.enter_context(
            GradebookWriter(run.db_url, run.assignment, source, configuration())
        )
        if run.names:
            writer.enter_names(run.names)
        writer.renew_penalties()
        _Pipeline(run, source, journal, writer, progress).judge_and_enter(students, workers)
    return students


@dataclass(frozen=True)
class _Read:
    """What the pipeline knows about a submission while a worker judges it."""

    digest: str
    timestamp: datetime | None


class _Pipeline:
    """The state of a run in progress."""

    def __init__(
        self,
        run: Run,
        source: bytes,
        journal: Journal,
        writer: GradebookWriter,
        progress: Callable[[Progress], None],
    ) -> None:
        self.run = run
        self.source = source
        self.journal = journal
        self.writer = writer
        self.progress = progress
        self.course = course_digest(source, run.limits, run.isolation)
        self.in_work: dict[str, _Read] = {}
        self.batch: list[tuple[Verdict, _Read]] = []
        self.done = self.failed = self.total = 0

    def judge_and_enter(self, students: list[str], workers: Workers) -> None:
        self.total = len(students)
        in_gradebook = self.writer.students()
        try:
            for done in workers.do(self._jobs(students, in_gradebook)):
                self._add(self._verdict(done), self.in_work.pop(done.name))
        except (CannotWork, KeyboardInterrupt):
            self._enter()
            raise
        self._enter()

    def _jobs(
        self, students: list[str], in_gradebook: set[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a job for each submission that has to be judged."""
        for student in students:
            folder = self.run.submitted / student / self.run.assignment
            remarks: list[str] = []
            try:
                notebook, remarks = submission.find(folder, self.run.assignment)
                content = submission.load(notebook)
            except submission.Unreadable as problem:
                self._add(self._failed(student, str(problem)), _Read("", None))
                continue
            timestamp, problems = _timestamp(folder)
            found = digest([self.course, content, str(timestamp), *remarks, *problems])
            if (
                not self.run.force
                and self.journal.graded.get(student) == found
                and student in in_gradebook
                and self._graded(student).is_file()
            ):
                self.total -= 1
                continue
            self.in_work[student] = _Read(found, timestamp)
            yield (
                student,
                {
                    "assignment": self.run.assignment,
                    "student": student,
                    "source": self.source,
                    "submitted": content,
                    "limits": asdict(self.run.limits),
                    "isolation": self.run.isolation,
                    "remarks": [*remarks, *problems],
                },
            )

    def _verdict(self, done: Done) -> Verdict:
        if done.returned is None:
            return self._failed(done.name, f"it could not be judged: {done.reason}")
        try:
            verdict = Verdict.from_bytes(done.returned)
            _check(verdict, self.run.assignment, done.name)
        except (ValueError, TypeError, KeyError) as problem:
            return self._failed(done.name, f"its worker sent no valid verdict: {problem}")
        return verdict

    def _failed(self, student: str, reason: str) -> Verdict:
        return Verdict(self.run.assignment, student, FAILED, reason=reason)

    def _add(self, verdict: Verdict, read: _Read) -> None:
        self.batch.append((verdict, read))
        self.done += 1
        self.failed += verdict.status == FAILED
        self.progress(Progress(self.done, self.total, self.failed, verdict.student))
        if len(self.batch) >= BATCH:
            self._enter()

    def _enter(self) -> None:
        """Write the batch to the graded notebooks, the gradebook and the journal."""
        if not self.batch:
            return
        for verdict, _ in self.batch:
            self._write(verdict)
        self.writer.enter([Entered(verdict, read.timestamp) for verdict, read in self.batch])
        self.journal.add(Line.of(verdict, read.digest) for verdict, read in self.batch)
        self.batch = []

    def _write(self, verdict: Verdict) -> None:
        """Write the graded notebook as nbgrader does, or remove an earlier one after a failure."""
        target = self._graded(verdict.student)
        if verdict.status == FAILED:
            remove_folder(target.parent)
            remove_folder(self.run.into / "feedback" / verdict.student / self.run.assignment)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, verdict.notebook)
        target.chmod(0o444)
        copy_notes(self.run.submitted / verdict.student / self.run.assignment, target.parent)

    def _graded(self, student: str) -> Path:
        return graded_notebook(self.run.into, self.run.assignment, student)


def _check(verdict: Verdict, assignment: str, student: str) -> None:
    """Raise ValueError if a verdict must not be entered in the gradebook."""
    if (verdict.assignment, verdict.student) != (assignment, student):
        raise ValueError(
            f"expected the verdict on {student}'s {assignment}, got the one on "
            f"{verdict.student}'s {verdict.assignment}"
        )
    if verdict.status not in (GRADED, REMARKS, FAILED):
        raise ValueError(f"expected a known status, got {verdict.status!r}")
    for cell, score in verdict.scores.items():
        max_score = verdict.points.get(cell)
        if max_score is None:
            raise ValueError(f"expected scores of graded cells, got one of {cell}")
        if not 0 <= score <= max_score:
            raise ValueError(f"expected from 0 to {max_score} points for {cell}, got {score!r}")


def _timestamp(folder: Path) -> tuple[datetime | None, list[str]]:
    """Return the time in nbgrader's note of when a submission came in, and remarks on the note."""
    path = folder / TIMESTAMP
    if not path.exists() and not path.is_symlink():
        return None, []
    if not is_small_file(path):
        return None, [f"{TIMESTAMP} is not an ordinary small file, so it was ignored."]
    text = path.read_text("utf-8", "replace").strip()
    if not text:
        return None, []
    try:
        return read_time(text), []
    except ValueError:
        return None, [f"{TIMESTAMP} says {text[:40]!r}, which is not a time, so it was ignored."]
