"""The base class of every error whose message is written for people."""

from __future__ import annotations


class GraderError(Exception):
    """Raised when something cannot be done, for a reason that the instructor can act on.

    The message says what was expected, what was found and what to do. The command line prints it
    instead of a traceback. An error of any other class is a bug in the grader.
    """
