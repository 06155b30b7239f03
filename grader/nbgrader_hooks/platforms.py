"""How learning platforms name the files of a downloaded archive, and the times in these names."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime
from pathlib import PurePath
from typing import NamedTuple

from dateutil import tz

from grader.submission.timestamps import read_time

#: The folder, beside those of the archives, with a copy of a group's files for each of its members.
MEMBERS = "for each member of a group"


class Found(NamedTuple):
    """What the path of a file says about who handed it in, and when."""

    file_id: str  #: the name of the file as the learner gave it
    platform: str = ""  #: "" for a pattern of the instructor's own
    student_id: str = ""
    lms_user_id: str = ""
    name: str = ""  #: first and last name in any order
    ends_with_id: str = ""  #: a text that ends with an underscore and the learner's username
    sender: str = ""  #: what is the same for all files of a learner, and only for theirs
    timestamp: str = ""
    is_late: bool = False
    archive: str = ""  #: the folder that the platform's archive was unpacked into
    label: str = ""  #: the name that the platform gave to the learner's folder or file

    @property
    def attempt(self) -> tuple[str, str]:
        """What the files of one attempt have in common, and two attempts do not."""
        return self.sender, self.timestamp or self.archive


#: The name of a learner's folder or file in the archive of each platform, as its source code or
#: its documentation has it.
PATTERNS = {
    # Ada Lovelace_12345_assignsubmission_file/work.ipynb. Older versions end the folder's name with
    # an underscore. Without folders a file is Ada Lovelace_12345_assignsubmission_file_work.ipynb
    # (Moodle, mod/assign/classes/downloader.php). The number is another one in each assignment, and
    # the hand-in of those without a group, "Default group_assignsubmission_file", has none.
    "Moodle": r"(?P<name>.+?)(?:_(?P<sender>\d+))?_assignsubmission_file(?:_(?P<file_id>.*))?",
    # lovelaceada_LATE_123_456_work-1.ipynb. The first number is the learner's. If groups hand in,
    # the name is the group's, and the number that of a member (Canvas, lib/content_zipper.rb).
    "Canvas": r".*?_(?P<late>LATE_)?(?P<lms_user_id>\d+)_\d+_(?P<file_id>.+)",
    # Homework 1_ada_attempt_2026-03-02-22-30-00_work.ipynb. The username is before "attempt".
    "Blackboard": r"(?P<ends_with_id>.+)_attempt_(?P<timestamp>\d{4}(?:-\d\d){5})"
    r"(?:_(?P<file_id>.+))?",
    # 12345-678 - Ada Lovelace - Mar 2, 2026 1030 PM/work.ipynb. The first number is the learner's,
    # but the class list need not have it.
    "Brightspace": r"(?P<sender>\d+)-\d+ ?- ?(?P<name>.+?) ?- ?"
    r"(?P<timestamp>\w+ \w+, \d{4} \d{3,4} [AP]M)(?: - (?P<file_id>.+))?",
}

#: What to do if more than one learner fits.
TWO_FIT = "Copy the notebook by hand into the folder of the learner whose it is."

#: What to do if nobody fits, on any platform.
NEW = "If the learner is new, put them on the class list, import it, and collect again."

#: What to do besides, if the names of a platform lead to nobody.
HINTS = {
    "Moodle": "If the assignment hides names, reveal them in Moodle and download again. If groups "
    "hand in, list their members in groups.csv.",
    "Canvas": "The class list needs Canvas's number of each learner as lms_user_id.",
    "Blackboard": "The class list needs the username as id or as lms_user_id.",
    "Brightspace": "The class list needs first and last names as Brightspace writes them.",
}

#: Blackboard writes 2026-03-02-22-30-00; Brightspace "Mar 2, 2026" or "2 March, 2026", then "1030
#: PM", with four digits here.
_FORMATS = (
    "%Y-%m-%d-%H-%M-%S",
    *("%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p", "%d %b, %Y %I%M %p", "%d %B, %Y %I%M %p"),
)


def found_in(path: PurePath, named_regexp: str = "") -> Found | None:
    r"""Return what a path says; None if no pattern fits.

    Parameters
    ----------
    path : PurePath
        Relative to the folder into which the archive was unpacked.
    named_regexp : str, optional
        A pattern for the whole path, which replaces those of the platforms, as in nbgrader's
        ``FileNameCollectorPlugin``.

    Examples
    --------
    >>> found = found_in(PurePath("all/Ada Lovelace_12_assignsubmission_file/a.ipynb"))
    >>> found.platform, found.name, found.file_id
    ('Moodle', 'Ada Lovelace', 'a.ipynb')
    >>> found_in(PurePath("ada-a.ipynb"), r"(?P<student_id>\w+)-").student_id
    'ada'
    """
    if path.parts[0] == MEMBERS:  # then the learner's id, then the path that the platform gave
        found = found_in(PurePath(*path.parts[2:]), named_regexp)
        return found and found._replace(student_id=path.parts[1])
    if named_regexp:
        match = re.match(named_regexp, path.as_posix())
        return _found("", match, path.name) if match else None
    # The outermost match is the platform's name. Deeper folders come from the learner, who may
    # have named them after somebody else.
    for place, part in enumerate(path.parts):
        for platform, pattern in PATTERNS.items():
            if match := re.fullmatch(pattern, part, re.DOTALL):
                found = _found(platform, match, path.name)
                archive = PurePath(*path.parts[:place]).as_posix()
                found = found._replace(archive=archive, label=part)
                is_file = place == len(path.parts) - 1
                return found if is_file else found._replace(file_id=path.name)
    return None


def _found(platform: str, match: re.Match[str], file_name: str) -> Found:
    groups = {name: text or "" for name, text in match.groupdict().items()}
    is_late = bool(groups.pop("late", ""))
    file_id = groups.pop("file_id", "") or file_name
    known = {name: text for name, text in groups.items() if name in Found._fields}
    found = Found(file_id, platform, is_late=is_late, **known)
    names = found.sender, found.ends_with_id, found.lms_user_id, found.student_id, found.name
    return found._replace(sender=next(filter(None, names), ""))


def moment(timestamp: str, zone: str) -> datetime:
    """Return a time that a platform wrote, in UTC without a zone, as nbgrader stores it.

    Parameters
    ----------
    timestamp : str
        As Blackboard or Brightspace writes it, or in a form of ISO 8601.
    zone : str
        The name of the time zone that counts if the text has none: platforms write local times.

    Raises
    ------
    ValueError
        If the text is not such a time, or there is no such zone.

    Examples
    --------
    >>> str(moment("2026-03-02-22-30-00", "Europe/Berlin"))
    '2026-03-02 21:30:00'
    >>> str(moment("Mar 2, 2026 930 AM", "UTC"))
    '2026-03-02 09:30:00'
    """
    at = _parsed(timestamp)
    if at is None:
        if re.match(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)? ", timestamp):
            return read_time(timestamp)  # with the name of a time zone
        raise ValueError(f"expected a time such as 2026-03-02 22:30:00, found {timestamp!r}")
    if tz.gettz(zone) is None:
        raise ValueError(f"expected the name of a time zone as Europe/Berlin, found {zone!r}")
    local = at if at.tzinfo else at.replace(tzinfo=tz.gettz(zone))
    return local.astimezone(UTC).replace(tzinfo=None)


def _parsed(timestamp: str) -> datetime | None:
    """Return a time in a form of a platform or of ISO 8601, in a zone only if the text has one."""
    text = re.sub(r" (\d{3}) ([AP]M)$", r" 0\1 \2", timestamp)
    for form in _FORMATS:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form)  # noqa: DTZ007
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(timestamp)
    return None
