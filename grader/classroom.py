"""Grade a folder of submissions: autograde and feedback, one submission after the other."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade

import attn_lib
from attn_lib.checks import named_mistakes
from grader import gradebook
from grader.course import CONFIGURATION, SOLUTIONS, NbGraderFailed, nbgrader_for, run
from grader.gradebook import Entry
from grader.release import generate


@dataclass(frozen=True)
class Result:
    """How the grading of one submission went."""

    student: str
    entry: Entry | None  #: what is in the gradebook; None if it could not be graded
    mistakes: tuple[str, ...] = ()  #: ids of the catalogued mistakes its tests named
    problem: str = ""  #: why it could not be graded

    @property
    def score(self) -> float | None:
        """The points it has so far."""
        return sum(self.entry.scores.values()) if self.entry else None

    @property
    def points(self) -> float | None:
        """The most it can have, with what a person still has to read."""
        return sum(self.entry.points.values()) if self.entry else None

    @property
    def lost(self) -> float | None:
        """The points it can no longer get."""
        if self.entry is None:
            return None
        return sum(self.entry.points[cell] - score for cell, score in self.entry.scores.items())

    @property
    def status(self) -> str:
        """The state in a few words."""
        if self.problem or self.entry is None:
            return f"failed: {self.problem}"
        state = "to read" if self.entry.to_read else "graded"
        if not self.entry.missing:
            return state
        if len(self.entry.missing) == len(self.entry.points):
            return f"{state}, without any cell that gives points"
        return f"{state}, without {_listed(self.entry.missing)}"


def course_digest(assignment: str) -> str:
    """Return a digest of everything beside the submission that a grade depends on."""
    library = Path(attn_lib.__file__).parent
    files = [CONFIGURATION, *SOLUTIONS.glob(f"{assignment}/*.ipynb"), *library.rglob("*.py")]
    versions = [
        f"{name} {importlib.metadata.version(name)}" for name in ("nbgrader", "numpy", "ipykernel")
    ]
    return _digest([sys.version, *versions, *(path.read_bytes() for path in sorted(files))])


def grade(
    assignment: str,
    submitted: Path,
    into: Path,
    *,
    names: dict[str, tuple[str, str]] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """Autograde every submission and write feedback for it.

    What has been graded before and has not changed is left as it is. A submission that cannot
    be graded does not keep the others from being graded.

    Parameters
    ----------
    assignment : str
        The name of a folder in solutions/.
    submitted : Path
        A folder with ``<student>/<assignment>/<assignment>.ipynb`` in it.
    into : Path
        Where the folders autograded and feedback and the gradebook go.
    names : dict, optional
        First and last name by student, for the gradebook.
    progress : callable, optional
        Takes a line for each submission that is being graded.
    """
    into.mkdir(parents=True, exist_ok=True)
    room = _Classroom(assignment, submitted.resolve(), into.resolve())
    if names:
        gradebook.enter_students(room.db_url, room.nbgrader.coursedir.course_id, names)
    students = sorted(path.name for path in submitted.iterdir() if path.is_dir())
    problems = {}
    for number, student in enumerate(students, start=1):
        problems[student] = room.autograde(
            student, lambda name, n=number: progress(f"grading {n} of {len(students)}: {name}")
        )
    entries = gradebook.read(room.db_url, assignment)
    for student in students:
        if not problems[student]:
            problems[student] = room.write_feedback(entries[student])
    return [
        Result(student, None, problem=problem)
        if problem
        else Result(student, entries[student], room.mistakes(student))
        for student, problem in problems.items()
    ]


class _Classroom:
    """nbgrader on one folder of submissions, with a record of what is done already."""

    def __init__(self, assignment: str, submitted: Path, into: Path) -> None:
        self.assignment = assignment
        self.submitted = submitted
        self.into = into
        self.db_url = gradebook.database(into)
        with tempfile.TemporaryDirectory() as folder:
            # Writes the released notebook, which is not wanted here, and enters its cells in
            # the gradebook, which is.
            generate(assignment, Path(folder), db_url=self.db_url)
        self.nbgrader = nbgrader_for(
            {
                "source_directory": SOLUTIONS,
                "submitted_directory": submitted,
                "autograded_directory": into / "autograded",
                "feedback_directory": into / "feedback",
                "db_url": self.db_url,
            }
        )
        self.course = course_digest(assignment)
        self.record_path = into / f"graded-{assignment}.json"
        self.record: dict[str, dict[str, str]] = {"autograded": {}, "feedback": {}}
        if self.record_path.exists():
            self.record = json.loads(self.record_path.read_text(encoding="utf-8"))

    def autograde(self, student: str, begin: Callable[[str], None]) -> str:
        """Grade the submission unless that is done; return what kept it from being graded."""
        notebook = self._notebook(self.submitted, student)
        graded = self._notebook(self.into / "autograded", student)
        if not notebook.is_file():
            self._forget(student)
            return _what_is_there_instead(notebook)
        digest = _digest([self.course, notebook.read_bytes()])
        if graded.exists() and self.record["autograded"].get(student) == digest:
            return ""
        if not _is_notebook(notebook):
            self._forget(student)
            return f"{notebook.name} is not a notebook"
        begin(student)
        try:
            run(self.nbgrader.autograde, self.assignment, student)
        except NbGraderFailed as failure:
            self._forget(student)
            return _reason(str(failure))
        handed_in = {cell.metadata.nbgrader.get("grade_id") for cell in self._graded_cells(student)}
        gradebook.enter_missing(self.db_url, self.assignment, student, handed_in)
        self._remember("autograded", student, digest)
        return ""

    def write_feedback(self, entry: Entry) -> str:
        """Write the feedback unless that is done; return what kept it from being written."""
        student = entry.student
        page = self._notebook(self.into / "feedback", student).with_suffix(".html")
        digest = _digest([self.record["autograded"][student], repr(entry)])
        if page.exists() and self.record["feedback"].get(student) == digest:
            return ""
        try:
            run(self.nbgrader.generate_feedback, self.assignment, student)
        except NbGraderFailed as failure:
            return f"no feedback, {_reason(str(failure))}"
        self._remember("feedback", student, digest)
        return ""

    def mistakes(self, student: str) -> tuple[str, ...]:
        """Return the catalogued mistakes that the tests named."""
        reports = [
            output.get("text") or output.get("evalue") or ""
            for cell in self._graded_cells(student)
            if cell.cell_type == "code"
            for output in cell.outputs
        ]
        return tuple(named_mistakes("\n".join(reports)))

    def _graded_cells(self, student: str) -> list[NotebookNode]:
        """Return the cells of the graded notebook that give points."""
        graded = nbformat.read(self._notebook(self.into / "autograded", student), as_version=4)
        return [cell for cell in graded.cells if is_grade(cell)]

    def _notebook(self, folder: Path, student: str) -> Path:
        return folder / student / self.assignment / f"{self.assignment}.ipynb"

    def _forget(self, student: str) -> None:
        """Leave nothing of an earlier grading that could be taken for that of this submission."""
        gradebook.forget_submission(self.db_url, self.assignment, student)
        for step in ("autograded", "feedback"):
            _remove(self.into / step / student / self.assignment)
            self.record[step].pop(student, None)
        self._save()

    def _remember(self, step: str, student: str, digest: str) -> None:
        self.record[step][student] = digest
        self._save()

    def _save(self) -> None:
        self.record_path.write_text(json.dumps(self.record, indent=1), encoding="utf-8")


def _digest(pieces: Iterable[str | bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        content = piece.encode() if isinstance(piece, str) else piece
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def _is_notebook(path: Path) -> bool:
    """Say whether nbformat can read the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nbformat.read(path, as_version=4)
        except Exception:  # nbformat passes on whatever the content makes its code raise
            return False
    return True


def _what_is_there_instead(notebook: Path) -> str:
    """Say which other notebooks stand where this one was expected."""
    others = [repr(path.name) for path in sorted(notebook.parent.glob("*.ipynb")) if path.is_file()]
    found = f"found {_listed(others)}" if others else "nothing submitted"
    return f"{found}, expected {notebook.name}"


def _listed(names: Sequence[str]) -> str:
    """Return the names as a sentence lists them.

    Examples
    --------
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _remove(folder: Path) -> None:
    """Remove the folder, and the one it stands in if nothing else does."""
    if folder.exists():
        shutil.rmtree(folder)
    if folder.parent.exists() and not any(folder.parent.iterdir()):
        folder.parent.rmdir()


def _reason(log: str) -> str:
    """Return the line of nbgrader's log that names the exception, or else its first error."""
    named = re.findall(r"^\s*([\w.]+(?:Error|Exception)\b.*)$", log, re.MULTILINE)
    if named:
        return named[-1]
    errors = re.findall(r"^\[ERROR\] (.*)$", log, re.MULTILINE)
    return errors[0] if errors else log
