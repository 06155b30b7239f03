"""nbgrader's configuration, read by every `nbgrader` command that is started in this folder."""

import sys
from pathlib import Path

import nbgrader

root = Path(__file__).resolve().parent
sys.path.insert(0, str(root))  # so that Python finds grader/, whose classes are named below
from grader.course import put_alembic_on_path  # noqa: E402  (needs the line above)

put_alembic_on_path()
c = get_config()  # noqa: F821  (traitlets provides it)

# Names of files and ids are logged so that they cannot control the terminal.
c.Application.logging_config = {
    "formatters": {"console": {"class": "grader.nbgrader_hooks.logs.PrintableFormatter"}}
}

c.CourseDirectory.course_id = "attention"
# The folder of this file, even if the command is started in another folder.
c.CourseDirectory.root = str(root)
# nbgrader's defaults are "source" and "release". Our names say what these folders contain.
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"

# nbgrader stores times in UTC. This is the time zone, such as "Europe/Berlin", in which formgrader
# and the grader show them, and in which you enter a deadline in formgrader.
c.NbGraderAPI.timezone = "UTC"
# The penalty for late work: "none" takes no points, "zero" takes them all. For another rule, name
# your own class in c.AssignLatePenalties.plugin_class; the guide for instructors has an example.
c.LateSubmissionPlugin.penalty_method = "none"

# `nbgrader collect` copies ordinary files only: it does not follow links that learners put into the
# exchange.
c.ExchangeFactory.collect = "grader.nbgrader_hooks.exchange.CollectFiles"
# Lets `nbgrader zip_collect` unpack archives member by member, so that a damaged or malicious one
# costs nobody else's work, and understand the file names that learning platforms make.
c.ZipCollectApp.extractor_plugin = "grader.nbgrader_hooks.extracting.ArchiveExtractor"
c.ZipCollectApp.collector_plugin = "grader.nbgrader_hooks.collecting.GradebookCollector"

# By default, feedback would show the hidden tests in the test cells.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "grader.reporting.feedback_page.ClearHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
# Remove from learners' text and outputs everything active, and every id or class that a page's own
# script would look up. This protects feedback and the pages of formgrader, where a script would
# act with the rights of the grader. Text cells go through the first filter. Outputs go through the
# second, but only with sanitize_html.
c.GenerateFeedback.exporter_class = "grader.reporting.nbgrader_pages.FeedbackInWorker"
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "strip_files_prefix": "grader.reporting.sanitizer.shown_text",
    "clean_html": "grader.reporting.sanitizer.shown_text",
}
c.HTMLExporter.exclude_anchor_links = True  # the ids of headings are removed, so links would break
# Feedback has to open offline, and formgrader must not run scripts of another host. The first
# folder overrides the part of both templates that loads MathJax from another host. The second is
# nbgrader's default, which this setting would replace.
formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
c.HTMLExporter.extra_template_basedirs = [
    str(root / "grader" / "reporting" / "templates"),
    str(formgrader / "templates"),
]
# In a Jupyter server, where formgrader reads this file, workers make the pages of submissions, and
# no learner's nbgrader_config.py is executed.
servers = sys.modules.get("jupyter_server.serverapp")
if servers and servers.ServerApp.initialized():
    from grader.reporting.nbgrader_pages import protect_formgrader

    protect_formgrader()

# Submissions are read and repaired first, as `python -m grader` does it: links are not followed.
# Then learners' code is executed in a sandbox and the tests outside it. This replaces `Execute`,
# which executes both in one kernel. Limits on what a submission may use can be set here as well, as
# in c.Grading.call_seconds = 2; grader/sandbox/inside/limits.py lists them all with their defaults.
c.Autograde.exporter_class = "grader.nbgrader_hooks.autograding.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader_hooks.preprocessors.JudgeSubmission",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# A secret that learners' numbers depend on beside their ids. With one, `make release` makes an
# archive without answers; the guide for instructors says what that means. Set it before the term:
# a change gives all learners other numbers.
# c.PersonalNumbers.salt = (root / "salt.txt").read_text(encoding="utf-8").strip()

# Seconds after which `nbgrader validate` stops a cell; it executes the notebook in a kernel.
c.Execute.timeout = 30
