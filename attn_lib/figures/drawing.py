"""Helpers for the figures of several chapters: arrows, boxes, labelled bars, number texts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.figures import style
from attn_lib.figures.style import bare, course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

#: Colours of scores that were divided by nothing, √d_k or d_k.
UNSCALED, SCALED, OVERSCALED = style.KEY, style.QUERY, style.OUTPUT
#: Draw a curve without antialiasing, which would double the file size; the high resolution hides
#: it.
CURVE: dict[str, Any] = {"antialiased": False}


def on_circle(angles: Sequence[float], radius: float) -> NDArray[np.float64]:
    """Return the points at these angles, in degrees, on a circle about the origin, (n, 2)."""
    radians = np.deg2rad(np.asarray(angles, dtype=float))
    # Rounded so that 90° is exactly orthogonal, not 1e-16 away.
    return np.stack([np.cos(radians), np.sin(radians)], axis=-1).round(12) * radius


def plane(axes: Axes, reach: float) -> None:
    """Turn `axes` into a plane without ticks, from −reach to reach in both directions."""
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    bare(axes)
    axes.axhline(0, color=style.MUTED, lw=0.6)
    axes.axvline(0, color=style.MUTED, lw=0.6)


def arrow(axes: Axes, tip: NDArray[np.floating], colour: str, width: float = 2.0) -> None:
    """Draw an arrow from the origin to `tip`, (2,)."""
    axes.annotate(
        "",
        (tip[0], tip[1]),
        xytext=(0, 0),
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0},
    )


def colour_key(axes: Axes, **colours: str) -> None:
    """Add a colour legend in a corner, where no moving arrow covers it."""
    for i, (name, colour) in enumerate(colours.items()):
        axes.annotate(
            name,
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, -16 * i - 4),
            textcoords="offset points",
            va="top",
            color=colour,
        )


def label(axes: Axes, text: str, tip: NDArray[np.floating], colour: str) -> None:
    """Write `text` just beyond the tip of an arrow from the origin."""
    x, y = tip / np.linalg.norm(tip)
    axes.annotate(
        text,
        (tip[0], tip[1]),
        xytext=(9 * x, 11 * y),
        textcoords="offset points",
        ha="left" if x > 0.4 else "right" if x < -0.4 else "center",
        va="bottom" if y > 0.4 else "top" if y < -0.4 else "center",
        color=colour,
        bbox={"facecolor": style.FACE, "edgecolor": "none", "pad": 1},
    )


def end_label(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Label a line at its right end, so that it needs no legend."""
    axes.annotate(
        text,
        (x, y),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=10.5,
        annotation_clip=False,
    )


def flow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a thin arrow between two parts of a diagram."""
    axes.annotate(
        "", end, xytext=start, arrowprops={"arrowstyle": "->", "color": style.MUTED, "lw": 1.4}
    )


def box(
    axes: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    name: str,
    shape: str,
    colour: str,
    *,
    stacked: bool = False,
) -> None:
    """Draw a rounded box with the name and the shape of an array, in a low box on one line.

    If `stacked`, they are on two lines in a low box too.
    """
    from matplotlib.patches import FancyBboxPatch

    (x, y), (width, height) = corner, size
    axes.add_patch(
        FancyBboxPatch(
            corner,
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=colour,
            alpha=0.13,
            edgecolor="none",
        )
    )
    axes.add_patch(
        FancyBboxPatch(
            corner,
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor="none",
            edgecolor=colour,
            lw=1.4,
        )
    )
    axes.text(
        x + width / 2,
        y + height / 2,
        f"{name}\n{shape}" if stacked or height > width / 2 else f"{name}  {shape}",
        ha="center",
        va="center",
        fontsize=10,
    )


def flow_chart(
    columns: Sequence[tuple[str, str, Sequence[tuple[str, str]]]], steps: Sequence[str]
) -> Figure:
    """Return a figure of boxes from top to bottom, one column for each case.

    Parameters
    ----------
    columns : sequence of (title, colour, boxes)
        Each box is a name and what it contains; there is one box more than steps.
    steps : sequence of str
        What leads from each box to the next, written beside the arrows.
    """
    width, height, pitch = 3.25, 1.0, 1.65
    with course_style():
        figure = new_figure(height=0.72 * (len(steps) + 1) + 0.45)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(-len(steps) * pitch - 0.1, 1.65)
        for i, (title, colour, boxes) in enumerate(columns):
            left = 0.05 + i * (width + 0.2)
            middle = left + width / 2
            axes.text(middle, 1.3, title, ha="center", va="center", color=colour, weight="bold")
            for j, (name, content) in enumerate(boxes):
                box(axes, (left, -j * pitch), (width, height), name, content, colour, stacked=True)
                if j < len(steps):
                    flow(axes, (middle, -j * pitch - 0.04), (middle, height - (j + 1) * pitch))
        for j, step in enumerate(steps):
            beside = len(columns) * (width + 0.2) + 0.1
            axes.text(beside, (height - pitch) / 2 - j * pitch, step, va="center", fontsize=10)
    return figure


def frame_patch(corner: tuple[float, float], width: float, height: float) -> Rectangle:
    """Return an empty frame to mark a row or a cell; `corner` is its lower left corner."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, fill=False, edgecolor=style.QUERY, lw=2.5)


