"""The instructor's files of an assignment, where nbgrader's configuration says they are."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import IncludeHeaderFooter
from nbgrader.utils import find_all_files
from traitlets.config import Config

from grader.errors import GraderError
from grader.judging.assignment_source import Source, Unusable, read_source
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
    grader.judging.assignment_source.Unusable
        If nothing can be judged from it.
    """
    names = resources["nbgrader"]
    course = CourseDirectory(config=config)
    return _read(source_folder(course, names["assignment"]) / f"{names['notebook']}.ipynb", course)


def _read(path: Path, course: CourseDirectory) -> Source:
    try:
        return read_source(_with_header(path.read_bytes(), course), course.config)
    except FileNotFoundError:
        raise NoSource(f"expected the instructor's notebook {path}, found none.") from None
    except Unusable as problem:
        raise Unusable(f"{path.name}: {problem}") from None


def _with_header(file: bytes, course: CourseDirectory) -> bytes:
    """Return a notebook with the cells that nbgrader puts before and after those of each one."""
    if not course.config.get("IncludeHeaderFooter"):
        return file
    step = IncludeHeaderFooter(config=course.config)
    notebook = nbformat.reads(file.decode("utf-8-sig"), as_version=nbformat.current_nbformat)
    try:
        with contextlib.chdir(course.root):
            step.preprocess(notebook, {})
    except OSError as problem:
        raise NoSource(
            f"expected the notebook in c.IncludeHeaderFooter, found none: {problem}"
        ) from None
    # Not by nbformat, which draws new ids where two are equal: equal files have equal ids.
    return json.dumps(notebook).encode("ascii")


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


def supporting_files(course: CourseDirectory, assignment: str, max_mib: int) -> dict[str, bytes]:
    """Return the instructor's files beside the notebooks, by path.

    Raises
    ------
    grader.judging.assignment_source.Unusable
        If they have more than `max_mib` MiB together.
    """
    folder = source_folder(course, assignment)
    paths = sorted(map(Path, find_all_files(str(folder), [*course.ignore, "*.ipynb"])))
    if (size := sum(path.stat().st_size for path in paths)) > max_mib * 2**20:
        raise Unusable(
            f"The files beside the notebooks in {folder} have {size / 2**20:.1f} MiB together, "
            f"more than the {max_mib} MiB that a submission may have. Set c.Grading.disk_mib in "
            "nbgrader_config.py to more, or make them smaller."
        )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def placement_lines(course: CourseDirectory, assignment: str) -> Iterator[str]:
    """Yield a line for each group of an assignment's test cells that says where they are executed.

    Raises
    ------
    GraderError
        If the course has no such assignment, or no sandbox can be started here.
    """
    options = Grading(config=course.config)
    files = supporting_files(course, assignment, options.limits.disk_mib)
    sandbox = warm_sandbox(options.limits, options.isolation)
    for notebook in source_notebooks(course, assignment):
        path = source_folder(course, assignment) / f"{notebook}.ipynb"
        source = _read(path, course)
        for line in placement_of(source, files, options.limits, sandbox).lines():
            yield f"{notebook}: {line}"
