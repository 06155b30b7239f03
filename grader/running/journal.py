"""The journal: a line for each verdict, with its provenance, added once it is in the gradebook.

A run that was stopped, even by SIGKILL, can so be continued: the next run judges what is not in
the journal. The gradebook holds the scores; the journal holds what nbgrader has no place for.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from grader.errors import GraderError
from grader.judging.findings import PartsByCell, parts_from_json
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict

_logger = logging.getLogger(__name__)


class Busy(GraderError):
    """Raised when another run has the journal of this assignment and folder open."""


class NotAFile(GraderError):
    """Raised when something else than a file has the journal's name."""


@dataclass(frozen=True)
class Line:
    """What the journal says about one submission."""

    student: str
    digest: str  #: of everything that the verdict depends on
    status: str
    reason: str = ""
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    parts: PartsByCell = field(default_factory=dict)  #: what the tests found, by test cell
    provenance: dict[str, Any] | None = None
    #: Why a newer submission was not judged, if there is one: the line is about an earlier one.
    not_judged: str = ""
    #: Short digests of what the verdict depends on: `digests.course_parts`, and "submission".
    made_from: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, verdict: Verdict, digest: str, made_from: Mapping[str, str] | None = None) -> Line:
        """Return the line for a verdict."""
        return cls(
            verdict.student,
            digest,
            verdict.status,
            verdict.reason,
            verdict.remarks,
            verdict.missing,
            verdict.parts,
            dict(verdict.provenance),
            made_from=made_from or {},
        )


def path_in(folder: Path, assignment: str) -> Path:
    """Return the path of an assignment's journal in the folder that is graded into."""
    return folder / f"graded-{assignment}.jsonl"


def students_in(folder: Path) -> set[str]:
    """Return the students in the journals of all assignments."""
    return {line.student for path in folder.glob("graded-*.jsonl") for line in read(path)}


def read(path: Path) -> Iterator[Line]:
    """Yield the lines in order. If a student has several, only the last one is valid.

    Lines that are not valid are skipped. That is logged, except for one at the end that a killed
    run left unfinished.

    Raises
    ------
    NotAFile
        If the path is a folder, a pipe or the like.
    """
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise NotAFile(f"expected the file {path}, found something else. Remove it.")
    damaged = 0
    with path.open("rb") as file:
        for text in file:
            try:
                line = _line(json.loads(text))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                damaged += text.endswith(b"\n")
            else:
                yield line
    if damaged:
        _logger.warning(
            "%s: %d of its lines are not valid, so they do not count. The command grade judges "
            "those submissions again.",
            path,
            damaged,
        )


def _line(found: dict[str, Any]) -> Line:
    """Return the line that `dataclasses.asdict` and JSON made `found` of, after checking types."""
    remarks, missing = tuple(found["remarks"]), tuple(found["missing"])
    provenance, not_judged = found["provenance"], found.get("not_judged", "")
    made_from = found.get("made_from", {})  # journals of earlier versions have none
    texts = [found[name] for name in ("student", "digest", "status", "reason")]
    texts += [*remarks, *missing, not_judged, *dict(made_from), *dict(made_from).values()]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("expected texts")
    lists = [found[name] for name in ("remarks", "missing")]
    if not isinstance(provenance, dict | None) or not all(isinstance(x, list) for x in lists):
        raise TypeError("expected an object and lists")
    if found["status"] not in (GRADED, REMARKS, FAILED):
        raise ValueError("expected a known status")
    return Line(
        found["student"],
        found["digest"],
        found["status"],
        found["reason"],
        remarks,
        missing,
        parts_from_json(found["parts"]),
        provenance,
        not_judged,
        made_from,
    )


