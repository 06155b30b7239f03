"""Autograde a folder of submissions: read each, let workers judge it, enter the verdicts.

Workers only judge. This process reads the submissions. It writes the gradebook, puts the graded
notebooks in place and writes the journal, in that order. So however a run is stopped, the next run
finds each submission either completely done or still to do.
"""

from __future__ import annotations

import errno
import hashlib
import socket
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from grader import submission
from grader.course import (
    AUTOGRADED,
    assignments,
    configuration,
    matches_student,
    read_solution_notebook,
)
from grader.files import is_by_machine, make_writable
from grader.gradebook import reading
from grader.gradebook.writing import Entered, GradebookWriter, ImpossibleId
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.nbgrader_hooks import settings
from grader.running.class_list import class_list
from grader.running.digests import CODE, SHORT, course_parts, digest
from grader.running.graded_files import GradedFiles
from grader.running.journal import Journal, Line, path_in
from grader.running.local_workers import JUDGE_JOB, CannotWork, Done, LocalWorkers
from grader.sandbox.inside.limits import Limits
from grader.submission.timestamps import timestamp_of
from grader.times import span

#: Verdicts that are entered in the gradebook in one transaction: enough to save transactions, and
#: few enough that most verdicts are entered while other submissions are still being judged.
BATCH = 10

#: How many submissions have to be done before the time for the others is estimated.
MIN_FOR_ESTIMATE = 5

WARM_UP = "grader.running.jobs:warm_up"


class Outdated(NamedTuple):
    """How many finished submissions were graded before something else than they changed."""

    number: int
    changed: tuple[str, ...]  #: what has changed: keys of `digests.course_parts`


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
    seconds: float = 0.0  #: since the first submission was handed to a worker

    @property
    def seconds_left(self) -> float | None:
        """An estimate of the seconds until the last one is done, or None if it is too early.

        Others take as long as those that are done, which are too few at first.
        """
        if self.done < MIN_FOR_ESTIMATE:
            return None
        return self.seconds / self.done * (self.total - self.done)

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        left = f", about {span(self.seconds_left)} left" if self.seconds_left else ""
        return f"graded {self.done} of {self.total}{failed}{left}: {self.student}"


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
        Whether to judge again what has not changed since it was graded. If the run is stopped, the
        next one continues.
    db_url : str, optional
        The gradebook's address. Default: gradebook.db in `into`.
    limits, isolation : optional
        Default: those of nbgrader_config.py.
    add_students : bool
        Whether to make a student of a folder that is not on the class list. Without a class list,
        every folder makes one.
    names : mapping
        First and last name by student, for the gradebook.
    salt : str
        The secret that learners' numbers depend on. Default: that of nbgrader_config.py.
    keep_grades : bool
        Whether grades stay although something else than the submission has changed since.
    """

    assignment: str
    submitted: Path
    into: Path
    student: str = "*"
    force: bool = False
    db_url: str = ""
    limits: Limits = field(default_factory=lambda: settings.configured().limits)
    isolation: str = ""
    add_students: bool = False
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    salt: str = field(default_factory=settings.configured_salt, repr=False)
    keep_grades: bool = False

    def __post_init__(self) -> None:
        self.isolation = self.isolation or settings.configured().isolation
        self.submitted, self.into = self.submitted.resolve(), self.into.resolve()
        self.db_url = self.db_url or reading.sqlite_url(self.into)

    def students(self) -> list[str]:
        """Return the students that match `student` and have a submission."""
        return sorted(
            path.name
            for path in self._entries()
            if self._is_of_this_assignment(path) and matches_student(path.name, self.student)
        )

    def left_out(self) -> dict[str, str]:
        """Return the entries of `submitted` that look like a slip, with the reason for each."""
        reasons = {}
        for path in self._entries():
            if not path.is_dir():
                reasons[path.name] = "it is not a folder"
            elif not self._is_of_this_assignment(path):
                names = sorted(entry.name for entry in path.iterdir())
                alike = [name for name in names if _plain(name) == _plain(self.assignment)]
                if alike:
                    reasons[path.name] = f"it holds {alike[0]!r}, expected {self.assignment!r}"
                elif not set(names) & set(assignments()):
                    reasons[path.name] = "it holds no folder of an assignment"
        return reasons

    def _entries(self) -> list[Path]:
        return [path for path in self.submitted.iterdir() if not path.name.startswith(".")]

    def _is_of_this_assignment(self, path: Path) -> bool:
        """Say whether it is a folder that holds this assignment, nothing, or nobody can tell."""
        if not path.is_dir():
            return False
        try:
            return _holds(path, self.assignment) or not any(path.iterdir())
        except OSError:
            return not any(_holds(path, assignment) for assignment in assignments())

    @property
    def seconds(self) -> float:
        """Seconds after which a worker is killed: far more than the limits allow a submission."""
        return 2 * self.limits.submission_seconds + 60


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _holds(folder: Path, assignment: str) -> bool:
    """Say whether a student's folder holds an assignment; True if that cannot be found out."""
    try:
        (folder / assignment).lstat()
    except OSError as problem:
        return problem.errno not in (errno.ENOENT, errno.ENOTDIR)
    return True


