"""A learner's drawing as data: the lines and images in the axes, not the pixels."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.course.checks.remote import type_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

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
    bare: str = ""  #: in the same way, which axis shows no numbers, in a drawing without images
    unseen: tuple[str, ...] = ()  #: labels of lines that cannot be seen
    others: tuple[str, ...] = ()  #: labels of what is no line, such as points and bars
    hidden_images: bool = False  #: whether there are images and none can be seen


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
    seen = {line: _is_visible(line, result) for line in result.get_lines()}
    curves = tuple(_curve(line) for line, is_seen in seen.items() if is_seen)
    images = [image for image in result.get_images() if _shows_numbers(image)]
    drawing = Drawing(
        x_label=_text(result.xaxis.label),
        y_label=_text(result.yaxis.label),
        x_scale=result.get_xscale(),
        y_scale=result.get_yscale(),
        curves=curves,
        images=tuple(np.asarray(image.get_array()) for image in images),
        limits=tuple(float(end) for end in (*result.get_xlim(), *result.get_ylim())),
        extent=_extent(curves, [image.get_extent() for image in images]),
        hidden=_hidden(result),
        bare="" if images else _bare(result),
        unseen=tuple(str(line.get_label()) for line, is_seen in seen.items() if not is_seen),
        others=_other_labels(result),
        hidden_images=bool(result.get_images() and not images),
    )
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(result.figure)
    return drawing


def not_axes(got: object) -> str:
    """Say what a function that draws returned in place of its axes.

    Examples
    --------
    >>> not_axes(("fig", "ax"))
    'expected the Axes that it drew into, got a tuple of 2: return one Axes alone, `return ax`.'
    """
    told = "expected the Axes that it drew into, got"
    if isinstance(got, (list, tuple)):
        return f"{told} a {type_name(got)} of {len(got)}: return one Axes alone, `return ax`."
    return f"{told} {type_name(got)}. Is there a `return ax`?"


def find_curve(drawing: Drawing, label: str) -> Curve | str:
    """Return the curve with this label, or a message that there is none."""
    found = [curve for curve in drawing.curves if curve.label == label]
    if len(found) == 1:
        return found[0]
    if found:
        return (
            f"expected one line labelled {label!r}, found {len(found)}: call ax.plot once for it, "
            "and begin each drawing with axes of its own."
        )
    if label in drawing.unseen:
        return (
            f"the line labelled {label!r} cannot be seen: give it a style, a width and a colour "
            "that show."
        )
    if label in drawing.others:
        return (
            f"what is labelled {label!r} is no line. Points, bars and areas do not count: draw it "
            f"by ax.plot(x, y, label={label!r})."
        )
    labels = [curve.label for curve in drawing.curves if not curve.label.startswith("_")]
    seen = f"lines labelled {', '.join(map(repr, labels))}" if labels else "no line with a label"
    return (
        f"expected a line labelled {label!r}, found {seen}. "
        f"Give it this label: ax.plot(x, y, label={label!r})."
    )


def x_hint(curve: Curve, x: ArrayLike) -> str:
    """Return what to do about a curve that is not plotted against the right x.

    Examples
    --------
    >>> x_hint(Curve("raw", np.log(np.array([1.0, 8.0])), np.ones(2)), [1, 8])
    "These are logarithms. Plot the numbers; ax.set_xscale('log') makes the axis logarithmic."
    """
    got, right = np.asarray(curve.x), np.asarray(x, dtype=np.float64)
    is_log = got.shape == right.shape and np.all(right > 0)
    if is_log and any(np.allclose(got, log(right)) for log in (np.log, np.log2, np.log10)):
        return (
            "These are logarithms. Plot the numbers; ax.set_xscale('log') makes the axis "
            "logarithmic."
        )
    if got.tolist() == [0, 1]:  # in shares of the axes' width
        return "ax.axhline draws two ends. Give ax.plot a number for each x, equal ones too."
    return "Plot against the array that the function is given, as it is."


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
    """Say which axis is turned off, bare, or does not show what is drawn, or return "".

    What is drawn has to lie within the limits of an axis, and to take up a tenth of it at least.
    """
    if drawing.hidden:
        which = "both axes are" if drawing.hidden == "both" else f"its {drawing.hidden} axis is"
        return f"{which} turned off: leave the axes visible, so that numbers can be read off."
    if drawing.bare:
        which = "its axes show" if drawing.bare == "both" else f"its {drawing.bare} axis shows"
        return f"{which} no numbers: leave ticks and their labels, so that numbers can be read off."
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


def images_problem(drawing: Drawing) -> str:
    """Say that a drawing does not have one image."""
    if drawing.hidden_images:
        return (
            "its image cannot be seen: leave it visible and without alpha, and let the range of "
            "colours, vmin to vmax, contain its numbers."
        )
    found = len(drawing.images) or "none"
    return f"expected one image, found {found}: ax.imshow(...)."


def empty_problem(drawing: Drawing) -> str:
    """Say that there is no image and no line of several points, or return "" if there is one."""
    if drawing.images or any(curve.x.size > 1 for curve in drawing.curves):
        return ""
    return "expected lines or an image in its axes, found neither."


def _is_visible(line: Line2D, axes: Axes) -> bool:
    from matplotlib.colors import to_rgb

    def is_none(style: object) -> bool:
        return style in ("None", "none", " ", "", None)

    has_line = not is_none(line.get_linestyle()) and line.get_linewidth() > 0
    has_marker = not is_none(line.get_marker())
    colours = [line.get_color()] * has_line
    colours += [line.get_markerfacecolor(), line.get_markeredgecolor()] * has_marker
    behind = to_rgb(axes.get_facecolor())
    # A colour may also be "none".
    stands_out = any(not is_none(colour) and to_rgb(colour) != behind for colour in colours)
    return bool(line.get_visible() and line.get_alpha() != 0 and stands_out)


def _shows_numbers(image: AxesImage) -> bool:
    """Say whether an image can be seen, and its numbers are not all beyond its range of colours."""
    if not image.get_visible() or np.all(np.asarray(image.get_alpha()) == 0):
        return False
    numbers, (low, high) = image.get_array(), image.get_clim()
    if numbers is None or numbers.ndim != 2 or low is None or high is None or low >= high:
        return True
    numbers = np.ma.compressed(numbers)
    if not numbers.size or np.ptp(numbers) == 0:
        return True
    return not (np.all(numbers <= low) or np.all(numbers >= high))


def _other_labels(axes: Axes) -> tuple[str, ...]:
    drawn: list[Any] = [*axes.collections, *axes.containers, *axes.patches]
    return tuple(str(other.get_label()) for other in drawn)


def _text(label: Text) -> str:
    return label.get_text() if label.get_visible() else ""


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
    return _which(lambda axis: not axis.get_visible(), axes)


def _bare(axes: Axes) -> str:
    """Return which axis shows no numbers, in the same way."""
    return _which(lambda axis: not (_shows_major_label(axis) or _shows_minor_label(axis)), axes)


def _shows_major_label(axis: Axis) -> bool:
    # Of get_majorticklabels the first one is enough. That also makes all minor ticks, hundreds on
    # a logarithmic axis, for longer than the drawing took.
    texts = axis.get_major_formatter().format_ticks([*axis.get_majorticklocs()])
    for place, text in enumerate(texts):
        if text is not None and str(text).strip():
            tick = axis.get_major_ticks(place + 1)[place]
            if tick.label1.get_visible() or tick.label2.get_visible():
                return True
    return False


def _shows_minor_label(axis: Axis) -> bool:
    return any(label.get_text().strip() for label in axis.get_minorticklabels())


def _which(holds: Callable[[Axis], bool], axes: Axes) -> str:
    found = [name for name in "xy" if holds(getattr(axes, f"{name}axis"))]
    return "both" if len(found) == 2 else "".join(found)


def _curve(line: Line2D) -> Curve:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data())
    order = np.argsort(x, kind="stable")
    return Curve(str(line.get_label()), x[order], y[order])
