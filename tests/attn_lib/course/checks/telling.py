"""The report that a learner gets on an answer, joined into one line."""

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
    """Return the ids of the mistakes that a cell's report names, without repetitions."""
    return list(dict.fromkeys(mistake for part in check.parts for mistake in part.mistakes))


def verdict(method: str, answer: Any, *args: Any, name: str = "f", **options: Any) -> str:
    """Return the report of one method of `Checks` on an answer with the name `name`."""
    check = Checks({name: answer})
    check.part("it", points=1)
    getattr(check, method)(name, *args, **options)
    return report_of(check)
