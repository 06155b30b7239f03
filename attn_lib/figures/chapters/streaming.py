"""Figures of the chapter on complexity: attention block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import read_positive_size
from attn_lib.figures import style
from attn_lib.figures.drawing import decimal_text, percent_text
from attn_lib.figures.style import course_style, new_figure
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def streaming_softmax(
    blocks_seen: int, scores: ArrayLike, values: ArrayLike, block_size: int
) -> tuple[Figure, str]:
    r"""Draw how one query processes its keys block by block and keeps three numbers.

    Parameters
    ----------
    blocks_seen : int
        How many blocks have been read, at least 1.
    scores : array_like, shape (n_k,)
        Scaled scores of the query.
    values : array_like, shape (n_k,)
        The number each key hands over.
    block_size : int
        Keys in a block; the last block may be shorter.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If there is no such block.

    References
    ----------
    Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3, for
    the sum; Dao et al. 2022, "FlashAttention", section 3.1, for the output.

    Examples
    --------
    >>> _, text = streaming_softmax(2, [1, 2, 4, 0], [10, 20, 30, 40], block_size=2)
    >>> print(text.replace(", ", ",\n"))
    Block 2 of 2: largest score so far 4.00,
    earlier terms times 0.135,
    running sum 1.203,
    output 28.20. All keys at once: 28.20.
    """
    scores, values = np.asarray(scores, dtype=float), np.asarray(values, dtype=float)
    states = _read_blocks(scores, values, block_size)
    if not 1 <= blocks_seen <= len(states):
        raise ValueError(
            f"streaming_softmax: expected between 1 and {len(states)} blocks seen, "
            f"got {blocks_seen}."
        )
    now, complete = states[blocks_seen - 1], float(softmax(scores) @ values)
    blocks = np.arange(1, len(states) + 1)
    with course_style():
        figure = new_figure(height=4.0)
        # Fixed margins: computing them takes half of the time of a frame.
        figure.set_layout_engine("none")
        margins = {"left": 0.1, "right": 0.99, "top": 0.93, "bottom": 0.12, "hspace": 0.6}
        panels = figure.subplot_mosaic("aa;bc", height_ratios=[1.2, 1], gridspec_kw=margins)
        top, left, right = (panels[name] for name in "abc")
        keys = np.arange(1, len(scores) + 1)
        block_of_key = (keys - 1) // block_size + 1
        for chosen, look in (
            (block_of_key < blocks_seen, {"color": style.KEY, "alpha": 0.4}),
            (block_of_key == blocks_seen, {"color": style.KEY}),
            (block_of_key > blocks_seen, {"fill": False, "edgecolor": style.MUTED, "ls": ":"}),
        ):
            top.bar(keys[chosen], scores[chosen], **look)
        top.axhline(0, color=style.MUTED, lw=0.8)
        seen = keys[block_of_key <= blocks_seen]
        top.plot([0.4, seen[-1] + 0.6], [now.largest] * 2, color=style.INK, lw=2)
        top.set_xticks(keys)
        top.set_xlabel("key")
        top.set_ylabel("score")
        top.set_title(f"largest score so far {decimal_text(now.largest)}", loc="left")
        left.bar(blocks[:blocks_seen], [s.total for s in states[:blocks_seen]], color=style.QUERY)
        left.set_ylim(0, 1.1 * max(s.total for s in states))
        left.set_title(f"running sum {now.total:.2f}", loc="left", color=style.QUERY)
        right.axhline(complete, color=style.MUTED, ls="--", label="all keys at once")
        right.legend(loc="lower right", fontsize=10)
        outputs = [s.output for s in states]
        right.plot(blocks, outputs, color="none")  # the axis stays the same for every state
        right.plot(blocks[:blocks_seen], outputs[:blocks_seen], "o-", color=style.OUTPUT, ms=7)
        right.margins(y=0.25)
        right.set_title(f"output {decimal_text(now.output)}", loc="left", color=style.OUTPUT)
        for axes in (left, right):
            axes.set_xticks(blocks)
            axes.set_xlim(0.5, len(blocks) + 0.5)
            axes.set_xlabel("block")
    return figure, (
        f"Block {blocks_seen} of {len(states)}: largest score so far {decimal_text(now.largest)}, "
        f"earlier terms times {now.kept:.3f}, running sum {now.total:.3f}, output "
        f"{decimal_text(now.output)}. All keys at once: {decimal_text(complete)}."
    )


def causal_blocks(blocks: int) -> tuple[Figure, str]:
    r"""Draw which blocks of scores are computed under a causal mask.

    Parameters
    ----------
    blocks : int
        Number of blocks of queries, and of equally large blocks of keys; at least 1.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `blocks` is not a whole number of at least 1.

    Examples
    --------
    >>> _, text = causal_blocks(4)
    >>> text
    '4 × 4 blocks: 6 whole, 4 masked in part, 6 skipped. Computed: 10 of 16, 62.5 %.'
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    blocks = read_positive_size(blocks, "blocks")
    kind = np.sign(np.subtract.outer(np.arange(blocks), np.arange(blocks)))  # query − key
    skipped, partly, whole = (int((kind == sign).sum()) for sign in (-1, 0, 1))
    looks = {
        "skipped": (style.FACE, skipped),
        "masked in part": ("#9CC9E6", partly),
        "whole": (style.QUERY, whole),
    }
    with course_style():
        figure = new_figure(height=3.0)
        axes = figure.add_subplot()
        colours = ListedColormap([colour for colour, _ in looks.values()])
        axes.pcolormesh(
            kind, cmap=colours, vmin=-1, vmax=1, edgecolor=style.MUTED, lw=0.5, clip_on=False
        )
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        axes.set_xlabel("blocks of keys")
        axes.set_ylabel("blocks of queries")
        meanings = [
            Patch(facecolor=colour, edgecolor=style.MUTED, lw=0.5, label=f"{name}: {count}")
            for name, (colour, count) in reversed(looks.items())
        ]
        figure.legend(handles=meanings, loc="outside right center", fontsize=10)
    computed = whole + partly
    return figure, (
        f"{blocks} × {blocks} blocks: {whole} whole, {partly} masked in part, {skipped} skipped. "
        f"Computed: {computed} of {blocks**2}, {percent_text(computed / blocks**2)}."
    )


class _State(NamedTuple):
    """What streaming keeps of a row after some of its blocks."""

    largest: float  #: score
    kept: float  #: factor by which the last block rescaled the earlier sum
    total: float  #: sum of exp(score - largest)
    output: float


def _read_blocks(
    scores: NDArray[np.floating], values: NDArray[np.floating], block_size: int
) -> list[_State]:
    states: list[_State] = []
    largest, total, mixture = -np.inf, 0.0, 0.0
    for start in range(0, len(scores), block_size):
        block = slice(start, start + block_size)
        before, largest = largest, max(largest, float(scores[block].max()))
        kept = float(np.exp(before - largest))
        exponentials = np.exp(scores[block] - largest)
        total = total * kept + float(exponentials.sum())
        mixture = mixture * kept + float(exponentials @ values[block])
        states.append(_State(largest, kept, total, mixture / total))
    return states
