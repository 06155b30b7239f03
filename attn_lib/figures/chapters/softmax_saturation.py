"""Figures of the chapter on softmax saturation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from attn_lib import experiments
from attn_lib.estimates import Estimate
from attn_lib.figures import style
from attn_lib.figures.drawing import (
    CURVE,
    OVERSCALED,
    SCALED,
    UNSCALED,
    decimal_text,
    flow_chart,
    number_text,
    percent_text,
    power_text,
    rate_text,
    row_text,
    small_text,
)
from attn_lib.figures.style import course_style, new_figure
from attn_lib.softmax import (
    entropy,
    softmax,
    softmax_backward,
    softmax_jacobian,
    softmax_jacobian_norm,
)
from attn_lib.training import Training

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def softmax_gap(gap: float) -> tuple[Figure, str]:
    """Draw the weights of two keys against the gap between their scores.

    Parameters
    ----------
    gap : float
        Score of the second key minus that of the first, between -10 and 10.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = softmax_gap(gap=4)
    >>> text
    'Gap 4: weights 0.018 and 0.982; the curve rises by 0.0177 a unit.'
    """

    def weights_at(gaps: NDArray[np.float64]) -> NDArray[np.floating]:
        return softmax(np.stack([np.zeros_like(gaps), gaps], axis=-1))

    gaps = np.linspace(-10, 10, 401)
    curve = weights_at(gaps)
    first, second = weights_at(np.asarray(gap, dtype=float))
    slope = first * second
    with course_style():
        figure = _still_figure(height=3.0, bottom=0.17)
        axes = figure.add_subplot()
        axes.plot(gaps, curve[:, 1], color=style.KEY, lw=2.5, label="weight of key 2", **CURVE)
        slopes = curve.prod(axis=-1)
        axes.plot(gaps, slopes, color=style.OUTPUT, lw=2, ls="--", label="its slope", **CURVE)
        axes.plot([gap, gap], [0, second], color=style.MUTED, ls=":", lw=1.5)
        axes.plot(gap, second, "o", color=style.KEY, ms=8)
        axes.plot(gap, slope, "o", color=style.OUTPUT, ms=8)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xticks(range(-10, 11, 5))
        axes.set_xlabel("score of key 2 less score of key 1")
        weights = f"weights {number_text(first, share=True)} and {number_text(second, share=True)}"
        axes.set_title(weights, loc="left")
        axes.legend(loc="upper left", fontsize=10)
    text = f"Gap {gap:g}: {weights}; the curve rises by {small_text(slope)} a unit."
    return figure, text.replace("-", "−")


def score_bars(
    scores: ArrayLike, temperature: float, reach: float, jacobian: bool
) -> tuple[Figure, str]:
    r"""Draw a row of scores, its weights at a temperature, and the Jacobian on request.

    Parameters
    ----------
    scores : array_like, shape (n_k,)
        Up to 26.
    temperature : float
        Positive; all scores are divided by it.
    reach : float
        The axis of the scores extends this far to either side of 0.
    jacobian : bool
        Whether to draw the Jacobian beside the bars.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If `temperature` is not positive.

    Examples
    --------
    >>> _, text = score_bars([15, 12, 9], temperature=8, reach=20, jacobian=True)
    >>> print(text.replace(". ", ".\n"))
    Scores 15, 12, 9 at temperature 8: weights 0.463, 0.318, 0.219.
    Entropy 1.52 of 1.58 bits.
    Norm of the Jacobian 0.460.
    """
    if not temperature > 0:
        raise ValueError(f"score_bars: expected a positive temperature, got {temperature}.")
    scores = np.asarray(scores, dtype=float)
    weights = softmax(scores / temperature)
    names = [chr(ord("A") + i) for i in range(len(scores))]
    with course_style():
        figure = new_figure(height=3.4)
        grid = figure.add_gridspec(2, 2 if jacobian else 1)
        upper, lower = (figure.add_subplot(grid[i, 0]) for i in range(2))
        upper.bar(names, scores, color=style.QUERY, width=0.5)
        upper.axhline(0, color=style.MUTED, lw=0.8)
        upper.set_ylim(-reach, reach)
        upper.set_title(f"scores, temperature {temperature:g}", loc="left")
        lower.bar(names, weights, color=style.KEY, width=0.5)
        lower.set_ylim(0, 1.25)
        lower.set_yticks([0, 0.5, 1])
        lower.set_title("weights", loc="left")
        for i, weight in enumerate(weights):
            shown = number_text(weight, share=True)
            lower.annotate(shown, (i, weight), (0, 3), textcoords="offset points", ha="center")
        if jacobian:
            _draw_jacobian(figure.add_subplot(grid[:, 1]), softmax_jacobian(weights), names)
    text = (
        f"Scores {row_text(scores)} at temperature {temperature:g}: "
        f"weights {row_text(weights, share=True)}. "
        f"Entropy {entropy(weights):.2f} of {np.log2(len(weights)):.2f} bits."
    )
    if jacobian:
        text += f" Norm of the Jacobian {small_text(float(softmax_jacobian_norm(weights)))}."
    return figure, text


def _draw_jacobian(axes: Axes, matrix: NDArray[np.floating], names: list[str]) -> None:
    axes.imshow(matrix, cmap=style.SCORE_COLOURS, vmin=-0.3, vmax=0.3)
    for (i, j), entry in np.ndenumerate(matrix):
        axes.text(j, i, decimal_text(entry), ha="center", va="center", fontsize=9.5)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("score ÷ temperature")
    axes.set_ylabel("weight")
    axes.set_title("Jacobian", loc="left")


def scores_to_gradient(scores: ArrayLike, d_k: int, right: int) -> tuple[Figure, str]:
    r"""Draw a gradient on its way back through softmax, for raw scores and for scaled ones.

    The gradient arriving at the weights is −1 at the right key and 0 at the others: only the right
    key should have more.

    Parameters
    ----------
    scores : array_like, shape (n_k,)
        Raw scores of one query.
    d_k : int
        Width of a query and a key; scores are divided by its root in the second column.
    right : int
        The right key, from 0.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = scores_to_gradient([15, 12, 9], d_k=64, right=2)
    >>> print(text.replace(". ", ".\n").replace("; ", ";\n"))
    Raw: scores 15, 12, 9;
    weights 0.950, 0.047, 0.002;
    gradient at the scores 0.002, 0.000, −0.002.
    ÷ √64: scores 1.875, 1.500, 1.125;
    weights 0.463, 0.318, 0.219;
    gradient at the scores 0.101, 0.070, −0.171.
    """
    scores = np.asarray(scores, dtype=float)
    arriving = -np.eye(len(scores))[right]
    columns, texts = [], []
    for name, colour, row in (
        ("raw", UNSCALED, scores),
        (f"÷ √{d_k}", SCALED, scores / np.sqrt(d_k)),
    ):
        weights = softmax(row)
        gradient = softmax_backward(weights, arriving)
        boxes = {
            "scores": row_text(row),
            "weights": row_text(weights, share=True),
            "gradient at the scores": row_text(gradient),
        }
        columns.append((name, colour, [*boxes.items()]))
        shown = "; ".join(f"{name} {numbers}" for name, numbers in boxes.items())
        texts.append(f"{name.capitalize()}: {shown}.")
    steps = ("softmax", f"back through it,\nfor a loss that\nwants key {right + 1}")
    return flow_chart(columns, steps), " ".join(texts)


def largest_weight_histogram(
    n_k: int, d_k: int, n_rows: int = 4000, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw the distribution of the largest weight in random rows, unscaled and scaled.

    Parameters
    ----------
    n_k, d_k : int
        Number of keys, and width of a query and a key.
    n_rows : int
        Number of random rows, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = largest_weight_histogram(n_k=10, d_k=64)
    >>> print(text.replace(". ", ".\n"))
    10 keys, width 64, 4000 rows: largest weight.
    Unscaled: median 0.951, mean 0.863 ± 0.003.
    Divided by √64: median 0.292, mean 0.320 ± 0.002.
    """
    return _compared(
        experiments.largest_weights,
        (n_k, d_k, n_rows, seed),
        name="largest weight",
        bins=np.linspace(0, 1, 51),
    )


