"""nbgrader's configuration: read by every `nbgrader` command that runs in this folder."""

import sys
from pathlib import Path

import nbgrader

root = Path(__file__).resolve().parent
sys.path.insert(0, str(root))  # for grader/, whose classes are named below
from grader.course import let_alembic_be_found  # noqa: E402  (found by the line above)

let_alembic_be_found()
c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "attention"
# The folder of this file, whatever folder the command runs in.
c.CourseDirectory.root = str(root)
# nbgrader calls these two "source" and "release". Our names say what a visitor finds there.
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"

# Times are kept in UTC. This is the zone in which formgrader and the grader show them and in
# which formgrader takes a deadline, such as "Europe/Berlin".
c.NbGraderAPI.timezone = "UTC"
# What late work loses: "none", or "zero" for all of its points. For another rule name a class of
# your own in c.AssignLatePenalties.plugin_class; the guide for instructors has one.
c.LateSubmissionPlugin.penalty_method = "none"

# `nbgrader zip_collect` knows the names that Moodle and Canvas give to files.
c.ZipCollectApp.collector_plugin = "grader.nbgrader_hooks.collecting.GradebookCollector"

# Feedback shows the test cells, by default with the hidden tests in them.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "grader.reporting.feedback_page.ClearHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
# Nothing active of a learner's text or outputs gets into a page, and no name that the page's own
# script would find: neither into feedback nor into formgrader's, where it would act with the
# rights of whoever grades. Text cells go through the first filter; with sanitize_html, outputs go
# through the second.
c.GenerateFeedback.exporter_class = "grader.reporting.feedback_page.FeedbackExporter"
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "strip_files_prefix": "grader.reporting.sanitizer.shown_text",
    "clean_html": "grader.reporting.sanitizer.shown_text",
}
c.HTMLExporter.exclude_anchor_links = True  # they lead to the headings' names
# Feedback has to open offline. The first folder takes the place of the template part that
# loads MathJax from another host; the second is nbgrader's own, which this setting displaces.
formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
c.HTMLExporter.extra_template_basedirs = [
    str(root / "grader" / "reporting" / "templates"),
    str(formgrader / "templates"),
]

# Submissions are repaired first. Then learners' code runs in a sandbox and the tests outside of
# it, in place of `Execute`, which runs both in one kernel. What a submission may use is set here
# too, as in c.Grading.call_seconds = 2; grader/sandbox/inside/limits.py lists all of it with the
# defaults.
c.Autograde.sanitize_preprocessors = [
    "grader.nbgrader_hooks.preprocessors.RepairSubmission",
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

# `nbgrader validate` runs a learner's notebook in a kernel: seconds until a cell is stopped.
c.Execute.timeout = 30
