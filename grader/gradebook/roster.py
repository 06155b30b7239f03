"""Read a class list from a CSV file, and enter it in the gradebook.

nbgrader's own ``db student import`` takes a byte-order mark for a part of a column's name, a space
for a part of an id, and stops with a traceback at a letter in Latin-1. Here each of them is a
sentence, and a line that cannot be used keeps none of the others out.
"""

from __future__ import annotations

import codecs
import csv
import io
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nbgrader.api import Student
from sqlalchemy import select

from grader.errors import GraderError
from grader.gradebook.reading import open_gradebook
from grader.gradebook.writing import MAX_ID_LENGTH
from grader.printable import printable

#: The columns that the gradebook has, of which only the first is needed.
COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")

#: What separates values. Excel writes the second where numbers have a decimal comma.
SEPARATORS = ",;\t"


class BadRoster(GraderError):
    """Raised for a file that is no class list at all."""


class Learner(NamedTuple):
    """A learner of the class list."""

    id: str
    facts: Mapping[str, str]  #: by column; only those that the file has
    line: int  #: the first line in the file


@dataclass
class Roster:
    """What a file says."""

    learners: list[Learner] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)  #: sentences on what was put right
    left_out: list[str] = field(default_factory=list)  #: sentences on lines that were not used


@dataclass(frozen=True)
class Imported:
    """What a class list changed in the gradebook."""

    new: list[str]
    changed: list[str]
    others: list[str]  #: who is in the gradebook, but not in the class list


def read_roster(content: bytes) -> Roster:
    r"""Return the class list in a CSV file.

    Parameters
    ----------
    content : bytes
        UTF-8, with the columns' names in the first line.

    Raises
    ------
    BadRoster
        If it is no CSV file in UTF-8, or has no column ``id`` or no learner.

    Examples
    --------
    >>> roster = read_roster(b"id,first_name\n ada,Ada\n,Bo\n")
    >>> [learner.id for learner in roster.learners]
    ['ada']
    >>> roster.repairs + roster.left_out
    ['Spaces around values were left out, first in line 2.', 'Line 3 was left out: it has no id.']
    """
    roster = Roster()
    text = _decoded(content, roster)
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    if separator != "," and head.count(separator):
        roster.repairs.append(f"The values are separated by {separator!r}, not by commas.")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    found: dict[str, list[Learner]] = {}
    try:
        columns = ["_".join(name.casefold().split()) for name in next(rows, [])]
        _check_columns(columns, roster)
        for learner in _learners(rows, columns, roster):
            found.setdefault(learner.id, []).append(learner)
    except csv.Error as problem:
        raise BadRoster(f"line {rows.line_num} cannot be read as CSV: {problem}.") from None
    if not found and not roster.left_out:
        raise BadRoster("expected a line for each learner below the first line, found none.")
    for lines in found.values():
        _add_one(lines, roster)
    _compare(roster)
    return roster


