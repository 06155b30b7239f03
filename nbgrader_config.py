"""nbgrader's configuration, read by every `nbgrader` command that is started in this folder."""

import sys
from pathlib import Path

root = Path(__file__).resolve().parent
sys.path.insert(0, str(root))  # so that Python finds grader/, whose classes are named below
from grader.nbgrader_settings import use_judge  # noqa: E402  (needs the line above)

c = get_config()  # noqa: F821  (traitlets provides it)

# Learners' code is executed in a sandbox and the tests outside it, by nbgrader's own commands too.
# Submissions are read, repaired, collected and shown so that nothing in them is followed or active.
# Limits on what a submission may use can be set here as well, as in c.Grading.call_seconds = 2;
# grader/sandbox/inside/limits.py lists them all with their defaults.
use_judge(c)

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

# How `python -m grader totals` counts; the guide for instructors has an example.
# c.Totals.weights = {"dot-products": 2, "quiz": 1}
# c.Totals.drop_lowest = 1
# c.Totals.excused = {"quiz": ["ada"]}

# A secret that learners' numbers depend on beside their ids. With one, `make release` makes an
# archive without answers; the guide for instructors says what that means. Set it before the term:
# a change gives all learners other numbers.
# c.PersonalNumbers.salt = (root / "salt.txt").read_text(encoding="utf-8").strip()

# The address of the published book: in feedback, a mistake then links to the section about it.
# c.FeedbackExporter.book = "https://example.org/attention/book"

# Seconds after which `nbgrader validate` stops a cell; it executes the notebook in a kernel.
c.Execute.timeout = 30
