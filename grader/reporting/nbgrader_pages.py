"""Pages of nbgrader's own commands and of formgrader, made in worker processes.

nbgrader would render learners' notebooks in its own process. In formgrader that is the Jupyter
server, which would answer nobody in the meantime.

`grader.nbgrader_settings` names `FeedbackInWorker`, and calls `protect_formgrader`.
"""

from __future__ import annotations

import asyncio
import html
import os
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import Exporter, HTMLExporter
from nbformat import NotebookNode
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateFeedback
from tornado.web import HTTPError
from traitlets.config import Config

from grader.errors import GraderError
from grader.files import copy_notes
from grader.gradebook import reading
from grader.printable import printable
from grader.reporting import right_numbers
from grader.reporting.feedback_page import settings_of
from grader.running.local_workers import LocalWorkers
from grader.submission import load
from grader.submission.timestamps import read_notes_safely, timestamp_of

if TYPE_CHECKING:
    from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler, SubmissionHandler

PAGE_JOB = "grader.reporting.page_jobs:page_job"

#: Seconds after which a worker is killed.
SECONDS = 120

#: The largest graded notebook of which a page is made, in bytes.
MAX_BYTES = 64 * 2**20

#: Pages of formgrader that are made at the same time, so that one that takes long does not keep
#: others waiting.
AT_A_TIME = 2

HANDLERS = "nbgrader.server_extensions.formgrader.handlers"

_workers = threading.local()
_threads = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="pages")


class NoPage(GraderError):
    """Raised when a page could not be made."""


def page_of(job: Mapping[str, Any]) -> str:
    """Return the page that a worker of this thread makes.

    If the worker dies, another one shows every text as it was typed.

    Parameters
    ----------
    job : mapping
        See `grader.reporting.page_jobs.page_job`.

    Raises
    ------
    NoPage
        If that worker could not make a page either.
    """
    if not hasattr(_workers, "mine"):
        _workers.mine = LocalWorkers(PAGE_JOB, 1, SECONDS, attempts=1).__enter__()
    for plain in (False, True):
        (done,) = _workers.mine.do([("page", {**job, "plain": plain})])
        if done.returned is not None:
            return done.returned.decode("utf-8")
    raise NoPage(f"the page could not be made: {done.reason}")


def close() -> None:
    """End the worker of this thread."""
    if hasattr(_workers, "mine"):
        _workers.mine.__exit__()
        del _workers.mine


