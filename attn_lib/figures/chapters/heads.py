"""Figures of the chapter `putting-it-together`: heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attn_lib.complexity import weights_bytes
from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import attention_flops
from attn_lib.estimates import Estimate
from attn_lib.experiments import largest_weights
from attn_lib.figures import style
from attn_lib.figures.drawing import box, counted, flow, heads_text, labelled_bars
from attn_lib.figures.style import bare, course_style, new_figure
from attn_lib.multihead import multi_head_attention, split_heads

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def multi_head_shapes(
    b: int,
    n_q: int,
    n_k: int,
    d_model: int,
    d_context: int,
    n_heads: int,
    d_k: int,
    d_v: int,
    d_out: int,
) -> tuple[Figure, str]:
    r"""Draw the shapes of all arrays in multi-head attention, read off a real call.

    Parameters
    ----------
    b : int
        Number of sequences.
    n_q, n_k : int
        Number of queries and of keys.
    d_model, d_context : int
        Width of the input of the queries, and of the input of keys and values.
    n_heads, d_k, d_v : int
        Number of heads, and the widths of a query or key and of a value in each.
    d_out : int
        Width of the output.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = multi_head_shapes(4, 5, 9, 11, 10, 3, 7, 2, 8)
    >>> print(text.replace(". ", ".\n"))
    Project: x (4, 5, 11) and context (4, 9, 10) give (4, 5, 21), (4, 9, 21) and (4, 9, 6).
    Split: q (4, 3, 5, 7), k (4, 3, 9, 7), v (4, 3, 9, 2).
    Attend: weights (4, 3, 5, 9), outputs (4, 3, 5, 2).
    Merge: (4, 5, 6).
    Project: (4, 5, 8).
    """
    x, context = np.zeros((b, n_q, d_model)), np.zeros((b, n_k, d_context))
    w_q, w_k = np.zeros((d_model, n_heads * d_k)), np.zeros((d_context, n_heads * d_k))
    w_v, w_o = np.zeros((d_context, n_heads * d_v)), np.zeros((n_heads * d_v, d_out))
    trace = multi_head_attention(
        x, w_q, w_k, w_v, w_o, n_heads=n_heads, context=context, return_trace=True
    )
    wide = [(x @ w_q).shape, (context @ w_k).shape, (context @ w_v).shape]
    heads, split = trace.heads, [trace.q.shape, trace.k.shape, trace.v.shape]
    colours = style.QUERY, style.KEY, style.VALUE
    columns, size, middles = (1.75, 4.55, 7.35), (2.55, 0.95), (3.02, 5.82, 8.62)
    with course_style():
        figure = new_figure(height=5.4)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 12)
        box(axes, (columns[0], 10.9), size, "x", f"{x.shape}", style.MUTED)
        box(axes, (columns[1], 10.9), (5.35, 0.95), "context c", f"{context.shape}", style.MUTED)
        for column, middle, colour, name, source, at_once, in_heads in zip(
            columns, middles, colours, "QKV", "xcc", wide, split, strict=True
        ):
            box(axes, (column, 8.6), size, f"${source}W_{name}$", f"{at_once}", colour)
            box(axes, (column, 6.65), size, name, f"{in_heads}", colour)
            flow(axes, (middle, 10.8), (middle, 9.65))
            flow(axes, (middle, 8.5), (middle, 7.7))
            axes.text(middle + 0.15, 10.2, f"W_{name}", va="center", fontsize=10.5)
        box(axes, (columns[0], 4.65), (4.2, 0.95), "weights", f"{heads.weights.shape}", style.MUTED)
        box(axes, (6.9, 4.65), (3.0, 0.95), "O", f"{heads.output.shape}", style.OUTPUT)
        flow(axes, (middles[0], 6.55), (middles[0], 5.7))
        flow(axes, (middles[1], 6.55), (5.3, 5.7))
        flow(axes, (middles[2], 6.55), (middles[2], 5.7))
        flow(axes, (6.05, 5.12), (6.8, 5.12))
        box(axes, (6.9, 2.7), (3.0, 0.95), "merged", f"{trace.merged.shape}", style.OUTPUT)
        box(axes, (6.9, 0.4), (3.0, 0.95), "output", f"{trace.output.shape}", style.OUTPUT)
        flow(axes, (8.4, 4.55), (8.4, 3.75))
        flow(axes, (8.4, 2.6), (8.4, 1.45))
        axes.text(8.55, 2.0, "W_O", va="center", fontsize=10.5)
        verbs = {"project": 9.08, "split": 7.12, "attend": 5.12, "merge": 3.18, "project ": 0.88}
        for verb, height in verbs.items():
            axes.text(0, height, verb.strip(), va="center", fontsize=10.5, weight="bold")
    return figure, (
        f"Project: x {x.shape} and context {context.shape} give {wide[0]}, {wide[1]} and "
        f"{wide[2]}. Split: q {split[0]}, k {split[1]}, v {split[2]}. Attend: weights "
        f"{heads.weights.shape}, outputs {heads.output.shape}. Merge: {trace.merged.shape}. "
        f"Project: {trace.output.shape}."
    )


def head_split(way: str = "right", n: int = 3, n_heads: int = 2, d: int = 4) -> tuple[Figure, str]:
    r"""Draw which head takes which entry, read off the split of an array of numbered entries.

    Parameters
    ----------
    way : str
        "right", or the id of a catalogued mistake in splitting.
    n, n_heads, d : int
        Number of positions and of heads, and the width of a head.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If there is no such way.

    Examples
    --------
    >>> _, text = head_split("heads-interleaved")
    >>> print(text.replace(". ", ".\n").replace("; ", ";\n"))
    Shape (2, 3, 4).
    Head 1 takes entries 1, 3, 5, 7 of position 1;
    1, 3, 5, 7 of position 2;
    1, 3, 5, 7 of position 3.
    Head 2 takes entries 2, 4, 6, 8 of position 1;
    2, 4, 6, 8 of position 2;
    2, 4, 6, 8 of position 3.
    """
    from matplotlib.colors import ListedColormap

    ways = {"right": split_heads, **{m.id: m.wrong for m in catalogue("split_heads")}}
    if way not in ways:
        raise ValueError(f"head_split: expected one of {', '.join(ways)}, got {way!r}.")
    numbered = np.arange(n * n_heads * d).reshape(n, n_heads * d)
    pieces = np.asarray(ways[way](numbered, n_heads), dtype=int)
    owner = np.empty_like(numbered)
    for head, piece in enumerate(pieces):
        owner.flat[piece.ravel()] = head
    with course_style():
        figure = new_figure(height=2.5)
        axes = figure.add_subplot()
        colours = ListedColormap([style.QUERY, style.KEY, style.VALUE, style.OUTPUT])
        axes.imshow(owner % colours.N, cmap=colours, vmin=0, vmax=colours.N - 1)
        for (i, c), taker in np.ndenumerate(owner):
            axes.text(c, i, f"{taker + 1}", ha="center", va="center", color="white", weight="bold")
        axes.set_xticks(*counted(n_heads * d), fontsize=10)
        axes.set_yticks(*counted(n), fontsize=10)
        axes.set_xticks(np.arange(n_heads * d + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=style.FACE, lw=2)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("entry")
        axes.set_ylabel("position")
        axes.set_title(f"which head takes it; shape {pieces.shape}", loc="left")
    taken = (
        "; ".join(
            f"{', '.join(str(c + 1) for c in np.flatnonzero(row == head))} of position {i + 1}"
            for i, row in enumerate(owner)
            if (row == head).any()
        )
        for head in range(len(pieces))
    )
    heads = " ".join(f"Head {h + 1} takes entries {entries}." for h, entries in enumerate(taken))
    return figure, f"Shape {pieces.shape}. {heads}"


def heads_at_fixed_width(
    n_heads: int,
    joint_k: int = 48,
    joint_v: int = 24,
    d_model: int = 60,
    n: int = 20,
    n_rows: int = 2000,
    seed: int = 0,
) -> tuple[Figure, str]:
    r"""Draw the cost of more but narrower heads, and their largest weight under three scales.

    Parameters
    ----------
    n_heads : int
        Divides `joint_k` and `joint_v`.
    joint_k, joint_v : int
        Width of the queries, and of the values, of all heads together.
    d_model, n : int
        Width of the model's input and output, and number of positions.
    n_rows : int
        Number of random rows for the largest weight, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `n_heads` does not divide the widths.

    Examples
    --------
    >>> _, text = heads_at_fixed_width(n_heads=8)
    >>> print(text.replace(". ", ".\n").replace("ns, ", "ns,\n").replace("H·d_k), ", "H·d_k),\n"))
    8 heads of widths d_k = 6 and d_v = 3.
    Against one head: 1 times the numbers to learn, 1 times the operations,
    8 times the weights to keep.
    Mean largest weight: 0.209 ± 0.002 with √d_k, 0.0909 ± 0.0005 with √(H·d_k),
    0.0857 ± 0.0004 with √d_model.
    """
    if n_heads < 1 or joint_k % n_heads or joint_v % n_heads:
        raise ValueError(
            f"heads_at_fixed_width: expected n_heads to divide {joint_k} and {joint_v}, "
            f"got {n_heads}."
        )

    def costs(heads: int) -> tuple[int, int, int]:
        d_k, d_v = joint_k // heads, joint_v // heads
        return (
            heads * (d_model * (2 * d_k + d_v) + d_v * d_model),
            attention_flops(n, n, d_k, d_v, heads),
            weights_bytes(heads, n, n),
        )

    times = [now / one for now, one in zip(costs(n_heads), costs(1), strict=True)]
    d_k, d_v = joint_k // n_heads, joint_v // n_heads
    divisors = {"√d_k": d_k, "√(H·d_k)": joint_k, "√d_model": d_model}
    sharpest = [
        Estimate.of_mean(largest_weights(n, d_k, scale=width**-0.5, n_rows=n_rows, rng=seed))
        for width in divisors.values()
    ]
    with course_style():
        figure = new_figure(height=3.5)
        cost, sharp = figure.subplots(2, 1)
        names = ["numbers to learn", "operations", "weights to keep"]
        labelled_bars(cost, np.array(times), names, style.QUERY)
        cost.set_xlim(0, min(joint_k, joint_v) * 1.1)
        cost.set_title(f"H = {n_heads}, d_k = {d_k}, d_v = {d_v}: times one head", loc="left")
        values = np.array([estimate.value for estimate in sharpest])
        labelled_bars(sharp, values, [f"÷ {name}" for name in divisors], style.KEY)
        sharp.axvline(1 / n, color=style.INK, ls=":", lw=1.5)
        sharp.set_xlim(0, 0.3)
        sharp.set_xlabel(f"dotted: all {n} keys alike")
        sharp.set_title("mean largest weight", loc="left")
    measured = ", ".join(f"{e} with {name}" for e, name in zip(sharpest, divisors, strict=True))
    return figure, (
        f"{heads_text(n_heads)} of widths d_k = {d_k} and "
        f"d_v = {d_v}. Against one head: {times[0]:g} times the numbers to learn, "
        f"{times[1]:g} times the operations, {times[2]:g} times the weights to keep. "
        f"Mean largest weight: {measured}."
    )
