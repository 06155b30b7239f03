"""What `Checks` finds in a test cell, made into the data of `grader.judging.findings`."""

from __future__ import annotations

from itertools import islice

from attn_lib.course.checks import Part
from attn_lib.course.checks.events import Event, Finished
from attn_lib.course.checks.findings import as_text, shortened
from grader.judging.findings import MAX_FINDINGS, Choice, JudgedFinding, JudgedPart
from grader.judging.outputs import writable


class PartsListener:
    """A listener that keeps the parts that a test cell finishes.

    Examples
    --------
    >>> from attn_lib.course.checks import Checks, listening
    >>> check, listener = Checks({"range_of": 16}), PartsListener()
    >>> with listening(listener):
    ...     check.part("their range", points=1)
    ...     check.value("range_of", target="score_range", args=(64,))
    ...     check.finish()
    their range: ok, worth 1 point
    >>> listener.parts
    (JudgedPart(title='their range', points=1.0, passed=True, findings=(), choices=()),)
    """

    def __init__(self) -> None:
        self.parts: tuple[JudgedPart, ...] = ()
        self.without_expected = ""  #: the text for learners who may hand in again

    def __call__(self, event: Event) -> None:
        """Keep the parts of a `Finished` event; a cell may send several."""
        if isinstance(event, Finished):
            self.parts += tuple(map(judged, event.parts))
            self.without_expected = writable(as_text(event.parts, True, tells_expected=False))


def judged(part: Part) -> JudgedPart:
    """Return a part as data: each failed check once, with shortened texts."""
    failed = (finding for finding in part.findings if not finding.passed)
    found = dict.fromkeys(
        JudgedFinding(_kept(finding.name), _kept(finding.message), finding.mistake)
        for finding in failed
    )
    findings = tuple(islice(found, MAX_FINDINGS))
    # A letter that only follows from an earlier answer has a remark.
    chosen = dict.fromkeys(
        Choice(_kept(f.name), _kept(f.chosen), f.passed and not f.remark)
        for f in part.findings
        if f.chosen
    )
    choices = tuple(islice(chosen, MAX_FINDINGS))
    return JudgedPart(_kept(part.title), float(part.points), part.passed, findings, choices)


def _kept(text: str) -> str:
    return writable(shortened(text))
