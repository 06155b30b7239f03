"""Gives ``nbgrader autograde`` what `python -m grader` would read of a submission.

nbgrader itself opens every file in the folder of a submission, follows links and copies what they
lead to. Here `grader.submission` finds, reads and repairs the notebook, and of the other files
nbgrader sees only the time stamp. So a link, a pipe or a file of a gigabyte is refused in the same
words by nbgrader's command, by formgrader's button and by ours.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from traitlets.config import Config

from grader.course import cell_ids
from grader.files import TIMESTAMP, copy_notes
from grader.judging.repairing import repair_within_limits
from grader.nbgrader_hooks.assignment_files import source_notebooks, source_of
from grader.nbgrader_hooks.settings import Grading
from grader.printable import printable
from grader.submission import Unreadable, find, load
from grader.submission.timestamps import read_notes_safely, timestamp_of


class SubmissionExporter(NotebookExporter):
    """Reads submissions for `Autograde`, which creates it after it has found their folders.

    nbgrader has no setting for what happens before it copies files. So this object takes over two
    methods of the `Autograde` that creates it, and shows it a folder of its own in place of that
    of each submission.
    """

    def __init__(self, config: Config, parent: Autograde) -> None:
        super().__init__(config=config, parent=parent)
        self._course = parent.coursedir
        self._stage = tempfile.mkdtemp(prefix="submissions-")
        weakref.finalize(self, shutil.rmtree, self._stage, ignore_errors=True)
        self._take_over(parent)

    def from_filename(  # type: ignore[override]  # as NotebookExporter's own
        self, filename: str, resources: dict[str, Any], **options: object
    ) -> tuple[object, dict[str, Any]]:
        """Return the repaired notebook of a submission, or any other notebook as it is.

        Raises
        ------
        grader.submission.Unreadable
            If the submission cannot be read.
        """
        if not Path(filename).is_relative_to(self._stage):
            return super().from_filename(filename, resources, **options)
        names = resources["nbgrader"]
        path, remarks = self._find(names["assignment"], names["student"], names["notebook"])
        limits = Grading(parent=self.parent).limits
        stub = source_of(self.config, resources).stub
        repaired = repair_within_limits(load(path), stub, limits, self._assignments)
        for remark in [*remarks, *repaired.remarks]:
            self.log.warning("%s", printable(remark))
        return self.from_notebook_node(repaired.notebook, resources, **options)

    def _take_over(self, autograde: Autograde) -> None:
        format_source, init_destination = autograde._format_source, autograde.init_destination
        of_names = format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)

        def staged(assignment: str, student: str, escape: bool = False) -> str:
            if not autograde._sanitizing:
                return format_source(assignment, student, escape)
            return autograde.coursedir.format_path(self._stage, student, assignment, escape)

        def checked(assignment: str, student: str) -> bool:
            place, submitted = staged(assignment, student), self._submitted(assignment, student)
            Path(place).mkdir(exist_ok=True, parents=True)
            copy_notes(submitted, Path(place))
            for remark in timestamp_of(submitted)[1]:
                self.log.warning("%s: %s", printable(student), printable(remark))
                Path(place, TIMESTAMP).unlink(missing_ok=True)
            wanted = init_destination(assignment, student)
            if wanted:
                for notebook in self._handed_in(assignment, student):
                    load(self._find(assignment, student, notebook)[0])
            return wanted

        read_notes_safely(autograde.coursedir)
        places = {}
        for folder in autograde.assignments:
            if match := re.match(of_names, folder):
                place = staged(match["assignment"], match["student"])
                places[place] = [
                    str(Path(place, f"{notebook}.ipynb"))
                    for notebook in self._handed_in(match["assignment"], match["student"])
                ]
            else:
                self.log.error("Left out: %s: its name has a line feed", printable(folder))
        autograde.assignments = places
        autograde._format_source = staged
        autograde.init_destination = checked

    def _assignments(self) -> dict[str, frozenset[str]]:
        return cell_ids(Path(self._course.root, self._course.source_directory))

    def _handed_in(self, assignment: str, student: str) -> list[str]:
        """Return which of an assignment's notebooks were handed in; all if it has only one.

        Of several, nbgrader itself gives those that are missing no points.
        """
        notebooks = source_notebooks(self._course, assignment)
        found = []
        for notebook in notebooks:
            with contextlib.suppress(Unreadable):
                self._find(assignment, student, notebook)
                found.append(notebook)
        return found or notebooks[:1]

    def _find(self, assignment: str, student: str, notebook: str) -> tuple[Path, list[str]]:
        others = [name for name in source_notebooks(self._course, assignment) if name != notebook]
        return find(self._submitted(assignment, student), notebook, others)

    def _submitted(self, assignment: str, student: str) -> Path:
        folder = self._course.submitted_directory
        return Path(self._course.format_path(folder, student, assignment))
