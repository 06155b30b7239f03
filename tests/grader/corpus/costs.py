"""Measure what the corpora of texts and accidents cost trusted processes, with the real limits.

    .venv/bin/python -m tests.grader.corpus.costs

Tests assert the same bounds with limits a tenth as large, since this takes some minutes. Each page
is made in a process of its own, in which processor time and memory include what it imports, and
the processes that it starts.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from grader.course import EXERCISES, SOLUTIONS, configuration
from grader.judging.assignment_source import read_source
from grader.judging.repairing import repair_within_limits
from grader.releasing.answer_files import fill, read_answers
from grader.reporting.feedback_page import settings_of
from grader.reporting.page_jobs import page_job
from grader.sandbox.inside.limits import Limits
from grader.submission import Unreadable
from tests.grader.corpus import markup
from tests.grader.corpus.accidents import ACCIDENTS
from tests.grader.corpus.texts import FITTED, TOO_MUCH

ASSIGNMENT = "dot-products"
SOURCE = SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
ANSWERS = Path(__file__).parents[2] / "sample_class" / "answers" / "full-marks-loops.py"

#: Bounds that no row may exceed: seconds of processor time, and MiB of the largest process.
MAX_SECONDS, MAX_MIB = 30.0, 400.0

Cost = tuple[float, float]


def costs() -> Iterator[tuple[str, Cost]]:
    """Yield the name of each page or file, and its seconds of processor time and MiB of memory."""
    pages = {name: [cell()] for name, cell in TOO_MUCH.items()}
    pages |= {name: [cell()] for name, (cell, _) in FITTED.items()}
    pages["all markup"] = markup.cells()
    pages["all texts that are too much"] = [cell() for cell in TOO_MUCH.values()]
    for name, cells in pages.items():
        text = nbformat.writes(new_notebook(cells=cells))
        for kind in ("feedback", "formgrader") if name.startswith("all ") else ("feedback",):
            yield f"{kind}: {name}", in_a_process(_make_page, kind, text)
    yield "repairs: all accidents", in_a_process(_repair)


def in_a_process(function: Callable[..., Cost], *arguments: object) -> Cost:
    """Return what a function returns in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _make_page(kind: str, text: str) -> Cost:
    of = {"assignment_id": ASSIGNMENT, "notebook_id": ASSIGNMENT, "index": 0, "total": 1}
    resources = {**of, "student": "ada", "notebook_path": "a"}
    resources["nbgrader"] = {"score": 0, "max_score": 0, "late_penalty": 0}
    job = {"kind": kind, "notebook": text.encode(), "resources": resources, "plain": False}
    page_job(job | {"settings": settings_of(configuration())})
    return _used()


def _repair() -> Cost:
    source = read_source(SOURCE.read_bytes()).stub
    released = nbformat.read(EXERCISES / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    fill(released, read_answers(ANSWERS))
    handed_in = json.loads(nbformat.writes(released))
    for accident in ACCIDENTS.values():
        try:
            repair_within_limits(accident.file(handed_in), source, Limits())
        except Unreadable:
            continue
    return _used()


def _used() -> Cost:
    """Return the processor time of this process and those it started, and the largest memory."""
    mib = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(os.times()[:4]), mib / 1024


def main() -> None:
    too_much = []
    for name, (seconds, mib) in costs():
        print(f"{seconds:5.1f} s {mib:4.0f} MiB  {name}", flush=True)
        if seconds > MAX_SECONDS or mib > MAX_MIB:
            too_much.append(name)
    if too_much:
        raise SystemExit(f"more than {MAX_SECONDS:g} s or {MAX_MIB:g} MiB: {', '.join(too_much)}")


if __name__ == "__main__":
    main()
