"""The common style of all figures of the course."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: One colour for each role, from the Okabe-Ito palette, which colour-blind readers can tell apart.
QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#007A5A"
OUTPUT = "#8F4A80"
INK = "#1F2430"
MUTED = "#5F6673"
FACE = "#FFFFFF"

#: Width of a drawn and displayed figure, in inches of 96 CSS pixels. It is narrow, so that
#: letters are still readable when a phone shrinks the figure.
WIDTH = 5.2

#: From low to high without grey in between; white or dark digits are readable on every colour.
SCORE_COLOURS = "PuOr_r"
WEIGHT_COLOURS = "Blues"

_RC: dict[Any, Any] = {
    "axes.edgecolor": MUTED,
    "axes.facecolor": FACE,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "figure.facecolor": FACE,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.facecolor": FACE,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}

# √64, or a letter with an index, such as d_k or √d_model. A name such as attn_lib is no symbol.
_SYMBOL = re.compile(r"√(\d+)|(√?)\b([A-Za-z])_([A-Za-z]+)\b")


@contextmanager
def course_style() -> Iterator[None]:
    """Draw everything inside the ``with`` block in the course's style.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> with course_style():
    ...     axes = Figure().add_subplot()
    >>> axes.spines["top"].get_visible()
    False
    """
    import matplotlib as mpl

    with mpl.rc_context(_RC):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure of the course's width; call it inside `course_style`.

    Parameters
    ----------
    height, width : float
        In inches of 96 CSS pixels, positive.

    Raises
    ------
    ValueError
        If a size is not positive.

    Examples
    --------
    >>> with course_style():
    ...     new_figure(height=2.0).get_size_inches().tolist()
    [5.2, 2.0]
    """
    from matplotlib.figure import Figure

    if height <= 0 or width <= 0:
        raise ValueError(f"new_figure: expected positive inches, got {width} × {height}.")
    # Figure in place of pyplot: no global state, nothing to close, no backend to choose.
    return Figure(figsize=(width, height), layout="constrained")


def bare(axes: Axes) -> Axes:
    """Remove ticks and frame from `axes`, for diagrams that have no scale.

    Parameters
    ----------
    axes : matplotlib.axes.Axes

    Returns
    -------
    Axes
        The same.

    Examples
    --------
    >>> axes = bare(new_figure(height=2.0).add_subplot())
    >>> axes.get_xticks().tolist(), axes.spines["left"].get_visible()
    ([], False)
    """
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return axes


def with_symbols(text: str) -> str:
    r"""Return a label with its symbols as formulas, as Matplotlib sets them.

    Parameters
    ----------
    text : str
        A text in which symbols are written as in code, such as √d_k. One that has a formula already
        stays as it is.

    Examples
    --------
    >>> print(with_symbols("score ÷ √d_k"))
    score ÷ $\sqrt{d_k}$
    >>> print(with_symbols("attn_lib: √64 for d_model"))
    attn_lib: $\sqrt{64}$ for $d_\mathrm{model}$
    """

    def formula(symbol: re.Match[str]) -> str:
        number, root, letter, index = symbol.groups()
        inner = number or f"{letter}_" + (index if len(index) == 1 else rf"\mathrm{{{index}}}")
        return rf"$\sqrt{{{inner}}}$" if number or root else f"${inner}$"

    return text if "$" in text else _SYMBOL.sub(formula, text)


def set_symbols(figure: Figure) -> None:
    """Set the symbols in all labels of a figure as formulas, those at ticks included."""
    from matplotlib.text import Text

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        # Labels at ticks are written anew whenever they are drawn.
        labels = [label.get_text() for label in axis.get_ticklabels()]
        written = [with_symbols(label) for label in labels]
        if written != labels:
            axis.set_ticks(axis.get_majorticklocs(), labels=written)
    for label in figure.findobj(Text):
        label.set_text(with_symbols(label.get_text()))
