"""How the students of a class stand in the term so far: who is missing where, and with what share.

An assignment counts as in the totals: see `grader.reporting.totals.term`.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from grader import course
from grader.gradebook import reading
from grader.gradebook.reading import Deadlines, Learner
from grader.reporting.results import Result
from grader.reporting.totals.term import Totals, term

#: What has become of a student's work in an assignment.
GRADED, FAILED, MISSING, OPEN, EXCUSED = "graded", "failed", "missing", "open", "excused"


class Outcome(NamedTuple):
    """How a class did in one assignment."""

    assignment: str
    graded: int  #: numbers of students
    failed: int
    missing: int
    mean: float | None  #: of the shares; None if nobody has one
    median: float | None


@dataclass(frozen=True)
class Standing:
    """A class in the assignments that count."""

    assignments: tuple[str, ...]  #: in the order of their deadlines
    results: Mapping[str, Mapping[str, Result]]  #: by assignment and student
    learners: Mapping[str, Learner]  #: all who are in the class
    deadlines: Mapping[str, Deadlines]
    excused: Mapping[str, Collection[str]]  #: students, by assignment
    totals: Mapping[str, float | None]  #: in percent, by student
    now: datetime  #: in UTC, without a zone

    def until(self, assignment: str) -> tuple[str, ...]:
        """Return the assignments up to this one; all if it does not count."""
        if assignment not in self.assignments:
            return self.assignments
        return self.assignments[: self.assignments.index(assignment) + 1]

    @property
    def last_due(self) -> str:
        """The last assignment whose deadline is over, or the last one; "" without any."""
        over = [name for name in self.assignments if self._is_over(name)]
        return (over or [*self.assignments] or [""])[-1]

    def _is_over(self, assignment: str) -> bool:
        deadlines = self.deadlines.get(assignment)
        return deadlines is None or deadlines.due is None or self.now >= deadlines.due

    def state(self, student: str, assignment: str) -> str:
        """Return what has become of a student's work in an assignment.

        Nothing is missing before the student's deadline: it is open then.
        """
        if student in self.excused.get(assignment, ()):
            return EXCUSED
        result = self.results.get(assignment, {}).get(student)
        if result is not None:
            return GRADED if result.entry is not None else FAILED
        deadlines = self.deadlines.get(assignment)
        if deadlines and not deadlines.over_for(student, self.now):
            return OPEN
        return MISSING

    def those(self, assignment: str, state: str) -> list[str]:
        """Return the students whose work in an assignment is in this state."""
        of_it = self.results.get(assignment, {})
        everybody = sorted({*self.learners, *of_it})
        return [student for student in everybody if self.state(student, assignment) == state]

    def share(self, student: str, assignment: str) -> float | None:
        """Return the share of a student in an assignment; None without one, or if excused."""
        if self.state(student, assignment) != GRADED:
            return None
        return self.results[assignment][student].share

    @functools.cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """How the class did, by assignment."""
        found = {}
        for name in self.assignments:
            known = [self.share(student, name) for student in self.results[name]]
            shares = [share for share in known if share is not None]
            found[name] = Outcome(
                name,
                len(self.those(name, GRADED)),
                len(self.those(name, FAILED)),
                len(self.those(name, MISSING)),
                statistics.fmean(shares) if shares else None,
                statistics.median(shares) if shares else None,
            )
        return found


def read_standing(db_url: str, folder: Path, now: datetime | None = None) -> Standing:
    """Read how a class stands.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the gradebook.
    folder : Path
        The folder with the journals.
    now : datetime, optional
        The time in UTC, without a zone. Default: the present.

    Raises
    ------
    grader.course.ConfigurationFailed
        If an option of ``c.Totals`` names something that does not exist.
    """
    rule = course.options(Totals)
    counted = term(db_url, folder, rule)
    deadlines = reading.deadlines(db_url)

    def order(assignment: str) -> tuple[bool, datetime | None, str]:
        due = deadlines[assignment].due if assignment in deadlines else None
        return due is None, due, assignment

    return Standing(
        tuple(sorted(counted.max_scores, key=order)),
        counted.results,
        {one.student: one.learner for one in counted.students},
        deadlines,
        rule.excused,
        {one.student: one.total for one in counted.students},
        now or datetime.now(UTC).replace(tzinfo=None),
    )
