"""Figures of the chapter on complexity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attn_lib.complexity import (
    LayerFlops,
    cache_bytes,
    crossover,
    layer_flops,
    loglog_slope,
    weights_bytes,
)
from attn_lib.figures import style
from attn_lib.figures.architectures import Architecture
from attn_lib.figures.drawing import bytes_text, heads_text, percent_text
from attn_lib.figures.style import bare, course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BESIDE = {
    "xytext": (4, 0),
    "textcoords": "offset points",
    "va": "center",
    "fontsize": 10.5,
}
_LENGTHS = tuple(2**i for i in range(5, 17))


def pairs(lengths: Sequence[int]) -> tuple[Figure, str]:
    r"""Draw the matrix of scores for several numbers of tokens, with a cell for each pair.

    Parameters
    ----------
    lengths : sequence of int
        Numbers of tokens, at least 1 each.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = pairs([4, 8])
    >>> text
    'Tables of scores, a cell for each pair: 4 tokens make 16 pairs, 8 tokens make 64 pairs.'
    """
    with course_style():
        figure = new_figure(height=2.9)
        axes = figure.add_subplot()
        left = 0
        for n in lengths:
            corners = np.arange(n + 1)
            axes.pcolormesh(
                corners + left, corners, np.zeros((n, n)), cmap=style.WEIGHT_COLOURS, vmin=-1,
                vmax=4, edgecolor=style.QUERY, lw=0.8,
            )  # fmt: skip
            axes.text(left + n / 2, n + 0.4, f"{n} tokens\n{n * n} pairs", ha="center")
            left += n + 2
        axes.set_ylim(-0.2, max(lengths) + 3)
        axes.set_aspect("equal")
        bare(axes)
    counts = ", ".join(f"{n} tokens make {n * n} pairs" for n in lengths)
    return figure, f"Tables of scores, a cell for each pair: {counts}."


def layer_costs(
    n: int, model: str, models: Sequence[Architecture], dtype: DTypeLike = "float16"
) -> tuple[Figure, str]:
    r"""Draw the share of each part in a model's operations, and the memory of its arrays.

    Parameters
    ----------
    n : int
        Number of tokens, read at once.
    model : str
        Name of one of the `models`.
    models : sequence of Architecture
        Sizes of models, such as `attn_lib.figures.architectures.ARCHITECTURES`.
    dtype : {"float16", "float32"} or dtype
        Type of every number.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If there is no such model.

    Examples
    --------
    >>> from attn_lib.figures.architectures import ARCHITECTURES
    >>> _, text = layer_costs(1024, "Transformer, base", ARCHITECTURES)
    >>> print(text.replace(", ", ",\n").replace(". ", ".\n"))
    Transformer,
    base,
    n = 1024: 51.8 billion operations in all 6 layers.
    Feed-forward 49.8 %,
    projections 24.9 %,
    scores and mix 24.9 %,
    softmax 0.486 %.
    In float16: the weights of one layer 16 MiB and the keys and values of all layers 12 MiB.
    """
    sizes = {each.name: each for each in models}
    if model not in sizes:
        raise ValueError(f"layer_costs: expected one of {', '.join(sizes)}, got {model!r}.")
    _, layers, d_model, heads, kv_heads, _ = sizes[model]
    layer = layer_flops(n, d_model, heads)
    total = layer.feed_forward + layer.projections + layer.attention + layer.softmax
    parts = {
        "feed-forward": (layer.feed_forward, style.MUTED),
        "projections": (layer.projections, style.QUERY),
        "scores and mix": (layer.attention, style.KEY),
        "softmax": (layer.softmax, style.OUTPUT),
    }
    cache = layers * cache_bytes(n, kv_heads * d_model // heads, dtype)
    stores = {
        "weights of one layer": (weights_bytes(heads, n, n, dtype), style.KEY),
        "keys and values of all layers": (cache, style.VALUE),
    }
    billions = np.format_float_positional(layers * total / 1e9, precision=3, fractional=False)
    title = f"{billions.rstrip('.')} billion operations"
    with course_style():
        figure = new_figure(height=3.6)
        top, bottom = figure.subplots(2, 1, height_ratios=[2, 1])
        for axes, rows in ((top, parts), (bottom, stores)):
            axes.set_yticks(range(len(rows)), [name.replace(" of ", "\nof ") for name in rows])
            axes.set_ylim(len(rows) - 0.5, -0.5)
        for i, (count, colour) in enumerate(parts.values()):
            top.barh(i, count / total, color=colour, height=0.62)
            top.annotate(percent_text(count / total), (count / total, i), **_BESIDE)
        top.set_xlim(0, 1.15)
        top.set_xticks([])
        top.set_title(title, loc="left")
        for i, (size, colour) in enumerate(stores.values()):
            # Points, because the length of a bar means nothing on a logarithmic axis.
            bottom.plot(size, i, "o", color=colour, ms=9)
            bottom.annotate(bytes_text(size), (size, i), **(_BESIDE | {"xytext": (9, 0)}))
        bottom.set_xscale("log", base=2)
        bottom.set_xlim(2**15, 2**48)
        bottom.minorticks_off()
        ticks = [2**i for i in range(20, 41, 10)]
        bottom.set_xticks(ticks, [bytes_text(tick) for tick in ticks])
        bottom.set_title(f"memory in {np.dtype(dtype)}", loc="left")
    shares = ", ".join(
        f"{name} {percent_text(count / total)}" for name, (count, _) in parts.items()
    )
    memory = " and the ".join(f"{name} {bytes_text(size)}" for name, (size, _) in stores.items())
    return figure, (
        f"{model}, n = {n}: {title} in all {layers} layers. "
        f"{shares.capitalize()}. In {np.dtype(dtype)}: the {memory}."
    )


def flops_by_part(d_model: int, heads: int = 8) -> tuple[Figure, str]:
    r"""Draw the operations of a layer's parts against the number of tokens.

    Parameters
    ----------
    d_model : int
        Width of a token.
    heads : int
        Divides `d_model`.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = flops_by_part(d_model=512)
    >>> print(text.replace(", ", ",\n"))
    Width 512. Scores and mix together cost as much as the projections at n = 1024,
    as much as projections and feed-forward part at n = 3072. With 8 heads,
    softmax takes 1.95 % of their operations.
    """

    def layer(n: int) -> LayerFlops:
        return layer_flops(n, d_model, heads)

    def products(n: int) -> int:
        return layer(n).scores + layer(n).mix

    overtakes = crossover(products, lambda n: layer(n).projections)
    outweighs = crossover(products, lambda n: layer(n).projections + layer(n).feed_forward)
    parts = (
        ("feed-forward", lambda n: layer(n).feed_forward, style.MUTED, "--"),
        ("projections", lambda n: layer(n).projections, style.QUERY, "-"),
        ("scores and mix", products, style.KEY, "-"),
        ("softmax", lambda n: layer(n).softmax, style.OUTPUT, "-."),
    )
    with course_style():
        figure = new_figure(height=3.6)
        axes = figure.add_subplot()
        for name, count, colour, dashes in parts:
            counts = [count(n) for n in _LENGTHS]
            axes.loglog(_LENGTHS, counts, color=colour, ls=dashes, lw=2.2, label=name)
        lowest = 1e3
        for n, side in ((overtakes, "right"), (outweighs, "left")):
            axes.plot([n, n], [lowest, products(n)], color=style.MUTED, ls=":", lw=1.5)
            axes.plot(n, products(n), "o", color=style.KEY, ms=8)
            axes.annotate(
                f"{n}",
                (n, lowest),
                xytext=(5 if side == "left" else -5, 3),
                textcoords="offset points",
                ha=side,
            )
        axes.set_ylim(lowest, 1e15)
        axes.set_xscale("log", base=2)
        axes.set_xticks(_LENGTHS[::3], [str(n) for n in _LENGTHS[::3]])
        axes.set_xlabel("number of tokens n")
        axes.set_ylabel("operations")
        axes.set_title(f"one layer of width {d_model}, {heads_text(heads)}", loc="left")
        axes.legend(loc="upper left", fontsize=10)
    return figure, (
        f"Width {d_model}. Scores and mix together cost as much as the projections at "
        f"n = {overtakes}, as much as projections and feed-forward part at n = {outweighs}. "
        f"With {heads_text(heads)}, softmax takes "
        f"{percent_text(layer(outweighs).softmax / products(outweighs))} of their operations."
    )


def weights_memory(
    heads: int, d_head: int = 64, dtype: DTypeLike = "float32"
) -> tuple[Figure, str]:
    r"""Draw the memory of one layer's attention weights against the number of tokens.

    For comparison, it draws the memory of keys and values, which any form of attention needs.

    Parameters
    ----------
    heads, d_head : int
        Number of heads, and the width of each.
    dtype : {"float16", "float32"} or dtype
        Type of every number.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = weights_memory(heads=8)
    >>> print(text.replace(", ", ",\n"))
    The weights of 8 heads in float32 take 128 MiB at n = 2048,
    2 GiB at n = 8192,
    32 GiB at n = 32768. The keys and values,
    64 wide in each head,
    take 128 MiB there.
    """
    lengths = _LENGTHS[3:]
    weights = [weights_bytes(heads, n, n, dtype) for n in lengths]
    cache = [cache_bytes(n, heads * d_head, dtype) for n in lengths]
    shown = [(n, weights_bytes(heads, n, n, dtype)) for n in (2048, 8192, 32768)]
    with course_style():
        figure = new_figure(height=3.4)
        axes = figure.add_subplot()
        axes.loglog(lengths, weights, color=style.KEY, lw=2.2, label="all weights")
        axes.loglog(lengths, cache, color=style.VALUE, lw=2.2, ls="--", label="keys and values")
        for n, size in shown:
            axes.plot(n, size, "o", color=style.KEY, ms=7)
            axes.annotate(
                bytes_text(size), (n, size), xytext=(-7, 3), textcoords="offset points", ha="right"
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(lengths[::2], [str(n) for n in lengths[::2]])
        ticks = [2**i for i in range(20, 44, 5)]
        axes.set_ylim(2**17, 2**42)
        axes.set_yticks(ticks, [bytes_text(tick) for tick in ticks])
        axes.set_xlabel("number of tokens n")
        axes.set_title(f"{heads_text(heads)}, {np.dtype(dtype)}", loc="left")
        axes.legend(loc="upper left", fontsize=10)
    sizes = ", ".join(f"{bytes_text(size)} at n = {n}" for n, size in shown)
    return figure, (
        f"The weights of {heads_text(heads)} in {np.dtype(dtype)} take {sizes}. "
        f"The keys and values, {d_head} wide in each head, take "
        f"{bytes_text(cache_bytes(shown[-1][0], heads * d_head, dtype))} there."
    )


def seconds_against_length(
    lengths: Sequence[int], seconds: Mapping[str, ArrayLike]
) -> tuple[Figure, str]:
    r"""Draw measured times against the number of tokens on log-log axes, with their slopes.

    Parameters
    ----------
    lengths : sequence of int
        Numbers of tokens, ascending, at least two.
    seconds : mapping of str to array_like of the same length
        Up to four measurements, by name.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = seconds_against_length([256, 512], {"scores": [0.001, 0.004]})
    >>> text
    'From n = 256 to 512, time grows as n to the power of: scores 2.00.'
    """
    looks = zip(
        (style.KEY, style.QUERY, style.OUTPUT, style.MUTED), ("o-", "s--", "^-.", "D:"), strict=True
    )
    slopes = {name: loglog_slope(lengths, times) for name, times in seconds.items()}
    with course_style():
        figure = new_figure(height=3.4)
        axes = figure.add_subplot()
        for (name, times), (colour, dashes) in zip(seconds.items(), looks, strict=False):
            label = f"{name}: slope {slopes[name]:.2f}"
            axes.loglog(lengths, times, dashes, color=colour, lw=2, ms=6, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks(lengths, [str(n) for n in lengths])
        axes.set_xlabel("number of tokens n")
        axes.set_ylabel("seconds")
        axes.legend(loc="upper left", fontsize=10)
    powers = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
    return figure, (
        f"From n = {lengths[0]} to {lengths[-1]}, time grows as n to the power of: {powers}."
    )
