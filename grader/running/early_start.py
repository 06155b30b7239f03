"""What a command starts before it imports what it needs itself, so that both overlap.

So this module imports little.
"""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager

from grader.nbgrader_hooks.settings import configured
from grader.running.local_workers import JUDGE_JOB, start_fork_server
from grader.sandbox import launching


def start_early(isolation: str = "") -> AbstractContextManager[socket.socket | None]:
    """Start the server of `local_workers`, and the warm process that all workers will share.

    Parameters
    ----------
    isolation : str
        As in `grader.running.pipeline.Run`.

    Returns
    -------
    context manager
        It gives what `grader.running.pipeline.local_workers` takes as `control`, and ends the warm
        process.
    """
    start_fork_server(JUDGE_JOB)
    grading = configured()
    return launching.shared(grading.limits, isolation or grading.isolation)
