"""What checks found, and how a learner is told."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

#: Columns of a report. ``nbgrader validate`` cuts off what stands beyond 83.
WIDTH = 80

CAUSE = "Likely cause: "

#: Characters of one finding that are told: it may quote what a learner wrote.
MOST_TOLD = 2000


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    name: str  #: what was looked at
    message: str = ""  #: what is wrong; empty when the check passed
    given: str = ""  #: the shapes it was called with
    mistake: str | None = None  #: id of the catalogued mistake that gives this very answer
    only_form: bool = False  #: the check looked at how the answer is written, not at what it says

    @property
    def passed(self) -> bool:
        """Whether there is nothing wrong."""
        return not self.message


@dataclass
class Part:
    """One thing that earns points: all its checks have to pass."""

    title: str
    points: float
    results: list[CheckResult] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(result.passed for result in self.results)


class ChecksFailed(AssertionError):
    """Raised at the end of a test cell whose checks did not all pass.

    IPython shows the list of what failed in place of a traceback: the traceback would run
    through this module and tell the learner nothing.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def report(parts: Sequence[Part], grading: bool = False) -> str:
    """Return what a learner is told about all parts of a cell.

    A finding is told once a part, a cause once a cell.

    Parameters
    ----------
    parts : sequence of Part
    grading : bool
        Whether all checks have run, the hidden ones too.
    """
    causes_told: set[str] = set()
    return "\n".join(line for part in parts for line in _lines(part, grading, causes_told))


def named_mistakes(report: str) -> list[str]:
    """Return the ids of the catalogued mistakes that a test cell's output names, each once.

    Parameters
    ----------
    report : str
        What `Checks.finish` printed or raised.

    Examples
    --------
    >>> named_mistakes("Likely cause: It forgets the scale. (no-scale; see the book, x#y)")
    ['no-scale']
    """
    # Piece by piece, since one expression for all of it would take the square of its length.
    pieces = report.split(CAUSE)[1:]
    found = (re.search(r"\(([\w-]+);\s+see\s+the\s+book,\s+\S+\)", piece) for piece in pieces)
    return list(dict.fromkeys(match[1] for match in found if match))


def shortened(text: str, most: int = MOST_TOLD) -> str:
    """Return the text, or as much of its beginning as is told and how much is missing.

    Examples
    --------
    >>> shortened("abcdef", 4)
    'abcd… (2 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"


def _lines(part: Part, grading: bool, causes_told: set[str]) -> list[str]:
    if part.passed:
        if not grading and all(result.only_form for result in part.results):
            return [f"{part.title}: filled in. Whether it is right is checked when it is graded."]
        return [f"{part.title}: ok"]
    lines = [f"{part.title}: not yet"]
    findings_told: set[tuple[str, str]] = set()
    for result in part.results:
        if result.passed or (result.name, result.message) in findings_told:
            continue
        findings_told.add((result.name, result.message))
        finding, *cause = shortened(result.message).splitlines()
        lines += _wrapped(f"  - {result.name}{result.given}: {finding}")
        for line in cause:
            if line not in causes_told:
                lines += _wrapped(f"    {line}")
        causes_told.update(cause)
    return lines


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
