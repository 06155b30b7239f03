"""Whether feedback says which numbers are right: not while an answer can be handed in again."""

from __future__ import annotations

from datetime import UTC, datetime

from nbformat import NotebookNode
from traitlets import Enum
from traitlets.config import Config, Configurable

from grader.course import options
from grader.judging.open_feedback import leave_out_expected

AFTER_DEADLINE, ALWAYS, NEVER = "after the deadline", "always", "never"

_LEFT_OUT = (
    "Right numbers are left out of the messages below as long as this assignment can be handed in "
    "again."
)


class RightNumbers(Configurable):
    """The option, set for example by ``c.RightNumbers.shown = "always"``."""

    shown = Enum(
        [AFTER_DEADLINE, ALWAYS, NEVER],
        AFTER_DEADLINE,
        help="When feedback says what is right in place of a number that a learner typed.",
    ).tag(config=True)


def are_withheld(due: datetime | None, config: Config, now: datetime | None = None) -> bool:
    """Return whether feedback leaves right numbers out.

    Parameters
    ----------
    due : datetime, optional
        The student's deadline in UTC, without a zone, as nbgrader keeps it. Without a deadline,
        right numbers are shown.
    config : Config
        The configuration with the option `RightNumbers.shown`.
    now : datetime, optional
        The time in UTC, without a zone. Default: the present.

    Examples
    --------
    >>> noon = datetime(2026, 3, 2, 12)
    >>> are_withheld(noon, Config(), datetime(2026, 3, 2, 11))
    True
    >>> are_withheld(noon, Config(), datetime(2026, 3, 2, 13))
    False
    """
    shown = options(RightNumbers, config).shown
    if shown != AFTER_DEADLINE:
        return bool(shown == NEVER)
    present = now or datetime.now(UTC).replace(tzinfo=None)
    return due is not None and present < due


def leave_out(notebook: NotebookNode) -> list[str]:
    """Leave right numbers out of a graded notebook, and return a remark if there were any."""
    return [_LEFT_OUT] if leave_out_expected(notebook) else []
