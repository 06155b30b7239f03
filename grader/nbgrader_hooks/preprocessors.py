"""The preprocessor that brings this course's judging into nbgrader's ``autograde``.

nbgrader_config.py names it, so nbgrader's command line and formgrader use it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from grader.course import ROOT, SOLUTIONS
from grader.judging.assignment_source import Source, read_source
from grader.judging.judge import judge_notebook
from grader.nbgrader_hooks.settings import Grading, PersonalNumbers
from grader.printable import printable
from grader.sandbox.warm_sandboxes import warm_sandbox


class JudgeSubmission(NbGraderPreprocessor):
    """Judges a submission, in place of nbgrader's `Execute`.

    Answers are executed in the sandbox, and the tests outside it.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, Any]:
        """Return the graded notebook, and log the remarks.

        Raises
        ------
        grader.judging.judge.CourseError
            If the assignment's tests are faulty.
        grader.sandbox.sandbox.SandboxUnavailable
            If no sandbox can be started here.
        """
        settings = Grading(parent=self)
        judged = judge_notebook(
            source_of(self.config, resources),
            nb,
            limits=settings.limits,
            sandbox=warm_sandbox(settings.limits, settings.isolation),
            salt=PersonalNumbers(parent=self).salt,
        )
        for remark in judged.remarks:
            self.log.warning("%s", printable(remark))
        return judged.notebook, resources


def source_of(config: Config, resources: dict[str, Any]) -> Source:
    """Return the instructor's notebook of the assignment that nbgrader is grading."""
    course, names = config.CourseDirectory, resources["nbgrader"]
    folder = Path(course.get("root", ROOT)) / course.get("source_directory", SOLUTIONS.name)
    return read_source((folder / names["assignment"] / f"{names['notebook']}.ipynb").read_bytes())
