"""Figures of the chapter on dot products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.figures import style
from attn_lib.figures.chapters.orientation import four_steps
from attn_lib.figures.drawing import (
    arrow,
    box,
    colour_key,
    decimal_text,
    flow,
    frame_patch,
    labelled_bars,
    on_circle,
    plane,
    row_text,
)
from attn_lib.figures.style import bare, course_style, new_figure
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def two_vectors(angle: float, length: float, query: ArrayLike = (2.0, 0.0)) -> tuple[Figure, str]:
    """Draw a query and a key at an angle, with the projection of the key on the query.

    The dot product is the query's length times the length of that projection, which counts as
    negative if it points the other way.

    Parameters
    ----------
    angle : float
        From the query to the key, in degrees.
    length : float
        Length of the key, positive.
    query : array_like, shape (2,)

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = two_vectors(angle=60, length=3.0)
    >>> text
    'Angle 60°, key of length 3: dot product 3.00, cosine 0.50.'
    """
    query = np.asarray(query, dtype=float)
    query_length = float(np.linalg.norm(query))
    start = math.degrees(math.atan2(query[1], query[0]))
    key = on_circle([start + angle], length)[0]
    dot = float(query @ key) + 0.0
    cosine = dot / (query_length * length)
    dot_text, cosine_text = decimal_text(dot), decimal_text(cosine)
    shadow = query / query_length * (dot / query_length)
    with course_style():
        figure = new_figure(height=3.6)
        axes = figure.add_subplot()
        plane(axes, 4.2)
        axes.set_ylim(-1.2, 4.2)
        axes.plot([key[0], shadow[0]], [key[1], shadow[1]], color=style.MUTED, ls=":", lw=1.5)
        axes.plot([0, shadow[0]], [0, shadow[1]], color=style.KEY, lw=7, alpha=0.3)
        arrow(axes, key, style.KEY, width=4.5)
        arrow(axes, query, style.QUERY)
        colour_key(axes, query=style.QUERY, key=style.KEY)
        axes.set_title(f"q·k = {dot_text}    cosine = {cosine_text}", loc="left")
    return figure, (
        f"Angle {angle:g}°, key of length {length:g}: dot product {dot_text}, cosine {cosine_text}."
    )


def four_steps_of(first: float, second: float, k: ArrayLike, v: ArrayLike) -> tuple[Figure, str]:
    """Draw the four steps of attention for a query of two numbers; see `four_steps`.

    Parameters
    ----------
    first, second : float
        The numbers of the query.
    k : array_like, shape (n_k, 2)
    v : array_like, shape (n_k, d_v)

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = four_steps_of(2, 1, k=[[2, 1], [1, 0]], v=[[10, 0], [0, 8]])
    >>> text.split(". ")[0]
    'Compare: scores 5, 2'
    """
    return four_steps([[first, second]], k, v)


def projections(n: int, d_model: int, d_k: int, d_v: int) -> tuple[Figure, str]:
    r"""Draw how three matrices turn token embeddings into queries, keys and values.

    Parameters
    ----------
    n : int
        Number of tokens.
    d_model, d_k, d_v : int
        Width of an embedding, of a query or key, and of a value.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = projections(n=3, d_model=512, d_k=64, d_v=32)
    >>> print(text.replace("; ", ";\n"))
    X (3×512) times W_Q (512×64) gives Q (3×64);
    times W_K (512×64) gives K (3×64);
    times W_V (512×32) gives V (3×32).
    """
    rows = (
        ("Q", d_k, style.QUERY, "looks for"),
        ("K", d_k, style.KEY, "is found by"),
        ("V", d_v, style.VALUE, "hands over"),
    )
    with course_style():
        figure = new_figure(height=3.4)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 6.4)
        box(axes, (0.1, 2.75), (2.6, 0.9), "X", f"{n}×{d_model}", style.MUTED)
        axes.text(1.4, 2.45, "one row a token", ha="center", va="top", fontsize=10.5)
        for i, (name, width, colour, role) in enumerate(rows):
            middle = 5.3 - 2.1 * i
            box(axes, (4.3, middle - 0.8), (1.7, 1.6), f"W_{name}", f"{d_model}×{width}", colour)
            box(axes, (7.7, middle - 0.45), (1.7, 0.9), name, f"{n}×{width}", colour)
            axes.text(8.55, middle - 0.52, role, ha="center", va="top", fontsize=10.5)
            flow(axes, (2.75, 3.2), (4.25, middle))
            flow(axes, (6.05, middle), (7.65, middle))
    parts = "; ".join(
        f"times W_{name} ({d_model}×{width}) gives {name} ({n}×{width})"
        for name, width, _, _ in rows
    )
    return figure, f"X ({n}×{d_model}) {parts}."


def shape_flow(b: int, h: int, n_q: int, n_k: int, d_k: int, d_v: int) -> tuple[Figure, str]:
    r"""Draw the shapes of all arrays in batched attention, read off a real call.

    Parameters
    ----------
    b, h : int
        Batch size and number of heads.
    n_q, n_k : int
        Number of queries and of keys.
    d_k, d_v : int
        Width of a query or key, and of a value.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = shape_flow(4, 8, 3, 5, 7, 2)
    >>> print(text.replace("; ", ";\n"))
    Queries (4, 8, 3, 7) and keys (4, 8, 5, 7) give scores and weights (4, 8, 3, 5);
    with values (4, 8, 5, 2) they give the output (4, 8, 3, 2).
    """
    q, k, v = (np.zeros((b, h, n, d), np.float32) for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    trace = scaled_dot_product_attention(q, k, v, return_trace=True)
    with course_style():
        figure = new_figure(height=3.3)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 6.2)
        size = (3.9, 1.0)
        box(axes, (0.1, 4.9), size, "q", str(q.shape), style.QUERY)
        box(axes, (0.1, 3.4), size, "k", str(k.shape), style.KEY)
        box(axes, (0.1, 0.6), size, "v", str(v.shape), style.VALUE)
        box(axes, (5.9, 4.15), size, "scores", str(trace.raw.shape), style.MUTED)
        box(axes, (5.9, 2.4), size, "weights", str(trace.weights.shape), style.MUTED)
        box(axes, (5.9, 0.6), size, "output", str(trace.output.shape), style.OUTPUT)
        flow(axes, (4.05, 5.4), (5.85, 4.75))
        flow(axes, (4.05, 3.9), (5.85, 4.55))
        flow(axes, (7.85, 4.1), (7.85, 3.45))
        flow(axes, (7.85, 2.35), (7.85, 1.65))
        flow(axes, (4.05, 1.1), (5.85, 1.1))
        axes.text(8.0, 3.78, "÷√d_k, softmax", va="center", fontsize=10.5)
    return figure, (
        f"Queries {q.shape} and keys {k.shape} give scores and weights {trace.weights.shape}; "
        f"with values {v.shape} they give the output {trace.output.shape}."
    )


def weights_row(weights: ArrayLike, names: Sequence[str], row: int) -> tuple[Figure, str]:
    r"""Draw a weight matrix with one row framed, and that row as bars.

    Parameters
    ----------
    weights : array_like, shape (n, n)
    names : sequence of str, length n
        The word at each position.
    row : int
        The row to show, from 1, as positions are counted in prose.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = weights_row([[0.75, 0.25], [0.5, 0.5]], ["the", "cat"], row=1)
    >>> print(text.replace(". B", ".\nB"))
    Row 1, “the”, gives 0.75 to the, 0.25 to cat.
    Before rounding, the row sums to 1.00 and column 1 to 1.25.
    """
    weights = np.asarray(weights, dtype=float)
    chosen = weights[row - 1]
    with course_style():
        figure = new_figure(height=3.1)
        left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
        left.imshow(weights, cmap=style.WEIGHT_COLOURS, vmin=0, vmax=1)
        for (i, j), weight in np.ndenumerate(weights):
            colour = "white" if weight > 0.55 else style.INK
            left.text(j, i, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=10)
        left.set_xticks(range(len(names)), names, fontsize=10)
        left.set_yticks(range(len(names)), names, fontsize=10)
        left.set_xlabel("at whom")
        left.set_ylabel("who looks")
        left.tick_params(length=0)
        left.spines[:].set_visible(False)
        left.add_patch(frame_patch((-0.5, row - 1.5), len(names), 1))
        left.set_title("weights", loc="left")
        right.barh(range(len(names)), chosen, color=style.QUERY)
        right.set_yticks(range(len(names)), names, fontsize=10)
        right.invert_yaxis()
        right.set_xlim(0, 1)
        right.set_title(f"row {row}: “{names[row - 1]}”", loc="left")
    shares = ", ".join(f"{w:.2f} to {name}" for name, w in zip(names, chosen, strict=True))
    return figure, (
        f"Row {row}, “{names[row - 1]}”, gives {shares}. Before rounding, the row sums to "
        f"{chosen.sum():.2f} and column {row} to {weights[:, row - 1].sum():.2f}."
    )


def sharpness(scores: ArrayLike, factor: float, values: ArrayLike) -> tuple[Figure, str]:
    """Draw the weights and the output when one row of scores is multiplied by a factor.

    Parameters
    ----------
    scores : array_like, shape (n_k,)
        Raw scores of one query.
    factor : float
        Positive.
    values : array_like, shape (n_k, d_v)

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `factor` is not positive: a negative one would reverse the ranking.

    Examples
    --------
    >>> _, text = sharpness([5, 2, -1], factor=1.0, values=[[10, 0], [0, 8], [1, 1]])
    >>> text
    'Scores times 1: weights 0.950, 0.047, 0.002, the largest on key 1. Output 9.506, 0.381.'
    """
    if not factor > 0:
        raise ValueError(f"sharpness: expected a positive factor, got {factor}.")
    scores = np.asarray(scores, dtype=float)
    weights = softmax(scores * factor)
    output = weights @ np.asarray(values, dtype=float)
    with course_style():
        figure = new_figure(height=2.5)
        axes = figure.add_subplot()
        names = [f"key {i + 1} (score {s:g})".replace("-", "−") for i, s in enumerate(scores)]
        labelled_bars(axes, weights, names, style.KEY)
        axes.set_xlim(0, 1.18)
        axes.set_xlabel("weight")
        axes.set_title(f"scores × {factor:.3g}", loc="left")
    return figure, (
        f"Scores times {factor:.3g}: weights {row_text(weights, share=True)}, "
        f"the largest on key {weights.argmax() + 1}. Output {row_text(output)}."
    )
