"""How tests are shared out to several processes: which stay together, and which begin first."""

from __future__ import annotations

import os
from math import ceil

#: Files with tests that share nothing that is costly to make: each is run wherever there is room.
APART = ("tests/book/test_build.py",)

#: Folders with files that share one result.
TOGETHER = ("tests/exercises/mutation",)

#: By file, the parameter that parts its tests into groups: each value makes what it needs anew.
PARTED_BY = {
    "tests/book/test_pages.py": "name",
    "tests/end_to_end/test_shown_commands.py": "shown",
}
#: The same for all files below a folder.
PARTED_BELOW = {"tests/exercises/": "proof"}

#: What begins first, in this order: the book, which others wait for; then what takes longest, so
#: that no process is left alone with it at the end. Folders stand for all files below them.
FIRST = (
    "tests/book/test_build.py::test_the_book_builds_without_a_warning",
    "tests/end_to_end/test_shown_commands.py",
    "tests/end_to_end/test_instructor_path.py",
    "tests/grader/judging/test_hostile.py",
    "tests/end_to_end/test_sample_class.py",
    "tests/grader/judging/test_odd_submissions.py",
    "tests/exercises/mutation",
    "tests/exercises/proof",
    "tests/end_to_end",
    "tests/attn_lib/test_packaging.py",
    "tests/grader",
    "tests/book/test_quiz.py",
    "tests/book/test_build.py",
    "tests/book/test_pages.py",
    "tests/book",
)


def group_of(node_id: str, parameters: dict[str, object]) -> str | None:
    """Return the name of the group that a test is run with in one process, if there is one.

    Tests of a file share fixtures that are costly to make: a server, a sandbox, a parsed page.

    Parameters
    ----------
    node_id : str
        The test, as pytest writes it.
    parameters : dict
        What it is called with, by the name of the parameter.
    """
    path = node_id.partition("::")[0]
    if path in APART:
        return None
    parted_by = PARTED_BY.get(path)
    for folder, parameter in PARTED_BELOW.items():
        if path.startswith(folder):
            parted_by = parameter
    part = parameters.get(parted_by)
    path = next((folder for folder in TOGETHER if path.startswith(f"{folder}/")), path)
    # What a page shows is no part of a name; the page is.
    part = getattr(part, "page", part)
    return path if part is None else f"{path} {part}"


def rank(node_id: str) -> int:
    """Return how many kinds of tests begin before this one."""
    for place, first in enumerate(FIRST):
        if node_id == first or node_id.startswith((f"{first}/", f"{first}::")):
            return place
    return len(FIRST)


def processes() -> int:
    """Return how many processes to run tests in: three for two cores, since one often waits."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ceil(1.5 * (cores or 1))
