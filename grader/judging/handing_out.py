"""Learners' numbers in the sandbox of a class with a salt: drawn here, handed in as data."""

from __future__ import annotations

import json
import re

from attn_lib.course.personal.given_numbers import DRAWS, given_to
from attn_lib.course.personal.handed_out import key_of
from grader.judging.assignment_source import Source
from grader.judging.live import Live

#: The name under which a notebook asks for the learner's id.
LEARNER_ID = "learner_id"

_PACKAGE = "attn_lib.course.personal"


class HandedOutNumbers:
    """Hands numbers into a submission's session before a cell asks for them.

    The salt stays outside. What a task asks for is not handed in either.

    Parameters
    ----------
    live : Live
    source : Source
        The instructor's notebook, whose cells say which numbers are drawn.
    """

    def __init__(self, live: Live, source: Source) -> None:
        self._live = live
        self._modules = _modules_in("\n".join(cell.source for cell in source.stub.cells))
        self._done: set[str] = set()

    def hand_out(self, code: str) -> None:
        """Hand in the numbers of the id that the submission has now, if this code uses numbers."""
        if _PACKAGE not in code:
            return
        learner_id = self._live.stand_ins({LEARNER_ID}).get(LEARNER_ID)
        try:
            key = key_of(learner_id)  # type: ignore[arg-type]  # it may be anything
        except (TypeError, ValueError, AttributeError):  # the cell says so itself
            return
        if key in self._done:
            return
        self._done.add(key)
        numbers = json.dumps({key: given_to(str(learner_id), self._modules)})
        self._live.execute(
            "numbers",
            f"__import__({_PACKAGE + '.handed_out'!r}, fromlist=['use']).use({numbers!r})",
        )


def _modules_in(code: str) -> list[str]:
    """Return the modules of personal numbers that code names.

    Examples
    --------
    >>> _modules_in("from attn_lib.course.personal.quiz import cost")
    ['quiz']
    >>> _modules_in("from attn_lib.course.personal import sizes, masking")
    ['dot_products', 'masking']
    """
    named = set(re.findall(rf"{re.escape(_PACKAGE)}\.(\w+)", code))
    for line in re.findall(rf"from {re.escape(_PACKAGE)} import (.*)", code):
        named |= {"dot_products", *re.findall(r"\w+", line)}
    return [module for module in DRAWS if module in named]
