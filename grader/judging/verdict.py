"""The verdict on one submission: all that a worker sends back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from grader.judging.findings import PartsByCell, mistakes_in, parts_from_json

GRADED = "graded"
REMARKS = "graded with remarks"
FAILED = "failed"


@dataclass(frozen=True)
class Verdict:
    """What judging one submission found."""

    assignment: str
    student: str
    status: str  #: `GRADED`, `REMARKS` or `FAILED`
    reason: str = ""  #: why it failed; empty if it did not
    remarks: tuple[str, ...] = ()  #: what was repaired or went wrong
    scores: Mapping[str, float] = field(default_factory=dict)  #: by cell, without those `to_read`
    points: Mapping[str, float] = field(default_factory=dict)  #: the maximum of each cell
    to_read: tuple[str, ...] = ()  #: cells that a person has to grade
    missing: tuple[str, ...] = ()  #: answers that were not handed in; they score 0
    unanswered: tuple[str, ...] = ()  #: answer cells that are still as they were released
    parts: PartsByCell = field(default_factory=dict)  #: what the tests found, by test cell
    notebook: str = ""  #: the graded notebook as JSON
    provenance: Mapping[str, Any] = field(default_factory=dict)  #: seed, digests, versions, seconds

    @property
    def score(self) -> float:
        """The sum of the scores, without cells that a person has to grade."""
        return sum(self.scores.values())

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the catalogued mistakes that the tests named."""
        return mistakes_in(self.parts)

    def to_bytes(self) -> bytes:
        """Return the verdict as a line of JSON, followed by the notebook as it is.

        As a text inside of JSON, a notebook could take six times its size.

        Examples
        --------
        >>> verdict = Verdict("masking", "ada", FAILED, reason="nothing submitted")
        >>> Verdict.from_bytes(verdict.to_bytes()) == verdict
        True
        """
        head = json.dumps(asdict(replace(self, notebook=""))).encode("ascii")
        return b"\n".join([head, self.notebook.encode("utf-8", "surrogatepass")])

    @classmethod
    def from_bytes(cls, data: bytes) -> Verdict:
        """Return the verdict that `to_bytes` wrote.

        Raises
        ------
        ValueError, TypeError, KeyError
            If the bytes are not those of a verdict.
        """
        head, _, notebook = data.partition(b"\n")
        fields = json.loads(head)
        fields["notebook"] = notebook.decode("utf-8", "surrogatepass")
        for name in ("remarks", "to_read", "missing", "unanswered"):
            fields[name] = tuple(fields[name])
        fields["parts"] = parts_from_json(fields["parts"])
        return cls(**fields)
