"""Read the numbers and texts in the axes of a figure."""

from __future__ import annotations

import numpy as np


def bar_widths(axes):
    return [bar.get_width() for bar in axes.patches]


def words(axes):
    return [text.get_text() for text in axes.texts]


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def line(axes, index=-1):
    return np.asarray(axes.lines[index].get_data(), dtype=float)
