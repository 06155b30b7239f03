"""Find the learner to whom a file from a learning platform belongs, for ``nbgrader zip_collect``.

The platforms put the learner's name or number into the name of the file. The gradebook, into which
the class list was imported, tells which learner that is.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePath
from typing import NamedTuple

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Unicode

from grader.nbgrader_hooks.platforms import (
    HINTS,
    MEMBERS,
    NEW,
    PATTERNS,
    TWO_FIT,
    Found,
    found_in,
    moment,
)
from grader.printable import printable
from grader.times import zone_of

#: What browsers and mail programs put after the suffix of a file.
ODD = (".txt", ".json")

#: Bytes in the name of a file or folder, on all usual file systems.
MAX_NAME_BYTES = 255


class _HandIn(NamedTuple):
    """A file that can be collected."""

    student: str
    found: Found
    path: PurePath
    moment: datetime | None


class GradebookCollector(FileNameCollectorPlugin):
    """Finds the learner of each file in the gradebook, by the names that platforms give to files.

    If you set `named_regexp`, it replaces the patterns of `platforms`. It is matched against the
    path of the file relative to ``extracted``. Instead of nbgrader's group ``student_id`` it may
    have the group ``lms_user_id`` or ``name``.
    """

    groups_file = Unicode(
        "groups.csv",
        help="A CSV file, in the course's folder, with the columns group and id: a row for each "
        "member. What a group hands in counts for all its members.",
    ).tag(config=True)

    _chosen: dict[PurePath, dict[str, str]] | None = None

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return the learner's id, the notebook's name and the time, or None to skip the file."""
        path = self._below_extracted(submitted_file)
        if self._chosen is None:
            self._chosen = self._choose(self._files())
            if not self._chosen:  # nbgrader would call this a success
                self.parent.fail(
                    f"Nothing was collected. Expected notebooks in files that are named as "
                    f"{', '.join(PATTERNS)} or named_regexp names them. The lines above say what "
                    "was found."
                )
        return self._chosen.get(path)

    def collected_paths(self) -> dict[str, list[PurePath]]:
        """Return what is collected of each learner, relative to the folder of unpacked files."""
        paths: dict[str, list[PurePath]] = {}
        for path, collected in self._choose(self._files()).items():
            paths.setdefault(collected["student_id"], []).append(path)
        return paths

    def share_with_members(self) -> None:
        """Replace each unpacked file of a group by a copy for each of its members."""
        if not self._groups:
            return
        for path in list(self._files()):
            found = found_in(path, self.named_regexp)
            if found is None or not (members := self._members(found)):
                continue
            source = self._extracted() / path
            for member in members:
                target = self._extracted() / MEMBERS / member / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
            source.unlink()

    def _members(self, found: Found) -> list[str]:
        """Return the members of the group that handed a file in; none if it was a learner."""
        if found.platform != "Canvas":
            return self._groups.get(_plain(found.name), [])
        # The number is that of a member, so nobody hands in for a group of the same name.
        for group, members in self._groups.items():
            name = "_*".join(re.sub(r"\W|_", "", group))  # letters and digits are left of it
            named = re.match(rf"{name}_(?:late_)?(\d+)_\d+_", found.label.casefold())
            if named and self._by_number.get(named[1], set()) & set(members):
                return members
        return []

    def _read_groups(self) -> dict[str, list[str]]:
        """Return the ids of the members by the name of the group, in a form to compare."""
        path = Path(self.parent.coursedir.root, self.groups_file)
        groups: dict[str, list[str]] = {}
        if not path.exists():
            return groups
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as problem:
            self.parent.fail(f"{path}: expected a CSV file in UTF-8: {problem}.")
        rows = csv.DictReader(io.StringIO(text))
        if not {"group", "id"} <= set(rows.fieldnames or ()):
            self.parent.fail(f"{path}: expected the columns group and id, found {rows.fieldnames}.")
        for row in rows:
            group, student = (row["group"] or "").strip(), (row["id"] or "").strip()
            if not _plain(group) or student not in self._ids:
                self.parent.fail(
                    f"{path}, line {rows.line_num}: expected a group and a learner of the "
                    f"gradebook, found {group!r} and {student!r}."
                )
            groups.setdefault(_plain(group), []).append(student)
        return groups

    def _files(self) -> Iterator[PurePath]:
        """Yield all unpacked files, in nbgrader's order."""
        for path in sorted(self._extracted().rglob("*"), key=str):
            if not path.is_dir():
                yield path.relative_to(self._extracted())

    def _choose(self, paths: Iterable[PurePath]) -> dict[PurePath, dict[str, str]]:
        """Return what nbgrader is to collect, by path. Of several attempts it is the last."""
        attempts: dict[str, dict[tuple[str, str], list[_HandIn]]] = {}
        for path in paths:
            try:
                hand_in = self._read(path)
            except Exception as problem:  # nbgrader would collect nobody after an error
                self._tell(f"{type(problem).__name__}: {problem}", path)
                continue
            if hand_in is not None:
                of_student = attempts.setdefault(hand_in.student, {})
                of_student.setdefault(hand_in.found.attempt, []).append(hand_in)
        chosen = {}
        for student, of_student in attempts.items():
            for hand_in in self._last(student, list(of_student.values())):
                chosen[hand_in.path] = self._collected(hand_in)
        return chosen

    def _last(self, student: str, attempts: list[list[_HandIn]]) -> list[_HandIn]:
        """Return the files of the last attempt; none if it is not known which is the last."""
        if len(attempts) == 1 or not attempts[0][0].found.platform:
            return [hand_in for attempt in attempts for hand_in in attempt]
        senders = list(dict.fromkeys(attempt[0].found.sender for attempt in attempts))
        places = " and ".join(printable(str(attempt[0].path)) for attempt in attempts)
        if len(senders) > 1:
            self.log.error(
                "Not collected: expected one sender with the name of %s, found the numbers %s. "
                "Find out whose files these are: %s",
                printable(student), " and ".join(map(printable, senders)), places,
            )  # fmt: skip
            return []
        by_time = {at: attempt for attempt in attempts if (at := attempt[0].moment) is not None}
        if len(by_time) < len(attempts):
            self.log.error(
                "Not collected: %s has files in several archives, and their names do not say "
                "which are newer. Remove the older archive: %s",
                printable(student), places,
            )  # fmt: skip
            return []
        last = by_time[max(by_time)]
        self.log.warning(
            "%s handed in %d times. The last attempt counts: %s. All attempts: %s",
            printable(student), len(attempts), printable(str(last[0].path)), places,
        )  # fmt: skip
        return last

    def _read(self, path: PurePath) -> _HandIn | None:
        """Return whose file this is; None, and say why, if it cannot be collected."""
        if is_hidden_or_system_file(path):
            return None
        if not self._is_notebook(path):
            self.log.warning(
                "Not collected: expected a file that ends in %s, found %s",
                " or ".join(self.valid_ext), printable(str(path)),
            )  # fmt: skip
            return None
        found = found_in(path, self.named_regexp)
        if found is None:
            self.log.warning(
                "Not collected: expected a file name made by %s, found %s",
                " or ".join(PATTERNS),
                printable(str(path)),
            )
            return None
        student = found.student_id or self._student(found, path)
        if student is None:
            return None
        at = None
        if found.timestamp:
            try:
                at = moment(found.timestamp, zone_of(self.config))
            except (ValueError, ArithmeticError, TypeError) as error:
                self._tell(str(error), path)
                return None
        if problem := self._problem_with(student, found.file_id):
            self._tell(problem, path)
            return None
        return _HandIn(student, found, path, at)

    def _is_notebook(self, path: PurePath) -> bool:
        """Say whether a file may be a notebook, also with what browsers put after its name."""
        name = path.name.lower()
        ends = tuple(ext.lower() for ext in self.valid_ext)
        return name.endswith(ends) or any(name.endswith(f"{e}{odd}") for e in ends for odd in ODD)

    def _collected(self, hand_in: _HandIn) -> dict[str, str]:
        if hand_in.found.is_late:
            self.log.warning(
                "%s handed in late according to Canvas, which does not say when.",
                printable(hand_in.student),
            )
        name = self._free(hand_in.student, hand_in.found.file_id, hand_in.path.suffix)
        collected = {"student_id": hand_in.student, "file_id": name}
        if hand_in.moment is not None:
            collected["timestamp"] = f"{hand_in.moment.isoformat(' ')} UTC"
        return collected

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

    def _extracted(self) -> Path:
        return Path(self.parent._format_collect_path(self.parent.extracted_directory))

    def _below_extracted(self, submitted_file: str) -> PurePath:
        path = Path(submitted_file)
        return path.relative_to(self._extracted()) if path.is_absolute() else path

    def _student(self, found: Found, path: PurePath) -> str | None:
        """Return the one student of the gradebook whom the names fit, or None, and say why."""
        if found.lms_user_id:
            wanted = f"the lms_user_id {found.lms_user_id}"
            ids = self._by_number.get(found.lms_user_id, set())
        elif found.ends_with_id:
            wanted = f"the username at the end of {found.ends_with_id!r}"
            ids = self._by_ending(found.ends_with_id)
        else:
            wanted, ids = f"the name {found.name!r}", self._named(found.name)
        if len(ids) == 1:
            return next(iter(ids))
        has = " and ".join(sorted(ids)) or "nobody"
        self.log.error(
            "Not collected: expected one learner with %s in the gradebook, found %s: %s%s",
            printable(wanted), printable(has), printable(str(path)),
            f". {TWO_FIT if ids else f'{NEW} {HINTS.get(found.platform, str())}'}".rstrip(" ."),
        )  # fmt: skip
        return None

    def _named(self, name: str) -> set[str]:
        """Return the learners of a name. An older Moodle puts that of the group in front of it."""
        names = [name, *(name[place + 1 :] for place, letter in enumerate(name) if letter == "-")]
        known = (self._by_name.get(_plain(one), set()) for one in names if _plain(one))
        return next(filter(None, known), set())

    def _by_ending(self, text: str) -> set[str]:
        """Return the learners of the longest known id, at the end and after an underscore.

        Platforms may write a username in other letters than the class list: as it was typed.
        """
        parts = text.split("_")
        endings = ["_".join(parts[start:]) for start in range(1, len(parts))]
        alike: dict[str, set[str]] = {}
        for number, students in self._by_number.items():
            alike.setdefault(_folded(number), set()).update(students)
        found = [self._by_number.get(end, set()) for end in endings]
        found += [alike.get(_folded(end), set()) for end in endings]
        return next(filter(None, found), set())

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
        self._by_number: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        self._ids: set[str] = set()
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            for student in gradebook.db.query(Student):
                for number in {student.lms_user_id or student.id, student.id}:
                    self._by_number.setdefault(number, set()).add(student.id)
                self._ids.add(student.id)
                for name in _names(student):
                    self._by_name.setdefault(name, set()).add(student.id)
        self._groups = self._read_groups()


def _names(student: Student) -> Iterator[str]:
    first, last = student.first_name or "", student.last_name or ""
    yield from {_plain(f"{first} {last}"), _plain(f"{last} {first}"), _plain(student.id)}


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _plain(name: str) -> str:
    """Return a name in a form to compare; platforms drop characters not allowed in file names.

    Moodle drops apostrophes, and leaves no space for them.

    Examples
    --------
    >>> _plain("Núñez, José  María") == _plain("Nu\u0301ñez José María")
    True
    >>> _plain('Anna "Anja" Šimić')
    'anna anja šimić'
    >>> _plain("Sinéad O'Brien") == _plain("Sinéad O’Brien") == _plain("Sinéad OBrien")
    True
    """
    without = re.sub("['’ʼ`´]", "", _folded(name))
    letters = re.sub(r"[^\w\s-]+", " ", without)
    return " ".join(letters.replace("_", " ").split())


def is_hidden_or_system_file(path: PurePath) -> bool:
    """Say whether it is a file that an editor or an archive program made beside the work."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
