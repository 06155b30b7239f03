"""The journal: a line for each verdict, with its provenance, added once it is in the gradebook.

A run that was stopped, even by SIGKILL, can so be continued: the next run judges what is not in
the journal. The gradebook holds the scores; the journal holds what nbgrader has no place for.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from grader.errors import GraderError
from grader.judging.findings import PartsByCell, parts_from_json
from grader.judging.verdict import FAILED, Verdict


class Busy(GraderError):
    """Raised when another run has the journal of this assignment and folder open."""


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

    @classmethod
    def of(cls, verdict: Verdict, digest: str) -> Line:
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
        )


def path_in(folder: Path, assignment: str) -> Path:
    """Return the path of an assignment's journal in the folder that is graded into."""
    return folder / f"graded-{assignment}.jsonl"


def read(path: Path) -> Iterator[Line]:
    """Yield the lines in order. If a student has several, only the last one is valid.

    Lines that cannot be parsed are skipped, such as one that a killed run left unfinished.
    """
    if not path.exists():
        return
    names = {known.name for known in fields(Line)}
    with path.open("rb") as file:
        for text in file:
            try:
                line = json.loads(text)
                for name in ("remarks", "missing"):
                    line[name] = tuple(line[name])
                line["parts"] = parts_from_json(line["parts"])
                yield Line(**{name: line[name] for name in names})
            except (ValueError, KeyError, TypeError):
                continue


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
        #: The digest of each student's last verdict, unless that verdict is a failure.
        self.graded: dict[str, str] = {}
        lines = _tidy(path)
        self.graded = {line.student: line.digest for line in lines if line.status != FAILED}
        self._file = path.open("ab")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()

    def add(self, lines: Iterable[Line]) -> None:
        """Add lines, and return when they are on disk."""
        for line in lines:
            self._file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
            if line.status == FAILED:
                self.graded.pop(line.student, None)
            else:
                self.graded[line.student] = line.digest
        self._file.flush()
        os.fsync(self._file.fileno())


def _tidy(path: Path) -> list[Line]:
    """Keep only each student's last complete line in the file, and return these lines."""
    if not path.exists():
        return []
    last = {line.student: line for line in read(path)}
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        for line in last.values():
            file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return list(last.values())


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
