"""What a learner drew, as data: the lines and images in the axes, not their pixels."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Curve:
    """One line in the axes."""

    label: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]


@dataclass(frozen=True)
class Drawing:
    """What stands in one pair of axes."""

    x_label: str
    y_label: str
    x_scale: str
    y_scale: str
    curves: tuple[Curve, ...]
    images: tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class Line:
    """A line that a drawing has to hold: a target against x.

    Examples
    --------
    >>> line = Line([1, 4], target="score_sd", args=[(1,), (4,)])
    >>> line.args[1]
    (4,)
    """

    x: ArrayLike  #: shape (n,)
    target: str  #: the key in `attn_lib.course.targets.TARGETS` of the function that gives y
    args: Sequence[tuple[Any, ...]]  #: its arguments for each x


def as_drawing(result: Any) -> Any:
    """Return matplotlib's Axes, or a Figure with one, as a `Drawing`; all else as it is."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None:  # then this is nothing of matplotlib's
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
    """Return the curve of this label, or say in words that there is none."""
    for curve in drawing.curves:
        if curve.label == label:
            return curve
    labels = [curve.label for curve in drawing.curves if not curve.label.startswith("_")]
    found = f"lines labelled {', '.join(map(repr, labels))}" if labels else "no line with a label"
    return (
        f"expected a line labelled {label!r}, found {found}. "
        f"Give it its name: ax.plot(x, y, label={label!r})."
    )


def scale_problem(drawing: Drawing, logarithmic: str) -> str:
    """Say which axis does not have the scale asked for; "" if both do.

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
    """Say which axis is not labelled as asked for; "" if both are.

    Parameters
    ----------
    drawing : Drawing
    words : mapping
        By "x" and "y" what the label of that axis has to contain, in capitals or not. Any
        label contains "".
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
    """Say that nothing is drawn, no image and no line of several points; "" if something is."""
    if drawing.images or any(len(curve.x) > 1 for curve in drawing.curves):
        return ""
    return "expected lines or an image in its axes, found neither."


def _curve(line: Any) -> Curve:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data())
    order = np.argsort(x, kind="stable")
    return Curve(str(line.get_label()), x[order], y[order])
