"""Preprocessors that bring this course's repairs and judging into nbgrader's ``autograde``.

nbgrader_config.py names the two classes, so nbgrader's command line and formgrader use them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from grader.course import ROOT, SOLUTIONS
from grader.judging.assignment_source import Source, read_source
from grader.judging.judge import judge_notebook
from grader.nbgrader_hooks.settings import Grading
from grader.printable import printable
from grader.sandbox.warm_sandboxes import warm_sandbox
from grader.submission import repair


class RepairSubmission(NbGraderPreprocessor):
    """Repairs what an editor, an upload or a mishap has done to the cells of a notebook."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, Any]:
        """Return the repaired notebook, and log what was repaired."""
        repaired = repair(nbformat.writes(nb).encode("utf-8"), _source(self.config, resources).stub)
        for remark in repaired.remarks:
            self.log.warning("%s", printable(remark))
        return repaired.notebook, resources


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
            _source(self.config, resources),
            nb,
            limits=settings.limits,
            sandbox=warm_sandbox(settings.limits, settings.isolation),
        )
        for remark in judged.remarks:
            self.log.warning("%s", printable(remark))
        return judged.notebook, resources


def _source(config: Config, resources: dict[str, Any]) -> Source:
    course, names = config.CourseDirectory, resources["nbgrader"]
    folder = Path(course.get("root", ROOT)) / course.get("source_directory", SOLUTIONS.name)
    return read_source((folder / names["assignment"] / f"{names['notebook']}.ipynb").read_bytes())
