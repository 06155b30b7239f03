"""Figures of the chapter on masking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.course.mistakes import appearances
from attn_lib.course.targets import TARGETS, masked_scores, masked_softmax
from attn_lib.figures import style
from attn_lib.figures.drawing import decimals_text
from attn_lib.figures.grids import mask_panels, panels_height, score_grid, weight_grid
from attn_lib.figures.style import course_style, new_figure
from attn_lib.figures.ways_to_mask import way_to_mask
from attn_lib.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Weights = NDArray[np.floating]
Function = Callable[..., Any]

#: The example that shows mistakes: number of positions, and how many of them are real.
_N, _LENGTH, _SEED = 5, 3, 0


def mask_combination(n: int, length: int) -> tuple[Figure, str]:
    """Draw the causal mask, the padding mask of one sequence, and the combination of both.

    Parameters
    ----------
    n : int
        Number of queries and of keys, padding included; at least 1.
    length : int
        How many positions are real, from 0 to `n`.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = mask_combination(n=5, length=3)
    >>> text
    '3 of 5 positions are real. Of 25 pairs causal allows 15, padding 15, both 12.'
    """
    causal, padding = causal_mask(n, n), np.broadcast_to(padding_mask(length, n), (n, n))
    both = combine_masks(causal, padding)
    figure = mask_panels({"causal": causal, "padding": padding, "both": both})
    return figure, (
        f"{length} of {n} positions are real. Of {n * n} pairs causal allows {causal.sum()}, "
        f"padding {padding.sum()}, both {both.sum()}."
    )


def window_masks(n: int, width: int) -> tuple[Figure, str]:
    """Draw the causal mask and the sliding window that allows only the last of its keys.

    Parameters
    ----------
    n : int
        Number of queries and of keys, at least 1.
    width : int
        Number of keys in the window, the query's own included; at least 1.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = window_masks(n=6, width=3)
    >>> text
    'A window of 3 keys allows 15 of the 21 pairs that the causal mask allows.'
    """
    causal, window = causal_mask(n, n), sliding_window_mask(n, n, left=width - 1)
    figure = mask_panels({"causal": causal, f"window of {width}": window})
    return figure, (
        f"A window of {width} keys allows {window.sum()} of the {causal.sum()} pairs "
        "that the causal mask allows."
    )


def mask_to_weights(scores: ArrayLike, mask: ArrayLike) -> tuple[Figure, str]:
    r"""Draw scaled scores, masked scores and the resulting weights.

    Parameters
    ----------
    scores : array_like, shape (n_q, n_k)
    mask : array_like of bool, broadcastable to the scores
        True where attention is allowed.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = mask_to_weights([[1.0, 2.0], [0.0, 1.0]], [[True, False], [True, True]])
    >>> print(text.replace(". ", ".\n"))
    Without the mask, 0.73, 0.00 of each query's weight lies on hidden keys.
    With it, none does, and the rows sum to 1.00, 1.00.
    """
    scores = np.asarray(scores, dtype=float)
    mask = np.broadcast_to(np.asarray(mask), scores.shape)
    weights = masked_softmax(scores, mask)
    with course_style():
        figure = new_figure(height=panels_height(scores.shape, 3))
        panels = figure.subplots(1, 3)
        score_grid(panels[0], scores, "scores")
        score_grid(panels[1], masked_scores(scores, mask), "masked")
        weight_grid(panels[2], weights, "weights", hidden=~mask)
    on_hidden = (softmax(scores) * ~mask).sum(axis=1)
    return figure, (
        f"Without the mask, {decimals_text(on_hidden)} of each query's weight lies on hidden keys. "
        f"With it, none does, and the rows sum to {decimals_text(weights.sum(axis=1))}."
    )


def padding_sides(scores: ArrayLike, length: int) -> tuple[Figure, str]:
    r"""Draw the weights when padding is hidden among the keys, and when among the queries.

    Parameters
    ----------
    scores : array_like, shape (n, n)
        Scaled scores of one sequence, padding included.
    length : int
        How many positions are real, from 1 to `n`.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `length` is out of range.

    Examples
    --------
    >>> _, text = padding_sides(np.zeros((5, 5)), length=3)
    >>> print(text.replace(". ", ".\n"))
    3 of 5 positions are real.
    Hidden as keys, padding gets no weight.
    Hidden as queries, it gets 0.40, 0.40, 0.40 of the weight of the real queries.
    """
    scores = np.asarray(scores, dtype=float)
    n = len(scores)
    if length < 1:
        raise ValueError(f"padding_sides: expected a length from 1 to {n}, got {length}.")
    as_keys = np.broadcast_to(padding_mask(length, n), (n, n))
    right, wrong = (masked_softmax(scores, mask) for mask in (as_keys, as_keys.T))
    with course_style():
        figure = new_figure(height=panels_height((n, n), 2))
        panels = figure.subplots(1, 2)
        weight_grid(panels[0], right, "as keys: right", hidden=~as_keys)
        weight_grid(panels[1], wrong, "as queries: wrong", hidden=~as_keys)
    on_padding = wrong[:length, length:].sum(axis=1)
    return figure, (
        f"{length} of {n} positions are real. Hidden as keys, padding gets no weight. Hidden "
        f"as queries, it gets {decimals_text(on_padding)} of the weight of the real queries."
    )


def masking_mistake(id: str) -> tuple[Figure, str]:
    r"""Draw the weights of a catalogued masking mistake, and the right weights.

    Parameters
    ----------
    id : str
        The id of a mistake in making a mask or in applying one.

    Returns
    -------
    (Figure, str)
        The text starts with the catalogue's sentence.

    Raises
    ------
    ValueError
        If there is no such mistake, or if it cannot be shown in weights.

    Examples
    --------
    >>> _, text = masking_mistake("causal-mask-one-too-far")
    >>> print(text.replace(". ", ".\n"))
    It lets every query see one key too many, the next one.
    Keys to be hidden get 0.40, 0.32, 0.33, 0.59, 0.00 of each query's weight.
    The rows sum to 1.00, 1.00, 1.00, 1.00, 1.00.
    """
    # Each mistake at the first target where it appears.
    places = {
        mistake.id: (mistake, wrong, target)
        for target in reversed(_EXAMPLES)
        for mistake, wrong in appearances(target)
        if mistake.section.startswith("masking#")
    }
    if id not in places:
        raise ValueError(f"masking_mistake: expected one of {', '.join(places)}, got {id!r}.")
    mistake, wrong_function, target = places[id]
    pairs = ((of(TARGETS[target]), of(wrong_function)) for of in _EXAMPLES[target])
    with np.errstate(invalid="ignore"):
        right, wrong = next(pair for pair in pairs if not np.array_equal(*pair))
    hidden = right == 0
    with course_style():
        figure = new_figure(height=panels_height(right.shape, 2))
        panels = figure.subplots(1, 2)
        weight_grid(panels[0], right, "right", hidden)
        weight_grid(panels[1], wrong, "wrong", hidden)
    return figure, (
        f"{mistake.sentence} Keys to be hidden get "
        f"{decimals_text(np.where(hidden, wrong, 0).sum(axis=1))} of each query's weight. "
        f"The rows sum to {decimals_text(wrong.sum(axis=1))}."
    )


def future_change(
    position: int,
    inputs: ArrayLike,
    changed: ArrayLike,
    attentions: Sequence[tuple[str, ArrayLike, str]],
) -> tuple[Figure, str]:
    r"""Draw how far each output moves when the key and the value of one position are changed.

    Parameters
    ----------
    position : int
        The position whose key and value are replaced, from 1 to n.
    inputs : array_like, shape (3, n, d)
        Queries, keys and values.
    changed : array_like, shape (2, n, d)
        For each position, the key and the value that replace its own.
    attentions : sequence of (str, array_like of bool of shape (n, n), str)
        For each attention its name, its mask, and how the mask acts, as in `masked_weights`. The
        first two are drawn.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If the position is out of range.

    Examples
    --------
    >>> inputs = np.random.default_rng(0).normal(size=(3, 4, 2))
    >>> masks = [("causal", np.tri(4) > 0, "right"), ("none", np.tri(4) >= 0, "right")]
    >>> _, text = future_change(3, inputs, -inputs[1:], masks)
    >>> print(text.replace(": ", ":\n").replace("; ", ";\n"))
    Position 3 gets another key and value. The outputs move by:
    causal 0.00, 0.00, 0.76, 1.86;
    none 0.72, 1.21, 0.57, 1.86.
    """
    inputs, changed = np.asarray(inputs, dtype=float), np.asarray(changed, dtype=float)
    n = inputs.shape[1]
    if position not in range(1, n + 1):
        raise ValueError(f"future_change: expected a position from 1 to {n}, got {position!r}.")
    others = inputs.copy()
    others[1:, position - 1] = changed[:, position - 1]
    moves = {}
    for name, mask, way in attentions[:2]:
        before, after = (_attended(given, mask, way) for given in (inputs, others))
        moves[name] = np.linalg.norm(after - before, axis=-1)
    with course_style():
        figure = new_figure(height=2.6)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (name, moved) in zip(panels, moves.items(), strict=True):
            axes.bar(range(1, n + 1), moved, color=style.KEY)
            axes.axvline(position - 0.5, color=style.INK, ls=":", lw=1.2)
            axes.set_xticks(range(1, n + 1))
            axes.set_xlabel("position")
            axes.set_title(name, loc="left")
        panels[0].set_ylabel("output moves by")
    numbers = "; ".join(f"{name} {decimals_text(moved)}" for name, moved in moves.items())
    return figure, (
        f"Position {position} gets another key and value. The outputs move by: {numbers}."
    )


def _attended(inputs: NDArray[np.float64], mask: ArrayLike, way: str) -> NDArray[np.floating]:
    """Return the output of attention to `inputs`, (3, n, d), with a mask that acts in one way."""
    q, k, v = inputs
    return way_to_mask(way)(q @ k.T / np.sqrt(k.shape[-1]), np.asarray(mask)) @ v


def _scores(n_q: int) -> NDArray[np.float64]:
    return 1.5 * np.random.default_rng(_SEED).normal(size=(n_q, _N))


def _under_mask(*sizes: object, n_q: int = _N) -> Callable[[Function], Weights]:
    """Return a function that takes a mask-making function and returns the masked weights."""

    def weights_of(make_mask: Function) -> Weights:
        mask = make_mask(*sizes)
        first_of_batch = mask.reshape(-1, *mask.shape[-2:])[0]
        return masked_softmax(_scores(n_q), np.broadcast_to(first_of_batch, (n_q, _N)))

    return weights_of


def _with_an_empty_row(softmax_of_allowed: Function) -> Weights:
    # The first key is hidden too, so that the first query has nothing to attend to.
    return softmax_of_allowed(_scores(_N), causal_mask(_N, _N) & (np.arange(_N) > 0))


def _over_padding(attend: Function) -> Weights:
    # Queries and keys with the scores of the example; with these values, the output is the weights.
    q, eye = _scores(_N) * np.sqrt(_N), np.eye(_N)
    return attend(q[None], eye[None], eye[None], [_LENGTH])[0]


#: For each target, ways to compute weights from it or from its wrong form. Of several, the first
#: one in which the mistake appears is drawn.
_EXAMPLES: dict[str, list[Callable[[Function], Weights]]] = {
    "causal_mask": [_under_mask(_N, _N), _under_mask(3, _N, n_q=3)],
    "cached_causal_mask": [_under_mask(3, _N, n_q=3)],
    "padding_mask": [_under_mask([_LENGTH, _N], _N)],
    "combined_mask": [_under_mask([_LENGTH], _N)],
    "window_mask": [_under_mask(_N, 2)],
    "masked_softmax": [_with_an_empty_row],
    "padded_attention": [_over_padding],
}
