"""nbgrader's own ``autograde`` with this course's repairs and judge in it.

nbgrader_config.py names the two classes; so the command line and formgrader's button use them.
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
from grader.sandbox.kept import warm_sandbox
from grader.submission import repair


class RepairSubmission(NbGraderPreprocessor):
    """Put right what an editor, an upload or a slip has done to a notebook's cells."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, Any]:
        """Return the repaired notebook; what was repaired goes to the log."""
        repaired = repair(nbformat.writes(nb).encode("utf-8"), _source(self.config, resources).stub)
        for remark in repaired.remarks:
            self.log.warning("%s", remark)
        return repaired.notebook, resources


class JudgeSubmission(NbGraderPreprocessor):
    """Run the answers in the sandbox and the tests outside of it, in place of `Execute`."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, Any]:
        """Return the graded notebook; what went wrong on the way goes to the log."""
        settings = Grading(parent=self)
        judged = judge_notebook(
            _source(self.config, resources),
            nb,
            limits=settings.limits,
            sandbox=warm_sandbox(settings.limits, settings.isolation),
        )
        for remark in judged.remarks:
            self.log.warning("%s", remark)
        return judged.notebook, resources


def _source(config: Config, resources: dict[str, Any]) -> Source:
    course, names = config.CourseDirectory, resources["nbgrader"]
    folder = Path(course.get("root", ROOT)) / course.get("source_directory", SOLUTIONS.name)
    return read_source((folder / names["assignment"] / f"{names['notebook']}.ipynb").read_bytes())
