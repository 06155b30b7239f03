"""Parse and format times with their time zones; nbgrader stores them in UTC, without a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from dateutil import tz
from nbgrader.utils import parse_utc
from traitlets.config import Config

#: A time as nbgrader writes it into a file, with the time zone after a space.
_WITH_ZONE = re.compile(r"(\S+ \S+) (\S+)")
_OFFSET = re.compile(r"[+-]\d\d:?(?:\d\d)?")
#: The name of a time zone. Other texts could be read as the path of a file.
_ZONE = re.compile(r"[A-Za-z][\w+-]{0,40}(?:/[\w+-]{1,40}){0,2}", re.ASCII)


def read_time(text: str) -> datetime:
    """Parse a time and return it in UTC without a zone, as nbgrader stores it.

    Parameters
    ----------
    text : str
        A time, with or without a time zone or offset. Without one it is in UTC.

    Raises
    ------
    ValueError
        If the text is not a time, or its time zone is unknown. nbgrader would treat a time in an
        unknown zone as UTC.

    Examples
    --------
    >>> read_time("2026-03-02 23:59:00 Europe/Berlin") == read_time("2026-03-02T23:59+01:00")
    True
    >>> str(read_time("2026-03-02 23:59:00 +0100"))
    '2026-03-02 22:59:00'
    """
    if split := _WITH_ZONE.fullmatch(text):
        moment, zone = split.groups()
        if _OFFSET.fullmatch(zone):
            # With the space, nbgrader would parse the offset as seconds.
            text = moment + zone
        elif not _ZONE.fullmatch(zone) or tz.gettz(zone) is None:
            raise ValueError(f"expected the name of a time zone, got {zone!r}")
    try:
        return parse_utc(text)
    except (ArithmeticError, TypeError) as problem:
        raise ValueError(str(problem)) from None


def zone_of(config: Config) -> str:
    """Return the name of the time zone that nbgrader_config.py sets for showing times."""
    return config.NbGraderAPI.get("timezone", "UTC")


def format_time(moment: datetime, zone: str) -> str:
    """Format a time from the gradebook, which is in UTC, in a time zone and in UTC.

    Examples
    --------
    >>> format_time(datetime(2026, 7, 1, 21, 59), "Europe/Berlin")
    '2026-07-01 23:59 CEST (2026-07-01 21:59 UTC)'
    >>> format_time(datetime(2026, 7, 1, 21, 59), "UTC")
    '2026-07-01 21:59 UTC'
    """
    in_utc = moment.replace(tzinfo=UTC)
    local = in_utc.astimezone(tz.gettz(zone) or UTC)
    plain = f"{in_utc:%Y-%m-%d %H:%M} UTC"
    return plain if local.tzname() == "UTC" else f"{local:%Y-%m-%d %H:%M %Z} ({plain})"


def span(seconds: float) -> str:
    """Format a duration in its two largest units, and as at least one minute.

    Examples
    --------
    >>> span(5), span(3 * 3600 + 300), span(49 * 3600)
    ('1 min', '3 h 5 min', '2 d 1 h')
    """
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (0 if days else minutes, "min")]
    return " ".join(f"{number} {unit}" for number, unit in units if number)
