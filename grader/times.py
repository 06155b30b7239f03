"""Format times in their time zones; nbgrader stores them in UTC, without a zone."""

from __future__ import annotations

from datetime import UTC, datetime

from dateutil import tz
from traitlets.config import Config


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
