"""The preprocessor that brings judging outside of the sandbox into nbgrader's ``autograde``.

`grader.nbgrader_settings` names it, so nbgrader's command line and formgrader use it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.judging.judge import judge_notebook
from grader.judging.plain.placement import has_plain_tests, placement_of
from grader.nbgrader_hooks.assignment_files import source_of, supporting_files
from grader.nbgrader_hooks.settings import Grading, PersonalNumbers
from grader.printable import printable
from grader.sandbox.warm_sandboxes import warm_sandbox
from grader.submission import own_files


class JudgeSubmission(NbGraderPreprocessor):
    """Judges a submission, in place of nbgrader's `Execute`.

    Answers are executed in the sandbox, and the tests outside it.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, Any]:
        """Return the graded notebook, and log the remarks.

        Raises
        ------
        grader.judging.course_tests.CourseError
            If the assignment's tests are faulty.
        grader.nbgrader_hooks.assignment_files.NoSource
            If the course does not have the instructor's notebook.
        grader.sandbox.sandbox.SandboxUnavailable
            If no sandbox can be started here.
        """
        settings, names = Grading(parent=self), resources["nbgrader"]
        limits, sandbox = settings.limits, warm_sandbox(settings.limits, settings.isolation)
        course, source = CourseDirectory(config=self.config), source_of(self.config, resources)
        files: dict[str, bytes] = {}
        theirs: dict[str, bytes] = {}
        if has_plain_tests(source):
            files = supporting_files(course, names["assignment"], limits.disk_mib)
            folder = course.format_path(
                course.submitted_directory, names["student"], names["assignment"]
            )
            theirs, left_out = own_files(Path(folder), limits.disk_mib * 2**20 // 2)
            for remark in left_out:
                self.log.warning("%s", printable(remark))
            for line in placement_of(source, files, limits, sandbox).lines():
                self.log.info("%s: %s", names["notebook"], line)
        judged = judge_notebook(
            source,
            nb,
            limits=limits,
            sandbox=sandbox,
            files=files,
            own_files=theirs,
            salt=PersonalNumbers(parent=self).salt,
        )
        for remark in judged.remarks:
            self.log.warning("%s", printable(remark))
        return judged.notebook, resources
