"""Estimates from random samples, with their standard errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import read_positive_size
from attn_lib._arrays import as_float_array


class Estimate(NamedTuple):
    """A number measured on a sample, and the standard deviation of its sampling noise."""

    value: float  #: what was measured
    standard_error: float  #: standard deviation of the sampling noise

    def __str__(self) -> str:
        """Return ``value ± standard error``, both to the first digit of the error."""
        if not self.standard_error > 0:
            return f"{self.value:g} ± {self.standard_error:g}"
        decimals = max(0, -math.floor(math.log10(self.standard_error)))
        return f"{self.value:.{decimals}f} ± {self.standard_error:.{decimals}f}"

    @classmethod
    def of_mean(cls, sample: ArrayLike) -> Estimate:
        """Estimate the mean of the distribution of `sample`; for booleans, the share of True.

        Parameters
        ----------
        sample : array_like, shape (n,)
            Independent draws, at least two.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            If `sample` is not one row of at least two numbers.

        Examples
        --------
        >>> print(Estimate.of_mean([1.0, 2.0, 3.0]))
        2.0 ± 0.6
        >>> Estimate.of_mean([True, True, False, False]).value
        0.5
        """
        draws = _draws(sample)
        return cls(float(draws.mean()), float(draws.std(ddof=1)) / math.sqrt(len(draws)))

    @classmethod
    def of_variance(cls, sample: ArrayLike) -> Estimate:
        """Estimate the variance of the distribution of `sample`.

        The standard error is measured too, from the scatter of the squared deviations, whose
        average is the variance.

        Parameters
        ----------
        sample : array_like, shape (n,)
            Independent draws, at least two.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            If `sample` is not one row of at least two numbers.

        Examples
        --------
        >>> Estimate.of_variance([1.0, 2.0, 3.0]).value
        1.0
        """
        draws = _draws(sample)
        n = len(draws)
        return cls.of_mean((draws - draws.mean()) ** 2 * (n / (n - 1)))

    @classmethod
    def of_median(cls, sample: ArrayLike) -> Estimate:
        r"""Estimate the median of the distribution of `sample`.

        The number of draws below the true median has standard deviation
        :math:`\sqrt{n}/2`. So the draws that many places to either side of the middle of the
        sorted sample bound the median by one standard error.

        Parameters
        ----------
        sample : array_like, shape (n,)
            Independent draws, at least two.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            If `sample` is not one row of at least two numbers.

        Examples
        --------
        >>> Estimate.of_median([5.0, 1.0, 2.0]).value
        2.0
        """
        draws = _draws(sample)
        half = 0.5 / math.sqrt(len(draws))
        low, middle, high = np.quantile(draws, [max(0.5 - half, 0), 0.5, min(0.5 + half, 1)])
        return cls(float(middle), float(high - low) / 2)


def variance_noise(d_k: int, n: int) -> float:
    r"""Return the relative standard deviation of a variance measured on `n` normal scores.

    It is :math:`\sqrt{(2 + 6/d_k)/n}`. An average of :math:`n` independent squares
    :math:`s^2` has the variance :math:`(E[s^4] - E[s^2]^2)/n`. A product of two standard
    normal numbers has :math:`E[x^2] = 1` and :math:`E[x^4] = 3 \cdot 3 = 9`. In
    :math:`s = x_1 + \dots + x_d` the fourth power leaves :math:`d` terms of 9 and
    :math:`3d(d-1)` of 1, so :math:`E[s^4] = 3d^2 + 6d` while :math:`E[s^2]^2 = d^2`. The
    difference is :math:`2d^2 + 6d`; divide by :math:`d^2 n` and take the root.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    n : int
        Number of independent pairs, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> round(variance_noise(64, n=1000), 4)
    0.0458
    """
    d_k, n = read_positive_size(d_k, "d_k"), read_positive_size(n, "n")
    return math.sqrt((2 + 6 / d_k) / n)


def score_matrix_noise(d_k: int, n_q: int, n_k: int) -> float:
    r"""Return the relative standard deviation of the variance of one matrix of scores.

    The :math:`n_q n_k` entries of :math:`Q K^T` are not independent pairs: a row shares
    its query, a column its key. Two squares that share a vector have the covariance
    :math:`E[|q|^4] - d_k^2 = 2 d_k`, and each entry shares one with
    :math:`n_q + n_k - 2` others. That adds :math:`2 (n_q + n_k - 2) / d_k` to the
    :math:`2 + 6/d_k` of `variance_noise`.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    n_q, n_k : int
        Number of queries and keys, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> round(score_matrix_noise(64, 128, 128), 4), round(variance_noise(64, 128 * 128), 4)
    (0.0247, 0.0113)
    """
    n_q, n_k = read_positive_size(n_q, "n_q"), read_positive_size(n_k, "n_k")
    shared = 2 * (n_q + n_k - 2) / (read_positive_size(d_k, "d_k") * n_q * n_k)
    return math.sqrt(variance_noise(d_k, n_q * n_k) ** 2 + shared)


def rejected_share(tolerance: float, noise: float) -> float:
    """Return the share of right measurements that a check with this relative tolerance rejects.

    Parameters
    ----------
    tolerance : float
        The largest relative difference that passes, 0.05 for 5 percent.
    noise : float
        Relative standard deviation of the measurement, assumed to be normal; positive.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If `tolerance` is negative or `noise` not positive.

    Examples
    --------
    >>> round(rejected_share(0.05, variance_noise(64, n=1000)), 2)
    0.27
    """
    if not (tolerance >= 0 and noise > 0):
        raise ValueError(
            "rejected_share: expected a tolerance of at least 0 and a positive noise, "
            f"got {tolerance} and {noise}."
        )
    return math.erfc(tolerance / (noise * math.sqrt(2)))


def _draws(sample: ArrayLike) -> NDArray[np.floating]:
    draws = as_float_array(sample, "sample")
    if draws.ndim != 1 or len(draws) < 2:
        raise ValueError(
            f"sample: expected one row of at least two numbers, got shape {draws.shape}; "
            "an error cannot be told from less."
        )
    return draws
