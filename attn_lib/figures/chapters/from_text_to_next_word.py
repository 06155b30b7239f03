"""Figures of the chapter that follows a sentence through a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.figures import style
from attn_lib.figures.drawing import box, decimal_text, flow, frame_patch
from attn_lib.figures.grids import hatch, write_in_cell
from attn_lib.figures.style import bare, course_style, new_figure
from attn_lib.model import (
    RIGHT,
    Config,
    Parts,
    Transformer,
    alibi_bias,
    encode,
    forward,
    layer_names,
    rotate,
    sinusoidal,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What each array of a trace is, by the last part of its name.
ARRAY_MEANINGS = {
    "tokens": "the row of the embedding table that belongs to each word",
    "places": "the row of the table of positions that is added to each word",
    "stream": "the residual stream, as the layer reads it",
    "normed": "the stream after the layer norm",
    "q": "the queries of all heads, normed · W_Q",
    "k": "the keys of all heads, normed · W_K",
    "v": "the values of all heads, normed · W_V",
    "scores": "q · k / √d_k, hidden where the key comes after the query",
    "weights": "the softmax of each row of scores",
    "mixed": "the output of each head, weights · v",
    "merged": "the outputs of the heads side by side",
    "added": "merged · W_O, which is added to the stream",
    "final.stream": "the stream after the last layer",
    "final.normed": "the stream after the last layer norm",
    "logits": "a number for each word of the vocabulary as the next one, normed · unembedding",
}
NO_ROLES: Mapping[str, str] = MappingProxyType({})
#: Ground of what the mask hides.
_HIDDEN = "#DDE0E6"
#: Arrays that have a column for each word of the text.
_BY_KEY = {"scores", "weights"}


def residual_stream(n: int, config: Config) -> tuple[Figure, str]:
    """Draw the way from ids to logits: a stream that every layer reads and adds to.

    Parameters
    ----------
    n : int
        Number of words.
    config : Config
        Sizes of the model.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = residual_stream(3, Config(n_words=49))
    >>> text[:48]
    'Ids (3,) become a stream (3, 32): the embedding '
    """
    stream, logits = (n, config.d_model), (n, config.n_words)
    layers = layer_names(config)
    top = 2.6 * len(layers) + 5.6
    x = 1.9
    with course_style():
        figure = new_figure(height=0.42 * top)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(0, top)
        axes.plot([x, x], [top - 2.2, 2.5], color=style.INK, lw=3, solid_capstyle="butt")
        box(axes, (0.2, top - 2.2), (9.6, 0.9), "embedding + position", f"{stream}", style.QUERY)
        axes.text(x, top - 0.55, f"ids ({n},)", ha="center", va="center", fontsize=10)
        flow(axes, (x, top - 0.85), (x, top - 1.3))
        for i, layer in enumerate(layers):
            y = top - 3.1 - 2.6 * i
            name = f"layer {layer.removeprefix('layer')}: norm, attention"
            box(axes, (4.0, y - 1.3), (5.8, 1.1), name, f"{stream}", style.KEY)
            flow(axes, (x, y - 0.45), (4.0, y - 0.45))
            flow(axes, (4.0, y - 1.05), (x + 0.22, y - 1.05))
            axes.text(2.95, y - 0.2, "reads", ha="center", va="center", fontsize=9.5)
            axes.text(2.95, y - 1.35, "adds", ha="center", va="center", fontsize=9.5)
            axes.plot(x, y - 1.05, "o", ms=13, mfc=style.FACE, mec=style.INK, mew=1.4)
            axes.text(x, y - 1.08, "+", ha="center", va="center", fontsize=11)
        axes.annotate(
            "residual\nstream", (x - 0.2, top - 3.0), ha="right", va="center", fontsize=9.5
        )
        box(axes, (0.2, 1.6), (9.6, 0.9), "norm, unembedding: logits", f"{logits}", style.VALUE)
        flow(axes, (x, 1.6), (x, 1.0))
        axes.text(0.5, 0.55, "softmax: shares for the next word", va="center", fontsize=10)
    return figure, (
        f"Ids ({n},) become a stream {stream}: the embedding of each word plus its position. "
        f"Each of {len(layers)} layers reads the stream, normed, and adds what its attention "
        f"gives, {stream}. The last norm and the unembedding make logits of the stream, {logits}."
    )


def traced_array(
    name: str,
    trace: Mapping[str, NDArray[np.floating]],
    words: Sequence[str],
    meanings: Mapping[str, str] = ARRAY_MEANINGS,
) -> tuple[Figure, str]:
    """Draw one array of a text's way through a model, a row for each word.

    Parameters
    ----------
    name : str
        One of `trace`, as in ``"layer1.weights"``.
    trace : mapping of str to ndarray
        What `attn_lib.model.forward` returned for one text.
    words : sequence of str
        The text.
    meanings : mapping of str to str
        What each array is, by its name or the last part of it.

    Returns
    -------
    (Figure, str)
        Purple is below 0, orange above, white is 0; weights are blue. Several heads stand
        side by side.

    Raises
    ------
    ValueError
        If the trace has no such array.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> words = ["the", "cats", "sleep"]
    >>> trace = forward(trained_model(), encode(words))
    >>> _, text = traced_array("layer1.weights", trace, words)
    >>> text[:72]
    'layer1.weights, (2, 3, 3): the softmax of each row of scores. From 0.00 '
    """
    if name not in trace:
        raise ValueError(f"traced_array: expected one of {', '.join(trace)}, got {name!r}.")
    array, kind = trace[name], name.rpartition(".")[2]
    heads = array if array.ndim == 3 else array[None]  # (panels, n, width)
    finite = array[np.isfinite(array)]
    reach = float(np.abs(finite).max())
    with course_style():
        figure = new_figure(height=2.9)
        panels = np.atleast_1d(figure.subplots(1, len(heads)))
        for i, (axes, numbers) in enumerate(zip(panels, heads, strict=True)):
            low, colours = (
                (0.0, style.WEIGHT_COLOURS) if kind == "weights" else (-reach, style.SCORE_COLOURS)
            )
            shown = np.where(np.isfinite(numbers), numbers, 0)
            axes.imshow(shown, cmap=colours, vmin=low, vmax=reach, aspect="auto")
            hatch(axes, ~np.isfinite(numbers))
            axes.set_yticks(range(len(words)), words if i == 0 else [""] * len(words), fontsize=9)
            if kind in _BY_KEY:
                axes.set_xticks(range(len(words)), words, rotation=90, fontsize=9)
            else:
                width = numbers.shape[-1]
                axes.set_xticks([0, width - 1], ["1", f"{width}"], fontsize=9)
                axes.set_xlabel("id" if kind == "logits" else "entry")
                if kind == "logits":
                    axes.set_xticks([0, width - 1], ["0", f"{width - 1}"], fontsize=9)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            title = f"head {i + 1}" if array.ndim == 3 else f"{name}  {array.shape}"
            axes.set_title(title, loc="left")
        if array.ndim == 3:
            figure.suptitle(f"{name}  {array.shape}", x=0.02, ha="left", fontsize=11, weight="bold")
    said = meanings.get(name) or meanings[kind]
    return figure, (
        f"{name}, {array.shape}: {said}. "
        f"From {decimal_text(finite.min())} to {decimal_text(finite.max())}."
    )


def word_weights(
    model: Transformer,
    head: tuple[int, int],
    sentence: str,
    parts: Parts = RIGHT,
    roles: Mapping[str, str] = NO_ROLES,
    word: int | None = None,
) -> tuple[Figure, str]:
    """Draw where one head looks from each word of a sentence, or from one word of it.

    Parameters
    ----------
    model : Transformer
    head : (int, int)
        Layer and head, both counted from 1.
    sentence : str
        Words of the vocabulary with spaces between.
    parts : Parts
        What the model attends with.
    roles : mapping of str to str
        What to call heads beside their number, as in ``{"layer 2, head 1": "induction"}``.
    word : int, optional
        The word to look from, counted from 1: its row is framed. By default all words.

    Returns
    -------
    (Figure, str)
        Grey is hidden by the mask. The text names, for each word that is looked from, the word it
        looks at most.

    Raises
    ------
    ValueError
        If there is no such head or word, or a word is not in the vocabulary.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> _, text = word_weights(trained_model(), (2, 1), "ada tea bob juice ada")
    >>> text.split(", ")[-1]
    'ada → tea 0.99.'
    >>> _, text = word_weights(trained_model(), (1, 1), "ada tea bob juice ada", word=2)
    >>> text.split(": ")[1]
    'tea → ada 0.97.'
    """
    layer, number = head
    if not (1 <= layer <= model.config.n_layers and 1 <= number <= model.config.n_heads):
        raise ValueError(
            f"word_weights: expected a layer from 1 to {model.config.n_layers} and a head from 1 "
            f"to {model.config.n_heads}, got {layer} and {number}."
        )
    words = sentence.split()
    n = len(words)
    if word is not None and not 1 <= word <= n:
        raise ValueError(f"word_weights: expected a word from 1 to {n}, got {word}.")
    trace = forward(model, encode(words), parts=parts)
    weights = trace[f"layer{layer}.weights"][number - 1]  # (n, n)
    allowed = parts.causal_mask(n, n)
    with course_style():
        figure = new_figure(height=1.25 + 0.33 * n)
        axes = figure.add_subplot()
        axes.set_facecolor(_HIDDEN)
        shown = np.ma.masked_array(weights, ~allowed)
        axes.imshow(shown, cmap=style.WEIGHT_COLOURS, vmin=0, vmax=1, aspect="auto")
        _name_both(axes, words, words)
        for i, j in np.argwhere(weights >= 0.1):
            colour = "white" if weights[i, j] > 0.55 else style.INK
            write_in_cell(axes, i, j, decimal_text(weights[i, j]), colour)
        if word is not None:
            axes.add_patch(frame_patch((-0.5, word - 1.5), n, 1))
        axes.set_ylabel("looks from")
        axes.set_xlabel("looks at")
        name = f"layer {layer}, head {number}"
        role = f" ({roles[name]})" if name in roles else ""
        axes.set_title(name + role, loc="left")
    most = (
        f"{words[i]} → {words[row.argmax()]} {decimal_text(row.max())}"
        for i, row in enumerate(weights)
        if word in (None, i + 1)
    )
    return figure, f"Layer {layer}, head {number}{role}: {', '.join(most)}."


def name_matches(scores: ArrayLike, names: Sequence[str]) -> tuple[Figure, str]:
    """Draw how well a name that comes again matches the drinks after each name.

    Parameters
    ----------
    scores : array_like, shape (names, names)
        Mean score of the query of each name, when it is asked for, with the key of a drink
        that follows each name.
    names : sequence of str

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = name_matches([[7, 1], [-3, 9]], ["ada", "bob"])
    >>> text.split(". ")[0]
    'A name and the drink after it: scores from 7.0 to 9.0'
    """
    scores = np.asarray(scores, dtype=float)
    own = np.eye(len(names), dtype=bool)
    reach = 1.6 * np.abs(scores).max()
    with course_style():
        figure = new_figure(height=3.6)
        axes = figure.add_subplot()
        axes.imshow(scores, cmap=style.SCORE_COLOURS, vmin=-reach, vmax=reach, aspect="auto")
        _name_both(axes, names, names)
        for (i, j), score in np.ndenumerate(scores):
            write_in_cell(axes, i, j, decimal_text(score, 0))
        axes.set_ylabel("query: this name again")
        axes.set_xlabel("key: a drink after this name")
    same, other = scores[own], scores[~own]
    low, high, other_low, other_high = (
        decimal_text(number, 1) for number in (same.min(), same.max(), other.min(), other.max())
    )
    return figure, (
        f"A name and the drink after it: scores from {low} to {high}. "
        f"A name and the drink after another: from {other_low} to {other_high}."
    )


def position_scores(
    position: int, vector: ArrayLike, table: ArrayLike, n_heads: int = 2
) -> tuple[Figure, str]:
    """Draw the scores of one word with itself at all positions before it, in four ways.

    Parameters
    ----------
    position : int
        Of the query, counted from 1, at most as many as `table` has rows.
    vector : array_like, shape (d,)
        Query and key of the word, before anything is said of positions. The width is even.
    table : array_like, shape (n, d)
        Learned positions.
    n_heads : int
        Heads among which ALiBi divides its slopes; the first one is drawn.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If the table has no such position.

    Examples
    --------
    >>> _, text = position_scores(2, [3.0, 4.0], [[1, 0], [0, 1]])
    >>> text.partition(": ")[2].split("; ")[0]
    'learned 24.04 and 22.63'
    """
    curves = _position_curves(position, vector, table, n_heads)
    n = len(np.asarray(table))
    every = [_position_curves(place, vector, table, n_heads) for place in range(1, n + 1)]
    with course_style():
        figure = new_figure(height=3.9)
        for axes, (name, curve) in zip(figure.subplots(2, 2).flat, curves.items(), strict=True):
            places = range(1, len(curve) + 1)
            axes.plot(places, curve, "-o", color=style.QUERY, ms=4, lw=1.4)
            axes.plot(position, curve[-1], "o", color=style.KEY, ms=8)
            axes.set_xlim(0.5, n + 0.5)
            low = min(curves_there[name].min() for curves_there in every)
            high = max(curves_there[name].max() for curves_there in every)
            margin = 0.1 * (high - low)
            axes.set_ylim(low - margin, high + margin)
            axes.set_title(name, loc="left")
        figure.supxlabel("position of the key", fontsize=10.5)
        figure.supylabel("score", fontsize=10.5)
    told = "; ".join(
        f"{name} {decimal_text(curve[-1])}"
        + (f" and {decimal_text(curve[-2])}" if position > 1 else "")
        for name, curve in curves.items()
    )
    before = " and with the word before" if position > 1 else ""
    return figure, f"Query at position {position}. Score with itself{before}: {told}."


def _position_curves(
    position: int, vector: ArrayLike, table: ArrayLike, n_heads: int
) -> dict[str, NDArray[np.floating]]:
    """Return the scores of the query at a position with the keys up to there, (position,)."""
    x, table = np.asarray(vector, dtype=float), np.asarray(table, dtype=float)
    n, d = table.shape
    if not 1 <= position <= n:
        raise ValueError(f"position_scores: expected a position from 1 to {n}, got {position!r}.")
    places = np.arange(position)
    same = np.broadcast_to(x, (position, d))
    added = {"learned": same + table[:position], "sinusoidal": same + sinusoidal(places, d)}
    turned = rotate(same, places)
    curves = {name: rows @ rows[-1] / np.sqrt(d) for name, rows in added.items()}
    curves["rotary"] = turned @ turned[-1] / np.sqrt(d)
    curves["ALiBi"] = x @ x / np.sqrt(d) + alibi_bias(n_heads, 1, position)[0, 0]
    return curves


def _name_both(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), rows, fontsize=9.5)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=9.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
