"""The error for a submission without a readable notebook."""

from __future__ import annotations

from grader.errors import GraderError


class Unreadable(GraderError):
    """Raised when a submission has no notebook that can be read.

    The message is for the instructor and the learner. It begins with a lower-case letter, because
    it follows "failed:", and says what was expected, what was found and what to do.
    """
