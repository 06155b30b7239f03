"""Figures of the orientation: a soft lookup, a look back, and the four steps of attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.figures import style
from attn_lib.figures.drawing import (
    arrow,
    colour_key,
    decimal_text,
    label,
    labelled_bars,
    on_circle,
    plane,
    row_text,
)
from attn_lib.figures.style import course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def soft_lookup(
    query_angle: float, key_angles: Sequence[float], values: Sequence[float], length: float
) -> tuple[Figure, str]:
    """Draw one query among keys on a circle, the weights it gives them, and the mixture.

    Parameters
    ----------
    query_angle : float
        Direction of the query, in degrees.
    key_angles : sequence of float, length n_k
        Directions of the keys, in degrees.
    values : sequence of float, length n_k
        The number each key hands over.
    length : float
        Length of the query and of every key.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = soft_lookup(90, key_angles=[0, 90], values=[10.0, 20.0], length=2.0)
    >>> text
    'Query at 90°. Weights: key A 0.056, key B 0.944. Output 19.44, between the values 10 and 20.'
    """
    query = on_circle([query_angle], length)  # (1, 2)
    keys = on_circle(key_angles, length)  # (n_k, 2)
    trace = scaled_dot_product_attention(
        query, keys, np.asarray(values, dtype=float)[:, None], return_trace=True
    )
    weights, output = trace.weights[0], trace.output[0, 0]
    names = [chr(ord("A") + i) for i in range(len(keys))]
    with course_style():
        figure = new_figure(height=3.1)
        left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
        plane(left, length * 1.4)
        for name, key in zip(names, keys, strict=True):
            arrow(left, key, style.KEY, width=4.5)
            label(left, name, key, style.KEY)
        arrow(left, query[0], style.QUERY)
        left.set_title("what the query is near", loc="left")
        colour_key(left, query=style.QUERY, keys=style.KEY)

        right.barh(range(len(keys)), weights, color=style.KEY)
        right.set_yticks(
            range(len(keys)), [f"{n}: {v:g}" for n, v in zip(names, values, strict=True)]
        )
        right.invert_yaxis()
        right.set_xlim(0, 1)
        right.set_xlabel("weight")
        right.set_title(f"output {output:.2f}", loc="left", color=style.OUTPUT)
    shares = ", ".join(f"key {n} {w:.3f}" for n, w in zip(names, weights, strict=True))
    text = (
        f"Query at {query_angle:g}°. Weights: {shares}. Output {output:.2f}, "
        f"between the values {min(values):g} and {max(values):g}."
    )
    return figure, text


def four_steps(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[Figure, str]:
    r"""Draw compare, scale, normalise and mix for one query, as four bar charts.

    Parameters
    ----------
    q : array_like, shape (1, d_k)
    k : array_like, shape (n_k, d_k)
    v : array_like, shape (n_k, d_v)

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = four_steps([[2, 1]], [[2, 1], [1, 0]], [[10, 0], [0, 8]])
    >>> print(text.replace(". ", ".\n"))
    Compare: scores 5, 2.
    Scale: 3.536, 1.414.
    Normalise: weights 0.893, 0.107.
    Mix: output 8.930, 0.856.
    """
    trace = scaled_dot_product_attention(q, k, v, return_trace=True)
    raw, scaled, weights, output = (
        a[0] for a in (trace.raw, trace.scaled, trace.weights, trace.output)
    )
    keys = [f"key {i + 1}" for i in range(len(raw))]
    coordinates = [f"coord. {i + 1}" for i in range(len(output))]
    with course_style():
        figure = new_figure(height=4.2)
        panels = figure.subplots(2, 2).ravel()
        for axes, title, numbers, names, colour in (
            (panels[0], "1 compare: q·k", raw, keys, style.QUERY),
            (panels[1], "2 scale: ÷√d_k", scaled, keys, style.QUERY),
            (panels[2], "3 normalise: weights", weights, keys, style.KEY),
            (panels[3], "4 mix: output", output, coordinates, style.OUTPUT),
        ):
            labelled_bars(axes, numbers, names, colour)
            axes.set_title(title, loc="left")
        # Both have the same axis, so that the scaling is visible.
        panels[1].set_xlim(panels[0].get_xlim())
    text = (
        f"Compare: scores {row_text(raw)}. Scale: {row_text(scaled)}. "
        f"Normalise: weights {row_text(weights, share=True)}. Mix: output {row_text(output)}."
    )
    return figure, text


def look_back(words: Sequence[str], weights: ArrayLike) -> tuple[Figure, str]:
    r"""Draw how the last word of a text spreads its weight over all words.

    Parameters
    ----------
    words : sequence of str, length n
    weights : array_like, shape (n,)
        The last word's row of weights.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = look_back(["the", "cats"], [0.25, 0.75])
    >>> text
    'Where “cats” looks: the 0.25, cats 0.75.'
    """
    weights = np.asarray(weights, dtype=float)
    with course_style():
        figure = new_figure(height=2.3)
        axes = figure.add_subplot()
        axes.bar(range(len(words)), weights, color=style.KEY, width=0.62)
        axes.bar(len(words) - 1, weights[-1], color=style.QUERY, width=0.62)
        for i, weight in enumerate(weights):
            text = decimal_text(weight)
            axes.annotate(text, (i, weight), xytext=(0, 3), textcoords="offset points", ha="center")
        axes.set_xticks(range(len(words)), words)
        axes.get_xticklabels()[-1].set_color(style.QUERY)
        axes.get_xticklabels()[-1].set_fontweight("bold")
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(0, 1.15)
        axes.set_yticks([0, 0.5, 1])
        axes.set_ylabel("weight")
    shares = ", ".join(f"{word} {decimal_text(w)}" for word, w in zip(words, weights, strict=True))
    return figure, f"Where “{words[-1]}” looks: {shares}."
