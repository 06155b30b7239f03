"""The course's pictures. Each function draws one figure and says in words what it shows.

Every function returns ``(figure, text)``, so it can be given to `attn_lib.widgets.picture`
as it is, or to `attn_lib.widgets.explore` with sliders for its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib import style
from attn_lib.attention import scaled_dot_product_attention
from attn_lib.softmax import softmax
from attn_lib.style import bare, course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    query = _on_circle([query_angle], length)  # (1, 2)
    keys = _on_circle(key_angles, length)  # (n_k, 2)
    trace = scaled_dot_product_attention(
        query, keys, np.asarray(values, dtype=float)[:, None], return_trace=True
    )
    weights, output = trace.weights[0], trace.output[0, 0]
    names = [chr(ord("A") + i) for i in range(len(keys))]
    with course_style():
        figure = new_figure(height=3.1)
        left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
        _plane(left, length * 1.4)
        for name, key in zip(names, keys, strict=True):
            _arrow(left, key, style.KEY, width=4.5)
            _label(left, name, key, style.KEY)
        _arrow(left, query[0], style.QUERY)
        left.set_title("what the query is near", loc="left")
        _colour_key(left, query=style.QUERY, keys=style.KEY)

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
    r"""Draw one query's way through compare, scale, normalise and mix as four bar charts.

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
            _labelled_bars(axes, numbers, names, colour)
            axes.set_title(title, loc="left")
        # One scale for both, so that the scaling shows.
        panels[1].set_xlim(panels[0].get_xlim())
    text = (
        f"Compare: scores {_numbers(raw)}. Scale: {_numbers(scaled)}. "
        f"Normalise: weights {_numbers(weights, share=True)}. Mix: output {_numbers(output)}."
    )
    return figure, text


def two_vectors(angle: float, length: float, query: ArrayLike = (2.0, 0.0)) -> tuple[Figure, str]:
    """Draw a query and a key at an angle, with the key's shadow on the query.

    The dot product is the query's length times the length of that shadow, counted negative
    when it points the other way.

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
    key = _on_circle([start + angle], length)[0]
    dot = float(query @ key) + 0.0
    cosine = dot / (query_length * length)
    shadow = query / query_length * (dot / query_length)
    with course_style():
        figure = new_figure(height=3.6)
        axes = figure.add_subplot()
        _plane(axes, 4.2)
        axes.set_ylim(-1.2, 4.2)
        axes.plot([key[0], shadow[0]], [key[1], shadow[1]], color=style.MUTED, ls=":", lw=1.5)
        axes.plot([0, shadow[0]], [0, shadow[1]], color=style.KEY, lw=7, alpha=0.3)
        _arrow(axes, key, style.KEY, width=4.5)
        _arrow(axes, query, style.QUERY)
        _colour_key(axes, query=style.QUERY, key=style.KEY)
        axes.set_title(f"q·k = {_signed(dot)}    cosine = {_signed(cosine)}", loc="left")
    dot_text, cosine_text = _signed(dot), _signed(cosine)
    return figure, (
        f"Angle {angle:g}°, key of length {length:g}: dot product {dot_text}, cosine {cosine_text}."
    )


def projections(n: int, d_model: int, d_k: int, d_v: int) -> tuple[Figure, str]:
    r"""Draw how three matrices turn token embeddings into queries, keys and values.

    Parameters
    ----------
    n : int
        Number of tokens.
    d_model, d_k, d_v : int
        Widths of an embedding, of a query or key, and of a value.

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
        _box(axes, (0.1, 2.75), (2.6, 0.9), "X", f"{n}×{d_model}", style.MUTED)
        axes.text(1.4, 2.45, "one row a token", ha="center", va="top", fontsize=10.5)
        for i, (name, width, colour, role) in enumerate(rows):
            middle = 5.3 - 2.1 * i
            _box(axes, (4.3, middle - 0.8), (1.7, 1.6), f"W_{name}", f"{d_model}×{width}", colour)
            _box(axes, (7.7, middle - 0.45), (1.7, 0.9), name, f"{n}×{width}", colour)
            axes.text(8.55, middle - 0.52, role, ha="center", va="top", fontsize=10.5)
            _flow(axes, (2.75, 3.2), (4.25, middle))
            _flow(axes, (6.05, middle), (7.65, middle))
    parts = "; ".join(
        f"times W_{name} ({d_model}×{width}) gives {name} ({n}×{width})"
        for name, width, _, _ in rows
    )
    return figure, f"X ({n}×{d_model}) {parts}."