class FeedbackInWorker(HTMLExporter):
    """Makes the pages of ``nbgrader generate_feedback``, each in a worker.

    nbgrader would copy all other files of a graded submission to its feedback. Here only the notes
    are copied that `nbgrader release_feedback` needs.
    """

    def __init__(self, config: Config, parent: GenerateFeedback) -> None:
        super().__init__(config=config, parent=parent)

        def copy_notes_only(assignment: str, student: str) -> None:
            made = Path(parent._format_dest(assignment, student))
            made.mkdir(parents=True, exist_ok=True)
            copy_notes(Path(parent._format_source(assignment, student)), made)

        parent.init_assignment = copy_notes_only
        read_notes_safely(parent.coursedir)
        # nbgrader would stop at a name with a line feed.
        for folder in [folder for folder in parent.assignments if "\n" in folder]:
            self.log.error("Left out: %s: its name has a line feed", printable(folder))
            del parent.assignments[folder]

    def from_filename(  # type: ignore[override]  # as HTMLExporter's own
        self, filename: str, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a graded notebook as a page, and the resources.

        Raises
        ------
        grader.submission.Unreadable
            If it is a link, a device or a pipe, or is too large.
        NoPage
            If no page could be made.
        """
        notebook = nbformat.reads(load(Path(filename), MAX_BYTES).decode("utf-8"), as_version=4)
        return self.from_notebook_node(notebook, resources, **options)

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a graded notebook as a page, and the resources.

        Raises
        ------
        NoPage
            If no page could be made.
        """
        nb, resources = Exporter.from_notebook_node(self, nb, resources)
        about = dict(resources["nbgrader"])
        due = reading.due_for(about["db_url"], about["assignment"], about["student"])
        if right_numbers.are_withheld(due, self.config):
            about["remarks"] = [*about.get("remarks", ()), *right_numbers.leave_out(nb)]
        job = {
            "kind": "feedback",
            "notebook": nbformat.writes(nb).encode("utf-8", "replace"),
            "resources": {"nbgrader": about},
            "settings": settings_of(self.config),
        }
        return page_of(job), resources

    def register_preprocessor(self, preprocessor: object, enabled: bool = False) -> object:
        """Register nbgrader's `GetGrades`, which reads the gradebook; workers apply the others."""
        kind = preprocessor if isinstance(preprocessor, (str, type)) else type(preprocessor)
        if str(getattr(kind, "__name__", kind)).endswith("GetGrades"):
            return super().register_preprocessor(preprocessor, enabled)
        return None


def protect_formgrader() -> None:
    """Replace three methods of formgrader in this process, for which nbgrader has no setting.

    The page of a submission is made in a worker. A course with another exporter, which the same
    server may open as well, keeps nbgrader's own method. Formgrader does not execute a
    configuration that may be a learner's. And a note that is no time does not cost the list of the
    class.
    """
    handlers = sys.modules.get(HANDLERS)
    if handlers is None or handlers.SubmissionHandler.get is _get:
        return
    _get.original = handlers.SubmissionHandler.get  # type: ignore[attr-defined]
    handlers.SubmissionHandler.get = _get
    _open.original = handlers.FormgraderHandler.get  # type: ignore[attr-defined]
    handlers.FormgraderHandler.get = _open
    NbGraderAPI.get_submitted_timestamp = _submitted_timestamp


def _submitted_timestamp(api: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    course = api.coursedir
    folder = course.format_path(course.submitted_directory, student, assignment)
    return timestamp_of(Path(folder))[0]


def _open(handler: FormgraderHandler) -> None:
    """Open a course as `FormgraderHandler.get` does.

    The address names a folder, whose nbgrader_config.py is then executed: a click on a link is
    enough. So it has to be this user's own file, and not in a folder of learners' work.
    """
    path = handler.get_argument("path", "")
    if path:
        course = handler.settings["nbgrader_formgrader"].coursedir
        steps = (course.submitted_directory, course.autograded_directory, course.feedback_directory)
        folders = [Path(course.root, step).resolve() for step in steps]
        settings = (Path(path) / "nbgrader_config.py").resolve()
        owned = not settings.exists() or settings.stat().st_uid in (0, os.getuid())
        if not owned or any(settings.is_relative_to(folder) for folder in folders):
            raise HTTPError(403, f"{settings} may be a learner's, so it is not executed.")
    _open.original(handler)  # type: ignore[attr-defined]


async def _get(handler: SubmissionHandler, submission_id: str) -> None:
    """Show the page of a submission, as `SubmissionHandler.get` does."""
    original = _get.original  # type: ignore[attr-defined]
    config: Config = handler.settings["nbgrader_formgrader"].config
    if "FeedbackInWorker" not in str(config.GenerateFeedback.get("exporter_class", "")):
        original(handler, submission_id)
        return
    asked = _Asked()
    own, handler.settings["nbgrader_exporter"] = handler.settings["nbgrader_exporter"], asked
    try:
        original(handler, submission_id)  # finds the notebook, and writes nothing if it does
    finally:
        handler.settings["nbgrader_exporter"] = own
    if asked.filename:
        loop = asyncio.get_running_loop()
        page = await loop.run_in_executor(_threads, _page_of_submission, asked, config)
        handler.write(page)


class _Asked:
    """Stands in for the exporter in nbgrader's method, and notes of what it should make a page."""

    filename = ""
    resources: Mapping[str, Any] = {}

    def from_filename(self, filename: str, resources: Mapping[str, Any]) -> tuple[str, object]:
        self.filename, self.resources = filename, resources
        return "", resources


def _page_of_submission(asked: _Asked, config: Config) -> str:
    try:
        job = {
            "kind": "formgrader",
            "notebook": load(Path(asked.filename), MAX_BYTES),
            "resources": dict(asked.resources),
            "settings": settings_of(config),
        }
        return page_of(job)
    except GraderError as problem:
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>No page</title>'
            f"</head><body><p>{html.escape(str(problem))}</p></body></html>"
        )
