"""Judge an assignment of any nbgrader course, in the folder of that course.

nbgrader itself enters the scores and copies the files, as its own ``autograde`` does; only what
executes notebooks is ours.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course import CONFIGURATION, ROOT, do_step, executed_configuration, matches_student
from grader.errors import GraderError
from grader.nbgrader_settings import use_judge

if TYPE_CHECKING:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config


#: The folder with our own steps of nbgrader's commands.
_HOOKS = ROOT / "grader" / "nbgrader_hooks"


class NoCourse(GraderError):
    """Raised if a folder is not that of an nbgrader course, or has no such assignment."""


@dataclass(frozen=True)
class Score:
    """What the gradebook has for one student's submission, or why there is nothing."""

    student: str
    score: float = 0.0
    most: float = 0.0
    waits: bool = False  #: whether a person has to grade a part of it
    problem: str = ""
    remarks: tuple[str, ...] = ()  #: what a person should know of how it was read and judged

    @property
    def text(self) -> str:
        """The points as a clause.

        Examples
        --------
        >>> Score("ada", 2.5, 4.0, waits=True).text
        '2.5 of 4 points, and a person has to read a part of it'
        """
        waits = ", and a person has to read a part of it" if self.waits else ""
        return f"{self.score:g} of {self.most:g} points{waits}"


class OtherCourse:
    """An nbgrader course with the settings of `use_judge`.

    Parameters
    ----------
    folder : Path
        The folder with its nbgrader_config.py.
    isolation : str
        Where learners' code runs. Default: as its configuration says.

    Raises
    ------
    NoCourse
        If it has no nbgrader_config.py.
    grader.course.ConfigurationFailed
        If its nbgrader_config.py raises an error.
    """

    def __init__(self, folder: Path, isolation: str = "") -> None:
        from nbgrader.apps import NbGraderAPI
        from nbgrader.coursedir import CourseDirectory

        self.folder = folder.resolve()
        self.config = _configuration(self.folder)
        use_judge(self.config)
        if isolation:
            self.config.Grading.isolation = isolation
        if "root" not in self.config.CourseDirectory:
            self.config.CourseDirectory.root = str(self.folder)
        self._course = CourseDirectory(config=self.config)
        self.api: NbGraderAPI = NbGraderAPI(self._course, config=self.config)

    def placement(self, assignment: str) -> Iterator[str]:
        """Yield a line for each group of test cells that says where they are executed.

        Raises
        ------
        GraderError
            If the course has no such assignment, or no sandbox can be started here.
        """
        from grader.nbgrader_hooks.assignment_files import placement_lines

        yield from placement_lines(self._course, assignment)

    def autograde(self, assignment: str, student: str, *, force: bool) -> Iterator[Score]:
        """Autograde the submissions of matching students, and yield what the gradebook then has.

        Raises
        ------
        NoCourse
            If nobody who matches has handed in.
        """
        students = [
            name
            for name in sorted(self.api.get_submitted_students(assignment))
            if matches_student(name, student)
        ]
        if not students:
            place = self._course.format_path(self._course.submitted_directory, student, assignment)
            raise NoCourse(f"expected submissions in {place}, found none.")
        for name in students:
            remarks: list[str] = []
            try:
                with _remarks_to(remarks, self.api.log):
                    do_step(self.api.autograde, assignment, name, force)
            except GraderError as problem:
                reason = _reason(str(problem))
                if reason == f"No assignment with ID '{assignment}' exists in the database":
                    reason += f". Give `nbgrader generate_assignment {assignment}` there first"
                yield Score(name, problem=reason, remarks=tuple(remarks))
            else:
                found = self.api.get_submission(assignment, name)
                points = found["score"], found["max_score"]
                yield Score(name, *points, found["needs_manual_grade"], remarks=tuple(remarks))


class _Remarks(logging.Handler):
    """Keeps the warnings that our own steps of nbgrader log."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, unless a step of nbgrader itself made it."""
        if record.levelno == logging.WARNING and Path(record.pathname).is_relative_to(_HOOKS):
            self.kept.append(record.getMessage())


@contextlib.contextmanager
def _remarks_to(kept: list[str], log: logging.Logger) -> Iterator[None]:
    handler = _Remarks(kept)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _configuration(folder: Path) -> Config:
    if not (folder / CONFIGURATION.name).is_file():
        raise NoCourse(
            f"expected {CONFIGURATION.name} of an nbgrader course in {folder}, found none."
        )
    return executed_configuration(folder)


def _reason(log: str) -> str:
    """Return the error that stopped nbgrader, from its log.

    It is at the end of the first traceback. Without one, it is the first line with an error.
    """
    _, _, after = log.partition("Traceback (most recent call last):")
    traceback = re.split(r"^\[", after, maxsplit=1, flags=re.MULTILINE)[0]
    error = re.search(r"^\[ERROR\] (.+)", log, flags=re.MULTILINE)
    if error and not traceback:
        return error[1]
    lines = [line.strip() for line in (traceback or log).splitlines() if line.strip()]
    return re.sub(r"^[\w.]+: ", "", lines[-1]) if lines else "nbgrader gave no reason"
