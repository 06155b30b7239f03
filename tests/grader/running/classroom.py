"""A class that is graded by real worker processes with a fake judge."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.reporting.results import results
from grader.running.local_workers import Done, do_job
from grader.running.pipeline import Run, autograde, local_workers

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
JUDGE = "tests.grader.running.fake_judge:judge_job"
POINTS = 18.0  # for all test cells together


class InThisProcess:
    """Workers that do each job here, which is fast; none of them may die.

    Parameters
    ----------
    judge_of : callable
        Returns which judge takes a submission of this content.
    """

    def __init__(self, judge_of: Callable[[bytes], str] = lambda _: JUDGE) -> None:
        self.judge_of = judge_of

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def do(self, jobs: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Done]:
        for name, job in jobs:
            yield Done(name, do_job(self.judge_of(job["submitted"]), job))


class Class:
    """A folder with submissions for the fake judge."""

    def __init__(self, folder: Path, empty_gradebook: Path | None) -> None:
        self.folder = folder
        self.submitted = folder / "submitted"
        self.submitted.mkdir(parents=True)
        if empty_gradebook:
            shutil.copy(empty_gradebook, folder)
        self.run = Run(ASSIGNMENT, self.submitted, folder)

    def hand_in(self, student: str, text: str, name: str = NOTEBOOK) -> Path:
        path = self.submitted / student / ASSIGNMENT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def graded(self, student: str) -> Path:
        return self.folder / "autograded" / student / ASSIGNMENT / NOTEBOOK

    def grade(self, number: int = 2, **changes) -> list[str]:
        """Grade and return the students whose submissions were judged.

        Parameters
        ----------
        number : int
            The number of worker processes. With 0, this process judges.
        changes
            Fields of the run.
        """
        run = replace(self.run, **changes)
        judged = []
        autograde(
            run,
            local_workers(run, number, JUDGE) if number else InThisProcess(),
            lambda progress: judged.append(progress.student),
        )
        return sorted(judged)

    def results(self) -> dict:
        return {r.student: r for r in results(self.run.db_url, self.folder, ASSIGNMENT)}

    def scores(self) -> dict[str, float | None]:
        return {student: result.score for student, result in self.results().items()}
