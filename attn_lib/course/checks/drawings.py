"""A learner's drawing as data: the lines and images in the axes, not the pixels."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.lines import Line2D


@dataclass(frozen=True)
class Curve:
    """One line in the axes."""

    label: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]


@dataclass(frozen=True)
class Drawing:
    """The contents of one pair of axes."""

    x_label: str
    y_label: str
    x_scale: str
    y_scale: str
    curves: tuple[Curve, ...]
    images: tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class Line:
    """A line that a drawing has to contain: the results of a target, plotted against x.

    Examples
    --------
    >>> line = Line([1, 4], target="score_sd", args=[(1,), (4,)])
    >>> line.args[1]
    (4,)
    """

    x: ArrayLike  #: shape (n,)
    target: str  #: the key in `attn_lib.course.targets.TARGETS` of the function that gives y
    args: Sequence[tuple[Any, ...]]  #: the arguments of the target, one tuple for each x


def as_drawing(result: object) -> object:
    """Return an Axes, or a Figure with one Axes, as a `Drawing`; anything else unchanged."""
    if "matplotlib" not in sys.modules:  # then it is neither, and need not be imported
        return result
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if isinstance(result, Figure) and len(result.axes) == 1:
        (result,) = result.axes
    if not isinstance(result, Axes):
        return result
    drawing = Drawing(
        x_label=result.get_xlabel(),
        y_label=result.get_ylabel(),
        x_scale=result.get_xscale(),
        y_scale=result.get_yscale(),
        curves=tuple(_curve(line) for line in result.get_lines()),
        images=tuple(np.asarray(image.get_array()) for image in result.get_images()),
    )
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(result.figure)
    return drawing


def find_curve(drawing: Drawing, label: str) -> Curve | str:
    """Return the curve with this label, or a message that there is none."""
    for curve in drawing.curves:
        if curve.label == label:
            return curve
    labels = [curve.label for curve in drawing.curves if not curve.label.startswith("_")]
    found = f"lines labelled {', '.join(map(repr, labels))}" if labels else "no line with a label"
    return (
        f"expected a line labelled {label!r}, found {found}. "
        f"Give it this label: ax.plot(x, y, label={label!r})."
    )


def scale_problem(drawing: Drawing, logarithmic: str) -> str:
    """Say which axis does not have the required scale, or return "" if both have it.

    Parameters
    ----------
    drawing : Drawing
    logarithmic : str
        The axes that have to be logarithmic: "", "x", "y" or "xy".
    """
    for axis, scale in (("x", drawing.x_scale), ("y", drawing.y_scale)):
        wanted = "log" if axis in logarithmic else "linear"
        if scale != wanted:
            return f'expected a {wanted} {axis} axis, got {scale}: ax.set_{axis}scale("{wanted}").'
    return ""


def label_problem(drawing: Drawing, words: Mapping[str, str]) -> str:
    """Say which axis does not have the required label, or return "" if both have it.

    Parameters
    ----------
    drawing : Drawing
    words : mapping
        What the label of an axis has to contain, by "x" and "y"; case does not matter. Without
        an entry, an axis may have any label.
    """
    for axis, label in (("x", drawing.x_label), ("y", drawing.y_label)):
        word = words.get(axis, "")
        if not label.strip():
            shown = repr(word) if word else "..."
            return f"its {axis} axis has no label: ax.set_{axis}label({shown})."
        if word.casefold() not in label.casefold():
            return (
                f"expected {word!r} in the label of the {axis} axis, got {label!r}: "
                f"ax.set_{axis}label({word!r})."
            )
    return ""


def empty_problem(drawing: Drawing) -> str:
    """Say that there is no image and no line of several points, or return "" if there is one."""
    if drawing.images or any(curve.x.size > 1 for curve in drawing.curves):
        return ""
    return "expected lines or an image in its axes, found neither."


def _curve(line: Line2D) -> Curve:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data())
    order = np.argsort(x, kind="stable")
    return Curve(str(line.get_label()), x[order], y[order])
