"""Figures of trainings of the model whose results are committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attn_lib.figures import style
from attn_lib.figures.drawing import CURVE, SCALED, UNSCALED, decimal_text, end_label
from attn_lib.figures.style import course_style, new_figure
from attn_lib.model.trials import MaskTrial, ScaleTrial, masks, scales

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def mask_losses(trials: Sequence[MaskTrial]) -> tuple[Figure, str]:
    """Draw the losses of the model in training, with the causal mask and without it.

    Parameters
    ----------
    trials : sequence of MaskTrial
        One with the mask, one without.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> trials = [MaskTrial(True, [], [4.0, 1.5]), MaskTrial(False, [], [4.0, 0.004])]
    >>> mask_losses(trials)[1]
    'Mean loss of the last 50 of 100 batches: with the mask 1.50, without 0.00.'
    """
    names = {True: "with the mask", False: "without"}
    colours = {True: style.QUERY, False: style.KEY}
    with course_style():
        figure = new_figure(height=2.6)
        axes = figure.add_subplot()
        for trial in trials:
            batches = masks.EVERY * np.arange(1, len(trial.losses) + 1)
            colour = colours[trial.masked]
            axes.plot(batches, trial.losses, "-o", color=colour, ms=3.5, lw=1.6, **CURVE)
            end_label(axes, batches[-1], trial.losses[-1], names[trial.masked], colour)
        axes.set_xlim(0, batches[-1])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("batches")
        axes.set_ylabel("loss")
    last = ", ".join(f"{names[t.masked]} {decimal_text(t.losses[-1])}" for t in trials)
    return figure, f"Mean loss of the last {masks.EVERY} of {batches[-1]} batches: {last}."


def recall_in_training(trials: Sequence[ScaleTrial], d_k: int) -> tuple[Figure, str]:
    """Draw how recall is learned at one width, with the division by the root of d_k and without.

    Parameters
    ----------
    trials : sequence of ScaleTrial
        Each way of training has a panel, each seed a line.
    d_k : int
        Width of a query and a key.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If no trial has this width.

    Examples
    --------
    >>> from attn_lib.model.trials import read_records
    >>> _, text = recall_in_training(read_records().scales, d_k=64)
    >>> text.split(": ")[0]
    'd_k = 64, recall after 1000 batches'
    """
    of_width = [trial for trial in trials if trial.d_k == d_k]
    if not of_width:
        widths = ", ".join(map(str, sorted({trial.d_k for trial in trials})))
        raise ValueError(f"recall_in_training: expected a width of {widths}, got {d_k!r}.")
    ways = sorted({(not trial.divided, trial.spread) for trial in of_width})
    said = []
    with course_style():
        figure = new_figure(height=3.6)
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, (undivided, spread) in zip(panels.flat, ways, strict=True):
            name = "not divided" if undivided else "÷ √d_k"
            colour = UNSCALED if undivided else SCALED
            lines = [t.recall for t in of_width if (not t.divided, t.spread) == (undivided, spread)]
            for recall in lines:
                batches = scales.EVERY * np.arange(len(recall))
                axes.plot(batches, 100 * np.array(recall), color=colour, lw=1.6, **CURVE)
            axes.set_ylim(0, 104)
            axes.set_title(f"{name}, start {spread:g}", loc="left", color=colour)
            last = ", ".join(f"{100 * recall[-1]:.0f} %" for recall in lines)
            said.append(f"{name}, start {spread:g}, {last}")
        figure.supxlabel("batches", fontsize=10.5)
        figure.supylabel("% recalled", fontsize=10.5)
    return figure, f"d_k = {d_k}, recall after {batches[-1]} batches: {'; '.join(said)}."
