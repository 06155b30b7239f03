"""What checks tell whoever listens, as data: each question, each finding, each report.

The judge learns from `Finished` which parts a test cell has. The tests of the exercises learn
from the other events what a cell asks. A learner is told by the report alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from attn_lib.course.checks.diagnosis import Question
from attn_lib.course.checks.findings import Finding, Part


@dataclass(frozen=True)
class Asked:
    """A check is about to look at an answer."""

    part: int  #: the number of its part in the cell, from 0
    method: str  #: the method of `Checks`
    name: str  #: what the learner calls the answer
    args: tuple[Any, ...]  #: what a function is called with; without the seed of an estimate
    options: Mapping[str, Any]  #: what else the method was given and is to be compared with


@dataclass(frozen=True)
class Found:
    """A check has a result, good or bad. No cause is known yet."""

    part: int
    finding: Finding


@dataclass(frozen=True)
class Compared:
    """An answer was compared with a right one. The `Found` of that comes before."""

    part: int
    place: int  #: of its finding in the part
    label: str  #: of the line, in a drawing
    target: str | None  #: the key in `TARGETS`, if a target gives the right answer
    question: Question
    got: Any


@dataclass(frozen=True)
class Finished:
    """A cell's report is made: `Checks.finish` is about to print or to raise it."""

    parts: tuple[Part, ...]  #: copies of all parts so far, with the causes that are told


Event = Asked | Found | Compared | Finished
Listener = Callable[[Event], object]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener all that the checks in this block do.

    Several may listen at once. Checks that run in another thread are not heard.

    Parameters
    ----------
    listener : callable
        Takes an `Asked`, `Found`, `Compared` or `Finished`. What they hold is not copied, so it
        changes nothing of that. What it raises ends the test cell.

    Examples
    --------
    >>> from attn_lib.course.checks import Checks
    >>> events = []
    >>> check = Checks({"range_of": 8})
    >>> with listening(events.append):
    ...     check.part("their range", points=1)
    ...     check.value("range_of", target="score_range", args=(64,))
    ...     try:
    ...         check.finish()
    ...     except AssertionError:
    ...         pass
    >>> [type(event).__name__ for event in events]
    ['Asked', 'Found', 'Compared', 'Finished']
    >>> events[-1].parts[0].mistakes
    ['range-of-one-sd']
    """
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def tell(event: Event) -> None:
    """Tell every listener of an event."""
    for listener in _listeners.get():
        listener(event)
