"""The provenance of what is graded: a line for each verdict, added when the gradebook has it.

So a run that is stopped, however hard, goes on where it was: the next one grades again what is
not in the journal. The gradebook keeps scores; the journal keeps what nbgrader has no place for.
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
    """Raised when another run is grading the same assignment into the same folder."""


@dataclass(frozen=True)
class Line:
    """What the journal says of one submission."""

    student: str
    digest: str  #: of all that the verdict depends on
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
    """Return where the provenance of an assignment stands."""
    return folder / f"graded-{assignment}.jsonl"


def read(path: Path) -> Iterator[Line]:
    """Yield the lines, of which a student's last one counts.

    A line that a killed run left unfinished is passed over, and so is one of another form.
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
    """The provenance, open for one writer.

    Parameters
    ----------
    path : Path
        Its file. It is made if it is not there, and tidied if it has lines that do not count.

    Raises
    ------
    Busy
        If another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = _locked(path.with_suffix(".lock"))
        #: Digest of each student's last verdict, if that was not a failure.
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
        """Add lines, on disk when this returns."""
        for line in lines:
            self._file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
            if line.status == FAILED:
                self.graded.pop(line.student, None)
            else:
                self.graded[line.student] = line.digest
        self._file.flush()
        os.fsync(self._file.fileno())


def _tidy(path: Path) -> list[Line]:
    """Leave one whole line a student in the file, and return them."""
    if not path.exists():
        return []
    last = {line.student: line for line in read(path)}
    beside = path.with_suffix(".new")
    with beside.open("wb") as file:
        for line in last.values():
            file.write(json.dumps(asdict(line)).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return list(last.values())


def _locked(path: Path) -> IO[bytes]:
    file = path.open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Busy(
            f"expected to be the only one to grade into {path.parent}, found another run. "
            "Wait until it has ended."
        ) from None
    return file
