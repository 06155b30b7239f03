"""Times are shown in the configured zone."""

from __future__ import annotations

from datetime import datetime

from traitlets.config import Config

from grader import times

LATE_IN_UTC = datetime(2026, 7, 2, 21, 59)


def test_times_are_shown_in_the_configured_zone():
    zone = times.zone_of(Config({"NbGraderAPI": {"timezone": "America/New_York"}}))
    assert times.format_time(LATE_IN_UTC, zone) == "2026-07-02 17:59 EDT (2026-07-02 21:59 UTC)"
    assert times.zone_of(Config()) == "UTC"
    assert times.format_time(LATE_IN_UTC, "Nowhere/At_all") == "2026-07-02 21:59 UTC"
