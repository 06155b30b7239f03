"""The instructor's report: one page of HTML on how a class did, that needs no other file.

This computes what is shown; ``templates/report/report.html.j2`` is the page.
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
from grader.files import write_whole
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
    """How the scores of a class lie."""

    chart: Chart
    ranges: Sequence[tuple[str, int]]  #: of points, and how many students are in each


@dataclass(frozen=True)
class NamedMistake:
    """A mistake of the catalogue, and the students whose tests named it."""

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
        Of the whole class.
    path : Path
        The page.
    deadline : str
        What is said of the deadline.
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
        means=_means([item for item in analysis if item.tells]),
        parts=counts,
        mistakes=named,
        frequencies=_frequencies(named, len(graded)),
        to_look_at=_to_look_at(results),
    )
    write_whole(path, page)


def histogram(scores: Sequence[float], most: float) -> tuple[list[str], list[int]]:
    """Return `BARS` ranges of points, the last with its end, and how many scores are in each.

    Examples
    --------
    >>> histogram([0, 0.5, 19, 20], 20)[1]
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    """
    width = most / BARS if most else 1.0
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
    most = max(result.points for result in graded if result.points is not None)
    labels, counts = histogram(scores, most)
    told = (
        f"Scores of {len(scores)} students: from {min(scores):g} to {max(scores):g} of {most:g} "
        f"points, median {statistics.median(scores):g}, mean {statistics.mean(scores):.2f}."
    )
    chart = Chart(told, charts.columns(labels, counts, "points", told))
    return Scores(chart, list(zip(labels, counts, strict=True)))


def _means(known: Sequence[Item]) -> Chart | None:
    if not known:
        return None
    hardest = min(known, key=lambda item: item.mean)
    told = f"The hardest cell is {hardest.cell}: {hardest.mean:.0%} of its points on average."
    names, shares = [item.cell for item in known], [item.mean for item in known]
    return Chart(told, charts.rows(names, shares, "mean share of the points, %", told))


def _named(found: dict[str, list[str]]) -> list[NamedMistake]:
    sentences = {mistake.id: mistake.sentence for mistake in catalogue()}
    return [NamedMistake(name, sentences.get(name, ""), found[name]) for name in found]


def _frequencies(named: Sequence[NamedMistake], number: int) -> Chart | None:
    if not named:
        return None
    first = named[0]
    told = f"The most frequent mistake is {first.id}: {len(first.students)} of {number} students."
    names = [mistake.id for mistake in named]
    shares = [len(mistake.students) / number for mistake in named]
    return Chart(told, charts.rows(names, shares, "share of the students, %", told))


def _to_look_at(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return what somebody has to look at, each with the student."""
    found = [(result.student, result.status) for result in results if result.reason]
    return found + [(result.student, remark) for result in results for remark in result.remarks]
