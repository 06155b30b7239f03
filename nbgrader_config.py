"""nbgrader's configuration: read by every `nbgrader` command that runs in this folder."""

from pathlib import Path

import nbgrader

root = Path(__file__).resolve().parent
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

# Feedback shows the test cells, by default with the hidden tests in them.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
# Feedback has to open offline. The first folder takes the place of the template part that
# loads MathJax from another host; the second is nbgrader's own, which this setting displaces.
formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
c.HTMLExporter.extra_template_basedirs = [
    str(root / "grader" / "templates"),
    str(formgrader / "templates"),
]

# Seconds until a cell is stopped. The tests of a cell take well below one.
c.Execute.timeout = 30
