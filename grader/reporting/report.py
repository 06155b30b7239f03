"""The instructor's report: one page of HTML on how a class did, which needs no other file.

This module computes what the page shows; ``templates/report/report.html.j2`` lays it out.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from attn_lib.course.mistakes import catalogue
from grader.course import graded_cells
from grader.files import write_atomically
from grader.reporting import charts
from grader.reporting.item_analysis import Item, items, mistakes, parts
from grader.reporting.results import Result
from grader.reporting.summary import figures, sentence

BARS = 10

TEMPLATES = Path(__file__).parent / "templates" / "report"


@dataclass(frozen=True)
class Chart:
    """A chart and the sentence that says what it shows."""

    sentence: str
    svg: Markup


@dataclass(frozen=True)
class Scores:
    """The distribution of the scores of a class."""

    chart: Chart
    ranges: Sequence[tuple[str, int]]  #: each range of points, and the number of students in it


@dataclass(frozen=True)
class NamedMistake:
    """A mistake in the catalogue, and the students whose tests named it."""

    id: str
    sentence: str
    students: Sequence[str]


def write_report(
    assignment: str, results: Sequence[Result], path: Path, deadline: str = ""
) -> None:
    """Write the report.

    Parameters
    ----------
    assignment : str
    results : sequence of Result
        The results of the class.
    path : Path
        The file to write.
    deadline : str
        A sentence on the deadline, or "".
    """
    cells = graded_cells(assignment)
    graded = [result for result in results if result.entry is not None]
    counts = parts(graded)
    order = {cell: number for number, cell in enumerate(cells)}
    counts.sort(key=lambda part: order.get(part.cell, len(order)))
    analysis = items(graded, cells) if graded else []
    named = _named(mistakes(graded))
    page = _template().render(
        assignment=assignment,
        summary=sentence(figures(results)),
        deadline=deadline,
        scores=_scores(graded) if graded else None,
        items=analysis,
        means=_means([item for item in analysis if item.mostly_scored]),
        parts=counts,
        mistakes=named,
        frequencies=_frequencies(named, len(graded)),
        to_look_at=_to_look_at(results),
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
    labels = [f"{number * width:g}–{(number + 1) * width:g}" for number in range(BARS)]
    return labels, counts


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = lambda number: f"{number:g}"
    environment.filters["percent"] = lambda share: f"{share:.0%}"
    return environment.get_template("report.html.j2")


def _scores(graded: Sequence[Result]) -> Scores:
    scores = [result.score for result in graded if result.score is not None]
    max_score = max(result.points for result in graded if result.points is not None)
    labels, counts = histogram(scores, max_score)
    text = (
        f"Scores of {len(scores)} students: from {min(scores):g} to {max(scores):g} of "
        f"{max_score:g} points, median {statistics.median(scores):g}, "
        f"mean {statistics.mean(scores):.2f}."
    )
    chart = Chart(text, charts.columns(labels, counts, "points", text))
    return Scores(chart, list(zip(labels, counts, strict=True)))


def _means(known: Sequence[Item]) -> Chart | None:
    if not known:
        return None
    hardest = min(known, key=lambda item: item.mean)
    text = f"The hardest cell is {hardest.cell}: {hardest.mean:.0%} of its points on average."
    names, shares = [item.cell for item in known], [item.mean for item in known]
    return Chart(text, charts.rows(names, shares, "mean share of the points, %", text))


def _named(found: dict[str, list[str]]) -> list[NamedMistake]:
    sentences = {mistake.id: mistake.sentence for mistake in catalogue()}
    return [NamedMistake(name, sentences.get(name, ""), found[name]) for name in found]


def _frequencies(named: Sequence[NamedMistake], number: int) -> Chart | None:
    if not named:
        return None
    first = named[0]
    text = f"The most frequent mistake is {first.id}: {len(first.students)} of {number} students."
    names = [mistake.id for mistake in named]
    shares = [len(mistake.students) / number for mistake in named]
    return Chart(text, charts.rows(names, shares, "share of the students, %", text))


def _to_look_at(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return ``(student, text)`` for each failure and each remark."""
    found = [(r.student, r.status) for r in results if r.reason or r.not_judged]
    return found + [(result.student, remark) for result in results for remark in result.remarks]
