"""More figures of the chapter on masking: the effect of a mask on the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from attn_lib.course.targets import masked_softmax
from attn_lib.figures import style
from attn_lib.figures.drawing import decimals_text, number_text, row_text
from attn_lib.figures.grids import weight_grid
from attn_lib.figures.style import course_style, new_figure
from attn_lib.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The kinds of mask for `kind_of_mask`, from the least to the most restrictive.
KINDS = ("none", "padding", "causal", "causal and padding", "window")


def row_under_mask(
    scores: ArrayLike, visible: int, stand_in: float = -np.inf
) -> tuple[Figure, str]:
    r"""Draw the weights of one query with its last keys hidden, and those without a mask.

    Parameters
    ----------
    scores : array_like, shape (n_k,)
        Scaled scores of one query.
    visible : int
        How many keys it may attend to, from 1 to n_k; the keys after them are hidden.
    stand_in : float
        The number that replaces hidden scores. Only ``-inf`` really hides them.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `visible` is out of range.

    Examples
    --------
    >>> _, text = row_under_mask([2, 0.5, -1, 0], visible=2)
    >>> print(text.replace(". ", ".\n"))
    2 of 4 keys visible, hidden scores set to −∞.
    Weights 0.818, 0.182, 0, 0, without a mask 0.710, 0.158, 0.035, 0.096.
    Hidden keys get 0 of the weight.
    """
    scores = np.asarray(scores, dtype=float)
    n_k = len(scores)
    if visible not in range(1, n_k + 1):
        raise ValueError(f"row_under_mask: expected 1 to {n_k} keys visible, got {visible!r}.")
    keys = np.arange(n_k)
    hidden = keys >= visible
    given = np.where(hidden, stand_in, scores)
    unmasked, masked = softmax(scores), softmax(given)
    with course_style():
        figure = new_figure(height=0.9 + 0.42 * n_k)
        axes = figure.add_subplot()
        axes.barh(keys, unmasked, height=0.7, color=style.MUTED, alpha=0.3, label="no mask")
        axes.barh(keys, masked, height=0.36, color=style.QUERY, label="masked")
        for key, weight in enumerate(masked):
            axes.annotate(
                number_text(weight, share=True),
                (max(weight, unmasked[key]), key),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
            )
        axes.set_yticks(keys, [f"key {i + 1}: {_score(score)}" for i, score in enumerate(given)])
        axes.invert_yaxis()
        axes.set_xlim(0, 1.15)
        axes.set_xticks([0, 0.5, 1])
        axes.set_xlabel("weight")
        figure.legend(loc="outside upper right", ncols=2, fontsize=10)
    return figure, (
        f"{visible} of {n_k} keys visible, hidden scores set to {_score(stand_in)}. "
        f"Weights {row_text(masked, share=True)}, "
        f"without a mask {row_text(unmasked, share=True)}. "
        f"Hidden keys get {number_text(float(masked[hidden].sum()), share=True)} of the weight."
    )


def kind_of_mask(scores: ArrayLike, kind: str, length: int, width: int) -> tuple[Figure, str]:
    r"""Draw the weights of a square matrix of scores under one kind of mask.

    Parameters
    ----------
    scores : array_like, shape (n, n)
        Scaled scores.
    kind : {"none", "padding", "causal", "causal and padding", "window"}
    length : int
        How many positions are real, for the two kinds that hide padding.
    width : int
        Number of keys in the window, the query's own included.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> _, text = kind_of_mask([[0.0, 1.0], [0.0, 1.0]], "causal", length=1, width=1)
    >>> print(text.replace(". ", ".\n"))
    Mask: causal.
    3 of 4 pairs are allowed.
    The last query gives its keys 0.27, 0.73.
    """
    if kind not in KINDS:
        raise ValueError(f"kind_of_mask: expected one of {', '.join(KINDS)}, got {kind!r}.")
    scores = np.asarray(scores, dtype=float)
    n = len(scores)
    masks = {
        "none": np.ones((n, n), dtype=np.bool_),
        "padding": np.broadcast_to(padding_mask(length, n), (n, n)),
        "causal": causal_mask(n, n),
        "causal and padding": combine_masks(causal_mask(n, n), padding_mask(length, n)),
        "window": sliding_window_mask(n, n, left=width - 1),
    }
    mask = masks[kind]
    weights = masked_softmax(scores, mask)
    with course_style():
        figure = new_figure(height=2.9)
        weight_grid(figure.add_subplot(), weights, kind, hidden=~mask)
    return figure, (
        f"Mask: {kind}. {mask.sum()} of {n * n} pairs are allowed. "
        f"The last query gives its keys {decimals_text(weights[-1])}."
    )


def _score(score: float) -> str:
    return "−∞" if np.isneginf(score) else f"{score:g}".replace("-", "−")