def local_workers(
    run: Run,
    number: int | None = None,
    function: str = JUDGE_JOB,
    control: socket.socket | None = None,
) -> LocalWorkers:
    """Return workers on this machine for a run.

    Parameters
    ----------
    run : Run
    number : int, optional
        The number of processes. Default: one for each core.
    function : str
        ``module:name`` of the function that judges.
    control : socket, optional
        The connection to a warm process that they share; see `grader.sandbox.launching.shared`.
        It is closed when they have ended. Default: each worker starts one.
    """
    warm = {"limits": asdict(run.limits), "isolation": run.isolation, "control": control}
    return LocalWorkers(
        function,
        number,
        run.seconds,
        (WARM_UP, warm) if function == JUDGE_JOB else None,
        shared=control,
    )


def autograde(
    run: Run,
    workers: Workers,
    progress: Callable[[Progress], None] = lambda progress: None,
    before: Callable[[Outdated], None] = lambda outdated: None,
) -> list[str]:
    """Autograde submissions that are new or have changed, and return all students of the run.

    A folder that is not on the class list makes no student, unless the run says so. Lines of
    students who have been removed from the gradebook are removed from the journal.

    A submission that cannot be judged gets the status failed, and the run continues. If that is
    because its worker died, says nothing about the submission, an earlier grade stays.

    Parameters
    ----------
    run : Run
    workers : Workers
        A context manager that has not been entered yet.
    progress : callable
        Called after each submission.
    before : callable
        Called before the first submission if finished ones are outdated. Unless the run keeps
        grades, it judges them again.

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
    make_writable(run.into / AUTOGRADED)
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
        listed = class_list(writer.known_students(), run.into)
        others = [student for student in students if not listed.takes(student)]
        if run.add_students:
            writer.add_students(others)
        else:
            students = sorted({*students} - {*others})
        journal.remove(listed.has_left)
        pipeline = _Pipeline(run, source, journal, writer, progress)
        if run.force:
            journal.judge_again(run.student, students)
        elif (outdated := pipeline.outdated(students)).number:
            before(outdated)
        pipeline.judge_and_enter(students, workers)
        journal.has_judged_again(run.student)
    return students


@dataclass(frozen=True)
class _Read:
    """What the pipeline knows about a submission while a worker judges it."""

    digest: str
    timestamp: datetime | None
    made_from: Mapping[str, str] = field(default_factory=dict)


NOT_READ = _Read("", None)


@dataclass(frozen=True)
class _Outcome:
    """What became of a submission, until it is entered. Its graded notebook is staged already."""

    verdict: Verdict
    read: _Read
    keeps_earlier: bool = False  #: whether an earlier grade stays


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
        self.course = course_parts(source, run.limits, run.isolation, run.salt)
        self.kept: dict[str, tuple[str, Mapping[str, str]]] = {}
        self.files = GradedFiles(run.assignment, run.submitted, run.into)
        self.in_gradebook = writer.students()
        self.in_work: dict[str, _Read] = {}
        self.batch: list[_Outcome] = []
        self.done = self.failed = self.total = 0
        self.begun = 0.0

    def outdated(self, students: list[str]) -> Outdated:
        """Return which finished submissions were graded with another course."""
        number, changed = 0, set()
        for student in students:
            if not self.journal.graded.get(student) or student not in self.in_gradebook:
                continue
            was = self.journal.made_from[student]
            # Earlier versions did not note it, so at least the code is another one.
            unlike = [name for name in self.course if was and was.get(name) != self.course[name]]
            unlike += [CODE] * (not was)
            number += bool(unlike)
            changed |= set(unlike)
        return Outdated(number, tuple(name for name in self.course if name in changed))

    def judge_and_enter(self, students: list[str], workers: Workers) -> None:
        self.total = len(students)
        self.begun = time.monotonic()
        try:
            try:
                for done in workers.do(self._jobs(students)):
                    self._add_done(done)
            except (CannotWork, KeyboardInterrupt, OSError):
                self._enter()
                raise
            self._enter()
            self.journal.keep(self.kept)
        finally:
            for outcome in self.batch:
                self.files.discard(outcome.verdict.student)

    def _jobs(self, students: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a job for each submission that has to be judged."""
        for student in students:
            folder = self.run.submitted / student / self.run.assignment
            remarks: list[str] = []
            try:
                self.writer.check_id(student)
                notebook, remarks = submission.find(folder, self.run.assignment)
                content = submission.load(notebook)
                timestamp, problems = timestamp_of(folder)
                is_done = student in self.in_gradebook and self.files.are_there(student)
            except (submission.Unreadable, ImpossibleId) as problem:
                self._add(self._failed(student, str(problem)), NOT_READ)
                continue
            except OSError as problem:
                if is_by_machine(problem):
                    raise
                reason = f"its files cannot be read: {problem.strerror}"
                self._add(self._failed(student, reason), NOT_READ)
                continue
            handed_in = digest([content, str(timestamp), *remarks, *problems])[:SHORT]
            made_from = {"submission": handed_in, **self.course}
            found = digest(made_from.values())
            if is_done and self.journal.graded.get(student) == found:
                self.total -= 1
                continue
            if is_done and self.run.keep_grades and self._has_judged(student, handed_in, content):
                self.kept[student] = found, made_from
                self.total -= 1
                continue
            self.in_work[student] = _Read(found, timestamp, made_from)
            yield (
                student,
                {
                    "assignment": self.run.assignment,
                    "student": student,
                    "source": self.source,
                    "submitted": content,
                    "limits": asdict(self.run.limits),
                    "isolation": self.run.isolation,
                    "salt": self.run.salt,
                    "remarks": [*remarks, *problems],
                },
            )

    def _has_judged(self, student: str, handed_in: str, content: bytes) -> bool:
        """Say whether the last verdict is on what is handed in now, with whatever course."""
        if not self.journal.graded.get(student):
            return False
        if was := self.journal.made_from[student]:
            return was.get("submission") == handed_in
        return self.journal.judged_file.get(student) == hashlib.sha256(content).hexdigest()

    def _add_done(self, done: Done) -> None:
        read = self.in_work.pop(done.name)
        if done.returned is None:
            verdict = self._failed(done.name, f"it could not be judged: {done.reason}")
            self._add(verdict, read, keeps_earlier=done.by_machine)
        else:
            self._add(self._verdict(done), read)

    def _verdict(self, done: Done) -> Verdict:
        assert done.returned is not None
        try:
            verdict = Verdict.from_bytes(done.returned)
            _check(verdict, self.run.assignment, done.name)
        except (ValueError, TypeError, KeyError) as problem:
            return self._failed(done.name, f"its worker sent no valid verdict: {problem}")
        return verdict

    def _failed(self, student: str, reason: str) -> Verdict:
        return Verdict(self.run.assignment, student, FAILED, reason=reason)

    def _add(self, verdict: Verdict, read: _Read, keeps_earlier: bool = False) -> None:
        """Stage the graded notebook, and add the verdict without it to the batch."""
        student = verdict.student
        if verdict.status != FAILED:
            try:
                self.files.stage(student, verdict.notebook)
            except OSError as problem:
                if is_by_machine(problem):
                    raise
                verdict, keeps_earlier = self._failed(student, _not_written(problem)), True
        self.batch.append(_Outcome(replace(verdict, notebook=""), read, keeps_earlier))
        self.done += 1
        self.failed += verdict.status == FAILED
        seconds = time.monotonic() - self.begun
        self.progress(Progress(self.done, self.total, self.failed, student, seconds))
        if len(self.batch) >= BATCH:
            self._enter()

    def _enter(self) -> None:
        """Write the batch to the gradebook, the graded notebooks and the journal, in this order."""
        if not self.batch:
            return
        refused = self.writer.enter(
            [
                Entered(outcome.verdict, outcome.read.timestamp)
                for outcome in self.batch
                if not self._keeps_grade(outcome)
            ]
        )
        lines = []
        for outcome in self.batch:
            student = outcome.verdict.student
            if student in refused:
                outcome = _Outcome(self._failed(student, refused[student]), NOT_READ, True)
            lines.append(self._put(outcome))
        self.journal.add(lines)
        self.batch = []

    def _put(self, outcome: _Outcome) -> Line:
        """Put the files of an outcome in their places, and return its line for the journal."""
        verdict, student = outcome.verdict, outcome.verdict.student
        if self._keeps_grade(outcome):
            self.files.discard(student)
            return self.journal.kept(student, verdict.reason)
        try:
            if verdict.status != FAILED:
                self.files.put(student)
                return Line.of(verdict, outcome.read.digest, outcome.read.made_from)
            self.files.discard(student)
            self.files.remove(student)
        except OSError as problem:
            if is_by_machine(problem):
                raise
            verdict = replace(verdict, remarks=(*verdict.remarks, _not_written(problem)))
        return Line.of(verdict, NOT_READ.digest)

    def _keeps_grade(self, outcome: _Outcome) -> bool:
        """Say whether there is an earlier grade, and it stays."""
        student = outcome.verdict.student
        has_grade = student in self.in_gradebook and student not in self.journal.failed
        return outcome.keeps_earlier and has_grade


def _not_written(problem: OSError) -> str:
    return f"the graded notebook could not be written: {problem.strerror}: {problem.filename}"


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
