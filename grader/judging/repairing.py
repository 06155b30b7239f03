"""Repairs a submission within limits of memory and processor time."""

from __future__ import annotations

from collections.abc import Callable

from nbformat import NotebookNode

from grader.judging.bounds import TookTooMuch, bounded
from grader.sandbox.inside.limits import Limits
from grader.submission import CellIds, Repaired, Unreadable, repair


def repair_within_limits(
    data: bytes,
    source: NotebookNode,
    limits: Limits,
    assignments: Callable[[], CellIds] = dict,
) -> Repaired:
    """Return what `grader.submission.repair` returns.

    Parameters
    ----------
    data : bytes
        The file that was handed in. It may contain anything.
    source : NotebookNode
        The instructor's notebook with stubs and hidden tests. It is not changed.
    limits : Limits
        Of the submission; see `grader.judging.bounds.bounded`.
    assignments : callable
        As `grader.submission.repair` takes it.

    Raises
    ------
    Unreadable
        If the file is not a notebook, is too large, takes too much to read, or is the notebook of
        another assignment.
    """
    try:
        with bounded(limits):
            return repair(data, source, assignments)
    except TookTooMuch as stopped:
        raise Unreadable(
            f"reading the file was stopped because {stopped}. Delete what is not an answer, save "
            "and hand in again"
        ) from None
