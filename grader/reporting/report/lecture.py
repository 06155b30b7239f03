"""The page for the next lecture: how a class did in an assignment, and who needs a call.

This module computes what the page shows; ``templates/report/lecture.html.j2`` lays it out.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from grader.course import graded_cells, read_solution_notebook
from grader.files import write_atomically
from grader.reporting.export import path_of
from grader.reporting.report import calls
from grader.reporting.report.analysis import (
    ChoiceCount,
    Item,
    PartCount,
    choices,
    items,
    mistakes,
    parts,
)
from grader.reporting.report.book import Book, Described
from grader.reporting.report.people import LIST, People, Person, Places
from grader.reporting.report.standing import EXCUSED, MISSING, OPEN, Outcome, Standing
from grader.reporting.report.tasks import tasks_of
from grader.reporting.report.templates import percent, points, template
from grader.reporting.results import Result
from grader.reporting.summary import counted, figures, sentence

#: Ranges of points in the distribution of the scores.
BARS = 10

#: How many failures and remarks a page shows.
MAX_LOOKS = 500


class Range(NamedTuple):
    """A range of points."""

    label: str
    students: int
    share: float  #: of the students in the fullest range, for a bar


class Chosen(NamedTuple):
    """Which letters were chosen for an answer."""

    letters: ChoiceCount
    texts: Mapping[str, str]  #: what the notebook says of each letter


class Task(NamedTuple):
    """A cell that is worth points, and what the tests found in it."""

    item: Item
    title: str
    parts: Sequence[PartCount]
    choices: Sequence[Chosen]
    below: People  #: those without all points


class NamedMistake(NamedTuple):
    """A mistake in the catalogue, and the students whose tests named it."""

    mistake: Described
    share: float  #: of the students with a grade
    students: People


@dataclass(frozen=True)
class Call:
    """A student who needs a call, and why."""

    person: Person
    reasons: Sequence[str]


class Trend(NamedTuple):
    """A line for an assignment of the term."""

    outcome: Outcome
    page: str  #: the address of its report, or ""


def write_report(
    assignment: str,
    results: Sequence[Result],
    path: Path,
    standing: Standing,
    into: Path,
    deadline: str = "",
    asked: Callable[[str], bool] = lambda student: True,
) -> None:
    """Write the page.

    Parameters
    ----------
    assignment : str
    results : sequence of Result
        The results of the students who were asked for.
    path : Path
        The file to write.
    standing : Standing
        The class in the term.
    into : Path
        The folder of the gradebook, which the page's links lead to.
    deadline : str
        A sentence on the deadline, or "".
    asked : callable
        Says whether the page is about a student. Default: about all.
    """
    by_student = {result.student: result for result in results}
    if assignment not in standing.results:  # it does not count in the totals
        standing = replace(standing, results={**standing.results, assignment: by_student})
    places = Places(into.resolve(), path.parent.resolve(), standing.learners)
    graded = [result for result in results if result.entry is not None]
    tasks = _tasks(assignment, graded, places)
    looks = [(places.person(s, assignment), text) for s, text in _to_look_at(results)[:MAX_LOOKS]]
    until = standing.until(assignment)
    page = template("lecture.html.j2").render(
        assignment=assignment,
        summary=sentence(figures(results)),
        deadline=deadline,
        scores=_scores_sentence(graded),
        ranges=_ranges(graded),
        hardest=_hardest_sentence(tasks),
        tasks=tasks,
        mistakes=_named(graded, assignment, path.parent.resolve(), places),
        graded=len(graded),
        rule=calls.RULE,
        calls=[
            Call(places.person(student, assignment), why)
            for student in sorted({*standing.learners, *by_student})
            if asked(student) and (why := calls.reasons(standing, student, assignment))
        ],
        absent={
            what: places.people(filter(asked, standing.those(assignment, state)))
            for what, state in (
                ("Nothing was handed in by", MISSING),
                ("There is still time for", OPEN),
                ("Excused:", EXCUSED),
            )
        },
        trend=[
            Trend(
                standing.outcomes[name],
                "" if name == assignment else places.page(f"report-{name}.html"),
            )
            for name in until
        ],
        looks=looks,
        more_looks=len(_to_look_at(results)) - len(looks),
        students=places.address(LIST),
        grades=path_of(Path(), assignment).name,
    )
    write_atomically(path, page)


def histogram(scores: Sequence[float], max_score: float) -> tuple[list[str], list[int]]:
    """Return the labels of `BARS` ranges of points, and the number of scores in each range.

    A range includes its lower end; the last one includes both ends.

    Examples
    --------
    >>> histogram([0, 0.5, 19, 20], 20)[1]
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    """
    width = max_score / BARS if max_score else 1.0
    counts = [0] * BARS
    for score in scores:
        counts[min(BARS - 1, max(0, int(score / width)))] += 1
    labels = [f"{points(number * width)}–{points((number + 1) * width)}" for number in range(BARS)]
    return labels, counts


def _known(graded: Sequence[Result]) -> tuple[list[float], float]:
    """Return the scores, and the maximum score."""
    scores = [result.score for result in graded if result.score is not None]
    return scores, max((result.points for result in graded if result.points is not None), default=0)


def _scores_sentence(graded: Sequence[Result]) -> str:
    scores, max_score = _known(graded)
    if not scores:
        return ""
    return (
        f"Scores of {counted(len(scores), 'student')}: from {points(min(scores))} to "
        f"{points(max(scores))} of {points(max_score)} points, median "
        f"{points(statistics.median(scores))}, mean {statistics.mean(scores):.2f}."
    )


def _ranges(graded: Sequence[Result]) -> list[Range]:
    scores, max_score = _known(graded)
    if not scores:
        return []
    labels, counts = histogram(scores, max_score)
    rows = zip(labels, counts, strict=True)
    return [Range(label, number, number / max(counts)) for label, number in rows]


def _tasks(assignment: str, graded: Sequence[Result], places: Places) -> list[Task]:
    if not graded:
        return []
    cells = graded_cells(assignment)
    known = tasks_of(read_solution_notebook(assignment))
    part_counts, choice_counts = parts(graded), choices(graded)
    return [
        Task(
            item,
            known.titles.get(item.cell, ""),
            [part for part in part_counts if part.cell == item.cell],
            [
                Chosen(letters, known.options.get(letters.name, {}))
                for letters in choice_counts
                if letters.cell == item.cell
            ],
            places.people(item.below, assignment, item.cell),
        )
        for item in items(graded, cells)
    ]


def _hardest_sentence(tasks: Sequence[Task]) -> str:
    known = [task.item for task in tasks if task.item.mostly_scored and task.item.points]
    if not known:
        return ""
    hardest = min(known, key=lambda item: item.mean)
    return f"The hardest cell is {hardest.cell}: {percent(hardest.mean)} of its points on average."


def _named(
    graded: Sequence[Result], assignment: str, here: Path, places: Places
) -> list[NamedMistake]:
    book = Book(here)
    return [
        NamedMistake(
            book.described(name), len(students) / len(graded), places.people(students, assignment)
        )
        for name, students in mistakes(graded).items()
    ]


def _to_look_at(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return ``(student, text)`` for each failure and each remark."""
    found = [(r.student, r.status) for r in results if r.reason or r.not_judged]
    return found + [(result.student, remark) for result in results for remark in result.remarks]
