"""More figures of the chapter on masking: the effect of a mask on the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attn_lib._arguments import Alignment, causal_offset
from attn_lib.figures.drawing import decimals_text, number_text
from attn_lib.figures.grids import panels_height, score_grid, weight_grid
from attn_lib.figures.style import course_style, new_figure
from attn_lib.figures.ways_to_mask import WAYS, way_to_mask
from attn_lib.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The kinds of mask for `masked_weights`, from the least to the most restrictive.
KINDS = ("none", "padding", "causal", "causal and padding", "window")


def masked_weights(
    scores: ArrayLike,
    kind: str = "padding",
    n_q: int | None = None,
    length: int | None = None,
    width: int | None = None,
    alignment: Alignment = "top-left",
    way: str = "right",
    dtype: DTypeLike = "float64",
) -> tuple[Figure, str]:
    r"""Draw scores with a mask, and the weights that one way of applying it gives.

    Parameters
    ----------
    scores : array_like, shape (n, n_k)
        Scaled scores of up to n queries.
    kind : {"none", "padding", "causal", "causal and padding", "window"}
    n_q : int, optional
        How many queries there are, from 1 to n. Default: n.
    length : int, optional
        How many keys are real, for the two kinds that hide padding. Default: all.
    width : int, optional
        Number of keys in the window, the query's own included. Default: all.
    alignment : {"top-left", "bottom-right"}
        Which query and key are at the same position: the first ones, or the last ones.
    way : str
        How the mask acts: one of `attn_lib.figures.ways_to_mask.WAYS`.
    dtype : {"float64", "float32"} or dtype
        Type in which everything is computed.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If a size is out of range, or there is no such kind or way.

    Examples
    --------
    >>> _, text = masked_weights([[2, 0.5, -1, 0]], length=2)
    >>> print(text.replace(". ", ".\n"))
    2 of 4 pairs are allowed.
    −∞ for a hidden score, and 0 for an empty row: attn_lib.
    Hidden keys get 0 of a row at most.
    The rows sum to 1.00.
    """
    scores = np.asarray(scores, dtype=float)
    n, n_k = scores.shape
    n_q = n if n_q is None else n_q
    if n_q not in range(1, n + 1):
        raise ValueError(f"masked_weights: expected 1 to {n} queries, got {n_q!r}.")
    if kind not in KINDS:
        raise ValueError(f"masked_weights: expected one of {', '.join(KINDS)}, got {kind!r}.")
    scores = scores[:n_q].astype(dtype)
    left = None if width is None else width - 1
    offset = causal_offset(n_q, n_k, alignment)
    causal, padding = causal_mask(n_q, n_k, alignment), padding_mask(n_k, n_k)
    if length is not None:
        padding = padding_mask(length, n_k)
    masks: dict[str, Any] = {
        "none": np.ones((n_q, n_k), dtype=np.bool_),
        "padding": np.broadcast_to(padding, (n_q, n_k)),
        "causal": causal,
        "causal and padding": combine_masks(causal, padding),
        "window": sliding_window_mask(n_q, n_k, left=left, offset=offset),
    }
    mask = masks[kind]
    with np.errstate(all="ignore"):
        weights = way_to_mask(way)(scores, mask)
    with course_style():
        figure = new_figure(height=min(4.0, panels_height((n_q, n_k), 2) + 0.3))
        panels = figure.subplots(1, 2)
        score_grid(panels[0], np.where(mask, scores, -np.inf), "scores, hidden hatched")
        weight_grid(panels[1], weights, "weights", hidden=~mask)
    leaked = np.where(mask, 0, np.nan_to_num(weights)).sum(axis=-1).max()
    return figure, (
        f"{mask.sum()} of {mask.size} pairs are allowed. {WAYS[way]}. "
        f"Hidden keys get {number_text(float(leaked), share=True)} of a row at most. "
        f"The rows sum to {decimals_text(weights.sum(axis=-1))}."
    )