def _decoded(content: bytes, roster: Roster) -> str:
    if content.startswith(b"PK"):
        raise BadRoster("expected a CSV file, found a workbook. In Excel save it as 'CSV UTF-8'.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:4]:
        raise BadRoster("expected UTF-8, found UTF-16. In Excel save the file as 'CSV UTF-8'.")
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        roster.repairs.append("The byte-order mark at the start of the file was left out.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        number = content.count(b"\n", 0, problem.start) + 1
        line = content.splitlines()[number - 1].decode("latin-1")
        raise BadRoster(
            f"expected UTF-8, found something else in line {number}. If that line is "
            f"{printable(line)!r}, the file is Latin-1: `iconv -f latin1 -t utf-8 OLD > NEW` "
            "rewrites it, or save it in Excel as 'CSV UTF-8'."
        ) from None


def _check_columns(columns: Sequence[str], roster: Roster) -> None:
    shown = ", ".join(map(printable, columns)) or "nothing"
    if columns.count("id") != 1:
        raise BadRoster(f"expected one column id in the first line, found {shown}.")
    twice = sorted({name for name in columns if name in COLUMNS and columns.count(name) > 1})
    if twice:
        raise BadRoster(f"expected each column once, found {', '.join(twice)} more than once.")
    if unknown := [printable(name) for name in columns if name not in COLUMNS]:
        roster.repairs.append(
            f"Columns that the gradebook does not have were left out: {', '.join(unknown)}."
        )


def _learners(
    rows: Iterator[list[str]], columns: Sequence[str], roster: Roster
) -> Iterator[Learner]:
    spaces = breaks = 0
    while True:
        number = rows.line_num + 1  # type: ignore[attr-defined]  # a csv.reader has it
        row = next(rows, None)
        if row is None:
            break
        values = [value.strip() for value in row]
        if not any(values):
            continue
        facts = {
            name: value
            for name, value in zip(columns, values, strict=False)
            if name in COLUMNS and name != "id"
        }
        student = dict(zip(columns, values, strict=False)).get("id", "")
        if reason := _reason(student, values, columns):
            last = rows.line_num  # type: ignore[attr-defined]
            where = f"Line {number} was" if last == number else f"Lines {number} to {last} were"
            roster.left_out.append(f"{where} left out: {reason}.")
        else:
            spaces = spaces or (number if values != row else 0)
            breaks = breaks or (number if any(map(_is_broken, values)) else 0)
            whole = {n: " ".join(v.split()) if _is_broken(v) else v for n, v in facts.items()}
            yield Learner(student, whole, number)
    if spaces:
        roster.repairs.append(f"Spaces around values were left out, first in line {spaces}.")
    if breaks:
        roster.repairs.append(f"Line breaks in values became spaces, first in line {breaks}.")


def _is_broken(value: str) -> bool:
    return "\n" in value or "\r" in value


def _reason(student: str, values: Sequence[str], columns: Sequence[str]) -> str:
    """Return why a line cannot be used, or ""."""
    if len(values) > len(columns):
        return (
            f"it has {len(values)} values for {len(columns)} columns. Put a name with a comma in "
            "double quotes"
        )
    if any(_is_broken(value) and set(SEPARATORS) & set(value) for value in values):
        return "a value goes on in the next line, as after a double quote that is not closed"
    if not student:
        return "it has no id"
    if "/" in student or student.startswith(".") or printable(student) != student:
        return f"{printable(student)!r} cannot be the name of a folder"
    if len(student) > MAX_ID_LENGTH:
        return f"its id has {len(student)} characters; the gradebook takes at most {MAX_ID_LENGTH}"
    if odd := next((value for value in values if "\0" in value), ""):
        return f"'{printable(odd)}' has a character that no text has"
    return ""


def _add_one(lines: Sequence[Learner], roster: Roster) -> None:
    """Add a learner, unless several lines say different things."""
    first, *others = lines
    where = ", ".join(str(learner.line) for learner in lines)
    if any(learner.facts != first.facts for learner in others):
        roster.left_out.append(
            f"Lines {where} were left out: they say different things of {first.id}."
        )
        return
    if others:
        roster.repairs.append(f"Lines {where} are the same; {first.id} was taken once.")
    roster.learners.append(first)


def _compare(roster: Roster) -> None:
    """Say which ids look alike, and what only one learner can have."""
    alike: dict[str, list[str]] = {}
    for learner in roster.learners:
        alike.setdefault(_look(learner.id), []).append(learner.id)
    roster.repairs += [
        f"Is it the same person? {' and '.join(ids)} look alike; all were taken."
        for ids in alike.values()
        if len(ids) > 1
    ]
    for column in ("lms_user_id", "email"):
        owners: dict[str, list[str]] = {}
        for learner in roster.learners:
            owners.setdefault(learner.facts.get(column, ""), []).append(learner.id)
        roster.repairs += [
            f"Look at {column}: {printable(value)} is that of {' and '.join(ids)}."
            for value, ids in owners.items()
            if value and len(ids) > 1
        ]


def _look(student: str) -> str:
    r"""Return an id without what the eye does not see.

    Examples
    --------
    >>> _look("Ada") == _look("ada\N{ZERO WIDTH SPACE}"), _look("ada") == _look("ada1")
    (True, False)
    """
    letters = unicodedata.normalize("NFKC", student).casefold()
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def enter_roster(
    db_url: str, roster: Roster, *, course_id: str = "", dry: bool = False
) -> Imported:
    """Enter a class list in the gradebook, in one transaction, and return what has changed.

    A learner's empty value in the list empties that of the gradebook. Columns that the list does
    not have, and students who are not in it, stay as they are.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the gradebook.
    roster : Roster
    course_id : str
        The course to add if the gradebook does not have it.
    dry : bool
        Whether to change nothing, and only find out what would change.
    """
    new, changed = [], []
    with open_gradebook(db_url, course_id) as gradebook:
        known = {row.id: row for row in gradebook.db.scalars(select(Student))}
        for student, facts, _ in roster.learners:
            row = known.get(student)
            if row is None:
                new.append(student)
                row = Student(id=student)
                gradebook.db.add(row)
            elif any((getattr(row, name) or "") != value for name, value in facts.items()):
                changed.append(student)
            for name, value in facts.items():
                setattr(row, name, value or None)
        (gradebook.db.rollback if dry else gradebook.db.commit)()
    others = sorted(known.keys() - {learner.id for learner in roster.learners})
    return Imported(new, changed, others)
