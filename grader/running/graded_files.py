"""The files of a run: graded notebooks, put in place only once their grades are in the gradebook.

A graded notebook is written beside its place as soon as its verdict is there, so that the run does
not have to keep it in memory.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from grader.course import graded_notebook
from grader.files import copy_notes, put_in_place, remove_folder, stage, staged_at


@dataclass(frozen=True)
class GradedFiles:
    """The graded notebooks of one assignment.

    Parameters
    ----------
    assignment : str
    submitted : Path
        The folder with the submissions.
    into : Path
        The folder for the folders autograded and feedback.
    """

    assignment: str
    submitted: Path
    into: Path

    def are_there(self, student: str) -> bool:
        """Say whether a student's graded notebook is in its place."""
        return self._place(student).is_file()

    def stage(self, student: str, notebook: str) -> None:
        """Write a student's graded notebook beside its place.

        Raises
        ------
        OSError
            If it cannot be written, or something else is in its place.
        """
        place = self._place(student)
        place.parent.mkdir(parents=True, exist_ok=True)
        stage(place, notebook)

    def put(self, student: str) -> None:
        """Put the notebook that was staged in its place, as nbgrader does."""
        place = self._place(student)
        put_in_place(place)
        place.chmod(0o444)
        copy_notes(self.submitted / student / self.assignment, place.parent)

    def discard(self, student: str) -> None:
        """Remove the notebook that was staged, if there is one."""
        with contextlib.suppress(OSError):
            place = self._place(student)
            staged_at(place).unlink(missing_ok=True)
            for folder in (place.parent, place.parent.parent):
                folder.rmdir()  # only if it is empty

    def remove(self, student: str) -> None:
        """Remove the graded notebook and the feedback of an earlier verdict."""
        remove_folder(self._place(student).parent)
        remove_folder(self.into / "feedback" / student / self.assignment)

    def _place(self, student: str) -> Path:
        return graded_notebook(self.into, self.assignment, student)
