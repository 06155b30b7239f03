"""Which functions of a notebook did not pass when they were tested last.

A later function that uses one fails for that reason, and its learner is told so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple


class Failed(NamedTuple):
    """A function that did not pass."""

    function: Callable[..., Any]  #: what the learner wrote
    part: str  #: the title of the first part that it failed


_failed: ContextVar[dict[str, Failed]] = ContextVar("failed", default={})  # noqa: B039  (a kernel's)


@contextlib.contextmanager
def notebook() -> Iterator[None]:
    """Remember what is tested in this context for itself: it is a notebook of its own."""
    token = _failed.set({})
    try:
        yield
    finally:
        _failed.reset(token)


def note(name: str, function: Callable[..., Any], failed_part: str) -> None:
    """Note in which part a function failed first; "" if it passed all."""
    if failed_part:
        _failed.get()[name] = Failed(function, failed_part)
    else:
        _failed.get().pop(name, None)


def failed_part(name: str, function: object) -> str:
    """Return the part that a function failed when it was tested last, or "".

    A function that was defined anew since then counts as not tested.

    Examples
    --------
    >>> with notebook():
    ...     note("abs", abs, "its sign")
    ...     failed_part("abs", abs), failed_part("abs", max)
    ('its sign', '')
    """
    known = _failed.get().get(name)
    return known.part if known and known.function == function else ""
