"""What checks found, and how a learner is told."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from attn_lib.course.mistakes import catalogue

#: Columns of a report. ``nbgrader validate`` cuts off what stands beyond 83.
WIDTH = 80

#: Characters of one finding that are told: it may quote what a learner wrote.
MOST_TOLD = 2000


@dataclass(frozen=True)
class Finding:
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
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(finding.passed for finding in self.findings)

    @property
    def mistakes(self) -> list[str]:
        """The ids of the catalogued mistakes that explain its wrong answers, each once."""
        return list(dict.fromkeys(finding.mistake for finding in self.findings if finding.mistake))


class ChecksFailed(AssertionError):
    """Raised at the end of a test cell whose checks did not all pass.

    IPython shows the list of what failed in place of a traceback: the traceback would run
    through this module and tell the learner nothing.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def as_text(parts: Sequence[Part], grading: bool = False) -> str:
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
        if not grading and all(finding.only_form for finding in part.findings):
            return [f"{part.title}: filled in. Whether it is right is checked when it is graded."]
        return [f"{part.title}: ok"]
    lines = [f"{part.title}: not yet"]
    findings_told: set[tuple[str, str, str | None]] = set()
    for finding in part.findings:
        this = (finding.name, finding.message, finding.mistake)
        if finding.passed or this in findings_told:
            continue
        findings_told.add(this)
        what, *cause = shortened(finding.message).splitlines()
        if finding.mistake:
            cause.append(_cause(finding.mistake))
        lines += _wrapped(f"  - {finding.name}{finding.given}: {what}")
        for line in cause:
            if line not in causes_told:
                lines += _wrapped(f"    {line}")
        causes_told.update(cause)
    return lines


def _cause(id: str) -> str:
    mistake = next(mistake for mistake in catalogue() if mistake.id == id)
    return f"Likely cause: {mistake.sentence} ({mistake.id}; see the book, {mistake.section})"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