def labelled_bars(
    axes: Axes, numbers: NDArray[np.floating], names: Sequence[str], colour: str
) -> None:
    """Draw a horizontal bar for each number, (n,), with its name and the number next to it."""
    positions = range(len(numbers))
    axes.barh(positions, numbers, color=colour, height=0.62)
    axes.set_yticks(positions, names)
    axes.invert_yaxis()
    axes.axvline(0, color=style.MUTED, lw=0.8)
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    span = high - low or 1.0
    axes.set_xlim(low - 0.05 * span, high + 0.5 * span)
    share = low == 0 and high <= 1
    for i, number in enumerate(numbers):
        # To the right of zero even for a negative bar, because the names are on the left.
        axes.annotate(
            number_text(number, share=share),
            (max(number, 0), i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=10.5,
        )


def counted(n: int) -> tuple[list[int], list[str]]:
    """Return the ticks of `n` positions, and their numbers, counted from 1."""
    return list(range(n)), [str(i + 1) for i in range(n)]


def decimal_text(number: float, digits: int = 2) -> str:
    """Return a number with this many decimals, or NaN or −∞."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "−∞"
    # Adding 0.0 turns −0.0 into 0.0, so that no minus sign is shown.
    return f"{round(float(number), digits) + 0.0:.{digits}f}".replace("-", "−")


def decimals_text(numbers: NDArray[np.floating]) -> str:
    """Return numbers, (n,), with two decimals, separated by commas."""
    return ", ".join(map(decimal_text, numbers))


def power_text(exponent: int) -> str:
    """Return a power of ten in Unicode: typesetting a formula takes longer than a whole figure."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def heads_text(heads: int) -> str:
    """Return "1 head" or "8 heads"."""
    return "1 head" if heads == 1 else f"{heads} heads"


def bytes_text(size: int) -> str:
    """Return a number of bytes in the largest unit in which it is at least 1."""
    power = max(0, min((size.bit_length() - 1) // 10, 4))
    return f"{size / 2 ** (10 * power):g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def percent_text(share: float) -> str:
    """Return a fraction as a percentage, with three digits."""
    return f"{100 * share:.3g} %"


def rate_text(rate: float) -> str:
    """Return a learning rate as a whole number or as a unit fraction: 8, 1/64."""
    return str(Fraction(rate).limit_denominator(10_000))


def number_text(number: float, *, share: bool = False) -> str:
    """Return a whole number unchanged, others with three decimals; no share rounds to 0 or 1."""
    if number == round(number):
        text = f"{number:.0f}"
    elif share and number < 0.0005:
        text = "<0.001"
    elif share and number > 0.9995:
        text = ">0.999"
    else:
        text = f"{number:.3f}"
    return text.replace("-", "−")


def small_text(number: float) -> str:
    """Return a number of at least 0 with three digits, never in exponent notation."""
    if number >= 0.1:
        return number_text(number, share=number < 1)
    if 0 < number < 1e-6:
        return "<0.000001"
    return np.format_float_positional(number, precision=3, fractional=False, trim="-")


def row_text(row: NDArray[np.floating], *, share: bool = False) -> str:
    """Return numbers, (n,), formatted by `number_text` and separated by commas."""
    return ", ".join(number_text(x, share=share) for x in row)
