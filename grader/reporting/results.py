"""The results of a class: the scores in the gradebook together with the remarks in the journal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.gradebook import reading
from grader.gradebook.reading import Entry, Learner
from grader.judging.findings import PartsByCell, mistakes_in
from grader.judging.verdict import FAILED
from grader.running import journal
from grader.running.class_list import class_list
from grader.submission.wording import listed
from grader.times import span

#: The facts on a student who is not in the class list.
NOT_LISTED = Learner()


@dataclass(frozen=True)
class Result:
    """What gradebook and journal know about one submission."""

    student: str
    entry: Entry | None  #: what is in the gradebook; None if the submission failed
    parts: PartsByCell = field(default_factory=dict)  #: what the tests found, by test cell
    reason: str = ""  #: why the submission failed
    remarks: tuple[str, ...] = ()  #: sentences on what was repaired or went wrong in judging
    missing: tuple[str, ...] = ()  #: answers that were not handed in
    learner: Learner = NOT_LISTED  #: what the class list says
    not_judged: str = ""  #: why a newer file was not judged; the grade is that of an earlier one

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the catalogued mistakes that the tests named."""
        return mistakes_in(self.parts)

    @property
    def score(self) -> float | None:
        """The score so far, after the late penalty, or None if the submission failed."""
        if self.entry is None:
            return None
        return max(0.0, sum(self.entry.scores.values()) - self.entry.late_penalty)

    @property
    def points(self) -> float | None:
        """The maximum score, with answers still to read, or None if the submission failed."""
        return sum(self.entry.points.values()) if self.entry else None

    @property
    def share(self) -> float | None:
        """The score as a share of the points of the answers that have one; None without any."""
        if self.entry is None or self.score is None:
            return None
        points = sum(self.entry.points[cell] for cell in self.entry.scores)
        return self.score / points if points else None

    @property
    def lost(self) -> float | None:
        """The points lost for certain, or None if the submission failed."""
        if self.entry is None:
            return None
        entry = self.entry
        lost = sum(entry.points[cell] - score for cell, score in entry.scores.items())
        return lost + entry.late_penalty

    @property
    def status(self) -> str:
        """The status, as a short text for tables."""
        if self.reason or self.entry is None:
            return f"failed: {self.reason}"
        state = "to read" if self.entry.to_read else "graded"
        if self.not_judged:
            state += " before"
        if self.entry.seconds_late:
            state += f", {span(self.entry.seconds_late)} late"
        if self.missing:
            state += f", without {listed(self.missing)}"
        if self.not_judged:
            state += f"; what is there now has no grade: {self.not_judged}"
        return state


def results(
    db_url: str, folder: Path, assignment: str, students: Collection[str] | None = None
) -> list[Result]:
    """Return the results of an assignment, sorted by student.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the gradebook.
    folder : Path
        The folder with the journal.
    assignment : str
    students : collection of str, optional
        Default: all in the gradebook or the journal, without those who have been removed from the
        class.
    """
    entries = reading.entries(db_url, assignment)
    with reading.open_gradebook(db_url) as gradebook:
        listed = class_list(reading.known_students(gradebook.db), folder)
    lines = {
        line.student: line
        for line in journal.read(journal.path_in(folder, assignment))
        if not listed.has_left(line.student, line.status == FAILED)
    }
    known = reading.learners(db_url)
    found = []
    handed_in = {student for student, entry in entries.items() if entry.handed_in}
    for student in sorted(lines.keys() | handed_in if students is None else students):
        entry, line = entries.get(student), lines.get(student)
        result = Result(student, entry, learner=known.get(student, NOT_LISTED))
        # A failure leaves only a person's scores in the gradebook. So if there is a score from a
        # test, nbgrader's own command has autograded the submission since.
        if line is not None and line.status == FAILED and not (entry and entry.judged):
            result = replace(result, entry=None, reason=line.reason, remarks=line.remarks)
        elif entry is None:
            result = replace(result, reason="it is not graded yet")
        elif line is not None and line.status != FAILED:
            result = replace(
                result,
                parts=line.parts,
                remarks=line.remarks,
                missing=line.missing,
                not_judged=line.not_judged,
            )
        found.append(result)
    return found
