"""The templates of the pages. They escape every text, and load nothing."""

from __future__ import annotations

import functools
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from grader.printable import printable
from grader.reporting.summary import counted

_FOLDER = Path(__file__).parent.parent / "templates" / "report"

#: Forbids the browser to execute scripts and to load anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def decimals(number: float, places: int) -> str:
    """Return a number with so many decimals, and zero without a sign.

    Examples
    --------
    >>> decimals(-0.004, 2), decimals(0.125, 1)
    ('0.00', '0.1')
    """
    return f"{round(number, places) + 0.0:.{places}f}"


def points(number: float) -> str:
    """Return points with at most two decimals, and zero without a sign.

    Examples
    --------
    >>> points(12.5), points(2 / 3), points(-0.001), points(1234567.0)
    ('12.5', '0.67', '0', '1234567')
    """
    return decimals(number, 2).rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """Return a share as percent.

    Examples
    --------
    >>> percent(0.444), percent(-0.001)
    ('44%', '0%')
    """
    return f"{decimals(100 * share, 0)}%"


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (decimals, points, percent, printable, counted)
    environment.filters |= {function.__name__: function for function in filters}
    environment.globals["policy"] = POLICY
    return environment


def template(name: str) -> Template:
    """Return a template by the name of its file."""
    return _environment().get_template(name)
