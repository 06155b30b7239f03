"""Times with zones are read correctly, including those that nbgrader misreads."""

from __future__ import annotations

from datetime import datetime

import pytest
from nbgrader.utils import parse_utc
from traitlets.config import Config

from grader import times

LATE_IN_UTC = datetime(2026, 7, 2, 21, 59)
ON_THE_CLOCK = datetime(2026, 7, 2, 23, 59)


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-02T23:59+02:00",
        "2026-07-02T23:59:00 +0200",
        "2026-07-02 23:59:00 Europe/Berlin",
        "2026-07-02 21:59:00.000000 UTC",
        "2026-07-02 21:59",
    ],
)
def test_a_known_zone_is_read_as_by_nbgrader(text):
    assert times.read_time(text) == parse_utc(text) == LATE_IN_UTC


def test_an_offset_after_a_space_is_in_hours():
    text = "2026-07-02 23:59:00 +0200"
    assert times.read_time(text) == LATE_IN_UTC
    assert parse_utc(text) == datetime(2026, 7, 2, 23, 55, 40)


@pytest.mark.parametrize("text", ["2026-07-02 23:59:00 CEST", "2026-07-02 23:59 Berlin"])
def test_an_unknown_zone_is_rejected_unlike_in_nbgrader(text):
    assert parse_utc(text) == ON_THE_CLOCK
    problem = f"expected the name of a time zone, got '{text.split()[-1]}'"
    with pytest.raises(ValueError, match=problem):
        times.read_time(text)


@pytest.mark.parametrize("text", ["soon", "2026-13-02 10:00 UTC", "9" * 400, "1-1-1 0:0 +9999"])
def test_invalid_times_are_rejected(text):
    with pytest.raises(ValueError, match=r"\w"):
        times.read_time(text)


def test_times_are_shown_in_the_configured_zone():
    zone = times.zone_of(Config({"NbGraderAPI": {"timezone": "America/New_York"}}))
    assert times.format_time(LATE_IN_UTC, zone) == "2026-07-02 17:59 EDT (2026-07-02 21:59 UTC)"
    assert times.zone_of(Config()) == "UTC"
    assert times.format_time(LATE_IN_UTC, "Nowhere/At_all") == "2026-07-02 21:59 UTC"
