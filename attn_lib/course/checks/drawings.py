"""A learner's drawing as data: the lines and images in the axes, not the pixels."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Share of an axis by which what is drawn may lie outside, and that it has to take up.
_OUTSIDE, _FILLED = 0.01, 0.1


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
    curves: tuple[Curve, ...]  #: those that can be seen
    images: tuple[NDArray[Any], ...]  #: those that can be seen
    limits: tuple[float, ...] = ()  #: of the x axis, then of the y axis
    extent: tuple[float, ...] = ()  #: of what is drawn: smallest and largest x, then y
    hidden: str = ""  #: which axis cannot be seen, if one cannot: "x", "y" or "both"


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


@dataclass(frozen=True)
class Image:
    """An image that a drawing has to contain: the result of a target.

    Examples
    --------
    >>> Image(target="softmax", args=([[1.0, 5.0]],)).target
    'softmax'
    """

    target: str  #: the key in `attn_lib.course.targets.TARGETS` of the function that gives it
    args: Sequence[Any]  #: the arguments of the target


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
    curves = tuple(_curve(line) for line in result.get_lines() if _is_visible(line))
    images = [image for image in result.get_images() if image.get_visible()]
    drawing = Drawing(
        x_label=result.get_xlabel(),
        y_label=result.get_ylabel(),
        x_scale=result.get_xscale(),
        y_scale=result.get_yscale(),
        curves=curves,
        images=tuple(np.asarray(image.get_array()) for image in images),
        limits=tuple(float(end) for end in (*result.get_xlim(), *result.get_ylim())),
        extent=_extent(curves, [image.get_extent() for image in images]),
        hidden=_hidden(result),
    )
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(result.figure)
    return drawing


def find_curve(drawing: Drawing, label: str) -> Curve | str:
    """Return the curve with this label, or a message that there is none."""
    found = [curve for curve in drawing.curves if curve.label == label]
    if len(found) == 1:
        return found[0]
    if found:
        return (
            f"expected one line labelled {label!r}, found {len(found)}: call ax.plot once for it."
        )
    labels = [curve.label for curve in drawing.curves if not curve.label.startswith("_")]
    seen = f"lines labelled {', '.join(map(repr, labels))}" if labels else "no line with a label"
    return (
        f"expected a line labelled {label!r}, found {seen}. "
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
    labels = {"x": drawing.x_label, "y": drawing.y_label}
    if len(words) == 2 and all(
        words[other].casefold() in labels[axis].casefold()
        and words[axis].casefold() not in labels[axis].casefold()
        for axis, other in (("x", "y"), ("y", "x"))
    ):
        return f"the labels of its two axes are swapped: {words['x']!r} belongs to the x axis."
    for axis, label in labels.items():
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


def visible_problem(drawing: Drawing) -> str:
    """Say which axis is turned off or does not show what is drawn, or return "" if both do.

    What is drawn has to lie within the limits of an axis, and to take up a tenth of it at least.
    """
    if drawing.hidden:
        which = "both axes are" if drawing.hidden == "both" else f"its {drawing.hidden} axis is"
        return f"{which} turned off: leave the axes visible, so that numbers can be read off."
    for i, (axis, scale) in enumerate((("x", drawing.x_scale), ("y", drawing.y_scale))):
        ends = sorted(drawing.limits[2 * i : 2 * i + 2])
        drawn = list(drawing.extent[2 * i : 2 * i + 2])
        if len(ends) != 2 or len(drawn) != 2:
            continue
        shown = f"its {axis} axis goes from {ends[0]:.4g} to {ends[1]:.4g}"
        told = f"{shown}, what is drawn from {drawn[0]:.4g} to {drawn[1]:.4g}"
        if scale == "log":
            if drawn[0] <= 0 or ends[0] <= 0:
                continue  # no limits show such numbers; the line that has them is wrong
            ends, drawn = [[math.log(end) for end in pair] for pair in (ends, drawn)]
        length, part = ends[1] - ends[0], drawn[1] - drawn[0]
        outside = max(ends[0] - drawn[0], drawn[1] - ends[1])
        if outside > _OUTSIDE * length or 0 < part < _FILLED * length:
            return f"{told}: choose limits that show it, or leave them to matplotlib."
    return ""


def empty_problem(drawing: Drawing) -> str:
    """Say that there is no image and no line of several points, or return "" if there is one."""
    if drawing.images or any(curve.x.size > 1 for curve in drawing.curves):
        return ""
    return "expected lines or an image in its axes, found neither."


def _is_visible(line: Line2D) -> bool:
    def is_none(style: object) -> bool:
        return style in ("None", "none", " ", "", None)

    has_line = not is_none(line.get_linestyle()) and line.get_linewidth() > 0
    has_ink = line.get_alpha() != 0 and (has_line or not is_none(line.get_marker()))
    return bool(line.get_visible() and has_ink)


def _extent(
    curves: Sequence[Curve], boxes: Sequence[tuple[float, float, float, float]]
) -> tuple[float, ...]:
    """Return the smallest and largest x and y of labelled curves and of the boxes of images."""
    ends: list[float] = []
    for i, numbers in enumerate(("x", "y")):
        parts = [getattr(curve, numbers) for curve in curves if not curve.label.startswith("_")]
        parts += [np.asarray(box[2 * i : 2 * i + 2]) for box in boxes]
        drawn = np.concatenate([np.ravel(part) for part in parts]) if parts else np.zeros(0)
        drawn = drawn[np.isfinite(drawn)]
        if not drawn.size:
            return ()
        ends += [float(drawn.min()), float(drawn.max())]
    return tuple(ends)


def _hidden(axes: Axes) -> str:
    """Return which axis cannot be seen: "x", "y" or "both", or "" if both can."""
    if not (axes.get_visible() and axes.axison):
        return "both"
    off = [name for name in "xy" if not getattr(axes, f"{name}axis").get_visible()]
    return "both" if len(off) == 2 else "".join(off)


def _curve(line: Line2D) -> Curve:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data())
    order = np.argsort(x, kind="stable")
    return Curve(str(line.get_label()), x[order], y[order])
