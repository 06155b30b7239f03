"""Figures of the chapter on variance growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attn_lib.estimates import Estimate, rejected_share, variance_noise
from attn_lib.experiments import (
    Entries,
    largest_scores,
    score_moments,
    score_samples,
    score_variance,
    weight_rows,
)
from attn_lib.figures import style
from attn_lib.figures.drawing import (
    OVERSCALED,
    SCALED,
    UNSCALED,
    end_label,
    flow_chart,
    percent_text,
)
from attn_lib.figures.style import course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def sign_totals(first: int = 2, second: int = 5) -> tuple[Figure, str]:
    r"""Draw how often each total of a few terms occurs, if every term is equally often +1 and −1.

    Parameters
    ----------
    first, second : int
        Number of terms in the upper and in the lower panel, 1 to 8.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = sign_totals(2, 3)
    >>> print(text.replace(". ", ".\n"))
    2 terms: totals from −2 to 2, in 1, 2, 1 of 4 cases; variance 2.
    3 terms: totals from −3 to 3, in 1, 3, 3, 1 of 8 cases; variance 3.
    """
    texts = []
    with course_style():
        figure = new_figure(height=3.6)
        panels = figure.subplots(2, 1, sharex=True)
        for axes, terms in zip(panels, (first, second), strict=True):
            totals = np.arange(-terms, terms + 1, 2)
            cases = np.array([math.comb(terms, ups) for ups in range(terms + 1)])
            variance = float(totals**2 @ cases) / 2**terms
            sd = math.sqrt(variance)
            axes.axvspan(-sd, sd, color=UNSCALED, alpha=0.13, lw=0)
            axes.bar(totals, cases / 2**terms, width=0.7, color=UNSCALED)
            for total, count in zip(totals, cases, strict=True):
                axes.annotate(
                    str(count),
                    (total, count / 2**terms),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                )
            axes.set_ylim(0, 1.25 * cases.max() / 2**terms)
            axes.set_yticks([])
            axes.set_ylabel(f"cases of {2**terms}")
            axes.set_title(
                f"{terms} terms: variance {variance:g}, standard deviation {sd:.2f}", loc="left"
            )
            texts.append(
                f"{terms} terms: totals from −{terms} to {terms}, in "
                f"{', '.join(map(str, cases))} of {2**terms} cases; variance {variance:g}."
            )
        panels[1].set_xlabel("total (shaded: one standard deviation to either side)")
        panels[1].set_xticks(range(-max(first, second), max(first, second) + 1))
    return figure, " ".join(texts)


def width_to_spread(narrow: int = 64, wide: int = 512) -> tuple[Figure, str]:
    r"""Draw how the spread of a score follows from the width of queries and keys.

    The entries of queries and keys are independent with mean 0 and variance 1.

    Parameters
    ----------
    narrow, wide : int
        Two widths, one for each column, at least 1.

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = width_to_spread(4, 64)
    >>> print(text.replace(". ", ".\n"))
    Width 4: 4 products in a score, variance 4, standard deviation 2; divided by √4, 1.
    Width 64: 64 products in a score, variance 64, standard deviation 8; divided by √64, 1.
    """
    steps = (
        "one product\nfor each entry",
        "each has variance 1,\nand variances add",
        "the root of\nthe variance",
        "divide by √d_k",
    )
    columns, texts = [], []
    for width, colour in ((narrow, SCALED), (wide, UNSCALED)):
        products = variance = width
        sd = math.sqrt(variance)
        shown, left = f"{sd:.3g}", f"{sd / math.sqrt(width):g}"
        boxes = (
            ("entries of a key", str(width)),
            ("products in a score", str(products)),
            ("variance", str(variance)),
            ("standard deviation", shown),
            ("after the division", left),
        )
        columns.append((f"d_k = {width}", colour, boxes))
        texts.append(
            f"Width {width}: {products} products in a score, variance {variance}, standard "
            f"deviation {shown}; divided by √{width}, {left}."
        )
    return flow_chart(columns, steps), " ".join(texts)


def score_histogram(d_k: int, n: int = 6000, seed: int = 0) -> tuple[Figure, str]:
    r"""Draw how random scores spread, raw and divided by √d_k, with normal curves.

    The axes are the same for all widths, so that the growth is visible.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1; up to 512 the scores fit on the axes.
    n : int
        Number of independent pairs of a query and a key.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = score_histogram(d_k=64)
    >>> print(text.replace(". ", ".\n"))
    Width 64, 6000 pairs.
    Raw scores: standard deviation 7.96 ± 0.07, in theory 8.00; 95.4 % lie within ±16.0.
    Divided by √64: standard deviation 1.00 ± 0.01.
    """
    root = math.sqrt(d_k)
    raw = score_samples(d_k, n, seed)
    # To first order, a square root has half the relative error of its argument.
    noise = raw.std() * variance_noise(d_k, n) / 2
    measured = [f"{raw.std() / by:.2f} ± {noise / by:.2f}" for by in (1, root)]
    with course_style():
        figure = new_figure(height=3.7)
        panels = figure.subplots(2, 1)
        for axes, scores, sd, reach, colour, name, shown in (
            (panels[0], raw, root, 80, UNSCALED, "raw score q·k", measured[0]),
            (panels[1], raw / root, 1.0, 5, SCALED, "score ÷ √d_k", measured[1]),
        ):
            # The same bins per standard deviation in both panels, so that both have the same shape.
            bins = round(2 * reach / (sd / 8))
            _spread(axes, scores, (0.0, sd), (-reach, reach), colour, bins)
            axes.set_xlabel(name)
            title = f"standard deviation {shown}, in theory {sd:.2f}"
            axes.set_title(title, loc="left", color=colour)
        panels[0].text(
            1, 0.95, "line: normal curve", transform=panels[0].transAxes, ha="right", va="top"
        )
    inside = float(np.mean(np.abs(raw) <= 2 * root))
    return figure, (
        f"Width {d_k}, {n} pairs. Raw scores: standard deviation {measured[0]}, in theory "
        f"{root:.2f}; {percent_text(inside)} lie within ±{2 * root:.1f}. Divided by √{d_k}: "
        f"standard deviation {measured[1]}."
    )


def variance_against_width(
    widths: Sequence[int] = (1, 2, 8, 64, 512), n: int = 2000, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw the measured variance of scores against the width, with the lines of the theory.

    Parameters
    ----------
    widths : sequence of int
        Widths of a query and a key, ascending.
    n : int
        Number of independent pairs for each width, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = variance_against_width([1, 64])
    >>> print(text.replace(". ", ".\n").replace("; ", ";\n"))
    Variance measured on 2000 pairs, theory in brackets, of raw scores, ÷ √d_k and ÷ d_k.
    Width 1: 1.03 (1), 1.03 (1), 1.03 (1);
    64: 63 (64), 0.984 (1), 0.0154 (0.0156).
    The relative error of a measurement is 6.32 % at width 1 and 3.24 % at width 64.
    """
    rng = np.random.default_rng(seed)
    d_k = np.array(widths)
    raw = np.array([score_variance(d, n, rng, scale=1.0).value for d in widths])
    kinds = (
        ("raw scores", raw, d_k, UNSCALED, "o"),
        ("÷ √d_k", raw / d_k, np.ones(len(d_k)), SCALED, "s"),
        ("÷ d_k", raw / d_k**2, 1 / d_k, OVERSCALED, "^"),
    )
    with course_style():
        figure = new_figure(height=3.4)
        axes = figure.add_subplot()
        for name, measured, theory, colour, marker in kinds:
            axes.plot(d_k, theory, color=colour, lw=1.2)
            axes.plot(d_k, measured, marker, color=colour, ms=6.5)
            end_label(axes, d_k[-1], theory[-1], name, colour)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(d_k, [str(d) for d in widths])
        axes.minorticks_off()
        axes.set_xlabel("width d_k of a query and a key")
        axes.set_ylabel("variance of the scores")
        axes.set_title("points: measured, lines: theory", loc="left")
    rows = "; ".join(
        f"{d}: {', '.join(f'{kind[1][i]:.3g} ({kind[2][i]:.3g})' for kind in kinds)}"
        for i, d in enumerate(widths)
    )
    errors = " and ".join(
        f"{percent_text(variance_noise(d, n))} at width {d}" for d in (widths[0], widths[-1])
    )
    return figure, (
        f"Variance measured on {n} pairs, theory in brackets, of raw scores, ÷ √d_k and ÷ d_k. "
        f"Width {rows}. The relative error of a measurement is {errors}."
    )


