"""A judge without a sandbox, which starts at once, for tests of the code around it.

A submission is a text: its share of the points, then optional orders to its worker.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from grader.judging.assignment_source import is_unanswered, read_source
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.running.local_workers import CannotWork
from tests.grader import preloaded  # noqa: F401

WORDS = "in-words"


def judge_job(job: Mapping[str, Any]) -> bytes:
    """Give each test cell the share of its points that the submission states."""
    share, *orders = job["submitted"].decode("utf-8").split()
    for order in orders:
        _obey(order)
    source = read_source(job["source"])
    if share == "no":
        return Verdict(job["assignment"], job["student"], FAILED, reason="no notebook").to_bytes()
    scores = {cell: most * float(share) for cell, most in source.points.items() if cell != WORDS}
    return Verdict(
        job["assignment"],
        job["student"],
        REMARKS if job["remarks"] else GRADED,
        remarks=tuple(job["remarks"]),
        scores=scores,
        points=source.points,
        to_read=(WORDS,),
        unanswered=tuple(
            cell.metadata.nbgrader.grade_id for cell in source.stub.cells if is_unanswered(cell)
        ),
        notebook=nbformat.writes(source.stub) + "\n",
        provenance={"worker": os.getpid()},
    ).to_bytes()


def _obey(order: str) -> None:
    what, _, argument = order.partition("=")
    if what == "sleep":
        time.sleep(float(argument))
    elif what == "raise":
        raise ValueError(argument)
    elif what == "full":
        raise OSError(errno.ENOSPC, "full")
    elif what == "no-sandbox":
        raise CannotWork("expected bubblewrap, found none.")
    elif what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "die-once":
        mark = Path(argument)
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    else:
        raise AssertionError(order)