def jacobian_histogram(n_k: int, d_k: int, n_rows: int = 4000, seed: int = 0) -> tuple[Figure, str]:
    r"""Draw the distribution of the norm of softmax's Jacobian, unscaled and scaled.

    Parameters
    ----------
    n_k, d_k, n_rows, seed
        As in `largest_weight_histogram`.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = jacobian_histogram(n_k=64, d_k=64)
    >>> print(text.replace(". ", ".\n"))
    64 keys, width 64, 4000 rows: norm of the Jacobian.
    Unscaled: median 0.207, mean 0.215 ± 0.003.
    15.8 % of the rows are below 0.01.
    Divided by √64: median 0.179, mean 0.1836 ± 0.0004.
    0 % of the rows are below 0.01.
    """
    return _compared(
        experiments.jacobian_norms,
        (n_k, d_k, n_rows, seed),
        name="norm of the Jacobian",
        bins=np.linspace(0, 0.5, 51),
        dead_below=0.01,
    )


def query_gradient_histogram(
    n_k: int, d_k: int, n_rows: int = 4000, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw the distribution of the length of the gradient at the query, unscaled and scaled.

    The axis is logarithmic; rows below its left end are counted in the first bin.

    Parameters
    ----------
    n_k, d_k, n_rows, seed
        As in `largest_weight_histogram`.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = query_gradient_histogram(n_k=64, d_k=512)
    >>> print(text.replace(". ", ".\n"))
    64 keys, width 512, 4000 rows: gradient at the query.
    Unscaled: median 0.00587, mean 0.219 ± 0.008.
    Divided by √512: median 0.0213, mean 0.02255 ± 0.00010.
    """
    return _compared(
        experiments.query_gradient_norms,
        (n_k, d_k, n_rows, seed),
        name="gradient at the query",
        bins=np.geomspace(1e-6, 10, 57),
        log=True,
    )


def overflow_histogram(
    d_k: int, dtype: DTypeLike = "float32", n_k: int = 128, n_rows: int = 3000, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw the largest raw scores of random rows, and the limit above which ``exp`` overflows.

    Parameters
    ----------
    d_k : int
        Width of a query and a key; up to 1024 the scores fit on the axis.
    dtype : {"float16", "float32"} or dtype
        Floating-point type of the exponentials.
    n_k, n_rows, seed : int
        Number of keys and of random rows.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = overflow_histogram(d_k=512)
    >>> print(text.replace(". ", ".\n"))
    Width 512, 128 keys, 3000 rows.
    In float32 exp overflows beyond 88.7.
    Where the largest score is not subtracted first, 0.5 % of the rows overflow.
    """
    largest = experiments.largest_scores(n_k, d_k, n_rows=n_rows, rng=seed)
    lost = experiments.overflows(n_k, d_k, dtype=dtype, n_rows=n_rows, rng=seed)
    share, kind = percent_text(float(lost.mean())), np.dtype(dtype)
    limit = float(np.log(np.float64(np.finfo(kind).max)))
    with course_style():
        figure = _still_figure(height=2.7, bottom=0.19)
        axes = figure.add_subplot()
        bins = np.linspace(0, 160, 81)
        for rows, colour in ((largest, UNSCALED), (largest[~lost], SCALED)):
            axes.stairs(*np.histogram(rows, bins), fill=True, color=colour)
        axes.margins(y=0.25)  # room for the text above the bars
        axes.axvline(limit, color=style.INK, lw=1.5)
        axes.annotate(
            f"limit {limit:.1f}",
            (limit, 1),
            xycoords=("data", "axes fraction"),
            xytext=(6, -4),
            textcoords="offset points",
            va="top",
            fontsize=10.5,
        )
        axes.set_xlim(0, 160)
        axes.set_xlabel("largest raw score of a row")
        axes.set_ylabel("rows")
        axes.set_title(f"{share} of the rows overflow in {kind}", loc="left")
    return figure, (
        f"Width {d_k}, {n_k} keys, {n_rows} rows. In {kind} exp overflows beyond {limit:.1f}. "
        f"Where the largest score is not subtracted first, {share} of the rows overflow."
    )


def training_curves(runs: Mapping[str, Training], rate: float) -> tuple[Figure, str]:
    r"""Draw how the loss falls, with one colour for each scale of the scores.

    Lines are medians over the starts; bands extend from the smallest to the largest loss.

    Parameters
    ----------
    runs : mapping of str to Training
        Names of up to three scales, and the results of training with each.
    rate : float
        A learning rate that all of them tried; below 1, a unit fraction such as 1/8.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If one of them did not try this rate.

    Examples
    --------
    >>> from attn_lib.training import train_lookup
    >>> runs = {"Scale 1/8": train_lookup([1.0], seeds=range(4))}
    >>> _, text = training_curves(runs, rate=1.0)
    >>> print(text.replace(". ", ".\n"))
    Rate 1, 4 starts, loss after 200 steps.
    Scale 1/8: median 0.000615, from 0.000603 to 0.000625; 100 % of the queries found.
    """
    text = []
    with course_style():
        figure = _still_figure(height=3.4, bottom=0.15)
        axes = figure.add_subplot()
        for (name, run), colour in zip(runs.items(), (UNSCALED, SCALED, OVERSCALED), strict=False):
            rates = run.rates.tolist()
            if rate not in rates:
                raise ValueError(
                    f"training_curves: expected a rate that was tried, one of {rates}, got {rate}."
                )
            losses, found = run.losses[rates.index(rate)], run.found[rates.index(rate)]
            low, middle, high = np.quantile(losses, [0, 0.5, 1], axis=0)  # (steps + 1,) each
            axes.fill_between(range(len(low)), low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(middle, color=colour, lw=2.2, label=name, **CURVE)
            last = [small_text(loss[-1]) for loss in (middle, low, high)]
            text.append(
                f"{name}: median {last[0]}, from {last[1]} to {last[2]}; "
                f"{percent_text(float(found.mean()))} of the queries found."
            )
        axes.set_ylim(0, 1.2)  # no loss is above 1; the names are above that
        axes.set_xlabel("step")
        axes.set_title(f"loss at the rate {rate_text(rate)} (line: median, band: all)", loc="left")
        axes.legend(loc="upper center", ncols=len(runs), fontsize=10)
    start = f"Rate {rate_text(rate)}, {len(losses)} starts, loss after {len(low) - 1} steps."
    return figure, " ".join([start, *text])


def _still_figure(height: float, bottom: float) -> Figure:
    """Return an empty figure with fixed margins: frames do not jump and need no layout."""
    figure = new_figure(height=height)
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0.12, right=0.96, bottom=bottom, top=1 - 0.28 / height, hspace=0.3)
    return figure


def _compared(
    measure: Callable[..., NDArray[np.float64]],
    sizes: tuple[int, int, int, int],
    name: str,
    bins: NDArray[np.float64],
    dead_below: float | None = None,
    log: bool = False,
) -> tuple[Figure, str]:
    """Draw the distribution of `measure` over random rows, unscaled above scaled."""
    n_k, d_k, n_rows, seed = sizes
    text = [f"{n_k} keys, width {d_k}, {n_rows} rows: {name}."]
    with course_style():
        figure = _still_figure(height=4.0, bottom=0.13)
        panels = figure.subplots(2, 1, sharex=True)
        panels[0].xaxis.set_visible(False)
        for axes, title, scale, colour in (
            (panels[0], "Unscaled", 1.0, UNSCALED),
            (panels[1], f"Divided by √{d_k}", None, SCALED),
        ):
            sample = measure(n_k, d_k, scale=scale, n_rows=n_rows, rng=seed)
            median, mean = float(np.median(sample)), Estimate.of_mean(sample)
            counts, _ = np.histogram(np.clip(sample, bins[0], bins[-1]), bins)
            axes.stairs(100 * counts / n_rows, bins, fill=True, color=colour)
            axes.axvline(max(median, bins[0]), color=style.INK, lw=1.8)
            axes.axvline(mean.value, color=style.INK, lw=1.8, ls=(0, (2, 1.5)))
            axes.set_ylabel("% of rows")
            axes.locator_params(axis="y", nbins=4)
            averages = f"median {small_text(median)}, mean {small_text(mean.value)}"
            axes.set_title(f"{title}: {averages}", loc="left", fontsize=10.5, color=colour)
            text.append(f"{title}: median {small_text(median)}, mean {mean}.")
            if dead_below is not None:
                dead = percent_text(float(np.mean(sample < dead_below)))
                text.append(f"{dead} of the rows are below {dead_below:g}.")
        if log:
            axes.set_xscale("log")
            lowest, highest = np.log10(bins[[0, -1]]).round().astype(int)
            powers = range(lowest, highest + 1)
            labels = [power_text(power) for power in powers]
            axes.set_xticks([10.0**power for power in powers], [f"≤{labels[0]}", *labels[1:]])
            axes.minorticks_off()
        axes.set_xlabel(f"{name} (line: median, dashes: mean)")
    return figure, " ".join(text)
