"""Events through which other code can follow what the checks of a cell do.

The judge learns from `Finished` which parts a test cell has. The tests of the exercises learn
from the other events what a cell asks. A learner sees only the text that `Checks.finish` shows.
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
    name: str  #: the name of the answer
    args: tuple[Any, ...]  #: the arguments of the learner's function, without an estimate's seed
    options: Mapping[str, Any]  #: further arguments of the method, such as its target


@dataclass(frozen=True)
class Found:
    """A check passed or failed. The finding does not name a mistake yet."""

    part: int
    finding: Finding


@dataclass(frozen=True)
class Compared:
    """An answer was compared with the right one. Its `Found` event came just before."""

    part: int
    place: int  #: position of the finding in the part
    label: str  #: label of the line in a drawing; else empty
    target: str | None  #: the key in `TARGETS`, if a target gives the right answer
    question: Question
    got: object


@dataclass(frozen=True)
class Finished:
    """All checks of a cell have run: `Checks.finish` is about to print or raise the findings."""

    parts: tuple[Part, ...]  #: copies of all parts, whose findings now name mistakes


Event = Asked | Found | Compared | Finished
Listener = Callable[[Event], object]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a listener for every event of the checks in this block.

    Several listeners may be active at once. Events in other threads do not reach them.

    Parameters
    ----------
    listener : callable
        Takes an `Asked`, `Found`, `Compared` or `Finished`. The events hold the very objects
        that the checks use, so the listener must not change them. An exception that it raises
        ends the test cell.

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
    """Call every listener with this event."""
    for listener in _listeners.get():
        listener(event)
