"""What a worker does with one submission: it takes a plain dict and returns a verdict as bytes.

A worker is a process on this machine or on a cluster. It keeps one sandbox, and needs neither
the gradebook nor a shared disk.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.course import cell_ids
from grader.judging.course_tests import CourseError
from grader.judging.judge import judge_submission
from grader.judging.verdict import GRADED, REMARKS
from grader.running.local_workers import CannotWork
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import SandboxUnavailable
from grader.sandbox.warm_sandboxes import adopt, close_sandbox, warm_sandbox

# Test cells use the stdout and environment of this process, so only one may be executed at a time.
_one_at_a_time = threading.Lock()


def judge_job(job: Mapping[str, Any]) -> bytes:
    """Judge one submission.

    Parameters
    ----------
    job : mapping
        ``source`` and ``submitted``: bytes of the instructor's and the learner's notebook;
        ``assignment``; ``student``; ``limits``: the fields of `Limits`; ``isolation``;
        ``salt``: the secret that learners' numbers depend on, "" for none; ``remarks``: what was
        noticed when the submission was read.

    Returns
    -------
    bytes
        A `Verdict`, as `Verdict.to_bytes` writes it.

    Raises
    ------
    CannotWork
        If no sandbox can be started here, or if the assignment's tests are faulty.
    grader.sandbox.sandbox.SandboxUnavailable
        If this submission made the sandbox stop working.
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
                salt=job["salt"],
                assignments=cell_ids,
            )
        except SandboxUnavailable as problem:
            close_sandbox(limits, isolation)
            if _gives_a_session(limits, isolation):
                raise  # a new sandbox works, so this submission broke the old one
            raise CannotWork(str(problem)) from problem
        except CourseError as problem:
            raise CannotWork(_course_fault(job["assignment"], problem)) from problem
        except BaseException:
            # The state of the sandbox is unknown, so the next submission gets a new one.
            close_sandbox(limits, isolation)
            raise
    if job["remarks"]:
        status = REMARKS if verdict.status == GRADED else verdict.status
        remarks = (*job["remarks"], *verdict.remarks)
        verdict = replace(verdict, status=status, remarks=remarks)
    return verdict.to_bytes()


def warm_up(settings: Mapping[str, Any]) -> None:
    """Prepare the sandbox that the first job will need.

    Parameters
    ----------
    settings : mapping
        ``limits`` and ``isolation``, as in a job. ``control``: the connection to a warm process
        that workers share, or None to start one.

    Raises
    ------
    grader.sandbox.sandbox.SandboxUnavailable
        If no sandbox can be started here.
    """
    limits, isolation = Limits(**settings["limits"]), settings["isolation"]
    with _one_at_a_time:
        if settings["control"] is None:
            warm_sandbox(limits, isolation)
        else:
            adopt(limits, isolation, settings["control"])


def _course_fault(assignment: str, problem: CourseError) -> str:
    return (
        f"{assignment}: {problem} The same happens with the model answers or the released "
        "notebook, so the test cell is at fault and grading has stopped. Submissions graded so far "
        f"keep their grades. Correct the cell in solutions/{assignment}/{assignment}.ipynb, then "
        "give the command again."
    )


def _gives_a_session(limits: Limits, isolation: str) -> bool:
    """Say whether a new sandbox can be started and gives a session."""
    try:
        with warm_sandbox(limits, isolation).session():
            return True
    except SandboxUnavailable:
        close_sandbox(limits, isolation)
        return False
