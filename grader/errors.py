"""The base of every error that is meant for people."""

from __future__ import annotations


class GraderError(Exception):
    """Raised when something cannot be done and a person has to know why.

    The message is a sentence: what was expected, what was found, what to do. The command line
    prints it in place of a traceback. An error of any other class is a fault of the grader.
    """
