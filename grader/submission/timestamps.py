"""Read when a submission was handed in, from the note that nbgrader's exchange puts beside it.

A learner can write anything into that note, and nbgrader reads it with `parse_utc`, which raises
other errors than nbgrader expects. An error for one submission would stop a whole class, and
formgrader's list of it.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dateutil import tz
from nbgrader.utils import parse_utc

from grader.files import TIMESTAMP, read_note
from grader.printable import printable

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

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


def timestamp_of(folder: Path) -> tuple[datetime | None, list[str]]:
    """Return when the submission in a folder was handed in, and remarks on the note of it.

    Without a note, or if it is not a time, there is no time.
    """
    path = folder / TIMESTAMP
    try:
        content = read_note(path)
    except OSError as problem:
        return None, [f"{TIMESTAMP} cannot be read ({problem.strerror}), so it was ignored."]
    if content is None and os.path.lexists(path):
        return None, [f"{TIMESTAMP} is not an ordinary small file, so it was ignored."]
    text = (content or b"").decode("utf-8", "replace").strip()
    if not text:
        return None, []
    try:
        return read_time(text), []
    except ValueError:
        return None, [f"{TIMESTAMP} says {text[:40]!r}, which is not a time, so it was ignored."]


def read_notes_safely(course: CourseDirectory) -> None:
    """Let nbgrader read notes in this course by `timestamp_of`, and log its remarks."""

    def existing(folder: str) -> datetime | None:
        timestamp, remarks = timestamp_of(Path(folder))
        for remark in remarks:
            course.log.warning("%s: %s", printable(folder), printable(remark))
        return timestamp

    course.get_existing_timestamp = existing
