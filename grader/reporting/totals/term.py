"""The totals of a class: its results in all assignments, counted as nbgrader_config.py says."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from traitlets import Dict, Float, Integer, List, Unicode
from traitlets.config import Configurable

from grader import course
from grader.gradebook import reading
from grader.gradebook.reading import Learner
from grader.reporting.results import NOT_LISTED, Result, results
from grader.reporting.totals.counting import Work, count


class Totals(Configurable):
    """The options, set for example by ``c.Totals.drop_lowest = 1``."""

    weights = Dict(
        value_trait=Float(),
        key_trait=Unicode(),
        help="The weight of each assignment that counts. Default: all count, each by its points.",
    ).tag(config=True)
    drop_lowest = Integer(
        0, min=0, help="How many of a student's assignments with the lowest shares do not count."
    ).tag(config=True)
    excused = Dict(
        value_trait=List(Unicode()),
        key_trait=Unicode(),
        help="For an assignment, the ids of the students for whom it does not count.",
    ).tag(config=True)


@dataclass(frozen=True)
class StudentTotal:
    """A student's total over the term, and the scores that it comes from."""

    student: str
    learner: Learner
    total: float | None  #: in percent; None if no assignment counts for this student
    scores: Mapping[str, float]  #: by assignment, without the excused ones
    dropped: tuple[str, ...]
    excused: tuple[str, ...]
    missing: tuple[str, ...]  #: not handed in
    failed: tuple[str, ...]  #: handed in, but without a grade
    to_read: tuple[str, ...]  #: with answers that a person has to score


@dataclass(frozen=True)
class Term:
    """The totals of a class."""

    max_scores: Mapping[str, float]  #: of the assignments that count
    not_counted: tuple[str, ...]  #: graded, but without a weight
    not_graded: tuple[str, ...]  #: with a weight, but not graded yet
    students: list[StudentTotal]
    #: The results in each assignment that counts, by student.
    results: Mapping[str, Mapping[str, Result]]


def term(db_url: str, folder: Path, rule: Totals) -> Term:
    """Count the totals of all students: those on the class list and those with a submission.

    Parameters
    ----------
    db_url : str
        The SQLAlchemy URL of the gradebook.
    folder : Path
        The folder with the journals.
    rule : Totals
        The options.

    Raises
    ------
    grader.course.ConfigurationFailed
        If an option names an assignment or a student that does not exist, or no weight is positive.
    """
    entered = reading.max_scores(db_url)
    learners = reading.learners(db_url)
    _check(rule, {*entered, *course.assignments()}, learners)
    weights = {name: weight for name, weight in (rule.weights or entered).items() if weight}
    of_all = {
        name: {result.student: result for result in results(db_url, folder, name)}
        for name in entered
    }
    # Without a result there is extra time only, which somebody was given before any hand-in.
    graded = {name: points for name, points in entered.items() if of_all[name]}
    counted = {name: points for name, points in graded.items() if points and name in weights}
    found = {name: of_all[name] for name in counted}
    students = sorted({*learners}.union(*found.values()))
    return Term(
        counted,
        tuple(name for name in graded if name not in counted),
        tuple(sorted(name for name in weights if name not in graded)),
        [
            _total(
                student,
                learners.get(student, NOT_LISTED),
                {name: of_one.get(student) for name, of_one in found.items()},
                [name for name in counted if student in rule.excused.get(name, ())],
                counted,
                weights,
                rule.drop_lowest,
            )
            for student in students
        ],
        found,
    )


def _total(
    student: str,
    learner: Learner,
    found: Mapping[str, Result | None],
    excused: Collection[str],
    max_scores: Mapping[str, float],
    weights: Mapping[str, float],
    drop_lowest: int,
) -> StudentTotal:
    due = {name: result for name, result in found.items() if name not in excused}
    scores = {name: (result.score if result else None) or 0.0 for name, result in due.items()}
    works = [Work(name, score, max_scores[name], weights[name]) for name, score in scores.items()]
    total, dropped = count(works, drop_lowest)
    return StudentTotal(
        student,
        learner,
        total,
        scores,
        dropped,
        tuple(excused),
        missing=tuple(name for name, result in due.items() if result is None),
        failed=tuple(name for name, result in due.items() if result and result.entry is None),
        to_read=tuple(
            name
            for name, result in due.items()
            if result and result.entry and result.entry.to_read and name not in dropped
        ),
    )


def _check(rule: Totals, assignments: Collection[str], students: Collection[str]) -> None:
    """Raise `ConfigurationFailed` for an unknown name, so that no slip changes totals."""
    for option, names in (("weights", rule.weights), ("excused", rule.excused)):
        for name in names:
            if name not in assignments:
                raise _wrong(f"{option} names {name!r}, which is no assignment", assignments, name)
    for name, excused in rule.excused.items():
        for student in excused:
            if student not in students:
                who = f"excused[{name!r}] names {student!r}, who is not in the gradebook"
                raise _wrong(who, students, student)
    for name, weight in rule.weights.items():
        if not 0 <= weight < math.inf:
            raise _wrong(f"weights[{name!r}] is {weight:g}, not a number of at least 0", (), "")
    if rule.weights and not 0 < sum(rule.weights.values()) < math.inf:
        raise _wrong("weights has no positive weight, or an infinite one", (), "")


def _wrong(what: str, known: Collection[str], name: str) -> course.ConfigurationFailed:
    close = course.closest(name, known)
    return course.ConfigurationFailed(
        f"{course.CONFIGURATION.name}: c.Totals.{what}"
        + (f". Did you mean {close}?" if close else ". Correct it first.")
    )
