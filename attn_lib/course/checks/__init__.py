"""Checks that an exercise's test cell runs on a learner's work.

A test cell creates one `Checks` from its global names, opens a part for each thing that earns
points, runs checks in that part and ends with `Checks.finish`. Every check runs, even if an
earlier one failed, so the learner sees all that is left to do. A part earns its points when all
its checks pass.

Checks take the *name* of an answer, not its value, so that a missing answer gives a helpful
message in place of a NameError. The same cell works in the learner's kernel, under ``nbgrader
validate``, under ``nbgrader autograde`` and in the judge.
"""

from attn_lib.course.checks.core import Checks
from attn_lib.course.checks.drawings import Image, Line
from attn_lib.course.checks.events import listening
from attn_lib.course.checks.findings import ChecksFailed, Finding, Part

__all__ = ["Checks", "ChecksFailed", "Finding", "Image", "Line", "Part", "listening"]