def failed_assumptions(
    d_k: int,
    mean: float = 0.0,
    variance: float = 1.0,
    correlation: float = 0.0,
    agreement: float = 0.0,
    n: int = 4000,
    seed: int = 0,
) -> tuple[Figure, str]:
    r"""Draw scaled scores whose entries are not as assumed, with the normal curve of the theory.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    mean, variance, correlation, agreement : float
        Of normal entries, as in `attn_lib.experiments.Entries`.
    n : int
        Number of independent pairs of a query and a key, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = failed_assumptions(d_k=64, mean=0.5)
    >>> print(text.replace(". ", ".\n").replace("; ", ";\n"))
    Width 64, scores divided by √64, 4000 pairs.
    Entries of mean 0.5 and variance 1;
    correlation in a vector 0, of query with key 0.
    Mean 2.01 ± 0.02, in theory 2;
    variance 1.53 ± 0.03, in theory 1.5.
    As assumed they would be 0 and 1.
    """
    entries = Entries(mean, variance, correlation, agreement)
    scores = score_samples(d_k, n, seed, entries) / math.sqrt(d_k)
    raw_mean, raw_variance = score_moments(d_k, entries)
    centre, spread = raw_mean / math.sqrt(d_k), raw_variance / d_k
    sd = math.sqrt(spread)
    ends = min(-5.0, centre - 5 * sd), max(5.0, centre + 5 * sd)
    with course_style():
        figure = new_figure(height=2.9)
        axes = figure.add_subplot()
        # Eight bins per standard deviation of the narrower curve.
        bins = min(400, max(40, round(8 * (ends[1] - ends[0]) / min(sd, 1.0))))
        _spread(axes, scores, (centre, sd), ends, UNSCALED, bins)
        x = np.linspace(*ends, 801)
        axes.plot(x, np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), color=style.INK, lw=1.5, ls="--")
        axes.set_xlabel("score ÷ √d_k (line: theory, dashes: as assumed)")
        measured = Estimate.of_mean(scores), Estimate.of_variance(scores)
        axes.set_title(f"mean {measured[0]}, variance {measured[1]}".replace("-", "−"), loc="left")
    text = (
        f"Width {d_k}, scores divided by √{d_k}, {n} pairs. "
        f"Entries of mean {mean:g} and variance {variance:g}; correlation in a vector "
        f"{correlation:g}, of query with key {agreement:g}. "
        f"Mean {measured[0]}, in theory {centre:.4g}; "
        f"variance {measured[1]}, in theory {spread:.4g}. As assumed they would be 0 and 1."
    )
    return figure, text.replace("-", "−")


