"""Make learners' notebooks from the instructor's notebooks."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum, is_locked, is_solution
from traitlets.config import Config

from grader.course import EXERCISES, SOLUTIONS, do_step, nbgrader_for
from grader.errors import GraderError

NO_DATABASE = Config({"GenerateAssignment": {"no_database": True}, "SaveCells": {"enabled": False}})


class WorkInTheWay(GraderError):
    """Raised when a notebook is out of date, but somebody's work in it would be overwritten."""


def generate(assignment: str, into: Path, *, db_url: str | None = None) -> Path:
    """Do what ``nbgrader generate_assignment`` does, and return the path of the new notebook.

    Parameters
    ----------
    assignment : str
        The name of a folder in solutions/.
    into : Path
        The folder to release into. A folder there with the assignment's name is replaced.
    db_url : str, optional
        The gradebook in which to enter the assignment's cells. Default: none.

    Raises
    ------
    grader.course.NbGraderFailed
        If nbgrader cannot make the notebook.
    """
    settings: dict[str, object] = {
        "source_directory": SOLUTIONS,
        "release_directory": into.resolve(),
    }
    if db_url:
        settings["db_url"] = db_url
    api = nbgrader_for(settings, None if db_url else NO_DATABASE)
    do_step(api.generate_assignment, assignment)
    return into / assignment / f"{assignment}.ipynb"


def release(assignment: str, exercises: Path = EXERCISES, *, force: bool = False) -> str:
    """Bring the assignment in `exercises` up to date, and return a sentence on what was done.

    Parameters
    ----------
    assignment : str
        The name of a folder in solutions/.
    exercises : Path
        The folder with the released assignments.
    force : bool
        Whether to overwrite a notebook that somebody has worked in.

    Raises
    ------
    WorkInTheWay
        If somebody has worked in a notebook whose tests or given cells are out of date.
    grader.course.NbGraderFailed
        If nbgrader cannot make the notebook.
    """
    target = exercises / assignment / f"{assignment}.ipynb"
    with tempfile.TemporaryDirectory() as folder:
        fresh = generate(assignment, Path(folder))
        if not target.exists():
            done = "released"
        elif target.read_bytes() == fresh.read_bytes():
            return f"{assignment}: up to date"
        elif force or not _has_work(target):
            done = "released again"
        elif _fixed_cells(target) == _fixed_cells(fresh):
            return f"{assignment}: kept, there is work in it"
        else:
            raise WorkInTheWay(
                f"{assignment}: expected no work in {target}, which is out of date, found some. "
                "Move the notebook to another folder, or replace it with --force."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fresh, target)
    return f"{assignment}: {done}"


def _has_work(notebook: Path) -> bool:
    """Say whether an answer differs from the stub that was released."""
    return any(
        compute_checksum(cell) != cell.metadata.nbgrader.get("checksum")
        for cell in nbformat.read(notebook, as_version=4).cells
        if is_solution(cell)
    )


def _fixed_cells(notebook: Path) -> dict[str, str]:
    """Return the sources of the cells that learners cannot edit."""
    cells = nbformat.read(notebook, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in cells if is_locked(cell)}
