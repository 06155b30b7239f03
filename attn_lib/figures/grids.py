"""Masks, scores and weights drawn as grids: a row for each query, a column for each key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.figures import style
from attn_lib.figures.drawing import counted, decimal_text
from attn_lib.figures.style import course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HATCH: dict[str, Any] = {
    "facecolor": "none",
    "hatch": "///",
    "edgecolor": "#B9BEC7",
    "linewidth": 0,
}


def panels_height(shape: tuple[int, ...], panels: int) -> float:
    """Return the figure height at which grids of square cells, side by side, fill the width."""
    n_q, n_k = shape
    return 0.7 + n_q * (style.WIDTH - 0.55) / panels / n_k


def mask_panels(masks: Mapping[str, NDArray[np.bool_]]) -> Figure:
    """Return a figure with a panel for each mask, (n_q, n_k), with its name as the title."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    shape = next(iter(masks.values())).shape
    with course_style():
        figure = new_figure(height=min(3.8, panels_height(shape, len(masks)) + 0.4))
        panels = figure.subplots(1, len(masks))
        for axes, (title, mask) in zip(panels, masks.items(), strict=True):
            axes.imshow(mask, cmap=ListedColormap([style.FACE, style.QUERY]), vmin=0, vmax=1)
            _grid(axes, mask.shape, title)
            hatch(axes, ~mask)
        meanings = [Patch(fc=style.QUERY, label="may attend"), Patch(label="hidden", **_HATCH)]
        figure.legend(handles=meanings, loc="outside lower center", ncols=2, fontsize=10)
    return figure


def score_grid(axes: Axes, scores: NDArray[np.floating], title: str) -> None:
    """Draw scores, (n_q, n_k), as numbers; −∞ is hatched."""
    finite = np.where(np.isfinite(scores), scores, 0)
    reach = 2.2 * max(np.abs(finite).max(), 1)  # pale enough for dark digits
    axes.imshow(finite, cmap=style.SCORE_COLOURS, vmin=-reach, vmax=reach)
    _grid(axes, scores.shape, title)
    hatch(axes, ~np.isfinite(scores))
    for (i, j), score in np.ndenumerate(scores):
        write_in_cell(axes, i, j, decimal_text(score, 1))


def weight_grid(
    axes: Axes, weights: NDArray[np.floating], title: str, hidden: NDArray[np.bool_]
) -> None:
    """Draw weights as numbers; cells that have to be hidden are hatched.

    A 0 in a hidden cell is not written, so that any other weight there stands out.
    """
    axes.imshow(
        np.where(np.isfinite(weights), weights, 0), cmap=style.WEIGHT_COLOURS, vmin=0, vmax=1
    )
    _grid(axes, weights.shape, title)
    hatch(axes, hidden)
    for i, j in np.argwhere((weights != 0) | ~hidden):
        colour = "white" if weights[i, j] > 0.55 else style.INK
        write_in_cell(axes, i, j, decimal_text(weights[i, j]), colour)


def _grid(axes: Axes, shape: tuple[int, ...], title: str) -> None:
    n_q, n_k = shape
    # Panels side by side have the same queries: labelling them once leaves room for the cells.
    place = axes.get_subplotspec()
    named = place is None or place.is_first_col()
    axes.set_yticks(*(counted(n_q) if named else ([], [])), fontsize=9)
    axes.set_xticks(*counted(n_k), fontsize=9)
    lines: dict[str, Any] = {"color": style.MUTED, "lw": 0.6, "clip_on": False}
    axes.hlines(np.arange(n_q + 1) - 0.5, -0.5, n_k - 0.5, **lines)
    axes.vlines(np.arange(n_k + 1) - 0.5, -0.5, n_q - 0.5, **lines)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("key")
    axes.set_ylabel("query" if named else "")
    axes.set_title(title, loc="left")


def write_in_cell(axes: Axes, i: int, j: int, text: str, colour: str = style.INK) -> None:
    """Write a text into the cell of a grid."""
    # Leave the numbers out of the layout: measuring them takes longer than drawing them, and none
    # exceeds its cell.
    written = axes.text(j, i, text, ha="center", va="center", color=colour, fontsize=9)
    written.set_in_layout(False)


def hatch(axes: Axes, where: NDArray[np.bool_]) -> None:
    """Hatch the cells of a grid that are hidden."""
    from matplotlib.collections import PolyCollection

    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    cells = np.argwhere(where)[:, None, ::-1] + corners  # (cells, 4, x and y)
    axes.add_collection(PolyCollection(cells, **_HATCH))
