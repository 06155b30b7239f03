"""Bar charts as inline SVG, each with a sentence for readers who cannot see it."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

COLOUR = "#0072b2"

#: Keep text as text, in the font of the page, and make the same bytes from the same numbers.
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "report", "font.size": 11}


def columns(labels: Sequence[str], numbers: Sequence[int], axis: str, sentence: str) -> Markup:
    """Return a chart with vertical bars: the number of students for each label.

    Parameters
    ----------
    labels : sequence of str
        One for each bar.
    numbers : sequence of int
        The number of students for each label.
    axis : str
        The label of the horizontal axis.
    sentence : str
        What the chart shows, for readers who cannot see it.
    """
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.5, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(range(len(labels)), numbers, width=0.9, color=COLOUR)
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlabel(axis)
        axes.set_ylabel("students")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        return _svg(figure, sentence)


def rows(labels: Sequence[str], shares: Sequence[float], axis: str, sentence: str) -> Markup:
    """Return a chart with horizontal bars, the first on top: a percentage for each label.

    Parameters
    ----------
    labels : sequence of str
        One for each bar.
    shares : sequence of float
        A share from 0 to 1 for each label.
    axis : str
        The label of the horizontal axis.
    sentence : str
        What the chart shows, for readers who cannot see it.
    """
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.5, 0.9 + 0.32 * len(labels)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(range(len(labels)), [100 * share for share in shares], color=COLOUR)
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel(axis)
        return _svg(figure, sentence)


def _svg(figure: Figure, sentence: str) -> Markup:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = re.sub(r"(?s)^.*?(?=<svg)|<metadata>.*?</metadata>", "", file.getvalue())
    label = html.escape(sentence, quote=True)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))
