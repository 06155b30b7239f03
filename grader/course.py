"""nbgrader set up for this course: one place that reads its configuration and runs it."""

from __future__ import annotations

import copy
import fnmatch
import functools
import os
import sysconfig
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import GraderError

# The rest is imported where it is used: nbgrader takes a second, and help needs none of it.
if TYPE_CHECKING:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "exercises"
CONFIGURATION = ROOT / "nbgrader_config.py"


class NbGraderFailed(GraderError):
    """Raised when a step of nbgrader did not succeed; the message is its log."""


def assignments() -> list[str]:
    """Return the names of all assignments that have an instructor's notebook."""
    return sorted(path.parent.name for path in SOLUTIONS.glob("*/*.ipynb"))


def read_instructors_notebook(assignment: str) -> bytes:
    """Return the file of an assignment in solutions/."""
    return (SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes()


def is_asked_for(student: str, pattern: str) -> bool:
    """Say whether a student is meant by an id, or by a pattern with ``*`` and ``?``.

    Examples
    --------
    >>> is_asked_for("ada", "a*"), is_asked_for("c[1]", "c[1]"), is_asked_for("bo", "a*")
    (True, True, False)
    """
    return student == pattern or fnmatch.fnmatchcase(student, pattern)


def graded_cells(assignment: str) -> list[str]:
    """Return the ids of the cells that give points, in the order of the notebook."""
    import nbformat
    from nbgrader.utils import is_grade

    notebook = nbformat.reads(read_instructors_notebook(assignment).decode("utf-8"), as_version=4)
    return [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_grade(cell)]


def graded_notebook(folder: Path, assignment: str, student: str) -> Path:
    """Return where a student's graded notebook stands below the folder that was graded into."""
    return folder / "autograded" / student / assignment / f"{assignment}.ipynb"


def let_alembic_be_found() -> None:
    """Put the folder of this Python's commands on ``PATH``, if it is not there yet.

    nbgrader runs the command ``alembic`` when it makes a gradebook. It stands beside this Python,
    whether or not the environment is activated.
    """
    scripts, path = sysconfig.get_path("scripts"), os.environ.get("PATH", "")
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, path])


def configuration() -> Config:
    """Return what nbgrader_config.py says, in a copy that may be changed.

    The file is executed once in a process.
    """
    return copy.deepcopy(_executed_configuration())


@functools.cache
def _executed_configuration() -> Config:
    from traitlets.config.loader import PyFileConfigLoader

    return PyFileConfigLoader(CONFIGURATION.name, path=str(ROOT)).load_config()


def nbgrader_for(settings: Mapping[str, object], flags: Config | None = None) -> NbGraderAPI:
    """Return nbgrader's programming interface with the course's configuration.

    Parameters
    ----------
    settings : mapping
        Traits of ``CourseDirectory`` to override, such as ``submitted_directory``.
    flags : Config, optional
        More configuration on top.
    """
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    let_alembic_be_found()
    config = configuration()
    config.CourseDirectory.update({name: str(value) for name, value in settings.items()})
    if flags:
        config.merge(flags)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def run_step(step: Callable[..., Mapping[str, object]], *arguments: object) -> None:
    """Run a step of nbgrader's programming interface.

    Raises
    ------
    NbGraderFailed
        If the step says that it did not succeed.
    """
    from sqlalchemy.exc import SAWarning

    with warnings.catch_warnings():
        # nbgrader's models make SQLAlchemy 2.1 remark on the order in which rows are added. The
        # rows are right; the remark would stand between the lines for the teacher.
        warnings.filterwarnings("ignore", category=SAWarning)
        result = step(*arguments)
    if not result["success"]:
        raise NbGraderFailed(str(result.get("log") or result.get("error")).strip())