class Journal:
    """The journal, open and locked for one writer.

    Parameters
    ----------
    path : Path
        The file. It is created if it does not exist. Lines that are not valid are removed.

    Raises
    ------
    Busy
        If another process has the journal open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = _locked(path.with_suffix(".lock"))
        try:
            lines = _last_lines(path)
            self._write(lines)
        except BaseException:
            self._lock.close()
            raise
        #: The digest of each student's last verdict, unless that verdict is a failure.
        self.graded = {line.student: line.digest for line in lines if line.status != FAILED}
        #: By student, what that verdict was made from; of journals of earlier versions nothing.
        self.made_from = {line.student: line.made_from for line in lines if line.status != FAILED}
        #: By student, the SHA-256 digest of the file that was judged.
        self.judged_file = {
            line.student: (line.provenance or {}).get("submission") for line in lines
        }
        #: The students whose last verdict is a failure.
        self.failed = {line.student for line in lines if line.status == FAILED}

    def __enter__(self) -> Journal:
        return self

    def _write(self, lines: Iterable[Line]) -> None:
        """Replace the file's content by these lines, and open it for more."""
        temporary = self.path.with_suffix(".new")
        with temporary.open("wb") as file:
            for line in lines:
                file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        self._file = self.path.open("ab")

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()
        finally:
            self._lock.close()

    def add(self, lines: Iterable[Line]) -> None:
        """Add lines, and return when they are on disk."""
        for line in lines:
            self._file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
            if line.status == FAILED:
                self.graded.pop(line.student, None)
                self.made_from.pop(line.student, None)
                self.failed.add(line.student)
            else:
                self.graded[line.student] = line.digest
                self.made_from[line.student] = line.made_from
                self.failed.discard(line.student)
        self._file.flush()
        os.fsync(self._file.fileno())

    def remove(self, has_left: Callable[[str, bool], bool]) -> None:
        """Remove the lines of students who have left.

        Parameters
        ----------
        has_left : callable
            Takes a student's id and whether the last verdict is a failure.
        """
        gone = {student for student in self.graded if has_left(student, False)}
        gone |= {student for student in self.failed if has_left(student, True)}
        if gone:
            lines = _last_lines(self.path)
            self._file.close()
            self._write(line for line in lines if line.student not in gone)
            self.failed -= gone
            self.graded = {name: made for name, made in self.graded.items() if name not in gone}

    def keep(self, renewed: Mapping[str, tuple[str, Mapping[str, str]]]) -> None:
        """Let verdicts of earlier runs count as those on what is there now.

        Parameters
        ----------
        renewed : mapping
            By student, the digest and what it is made from now.
        """
        if not renewed:
            return
        lines = [
            replace(line, digest=renewed[line.student][0], made_from=renewed[line.student][1])
            if line.student in renewed
            else line
            for line in _last_lines(self.path)
        ]
        self._file.close()
        self._write(lines)
        self.graded |= {student: digest for student, (digest, _) in renewed.items()}
        self.made_from |= {student: made_from for student, (_, made_from) in renewed.items()}

    def judge_again(self, pattern: str, students: Collection[str]) -> None:
        """Let this run and the next ones judge students again, until `has_judged_again` is called.

        If an earlier run with the same pattern was stopped in between, it is continued: whom it has
        judged is not judged once more.

        Parameters
        ----------
        pattern : str
            What the students' ids match, as it was given to the command.
        students : collection of str
            Those with a submission.
        """
        if self._pattern_again() == pattern:
            return
        lines = [
            replace(line, digest="") if line.student in students else line
            for line in _last_lines(self.path)
        ]
        self._file.close()
        self._write(lines)
        for student in self.graded.keys() & set(students):
            self.graded[student] = ""
        self._again.write_text(pattern, encoding="utf-8", errors="surrogateescape")

    def has_judged_again(self, pattern: str) -> None:
        """Note that all students who match the pattern have been judged."""
        if pattern in ("*", self._pattern_again()):
            self._again.unlink(missing_ok=True)

    def _pattern_again(self) -> str | None:
        if not self._again.is_file():
            return None
        return self._again.read_text(encoding="utf-8", errors="surrogateescape")

    @property
    def _again(self) -> Path:
        """The file that is there while a run judges students again."""
        return self.path.with_suffix(".again")

    def kept(self, student: str, reason: str) -> Line:
        """Return a line for a submission that was not judged, so that an earlier grade stays.

        The digest is empty, so the next run tries again.

        Parameters
        ----------
        student : str
        reason : str
            Why the submission was not judged.
        """
        last = Line(student, "", GRADED)
        for line in read(self.path):
            last = line if line.student == student else last
        return replace(last, digest="", not_judged=reason)


def _last_lines(path: Path) -> list[Line]:
    """Return each student's last complete line."""
    return list({line.student: line for line in read(path)}.values())


def _locked(path: Path) -> IO[bytes]:
    file = path.open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Busy(
            f"expected no other run that grades into {path.parent}, found one. "
            "Wait until it has ended, then give the command again."
        ) from None
    return file
