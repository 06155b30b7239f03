"""Write the students' pages of feedback, but only those that are missing or out of date."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.course import CONFIGURATION, configuration, graded_notebook
from grader.files import copy_notes, is_by_machine, make_writable, write_atomically
from grader.gradebook.reading import Entry
from grader.reporting import exporter, feedback_page, rendering, right_numbers, sanitizer
from grader.reporting.results import Result
from grader.running.digests import digest
from grader.running.local_workers import LocalWorkers, usable_cores

FEEDBACK_JOB = "grader.reporting.feedback_page:feedback_job"

#: Seconds after which a worker is killed. A page takes well below one second; the processor time
#: for it is limited by `rendering`.
SECONDS = 120


def write_feedback(
    assignment: str,
    folder: Path,
    results: Sequence[Result],
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, str]:
    """Write the pages, and return the reason for each student whose page could not be written.

    Parameters
    ----------
    assignment : str
    folder : Path
        The folder that contains the folders autograded and feedback.
    results : sequence of Result
        The results of the students who get feedback. Those without a grade get no page.
    progress : callable
        Called with a line for each page.

    Returns
    -------
    dict
        Reasons by student.

    Raises
    ------
    grader.running.local_workers.CannotWork
        If no worker can be started.
    """
    code_digest = _code_digest()
    reasons: dict[str, str] = {}
    stale: list[tuple[Result, Entry, str]] = []
    for result in results:
        entry, graded = result.entry, graded_notebook(folder, assignment, result.student)
        if entry is None:
            continue
        with _contained(result.student, reasons):
            if not graded.is_file():
                reasons[result.student] = f"no feedback: expected {graded}, found no such file"
                continue
            open_still = right_numbers.are_withheld(entry.due, configuration())
            facts = [repr(entry), repr(result.remarks), repr(open_still)]
            found = digest([code_digest, graded.read_bytes(), *facts])
            if found != feedback_page.digest_of(page_of(folder, assignment, result.student)):
                stale.append((result, entry, found))
    if stale:
        make_writable(folder / "feedback")
        reasons |= _write_pages(assignment, folder, stale, progress)
    _copy_notes(folder, assignment, results, reasons)
    return reasons


@contextlib.contextmanager
def _contained(student: str, reasons: dict[str, str]) -> Iterator[None]:
    """Note that a student gets no feedback, if a file of this student alone causes an error."""
    try:
        yield
    except OSError as problem:
        if is_by_machine(problem):
            raise
        reasons[student] = f"no feedback: {problem}"


def _write_pages(
    assignment: str,
    folder: Path,
    stale: Sequence[tuple[Result, Entry, str]],
    progress: Callable[[str], None],
) -> dict[str, str]:
    reasons: dict[str, str] = {}
    number, failed = 0, set()
    cores = min(usable_cores(), len(stale))
    with LocalWorkers(FEEDBACK_JOB, cores, SECONDS, attempts=1) as workers:
        for plain in (False, True):
            # A second time only for pages that could not be made.
            again = [each for each in stale if not plain or each[0].student in failed]
            for done in workers.do(_jobs(assignment, folder, again, plain, reasons)):
                if done.returned is None:
                    failed.add(done.name)
                    reasons[done.name] = f"no feedback: {done.reason}"
                else:
                    reasons.pop(done.name, None)
                    with _contained(done.name, reasons):
                        page = page_of(folder, assignment, done.name)
                        page.parent.mkdir(parents=True, exist_ok=True)
                        write_atomically(page, done.returned)
                if plain or done.returned is not None:
                    number += 1
                    progress(f"feedback {number} of {len(stale)}: {done.name}")
    return reasons


def _copy_notes(
    folder: Path, assignment: str, results: Sequence[Result], reasons: dict[str, str]
) -> None:
    """Put the files that `nbgrader release_feedback` needs next to each page."""
    for result in results:
        page = page_of(folder, assignment, result.student)
        with _contained(result.student, reasons):
            if page.is_file():
                copy_notes(graded_notebook(folder, assignment, result.student).parent, page.parent)


def _jobs(
    assignment: str,
    folder: Path,
    stale: Sequence[tuple[Result, Entry, str]],
    plain: bool,
    reasons: dict[str, str],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a job for each page, in which every text is shown as it was typed if `plain`."""
    settings = feedback_page.settings_of(configuration())
    for result, entry, found in stale:
        notebook = None
        with _contained(result.student, reasons):
            notebook = graded_notebook(folder, assignment, result.student).read_bytes()
        if notebook is None:
            continue
        job = {
            "assignment": assignment,
            "notebook": notebook,
            "scores": entry.scores,
            "points": entry.points,
            "comments": entry.comments,
            "to_read": entry.to_read,
            "late_penalty": entry.late_penalty,
            "remarks": result.remarks,
            "without_expected": right_numbers.are_withheld(entry.due, configuration()),
            "digest": found,
            "settings": settings,
            "plain": plain,
        }
        yield result.student, job


def _code_digest() -> str:
    """Return a digest of the code, templates and packages that make a page."""
    modules = (feedback_page, exporter, rendering, right_numbers, sanitizer)
    files = [*(Path(str(module.__file__)) for module in modules), CONFIGURATION]
    files += sorted((Path(__file__).parent / "templates" / "feedback").glob("*"))
    versions = [importlib.metadata.version(name) for name in ("nbconvert", "nbgrader", "nh3")]
    return digest([*versions, *(path.read_bytes() for path in files)])


def page_of(folder: Path, assignment: str, student: str) -> Path:
    """Return the path of a student's page in the folder that holds the gradebook."""
    return folder / "feedback" / student / assignment / f"{assignment}.html"
