"""What a worker does with one submission: a plain dict in, the verdict as JSON out.

A worker is a process of this machine or of a cluster. It keeps one warm sandbox, and it needs
neither the gradebook nor a disk that others see.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.judging.judge import CourseError, judge_submission
from grader.judging.verdict import GRADED, REMARKS
from grader.running.local_workers import CannotWork
from grader.sandbox.inside.limits import Limits
from grader.sandbox.kept import close_sandbox, warm_sandbox
from grader.sandbox.warm_process import SandboxUnavailable

# A test cell prints to this process's stdout and reads its environment: one at a time.
_one_at_a_time = threading.Lock()


def judge_job(job: Mapping[str, Any]) -> str:
    """Grade one submission.

    Parameters
    ----------
    job : mapping
        ``source`` and ``submitted``: bytes of the two notebooks. ``assignment``, ``student``.
        ``limits``: fields of `Limits`. ``isolation``. ``remarks``: what was noticed before.

    Returns
    -------
    str
        A `Verdict` as JSON.

    Raises
    ------
    CannotWork
        If there is no sandbox here, or if the assignment's own tests do not work.
    """
    limits, isolation = Limits(**job["limits"]), job["isolation"]
    with _one_at_a_time:
        try:
            verdict = judge_submission(
                job["source"],
                job["submitted"],
                assignment=job["assignment"],
                student=job["student"],
                limits=limits,
                sandbox=warm_sandbox(limits, isolation),
            )
        except SandboxUnavailable as problem:
            close_sandbox(limits, isolation)
            if _gives_a_session(limits, isolation):
                raise  # it was this submission that took the sandbox down
            raise CannotWork(str(problem)) from problem
        except CourseError as problem:
            raise CannotWork(_course_fault(job["assignment"], problem)) from problem
        except BaseException:
            # Whatever happened, the next submission gets a new one.
            close_sandbox(limits, isolation)
            raise
    if job["remarks"]:
        status = REMARKS if verdict.status == GRADED else verdict.status
        remarks = (*job["remarks"], *verdict.remarks)
        verdict = replace(verdict, status=status, remarks=remarks)
    return verdict.to_json()


def warm_up(settings: Mapping[str, Any]) -> None:
    """Start the sandbox that the first job will need.

    Parameters
    ----------
    settings : mapping
        ``limits`` and ``isolation``, as in a job.
    """
    with _one_at_a_time:
        warm_sandbox(Limits(**settings["limits"]), settings["isolation"])


def _course_fault(assignment: str, problem: CourseError) -> str:
    return (
        f"{assignment}: {problem} It does so with the model answers or the released notebook too, "
        "so nothing more was graded, and what was graded before stays. Mend the cell in "
        f"solutions/{assignment}/{assignment}.ipynb, then give the command again."
    )


def _gives_a_session(limits: Limits, isolation: str) -> bool:
    """Say whether a new sandbox works."""
    try:
        with warm_sandbox(limits, isolation).session():
            return True
    except SandboxUnavailable:
        close_sandbox(limits, isolation)
        return False
