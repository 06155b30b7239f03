"""The instructor's files of an assignment, where nbgrader's configuration says they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files
from traitlets.config import Config

from grader.errors import GraderError
from grader.judging.assignment_source import Source, read_source
from grader.judging.plain.placement import placement_of
from grader.nbgrader_hooks.settings import Grading
from grader.sandbox.warm_sandboxes import warm_sandbox


class NoSource(GraderError):
    """Raised if the course has no such assignment, or none of its notebooks."""


def source_of(config: Config, resources: dict[str, Any]) -> Source:
    """Return the instructor's notebook of the assignment that nbgrader is grading.

    Raises
    ------
    NoSource
        If there is no such notebook.
    """
    names = resources["nbgrader"]
    course = CourseDirectory(config=config)
    path = source_folder(course, names["assignment"]) / f"{names['notebook']}.ipynb"
    try:
        return read_source(path.read_bytes(), config)
    except FileNotFoundError:
        raise NoSource(f"expected the instructor's notebook {path}, found none.") from None


def source_folder(course: CourseDirectory, assignment: str) -> Path:
    """Return the folder with the instructor's files of an assignment."""
    return Path(course.format_path(course.source_directory, ".", assignment))


def source_notebooks(course: CourseDirectory, assignment: str) -> list[str]:
    """Return the sorted names of an assignment's notebooks.

    Raises
    ------
    NoSource
        If there are none.
    """
    folder = source_folder(course, assignment)
    names = sorted(path.stem for path in folder.glob("*.ipynb"))
    if not names:
        raise NoSource(f"expected the instructor's notebooks in {folder}, found none.")
    return names


def supporting_files(course: CourseDirectory, assignment: str) -> dict[str, bytes]:
    """Return the instructor's files beside the notebooks, by path."""
    folder = source_folder(course, assignment)
    paths = map(Path, find_all_files(str(folder), [*course.ignore, "*.ipynb"]))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def placement_lines(course: CourseDirectory, assignment: str) -> Iterator[str]:
    """Yield a line for each group of an assignment's test cells that says where they are executed.

    Raises
    ------
    GraderError
        If the course has no such assignment, or no sandbox can be started here.
    """
    files, options = supporting_files(course, assignment), Grading(config=course.config)
    sandbox = warm_sandbox(options.limits, options.isolation)
    for notebook in source_notebooks(course, assignment):
        path = source_folder(course, assignment) / f"{notebook}.ipynb"
        source = read_source(path.read_bytes(), course.config)
        for line in placement_of(source, files, options.limits, sandbox).lines():
            yield f"{notebook}: {line}"
