"""Write every student's page of feedback, those alone that are not there or have changed."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader import feedback_page, sanitizer
from grader.course import CONFIGURATION
from grader.digests import digest
from grader.files import write_whole
from grader.results import Result
from grader.workers import LocalWorkers, usable_cores

FEEDBACK_JOB = "grader.feedback_page:feedback_job"

#: Making a page takes well below a second.
SECONDS = 120


def write_feedback(
    assignment: str,
    folder: Path,
    results: Sequence[Result],
    workers: LocalWorkers | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, str]:
    """Write the pages, and return the students whose page could not be written, with the reason.

    Parameters
    ----------
    assignment : str
    folder : Path
        Where the folders autograded and feedback are.
    results : sequence of Result
        Of those who get feedback; who has no grade gets none.
    workers : LocalWorkers, optional
        Default: one a core.
    progress : callable
        Takes a line for each page.
    """
    making = _digest_of_making()
    problems: dict[str, str] = {}
    stale: list[tuple[Result, str]] = []
    for result in results:
        graded = _graded(folder, assignment, result.student)
        if result.entry is None:
            continue
        if not graded.is_file():
            problems[result.student] = f"no feedback: expected {graded}, found none"
            continue
        found = digest([making, graded.read_bytes(), repr(result.entry), repr(result.remarks)])
        if found != feedback_page.digest_of(_page(folder, assignment, result.student)):
            stale.append((result, found))
    if not stale:
        return problems
    with workers or LocalWorkers(FEEDBACK_JOB, min(usable_cores(), len(stale)), SECONDS) as workers:
        for number, done in enumerate(workers.run(_jobs(assignment, folder, stale)), start=1):
            progress(f"feedback {number} of {len(stale)}: {done.name}")
            if done.result is None:
                problems[done.name] = f"no feedback: {done.problem}"
                continue
            page = _page(folder, assignment, done.name)
            page.parent.mkdir(parents=True, exist_ok=True)
            write_whole(page, done.result)
    return problems


def _jobs(
    assignment: str, folder: Path, stale: Sequence[tuple[Result, str]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for result, found in stale:
        entry = result.entry
        job = {
            "assignment": assignment,
            "notebook": _graded(folder, assignment, result.student).read_text(encoding="utf-8"),
            "scores": entry.scores,
            "points": entry.points,
            "comments": entry.comments,
            "late_penalty": entry.late_penalty,
            "remarks": result.remarks,
            "digest": found,
        }
        yield result.student, job


def _digest_of_making() -> str:
    """Return a digest of what makes pages."""
    files = [Path(feedback_page.__file__), Path(sanitizer.__file__), CONFIGURATION]
    files += sorted((Path(__file__).parent / "templates").rglob("*.j2"))
    versions = [importlib.metadata.version(name) for name in ("nbconvert", "nbgrader", "bleach")]
    return digest([*versions, *(path.read_bytes() for path in files)])


def _graded(folder: Path, assignment: str, student: str) -> Path:
    return folder / "autograded" / student / assignment / f"{assignment}.ipynb"


def _page(folder: Path, assignment: str, student: str) -> Path:
    return folder / "feedback" / student / assignment / f"{assignment}.html"
