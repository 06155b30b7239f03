"""The instructor's report: one page of HTML on how a class did, that needs no other file."""

from __future__ import annotations

import html
import statistics
from collections.abc import Sequence
from pathlib import Path

from attn_lib.course.mistakes import catalogue
from grader.course import graded_cells
from grader.files import write_whole
from grader.reporting import charts
from grader.reporting.item_analysis import Item, PartCount, items, mistakes, parts
from grader.reporting.results import Result
from grader.reporting.summary import figures, sentence

BARS = 10

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
/* Below this width a figure scrolls: shrunk further, its texts could not be read. */
svg { max-width: 100%; min-width: 38rem; height: auto; }
"""


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
    sections = [
        f"<h1>{html.escape(assignment)}: how the class did</h1>",
        f"<p>{html.escape(sentence(figures(results)))}</p>",
        *([f"<p>{html.escape(deadline)}</p>"] if deadline else []),
        *(_scores(graded) if graded else []),
        *(_items(items(graded, cells)) if graded else []),
        *(_parts(counts) if counts else []),
        *_mistakes(mistakes(graded), len(graded)),
        *_to_look_at(results),
    ]
    title = html.escape(f"{assignment}: report")
    page = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    write_whole(path, page + "\n".join(sections) + "\n</main>\n</body>\n</html>\n")


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


def _scores(graded: Sequence[Result]) -> list[str]:
    scores = [result.score for result in graded if result.score is not None]
    most = max(result.points for result in graded if result.points is not None)
    labels, counts = histogram(scores, most)
    told = (
        f"Scores of {len(scores)} students: from {min(scores):g} to {max(scores):g} of {most:g} "
        f"points, median {statistics.median(scores):g}, mean {statistics.mean(scores):.2f}."
    )
    rows = [[label, str(count)] for label, count in zip(labels, counts, strict=True)]
    return [
        "<h2>Scores</h2>",
        f"<p>{told} What waits to be read is not in them.</p>",
        _wide(charts.columns(labels, counts, "points", told)),
        _details("The same as a table", _table(["points", "students"], rows, "1")),
    ]


def _items(found: Sequence[Item]) -> list[str]:
    rows = [
        [
            item.cell,
            f"{item.points:g}",
            f"{item.mean:.0%}" if item.tells else "",
            str(item.full),
            str(item.none),
            str(item.number),
            str(item.waiting),
            f"{item.discrimination:.2f}" if item.tells and item.discrimination is not None else "",
        ]
        for item in found
    ]
    told = (
        "Discrimination is the correlation of a cell's score with the score in all others: near 0, "
        "the cell does not tell who knows the rest. Answers that wait to be read are in no other "
        "column; where they are half or more, mean and discrimination are empty."
    )
    counts = ["all points", "no point", "students", "to read"]
    return [
        "<h2>Cells</h2>",
        *_means([item for item in found if item.tells]),
        f"<p>{told}</p>",
        _table(["cell", "points", "mean", *counts, "discrimination"], rows, "1234567"),
    ]


def _means(known: Sequence[Item]) -> list[str]:
    if not known:
        return []
    hardest = min(known, key=lambda item: item.mean)
    told = f"The hardest cell is {hardest.cell}: {hardest.mean:.0%} of its points on average."
    return [
        f"<p>{html.escape(told)}</p>",
        _wide(
            charts.rows(
                [item.cell for item in known],
                [item.mean for item in known],
                "mean share of the points, %",
                told,
            )
        ),
    ]


def _parts(counts: Sequence[PartCount]) -> list[str]:
    rows = [
        [
            part.cell,
            part.title,
            str(part.passed),
            str(part.number),
            f"{part.passed / part.number:.0%}",
        ]
        for part in counts
    ]
    return [
        "<h2>Parts of the tests</h2>",
        _table(["cell", "part", "passed", "of", "share"], rows, "234"),
    ]


def _mistakes(found: dict[str, list[str]], number: int) -> list[str]:
    if not found:
        return ["<h2>Mistakes</h2>", "<p>The tests named no catalogued mistake.</p>"]
    sentences = {mistake.id: mistake.sentence for mistake in catalogue()}
    first, students = next(iter(found.items()))
    told = f"The most frequent mistake is {first}: {len(students)} of {number} students."
    rows = [
        [mistake, sentences.get(mistake, ""), str(len(students)), ", ".join(students)]
        for mistake, students in found.items()
    ]
    return [
        "<h2>Mistakes</h2>",
        f"<p>{html.escape(told)}</p>",
        _wide(
            charts.rows(
                list(found),
                [len(students) / number for students in found.values()],
                "share of the students, %",
                told,
            )
        ),
        _table(["mistake", "what it is", "students", "who"], rows, "2"),
    ]


def _to_look_at(results: Sequence[Result]) -> list[str]:
    rows = [[result.student, result.status] for result in results if result.problem]
    rows += [[result.student, remark] for result in results for remark in result.remarks]
    if not rows:
        return []
    return ["<h2>To look at</h2>", _table(["student", "what"], rows, "")]


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: str) -> str:
    """Return a table; `numbers` has the positions of the columns that hold numbers."""

    def line(cells: Sequence[str], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        kinds = [' class="n"' if str(place) in numbers else "" for place in range(len(cells))]
        return "".join(
            f"<{tag}{scope}{kind}>{html.escape(cell)}</{tag}>"
            for cell, kind in zip(cells, kinds, strict=True)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    head = f"<thead><tr>{line(headings, 'th')}</tr></thead>"
    return _wide(f"<table>{head}<tbody>{body}</tbody></table>")


def _wide(content: str) -> str:
    """Return what scrolls in itself where the page is narrower."""
    return f'<div class="wide" tabindex="0">{content}</div>'