def shape_flow(b: int, h: int, n_q: int, n_k: int, d_k: int, d_v: int) -> tuple[Figure, str]:
    r"""Draw the shapes that pass through batched attention, computed by running it.

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
        _box(axes, (0.1, 4.9), size, "q", str(q.shape), style.QUERY)
        _box(axes, (0.1, 3.4), size, "k", str(k.shape), style.KEY)
        _box(axes, (0.1, 0.6), size, "v", str(v.shape), style.VALUE)
        _box(axes, (5.9, 4.15), size, "scores", str(trace.raw.shape), style.MUTED)
        _box(axes, (5.9, 2.4), size, "weights", str(trace.weights.shape), style.MUTED)
        _box(axes, (5.9, 0.6), size, "output", str(trace.output.shape), style.OUTPUT)
        _flow(axes, (4.05, 5.4), (5.85, 4.75))
        _flow(axes, (4.05, 3.9), (5.85, 4.55))
        _flow(axes, (7.85, 4.1), (7.85, 3.45))
        _flow(axes, (7.85, 2.35), (7.85, 1.65))
        _flow(axes, (4.05, 1.1), (5.85, 1.1))
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
        What stands at each position.
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
        left.add_patch(_frame_patch((-0.5, row - 1.5), len(names), 1))
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
        If `factor` is not positive: a negative one would turn the ranking round.

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
        _labelled_bars(axes, weights, names, style.KEY)
        axes.set_xlim(0, 1.18)
        axes.set_xlabel("weight")
        axes.set_title(f"scores × {factor:.3g}", loc="left")
    return figure, (
        f"Scores times {factor:.3g}: weights {_numbers(weights, share=True)}, "
        f"the largest on key {weights.argmax() + 1}. Output {_numbers(output)}."
    )


def _on_circle(angles: Sequence[float], radius: float) -> NDArray[np.float64]:
    radians = np.deg2rad(np.asarray(angles, dtype=float))
    # Rounded so that 90° is exactly orthogonal, not 1e-16 away.
    return np.stack([np.cos(radians), np.sin(radians)], axis=-1).round(12) * radius


def _plane(axes: Axes, reach: float) -> None:
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    bare(axes)
    axes.axhline(0, color=style.MUTED, lw=0.6)
    axes.axvline(0, color=style.MUTED, lw=0.6)


def _arrow(axes: Axes, tip: NDArray, colour: str, width: float = 2.0) -> None:
    axes.annotate(
        "",
        tip,
        xytext=(0, 0),
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0},
    )


def _colour_key(axes: Axes, **colours: str) -> None:
    """Name the colours in a corner, where no moving arrow covers the words."""
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


def _label(axes: Axes, text: str, tip: NDArray, colour: str) -> None:
    """Write `text` just beyond the tip of an arrow from the origin."""
    x, y = tip / np.linalg.norm(tip)
    axes.annotate(
        text,
        tip,
        xytext=(9 * x, 11 * y),
        textcoords="offset points",
        ha="left" if x > 0.4 else "right" if x < -0.4 else "center",
        va="bottom" if y > 0.4 else "top" if y < -0.4 else "center",
        color=colour,
        bbox={"facecolor": style.FACE, "edgecolor": "none", "pad": 1},
    )


def _flow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "", end, xytext=start, arrowprops={"arrowstyle": "->", "color": style.MUTED, "lw": 1.4}
    )


def _box(axes, corner, size, name, shape, colour) -> None:
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
        f"{name}\n{shape}" if height > width / 2 else f"{name}  {shape}",
        ha="center",
        va="center",
        fontsize=10,
    )


def _frame_patch(corner: tuple[float, float], width: float, height: float):
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, fill=False, edgecolor=style.QUERY, lw=2.5)


def _labelled_bars(axes: Axes, numbers: NDArray, names: Sequence[str], colour: str) -> None:
    positions = range(len(numbers))
    axes.barh(positions, numbers, color=colour, height=0.62)
    axes.set_yticks(positions, names)
    axes.invert_yaxis()
    axes.axvline(0, color=style.MUTED, lw=0.8)
    span = np.ptp([0, *numbers]) or 1.0
    axes.set_xlim(min(0, numbers.min()) - 0.05 * span, max(0, numbers.max()) + 0.5 * span)
    share = numbers.min() >= 0 and numbers.max() <= 1
    for i, number in enumerate(numbers):
        # Right of zero also for a negative bar: on its left stand the names.
        axes.annotate(
            _number(number, share=share),
            (max(number, 0), i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=10.5,
        )


def _signed(number: float) -> str:
    # A rounded −0.00 would look like a sign that is not there.
    return f"{round(number, 2) + 0.0:.2f}".replace("-", "−")


def _number(number: float, *, share: bool = False) -> str:
    """Return a whole number as it is, others with three decimals; a share is never 0 or 1."""
    if number == round(number):
        text = f"{number:.0f}"
    elif share and number < 0.0005:
        text = "<0.001"
    elif share and number > 0.9995:
        text = ">0.999"
    else:
        text = f"{number:.3f}"
    return text.replace("-", "−")


def _numbers(row: NDArray, *, share: bool = False) -> str:
    return ", ".join(_number(x, share=share) for x in row)
