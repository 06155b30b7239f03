"""Find the learner to whom a file from Moodle or Canvas belongs, for ``nbgrader zip_collect``.

The platforms put the learner's name or number into the name of the file. The gradebook, into which
the class list was imported, tells which learner that is.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePath

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import FileNameCollectorPlugin
from nbgrader.utils import parse_utc

from grader.printable import printable

#: Bytes in the name of a file or folder, on all usual file systems.
MAX_NAME_BYTES = 255

#: The names that the platforms give to a learner's folder or file in their archive.
PLATFORMS = (
    # Moodle: Ada Lovelace_12345_assignsubmission_file_/dot-products.ipynb, or without the folder.
    # A learner has another number in each assignment, so only the name identifies them.
    r"(?P<name>.+?)_(?P<sender>\d+)_assignsubmission_file_(?P<file_id>.*)",
    # Canvas: lovelaceada_LATE_123_456_dot-products-1.ipynb. The first number is the learner's.
    r"[^_]*_(?P<late>LATE_)?(?P<lms_user_id>\d+)_\d+_(?P<file_id>.+)",
)


class GradebookCollector(FileNameCollectorPlugin):
    """Parses the file names of Moodle and Canvas, and finds the learner in the gradebook.

    If you set `named_regexp`, it replaces both patterns. It is matched against the path of the
    file relative to ``extracted``. Instead of nbgrader's group ``student_id`` it may have the
    group ``lms_user_id`` or ``name``.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return the learner's id and the notebook's name, or None to skip the file."""
        path = self._below_extracted(submitted_file)
        try:
            return self._collected(path)
        except Exception as problem:  # nbgrader would collect nobody after an error
            self._tell(f"{type(problem).__name__}: {problem}", path)
            return None

    def _collected(self, path: PurePath) -> dict[str, str] | None:
        if path.suffix not in self.valid_ext or is_hidden_or_system_file(path):
            return None
        found = self._found(path)
        if found is None:
            self.log.warning(
                "Not collected: expected a file name made by Moodle or Canvas, found %s",
                printable(str(path)),
            )
            return None
        student = found.get("student_id") or self._student(found, path)
        if student is None or self._is_of_another_sender(student, found, path):
            return None
        if problem := self._problem_with(student, found["file_id"]):
            self._tell(problem, path)
            return None
        if found.get("late"):
            self.log.warning(
                "%s handed in late according to Canvas, which does not say when.",
                printable(student),
            )
        collected = {
            "student_id": student,
            "file_id": self._free(student, found["file_id"], path.suffix),
        }
        return collected | self._timestamp(found.get("timestamp"), path)

    def _tell(self, problem: str, path: PurePath) -> None:
        self.log.error("Not collected: %s: %s", printable(problem), printable(str(path)))

    def _problem_with(self, student: str, name: str) -> str:
        """Return why nbgrader could not copy this file for this learner, or ""."""
        for what, text in (("the learner's id", student), ("the name of the file", name)):
            parts = PurePath(text).parts
            if not parts or ".." in parts or text.startswith("/") or "\0" in text:
                return f"expected {what}, found {text!r}"
        if len(PurePath(student).parts) > 1 or len(os.fsencode(student)) > MAX_NAME_BYTES:
            return f"expected a learner's id, found {student!r}"
        course = self.parent.coursedir
        if isinstance(course, CourseDirectory):
            place = Path(course.format_path(course.submitted_directory, student, "."))
            if place.exists() and not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
                return f"expected a folder to write into, found {place}"
        return ""

    def _timestamp(self, text: str | None, path: PurePath) -> dict[str, str]:
        if not text:
            return {}
        try:
            parse_utc(text)
        except (ValueError, ArithmeticError, TypeError):
            self.log.error(
                "Collected without a time, since %s is none: %s",
                printable(repr(text)),
                printable(str(path)),
            )
            return {}
        return {"timestamp": text}

    def _below_extracted(self, submitted_file: str) -> PurePath:
        path = Path(submitted_file)
        extracted = Path(self.parent._format_collect_path(self.parent.extracted_directory))
        return path.relative_to(extracted) if path.is_relative_to(extracted) else path

    def _found(self, path: PurePath) -> dict[str, str] | None:
        if not self.named_regexp:
            return found_in(path)
        found = self._match(path.as_posix())
        if found is not None and not found.get("file_id"):
            found["file_id"] = path.name
        return found

    def _student(self, found: dict[str, str], path: PurePath) -> str | None:
        number, name = found.get("lms_user_id"), found.get("name")
        if number:
            wanted, ids = f"the lms_user_id {number}", self._by_number.get(number, set())
        else:
            wanted, ids = f"the name {name!r}", self._by_name.get(_plain(name or ""), set())
        if len(ids) == 1:
            return next(iter(ids))
        has = "nobody" if not ids else " and ".join(sorted(ids))
        self.log.error(
            "Not collected: expected one learner with %s in the gradebook, found %s: %s",
            printable(wanted), printable(has), printable(str(path)),
        )  # fmt: skip
        return None

    def _is_of_another_sender(self, student: str, found: dict[str, str], path: PurePath) -> bool:
        """Say whether this file and an earlier one for the same learner have different senders."""
        sender = found.get("sender")
        first = self._senders.setdefault(student, sender)
        if sender == first:
            return False
        self.log.error(
            "Not collected: expected one sender with the name of %s, found the numbers %s and %s. "
            "Find out whose file this is: %s",
            printable(student), first, sender, printable(str(path)),
        )  # fmt: skip
        return True

    def _free(self, student: str, name: str, suffix: str) -> str:
        """Return a file name that is new for this learner; nbgrader fails on duplicates.

        It has the suffix of the collected file, which nbgrader would put there.
        """
        path = PurePath(os.path.splitext(name)[0])  # noqa: PTH122  as nbgrader does it
        # Shortened if it is too long for a file, also with a number.
        stem = os.fsencode(path.name)[: MAX_NAME_BYTES - len(os.fsencode(suffix)) - 8]
        short = stem.decode("utf-8", "ignore")
        name, number = f"{path.with_name(short)}{suffix}", 1
        while (student, name) in self._taken:
            number += 1
            name = f"{path.with_name(f'{short} ({number})')}{suffix}"
        self._taken.add((student, name))
        return name

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self._taken: set[tuple[str, str]] = set()
        self._senders: dict[str, str | None] = {}
        self._by_number: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            for student in gradebook.db.query(Student):
                for number in {student.lms_user_id or student.id, student.id}:
                    self._by_number.setdefault(number, set()).add(student.id)
                for name in _names(student):
                    self._by_name.setdefault(name, set()).add(student.id)


def _names(student: Student) -> Iterator[str]:
    first, last = student.first_name or "", student.last_name or ""
    yield from {_plain(f"{first} {last}"), _plain(f"{last} {first}"), _plain(student.id)}


def _plain(name: str) -> str:
    """Return a name in a form to compare; platforms drop characters not allowed in file names.

    Examples
    --------
    >>> _plain("Núñez, José  María") == _plain("Nu\u0301ñez José María")
    True
    >>> _plain('Anna "Anja" Šimić')
    'anna anja šimić'
    """
    letters = re.sub(r"[^\w\s'-]+", " ", unicodedata.normalize("NFC", name).casefold())
    return " ".join(letters.replace("_", " ").split())


def found_in(path: PurePath) -> dict[str, str] | None:
    """Return the groups of `PLATFORMS` in a path, and the ``file_id``; None if there are none."""
    # The outermost match is the platform's name. Deeper folders come from the learner, who may
    # have named them after somebody else.
    for place, part in enumerate(path.parts):
        for platform in PLATFORMS:
            if match := re.fullmatch(platform, part, re.DOTALL):
                is_file = place == len(path.parts) - 1
                return match.groupdict() | ({} if is_file else {"file_id": path.name})
    return None


def sender_of(path: PurePath, named_regexp: str = "") -> str:
    r"""Return what stands for a learner in the path of a file, or "".

    Examples
    --------
    >>> sender_of(PurePath("all/Ada Lovelace_12_assignsubmission_file_/a.ipynb"))
    '12'
    >>> sender_of(PurePath("ada-a.ipynb"), r"(?P<student_id>\w+)-")
    'ada'
    """
    if named_regexp:
        match = re.match(named_regexp, path.as_posix())
        found = match.groupdict() if match else {}
    else:
        found = found_in(path) or {}
    names = (found.get(group) for group in ("sender", "lms_user_id", "student_id", "name"))
    return next(filter(None, names), "")


def is_hidden_or_system_file(path: PurePath) -> bool:
    """Say whether it is a file that an editor or an archive program made beside the work."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
