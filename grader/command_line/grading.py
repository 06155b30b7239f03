"""All of grading in one go: autograde, feedback and grades.csv."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from grader.course import graded_cells
from grader.reporting.export import write_csv
from grader.reporting.results import Result, results
from grader.running.pipeline import Run, Workers, autograde, local_workers


@dataclass(frozen=True)
class Graded:
    """What came of it."""

    results: list[Result]
    without_feedback: dict[str, str] = field(default_factory=dict)  #: student to reason


def grade(
    run: Run,
    workers: Workers | None = None,
    progress: Callable[[object], None] = lambda line: None,
) -> Graded:
    """Grade what a run says, write feedback, and write grades.csv with all who were ever graded.

    Parameters
    ----------
    run : Run
    workers : Workers, optional
        Who judges. Default: a process a core on this machine.
    progress : callable
        Takes a line for each submission and each page that is done.
    """
    # Pages take much to import, which no other command of `grader` needs.
    from grader.reporting.feedback import write_feedback

    students = autograde(run, workers or local_workers(run), progress)
    found = results(run.db_url, run.into, run.assignment, students)
    without = write_feedback(run.assignment, run.into, found, progress=progress)
    everyone = results(run.db_url, run.into, run.assignment)
    write_csv(everyone, graded_cells(run.assignment), run.into / "grades.csv")
    return Graded(found, without)
