"""Whether estimates of a variance scatter as those of an honest experiment do."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

#: The probability that a right experiment is told that it scatters in another way, at most.
FALSE_ALARMS = 1e-9

_EACH = FALSE_ALARMS / 2  # there are two checks

_SIZE = 50_000  # experiments that the comparison is made with
_SEED = 20


def scatter_problem(estimates: NDArray[np.floating], d_k: int, divisor: float, n: int) -> str:
    """Say how estimates differ from those of right experiments, or return "" if they do not.

    Each estimate is the variance of the scores of n pairs of a query and a key, divided by a
    number. All entries are independent standard normal numbers. The share of estimates up to each
    value is compared with the share among many right experiments. Both shares have an error bound,
    by the inequality of Dvoretzky, Kiefer and Wolfowitz with the constant of P. Massart, "The tight
    constant in the Dvoretzky–Kiefer–Wolfowitz inequality", Annals of Probability 18 (1990).

    Parameters
    ----------
    estimates : ndarray, shape (n_estimates,)
        One for each of successive seeds. The ranks of neighbours must be uncorrelated; they are not
        if the keys of one seed are the queries of the next.
    d_k : int
        Width of a query and a key.
    divisor : float
        What the scores are divided by.
    n : int
        Pairs in each experiment.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, k = rng.normal(size=(2, 500, 4, 3))
    >>> scatter_problem((q * k).sum(axis=-1).var(axis=-1), 3, 1.0, 4)
    ''
    >>> scatter_problem(np.full(500, 3.0), 3, 1.0, 4)
    '0 % of 500 estimates are at most 3; in right experiments 76 % are.'
    """
    right = _right_experiments(d_k, n) / divisor**2
    given = np.sort(estimates)
    values = np.concatenate([given, np.nextafter(given, -np.inf)])
    shares = np.searchsorted(given, values, side="right") / given.size
    wanted = np.searchsorted(right, values, side="right") / right.size
    worst = int(np.argmax(np.abs(shares - wanted)))
    bound = sum(math.sqrt(math.log(2 / _EACH) / (2 * m)) for m in (given.size, right.size))
    if abs(shares[worst] - wanted[worst]) <= bound:
        return _neighbours_problem(estimates)
    return (
        f"{shares[worst]:.0%} of {given.size} estimates are at most {values[worst]:.3g}; "
        f"in right experiments {wanted[worst]:.0%} are."
    ).replace("%", " %")


def _neighbours_problem(estimates: NDArray[np.floating]) -> str:
    """Say that the ranks of neighbours are correlated, or return "" if chance can do that."""
    ranks = estimates.argsort().argsort()
    correlation = np.corrcoef(ranks[:-1], ranks[1:])[0, 1]
    if abs(correlation) <= NormalDist().inv_cdf(1 - _EACH / 2) / math.sqrt(ranks.size - 2):
        return ""
    return (
        "estimates of neighbouring seeds are alike: make one generator from the seed, and draw "
        "queries and keys from it."
    )


@cache
def _right_experiments(d_k: int, n: int) -> NDArray[np.float64]:
    """Return the sorted variances that right experiments measure, without a divisor."""
    q, k = np.random.default_rng(_SEED).normal(size=(2, _SIZE, n, d_k))
    return np.sort((q * k).sum(axis=-1).var(axis=-1))
