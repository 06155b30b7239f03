"""Grade a class: autograde, then write feedback and a file of grades."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from grader.course import graded_cells
from grader.reporting.export import path_of, write_csv
from grader.reporting.results import Result, results
from grader.running.pipeline import Outdated, Run, Workers, autograde, local_workers
from grader.sandbox import launching


@dataclass(frozen=True)
class Graded:
    """The results of a class, and the students whose feedback could not be written."""

    results: list[Result]
    without_feedback: dict[str, str] = field(default_factory=dict)  #: reason by student


def grade(
    run: Run,
    workers: Workers | None = None,
    progress: Callable[[object], None] = lambda line: None,
    before: Callable[[Outdated], None] = lambda outdated: None,
) -> Graded:
    """Autograde a run, write its students' feedback, and write a file with the grades of all.

    Parameters
    ----------
    run : Run
        Which submissions to grade. The file of grades also has the students of earlier
        runs.
    workers : Workers, optional
        The workers that judge. Default: one process for each core of this machine.
    progress : callable
        Called with a line for each submission and each page that is done.
    before : callable
        Called first if finished submissions are outdated; see `grader.running.pipeline.autograde`.

    Raises
    ------
    GraderError
        If the class cannot be graded: see `grader.running.pipeline.autograde`.
    """
    # Imported here because it is slow to import and only this command needs it.
    from grader.reporting.feedback import write_feedback

    with ExitStack() as stack:
        if workers is None:
            shared = launching.shared(run.limits, run.isolation)
            workers = local_workers(run, control=stack.enter_context(shared))
        students = autograde(run, workers, progress, before)
    found = results(run.db_url, run.into, run.assignment, students)
    without = write_feedback(run.assignment, run.into, found, progress=progress)
    everyone = results(run.db_url, run.into, run.assignment)
    write_csv(everyone, graded_cells(run.assignment), path_of(run.into, run.assignment))
    return Graded(found, without)
