"""How tests are distributed to processes: which stay together, and which run first."""

from __future__ import annotations

import os
from math import ceil

#: Files whose tests share no expensive fixture, so each test may run in any process.
APART = ("tests/book/test_build.py",)

#: Folders whose files share one expensive result, so they form one group.
TOGETHER = ("tests/exercises/mutation",)

#: By file, the parameter that divides its tests into groups: each value needs new fixtures.
PARTED_BY = {
    "tests/book/test_pages.py": "name",
    "tests/end_to_end/test_shown_commands.py": "shown",
}
#: The same, for all files below a folder.
PARTED_BELOW = {"tests/exercises/": "proof"}

#: Files and folders to run first, in this order: the book, which other tests wait for; then the
#: slowest tests, so that none of them runs alone at the end. A folder means all files below it.
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
    """Return the name of the group with which a test runs in one process, or None.

    Tests of a file share expensive fixtures: a server, a sandbox, a parsed page.

    Parameters
    ----------
    node_id : str
        The node id of the test.
    parameters : dict
        The parameters of the test, by name.
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
    # A command shown on a page is grouped by its page.
    part = getattr(part, "page", part)
    return path if part is None else f"{path} {part}"


def rank(node_id: str) -> int:
    """Return the position of a test in the order of `FIRST`; lower positions run first."""
    for place, first in enumerate(FIRST):
        if node_id == first or node_id.startswith((f"{first}/", f"{first}::")):
            return place
    return len(FIRST)


def processes() -> int:
    """Return the number of test processes: three for two cores, because tests often wait."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ceil(1.5 * (cores or 1))
