"""What checks found, and the text that shows it to a learner."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from attn_lib.course.checks.terminal import alarming
from attn_lib.course.mistakes import catalogue

#: Columns of the text. ``nbgrader validate`` cuts lines off after column 83.
WIDTH = 80

#: Failed checks of one answer that a part shows.
MAX_SHOWN = 3

#: Characters of one message that are shown: a message may quote what a learner wrote.
MAX_MESSAGE_LENGTH = 2000


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str  #: the name of the answer
    message: str = ""  #: what is wrong; empty if the check passed
    given: str = ""  #: the arguments of the call, as `shapes_of` shows them
    mistake: str | None = None  #: id of the catalogued mistake that explains the answer
    hint: str = ""  #: what else is known about a wrong answer; told where no mistake is named
    without_expected: str = ""  #: the message without the right value, if a learner typed one
    only_form: bool = False  #: the check looked at the form of the answer, not at its content
    remark: str = ""  #: why the check passed although the answer is not the right one
    chosen: str = ""  #: the letter that was chosen, if the check knows which one is right
    first: str = ""  #: what else the answer builds on that has to be mended before it

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
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

    @property
    def is_form_only(self) -> bool:
        """Whether its checks looked at no answer's content."""
        return all(finding.only_form for finding in self.findings)


@dataclass(frozen=True)
class Block:
    """The lines that show the findings in one part."""

    lines: list[str]
    passed: bool
    mistakes: tuple[str, ...] = ()  #: the ids of the mistakes that the lines name


class ChecksFailed(AssertionError):
    """Raised at the end of a test cell whose checks did not all pass.

    IPython shows the list of what failed in place of a traceback: the traceback would run
    through this module and tell the learner nothing.

    Parameters
    ----------
    text : str
        The list.
    shown : str
        What IPython shows instead, if the list has been shown already.
    """

    def __init__(self, text: str, shown: str = "") -> None:
        super().__init__(text)
        self._shown = shown or text

    def _render_traceback_(self) -> list[str]:
        return self._shown.splitlines()


def as_text(parts: Sequence[Part], grading: bool = False, *, tells_expected: bool = True) -> str:
    """Return the text that shows a learner the findings in all parts of a cell.

    Parameters
    ----------
    parts : sequence of Part
    grading : bool
        Whether the hidden checks have run too.
    tells_expected : bool
        Whether to say what is right in place of a value that the learner typed or computed.
    """
    if not tells_expected:
        parts = [replace(part, findings=[*map(_without, part.findings)]) for part in parts]
    return "\n".join(line for block in blocks(parts, grading) for line in block.lines)


def blocks(parts: Sequence[Part], grading: bool = False) -> list[Block]:
    """Return the lines that show a learner the findings in each part of a cell.

    Of the calls of an answer, a part shows the first that failed and the number of the others. The
    same cause is shown once in a cell.

    Parameters
    ----------
    parts, grading
        As in `as_text`.
    """
    causes_told: set[str] = set()
    return [
        Block(_lines(part, grading, causes_told), part.passed, tuple(part.mistakes))
        for part in parts
    ]


def _without(finding: Finding) -> Finding:
    return replace(finding, message=finding.without_expected or finding.message)


def shortened(text: str, max_length: int = MAX_MESSAGE_LENGTH) -> str:
    """Return the text, cut off after `max_length` characters with a note of how many are missing.

    Examples
    --------
    >>> shortened("abcdef", 4)
    'abcd… (2 more characters)'
    """
    if len(text) <= max_length:
        return text
    return f"{text[:max_length]}… ({len(text) - max_length} more characters)"


def _lines(part: Part, grading: bool, causes_told: set[str]) -> list[str]:
    if part.passed:
        if grading:  # points stand below the cell
            return [f"{part.title}: ok", *_remarks(part)]
        if part.is_form_only:
            return [f"{part.title}: filled in. Whether it is right is checked when it is graded."]
        points = f"{part.points:g} point{'s' * (part.points != 1)}"
        return [f"{part.title}: ok, worth {points}", *_remarks(part)]
    lines = [alarming(f"{part.title}: not yet")]
    failed: dict[str, list[Finding]] = {}
    for finding in part.findings:
        if not finding.passed:
            failed.setdefault(finding.name, []).append(finding)
    for findings in failed.values():
        shown = _shown(findings)
        for finding in shown:
            what, *cause = shortened(finding.message).splitlines()
            cause += _causes(finding)
            lines.append(wrapped(f"  - {finding.name}{finding.given}: {what}"))
            for line in cause:
                if line not in causes_told:
                    lines.append(wrapped(f"    {line}"))
            causes_told.update(cause)
        more = len(_different(findings)) - len(shown)
        if more:
            lines.append(f"    And {more} more of its checks failed.")
    return [*lines, *_remarks(part)]


def _remarks(part: Part) -> list[str]:
    remarks = (
        f"  - {finding.name}: {finding.remark}" for finding in part.findings if finding.remark
    )
    return [wrapped(shortened(remark)) for remark in remarks]


def _shown(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of one answer that are shown: of its calls, the first one."""
    different = _different(findings)
    first = next((finding for finding in different if finding.given), None)
    return [f for f in different if not f.given or f is first][:MAX_SHOWN]


def _different(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; of equal ones that belong to no call in particular, the first."""
    told: dict[object, Finding] = {}
    for number, finding in enumerate(findings):
        told.setdefault(number if finding.given else (finding.message, finding.mistake), finding)
    return list(told.values())


def _causes(finding: Finding) -> list[str]:
    first = [finding.first] if finding.first else []
    if not finding.mistake:
        return [*shortened(finding.hint).splitlines(), *first]
    mistake = next(mistake for mistake in catalogue() if mistake.id == finding.mistake)
    cause = f"Likely cause: {mistake.sentence} ({mistake.id}; see the book, {mistake.section})"
    return [cause, *first]


def wrapped(line: str) -> str:
    """Return a line broken into lines of `WIDTH` columns, the later ones indented."""
    return textwrap.fill(
        line,
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
