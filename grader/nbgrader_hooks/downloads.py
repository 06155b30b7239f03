"""Under which name a learning platform gave out what each learner handed in.

Platforms find the owner of a returned file by that name.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import NamedTuple

from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from grader.course import configuration
from grader.errors import GraderError
from grader.nbgrader_hooks.collecting import GradebookCollector
from grader.nbgrader_hooks.platforms import MEMBERS, found_in


class NoDownload(GraderError):
    """Raised if there is nothing that ``nbgrader zip_collect`` has unpacked."""


class Download(NamedTuple):
    """How a platform named what a learner handed in."""

    platform: str  #: a key of `grader.nbgrader_hooks.platforms.PATTERNS`
    label: str  #: the name of the learner's folder, or of the file if there is no folder
    is_folder: bool
    of_group: bool  #: whether it is the hand-in of a group

    def page_for_moodle(self, assignment: str, student: str) -> str:
        """Return the path of a page in Moodle's zip file, or "" if it came from elsewhere.

        Moodle takes *name, number, assignsubmission, file* from any part of the path that is so
        divided by underscores, and what follows is the name that the learner sees. The number of a
        group leads to all its members, who all get every page, so pages have the ids in their names
        (mod/assign/feedback/file/importziplib.php: is_valid_filename_for_import and
        get_participant_mapping).

        Examples
        --------
        >>> ada = Download("Moodle", "Ada Lovelace_12_assignsubmission_file", True, False)
        >>> ada.page_for_moodle("quiz", "ada")
        'Ada Lovelace_12_assignsubmission_file/quiz.html'
        >>> flat = Download("Moodle", "Ada_12_assignsubmission_file_my_quiz.ipynb", False, False)
        >>> flat.page_for_moodle("quiz", "ada")
        'Ada_12_assignsubmission_file_quiz.html'

        Moodle finds nobody by a name without a number:

        >>> rest = Download("Moodle", "Default group_assignsubmission_file", True, True)
        >>> rest.page_for_moodle("quiz", "ada")
        ''
        """
        if self.platform != "Moodle" or not re.search(r"_\d+_assignsubmission_file", self.label):
            return ""
        name = f"{assignment}-{student}.html" if self.of_group else f"{assignment}.html"
        if self.is_folder:
            return f"{self.label}/{name}"
        mark = "_assignsubmission_file_"
        return f"{self.label.partition(mark)[0]}{mark}{name}"

    def notebook_for_canvas(self) -> str:
        """Return the name of a notebook in Canvas's zip file, or "" if there can be none.

        Canvas finds the learner, and the file that was handed in, by the first two numbers in the
        name, and shows what comes back under the name of that file. So only a notebook can take the
        place of a notebook; a page would be shown as one (app/models/abstract_assignment.rb:
        infer_comment_context_from_filename and generate_comments_from_files).

        Examples
        --------
        >>> Download("Canvas", "lovelaceada_LATE_101_456_quiz.ipynb", False, False
        ... ).notebook_for_canvas()
        'lovelaceada_LATE_101_456_quiz.ipynb'
        >>> Download("Canvas", "lovelaceada_101_456_quiz", True, False).notebook_for_canvas()
        ''
        """
        is_notebook = not self.is_folder and self.label.lower().endswith(".ipynb")
        return self.label if self.platform == "Canvas" and is_notebook else ""


def downloads(
    assignment: str, db_url: str, root: Path | None = None
) -> tuple[dict[str, Download], Path]:
    """Return how a platform named the files that were collected, by learner, and their folder.

    Parameters
    ----------
    assignment : str
    db_url : str
        The SQLAlchemy URL of the gradebook with the class list.
    root : Path, optional
        The folder with the folder ``downloaded``. Default: the course's own.

    Raises
    ------
    NoDownload
        If nothing has been unpacked, or the members of groups cannot be read.
    """
    config = configuration()
    config.CourseDirectory.update({"assignment_id": assignment, "db_url": db_url})
    if root is not None:
        config.CourseDirectory.root = str(root.resolve())
    app = _Collected(coursedir=CourseDirectory(config=config), config=config)
    folder = app.unpacked_into()
    if not folder.is_dir():
        raise NoDownload(
            f"expected what `nbgrader zip_collect {assignment}` has unpacked in {folder}, found no "
            "such folder. Platforms find learners by the names in their own archive, so collect "
            "with that command, or return the pages by mail."
        )
    collector = GradebookCollector(parent=app)
    found = {}
    for student, paths in collector.collected_paths().items():
        by_name = {}
        for path in paths:
            names = found_in(path, collector.named_regexp)
            if names is not None and names.platform:
                is_folder = names.label != path.name
                of_group = path.parts[0] == MEMBERS
                download = Download(names.platform, names.label, is_folder, of_group)
                unlike = names.file_id != f"{assignment}.ipynb"
                is_other = not names.file_id.startswith(assignment)
                by_name[unlike, is_other, str(path)] = download
        if by_name:
            found[student] = by_name[min(by_name)]
    return found, folder


class _Collected(ZipCollectApp):
    """Knows where nbgrader's command has unpacked the files, and repeats none of its messages."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.log = logging.Logger("silent", logging.CRITICAL + 1)

    def unpacked_into(self) -> Path:
        """Return the folder with the files."""
        return Path(self._format_collect_path(self.extracted_directory))

    def fail(self, message: str, *values: object) -> None:
        """Raise an error in place of ending the program."""
        raise NoDownload(message % values if values else message)
