"""Jobs for workers that succeed, fail, or kill their worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.running.local_workers import CannotWork
from tests.grader import preloaded  # noqa: F401


def double(job: Mapping[str, Any]) -> str:
    return job["text"] * 2


def process(job: Mapping[str, Any]) -> str:
    return str(os.getpid())


def note(settings: Mapping[str, Any]) -> None:
    Path(settings["folder"], str(os.getpid())).touch()


def obey(job: Mapping[str, Any]) -> str:
    """Carry out the order in the job."""
    order, argument = job["order"], job.get("argument")
    if order == "raise":
        raise ValueError(argument)
    if order == "fail":
        raise OSError(argument, "no")
    if order == "cannot":
        raise CannotWork(argument)
    if order == "cores":
        return str(sorted(os.sched_getaffinity(0)))
    if order == "sleep":
        time.sleep(argument)
    if order == "exit":
        os._exit(argument)
    if order == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "die once":
        mark = Path(argument)
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return order