def weights_by_divisor(
    d_k: int, n_k: int = 10, n_rows: int = 4000, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw the weights of a random row in order of size, for scores ÷ 1, ÷ √d_k and ÷ d_k.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    n_k : int
        Number of keys in a row, at least 1.
    n_rows : int
        Number of random rows to average over, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = weights_by_divisor(d_k=64)
    >>> print(text.replace(". ", ".\n").replace("; ", ";\n"))
    Width 64, 10 keys, 4000 rows.
    Mean of the largest weight: raw 0.863 ± 0.003;
    ÷ √d_k 0.320 ± 0.002;
    ÷ d_k 0.1206 ± 0.0001.
    Equal weights would be 0.1.
    """
    texts = []
    with course_style():
        figure = new_figure(height=2.9)
        panels = figure.subplots(1, 3, sharey=True)
        for axes, name, divisor, colour in (
            (panels[0], "raw", 1.0, UNSCALED),
            (panels[1], "÷ √d_k", math.sqrt(d_k), SCALED),
            (panels[2], "÷ d_k", float(d_k), OVERSCALED),
        ):
            rows = np.concatenate(
                list(weight_rows(n_k, d_k, scale=1 / divisor, n_rows=n_rows, rng=seed))
            )
            ranked = np.sort(rows)[:, ::-1]
            axes.bar(range(1, n_k + 1), ranked.mean(axis=0), color=colour)
            axes.axhline(1 / n_k, color=style.INK, lw=1, ls="--")
            axes.set_ylim(0, 1)
            axes.set_xticks([1, n_k])
            largest = Estimate.of_mean(ranked[:, 0])
            axes.set_title(f"{name}: {largest.value:.3f}", loc="left", color=colour)
            texts.append(f"{name} {largest}")
        panels[0].set_ylabel("mean weight")
        panels[1].set_xlabel(f"keys by weight, {n_k} in a row (dashed: equal weights)")
    return figure, (
        f"Width {d_k}, {n_k} keys, {n_rows} rows. Mean of the largest weight: "
        f"{'; '.join(texts)}. Equal weights would be {1 / n_k:.3g}."
    )


def measured_variances(
    n: int, d_k: int = 64, tolerance: float = 0.05, repeats: int = 400, seed: int = 0
) -> tuple[Figure, str]:
    r"""Draw how repeated measurements of a variance scatter, and the tolerance of a check.

    Parameters
    ----------
    n : int
        Number of independent pairs in each measurement, at least 1.
    d_k : int
        Width of a query and a key, at least 1.
    tolerance : float
        Largest relative difference that the check accepts, positive.
    repeats : int
        Number of measurements, at least 2.
    seed : int

    Returns
    -------
    (Figure, str)

    Examples
    --------
    >>> _, text = measured_variances(n=1000)
    >>> print(text.replace(". ", ".\n"))
    400 measurements, each on 1000 pairs of width 64: relative error 4.58 % in theory.
    0.28 ± 0.02 of them differ by more than 5 %, in theory 0.27.
    """
    # With one key per row, the largest score is the score, drawn without summing d_k products.
    scores = largest_scores(1, d_k, n_rows=n * repeats, rng=seed).reshape(repeats, n)
    ratios = (scores**2).mean(axis=-1) / d_k
    noise = variance_noise(d_k, n)
    outside = Estimate.of_mean(np.abs(ratios - 1) > tolerance)
    expected = rejected_share(tolerance, noise)
    with course_style():
        figure = new_figure(height=2.9)
        axes = figure.add_subplot()
        axes.axvspan(1 - tolerance, 1 + tolerance, color=SCALED, alpha=0.15, lw=0)
        _spread(axes, ratios, (1.0, noise), (0.6, 1.4), UNSCALED, bins=40)
        axes.set_xlabel("measured variance ÷ d_k (shaded: passes)")
        share, error = (100 * part for part in outside)
        title = f"{share:.0f} ± {error:.0f} % rejected, in theory {100 * expected:.0f} %"
        axes.set_title(title, loc="left")
    return figure, (
        f"{repeats} measurements, each on {n} pairs of width {d_k}: relative error "
        f"{percent_text(noise)} in theory. {outside} of them differ by more than "
        f"{percent_text(tolerance)}, in theory {expected:.2f}."
    )


def _spread(
    axes: Axes,
    sample: NDArray[np.floating],
    normal: tuple[float, float],
    ends: tuple[float, float],
    colour: str,
    bins: int = 80,
) -> None:
    """Draw a histogram of `sample`, and the normal curve of the given mean and deviation."""
    mean, sd = normal
    counts, edges = np.histogram(sample, bins=bins, range=ends)
    axes.stairs(counts / (len(sample) * np.diff(edges)), edges, fill=True, color=colour)
    x = np.linspace(*ends, 801)
    curve = np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
    axes.plot(x, curve, color=style.INK, lw=1.5)
    axes.set_xlim(*ends)
    axes.set_yticks([])
    axes.set_ylabel("how often")
