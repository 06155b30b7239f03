"""Checks that an exercise's test cell runs on a learner's work.

A test cell makes one `Checks` of the names it can see, opens a part for each thing that earns
points, runs checks in it and ends with `Checks.finish`. Every check runs, whatever happened to
those before, so the learner sees all that is left to do. A part earns its points when all its
checks pass.

Checks are given the *name* of what they look at, so that an answer that is not there yet is
told in words. The same cell works in the learner's kernel, under ``nbgrader validate``, under
``nbgrader autograde`` and in the judge.
"""

from attn_lib.course.checks.core import Checks
from attn_lib.course.checks.drawings import Line
from attn_lib.course.checks.events import listening
from attn_lib.course.checks.findings import ChecksFailed, Finding, Part

__all__ = ["Checks", "ChecksFailed", "Finding", "Line", "Part", "listening"]
