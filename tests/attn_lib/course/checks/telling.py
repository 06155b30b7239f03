"""What a learner is told by checks: the report on one answer, in one line."""

from __future__ import annotations

from typing import Any

from attn_lib.course.checks import Checks, ChecksFailed


def report_of(check: Checks) -> str:
    """Return the report of a cell whose checks fail; "ok" if they all pass."""
    try:
        check.finish()
    except ChecksFailed as failed:
        return " ".join(str(failed).split())
    return "ok"


def mistakes_in(check: Checks) -> list[str]:
    """Return the mistakes that a cell's report names, each once."""
    return list(dict.fromkeys(mistake for part in check.parts for mistake in part.mistakes))


def verdict(method: str, answer: Any, *args: Any, name: str = "f", **options: Any) -> str:
    """Return what a method of `Checks` says of an answer called `name`."""
    check = Checks({name: answer})
    check.part("it", points=1)
    getattr(check, method)(name, *args, **options)
    return report_of(check)
