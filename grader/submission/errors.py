"""What is raised for a submission from which no notebook can be had."""

from __future__ import annotations

from grader.errors import GraderError


class Unreadable(GraderError):
    """Raised when there is no notebook to grade.

    The message is for the instructor and the learner. It begins with a small letter, since it
    stands behind "failed:", and says what was expected, what was found and what to do.
    """
