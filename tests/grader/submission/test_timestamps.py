"""Times with zones are read correctly, whatever a learner wrote into the note of it."""

from __future__ import annotations

from datetime import datetime

import pytest
from nbgrader.utils import parse_utc

from grader.submission.timestamps import read_time, timestamp_of
from tests.grader.corpus.notes import NO_TIMES

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
    assert read_time(text) == parse_utc(text) == LATE_IN_UTC


def test_an_offset_after_a_space_is_in_hours():
    text = "2026-07-02 23:59:00 +0200"
    assert read_time(text) == LATE_IN_UTC
    assert parse_utc(text) == datetime(2026, 7, 2, 23, 55, 40)


@pytest.mark.parametrize("text", ["2026-07-02 23:59:00 CEST", "2026-07-02 23:59 Berlin"])
def test_an_unknown_zone_is_rejected_unlike_in_nbgrader(text):
    assert parse_utc(text) == ON_THE_CLOCK
    problem = f"expected the name of a time zone, got '{text.split()[-1]}'"
    with pytest.raises(ValueError, match=problem):
        read_time(text)


@pytest.mark.parametrize("text", ["soon", "2026-13-02 10:00 UTC", "9" * 400, "1-1-1 0:0 +9999"])
def test_invalid_times_are_rejected(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_time(text)


@pytest.mark.parametrize("name", NO_TIMES)
def test_a_note_that_is_no_time_is_ignored_with_a_remark(name, tmp_path):
    NO_TIMES[name](tmp_path / "timestamp.txt")
    timestamp, (remark,) = timestamp_of(tmp_path)
    assert timestamp is None
    assert remark.endswith("so it was ignored.")
    assert len(remark) < 120


def test_a_note_of_a_time_is_read(tmp_path):
    assert timestamp_of(tmp_path) == (None, [])
    (tmp_path / "timestamp.txt").write_text("2026-07-02 21:59:00 UTC\n")
    assert timestamp_of(tmp_path) == (LATE_IN_UTC, [])
