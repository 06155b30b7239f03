"""Experiments on random scores: how they spread, and what softmax then does to them.

Queries and keys are random: independent entries with mean 0 and variance 1, normal unless
stated otherwise. This models a network before training, not after. Every function takes
`rng`, a `numpy.random.Generator` or a whole number to seed one, so that every figure can be
reproduced. `attn_lib.estimates` gives the measured numbers standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from attn_lib._arguments import read_positive_size
from attn_lib._steps import default_scale
from attn_lib.estimates import Estimate
from attn_lib.softmax import softmax, softmax_backward, softmax_jacobian_norm

Distribution = Literal["normal", "uniform", "q=k"]
Seed = np.random.Generator | int


class Entries(NamedTuple):
    """Normal entries of queries and keys, and how far they are from what the derivation assumes."""

    mean: float = 0.0  #: of every entry
    variance: float = 1.0  #: of every entry; not negative
    correlation: float = 0.0  #: between any two entries of one vector, from 0 to 1
    #: Correlation of an entry of the query with that entry of the key, from −1 to 1. At 1 every key
    #: equals its query.
    agreement: float = 0.0


#: Random numbers drawn at a time: 4 MB of float64, so that no experiment fills the memory.
_CHUNK = 500_000


def score_samples(
    d_k: int, n: int, rng: Seed, distribution: Distribution | Entries = "normal"
) -> NDArray[np.float64]:
    """Return the dot products of `n` independent pairs of a query and a key.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    n : int
        Number of pairs, at least 1.
    rng : numpy.random.Generator or int
    distribution : {"normal", "uniform", "q=k"} or Entries
        Distribution of the entries: normal with mean 0 and variance 1; uniform between 0 and
        1, so that their mean is not 0; normal with every key equal to its query, so that
        the two are not independent; or normal as given.

    Returns
    -------
    ndarray of float64, shape (n,)
        Raw scores, not scaled.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1, or there is no such distribution.

    Examples
    --------
    >>> score_samples(64, n=10_000, rng=0).std().round(1)
    np.float64(8.0)
    >>> score_samples(64, n=10_000, rng=0, distribution=Entries(mean=0.5)).mean().round()
    np.float64(16.0)
    """
    d_k, n, rng = (
        read_positive_size(d_k, "d_k"),
        read_positive_size(n, "n"),
        np.random.default_rng(rng),
    )
    if not isinstance(distribution, Entries) and distribution not in ("normal", "uniform", "q=k"):
        raise ValueError(
            'score_samples: expected distribution "normal", "uniform", "q=k" or Entries, '
            f"got {distribution!r}."
        )
    scores = []
    for rows in _chunks(n, d_k):
        if isinstance(distribution, Entries):
            q, k = _normal_pairs(rows, d_k, rng, distribution)
        else:
            draw = rng.random if distribution == "uniform" else rng.standard_normal
            q = draw((rows, d_k))
            k = q if distribution == "q=k" else draw((rows, d_k))
        scores.append(np.einsum("nd,nd->n", q, k))
    return np.concatenate(scores)


def score_moments(d_k: int, entries: Entries | None = None) -> tuple[float, float]:
    r"""Return the mean and the variance of a score in theory.

    Write :math:`\mu`, :math:`\sigma^2`, :math:`\rho` and :math:`r` for mean, variance, correlation
    and agreement, and :math:`\rho_{cc'}` for 1 if c' = c and :math:`\rho` otherwise. Entries c and
    c' of one vector have the covariance :math:`\sigma^2 \rho_{cc'}`, an entry c of the query and an
    entry c' of the key :math:`r \sigma^2 \rho_{cc'}`. So the mean of a score is
    :math:`d_k (\mu^2 + r \sigma^2)`. Two products of such normal numbers have the covariance
    :math:`\sigma^4 (1 + r^2) \rho_{cc'}^2 + 2 \mu^2 \sigma^2 (1 + r) \rho_{cc'}` (Isserlis 1918),
    and the variance of a score is its sum over all c and c'.

    Parameters
    ----------
    d_k : int
        Width of a query and a key, at least 1.
    entries : Entries, optional
        Default: as the derivation assumes, with mean 0, variance 1 and no correlations.

    Returns
    -------
    mean, variance : float
        Of a raw score.

    Raises
    ------
    ValueError
        If `d_k` is not a whole number of at least 1, or there are no such entries.

    Examples
    --------
    >>> score_moments(64)
    (0.0, 64.0)
    >>> score_moments(64, Entries(agreement=1.0))  # every key equals its query
    (64.0, 128.0)
    """
    d_k = read_positive_size(d_k, "d_k")
    mean, variance, correlation, agreement = _read_entries(entries or Entries())
    pairs = d_k * (d_k - 1)
    squares = variance**2 * (1 + agreement**2) * (d_k + pairs * correlation**2)
    shifts = 2 * mean**2 * variance * (1 + agreement) * (d_k + pairs * correlation)
    return float(d_k * (mean**2 + agreement * variance)), float(squares + shifts)


def score_variance(
    d_k: int,
    n: int,
    rng: Seed,
    *,
    scale: float | None = None,
    distribution: Distribution = "normal",
) -> Estimate:
    """Measure the variance of scores on `n` independent pairs.

    For independent entries of mean 0 and variance 1 theory says ``d_k · scale²``.

    Parameters
    ----------
    d_k, n, rng, distribution
        As in `score_samples`; `n` at least 2.
    scale : float, optional
        Factor on the raw scores. Default ``1 / sqrt(d_k)``; 1 leaves them raw.

    Returns
    -------
    Estimate
        The standard error is measured too, from the scatter of the squared deviations, whose
        average is the variance.

    Raises
    ------
    ValueError
        As `score_samples`, or if `n` is 1.

    Examples
    --------
    >>> print(score_variance(64, n=10_000, rng=0, scale=1.0))
    64.0 ± 0.9
    >>> print(score_variance(64, n=10_000, rng=0))
    1.00 ± 0.01
    """
    return Estimate.of_variance(score_samples(d_k, n, rng, distribution) * _scale(scale, d_k))


def weight_rows(
    n_k: int, d_k: int, *, scale: float | None = None, n_rows: int = 4000, rng: Seed
) -> Iterator[NDArray[np.floating]]:
    """Yield the weights one random query gives to random keys, some rows at a time.

    Parameters
    ----------
    n_k, d_k, scale, n_rows, rng
        As in `largest_weights`.

    Yields
    ------
    ndarray of float64, shape (rows, n_k)
        As many rows as fit into a few megabytes; `n_rows` in all.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> [rows] = weight_rows(3, 64, n_rows=2, rng=0)
    >>> rows.shape, rows.sum(axis=-1).round(12).tolist()
    ((2, 3), [1.0, 1.0])
    """
    for _, scores in _score_rows(n_k, d_k, n_rows, rng):
        yield softmax(scores * _scale(scale, d_k))


def largest_weights(
    n_k: int, d_k: int, *, scale: float | None = None, n_rows: int = 4000, rng: Seed
) -> NDArray[np.float64]:
    """Return the largest of the weights one random query gives to random keys, row by row.

    Parameters
    ----------
    n_k : int
        Number of keys in a row, at least 1.
    d_k : int
        Width of a query and a key, at least 1.
    scale : float, optional
        Factor on the raw scores. Default ``1 / sqrt(d_k)``; 1 leaves them raw.
    n_rows : int
        Number of rows, at least 1; each has a different query and different keys.
    rng : numpy.random.Generator or int

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        Between ``1 / n_k``, all weights equal, and 1, a single key chosen.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> print(Estimate.of_mean(largest_weights(10, 64, scale=1.0, rng=0)))
    0.863 ± 0.003
    >>> print(Estimate.of_mean(largest_weights(10, 64, rng=0)))
    0.320 ± 0.002
    """
    rows = weight_rows(n_k, d_k, scale=scale, n_rows=n_rows, rng=rng)
    return np.concatenate([weights.max(axis=-1) for weights in rows])


def jacobian_norms(
    n_k: int, d_k: int, *, scale: float | None = None, n_rows: int = 4000, rng: Seed
) -> NDArray[np.float64]:
    r"""Return how strongly the weights react to changes of the scores, row by row.

    That is the Frobenius norm of :math:`\partial w_i / \partial s_j`; 0 means that no
    gradient gets through. Look at the whole distribution: with a large `d_k`, unscaled scores
    give some rows a norm near 0, and others a larger norm than scaled scores do.

    Parameters
    ----------
    n_k, d_k, scale, n_rows, rng
        As in `largest_weights`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        Between 0 and 0.5.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> norms = jacobian_norms(64, 512, scale=1.0, rng=0)
    >>> print(f"{np.median(norms):.4f}", Estimate.of_mean(norms < 0.01))
    0.0037 0.557 ± 0.008
    """
    rows = weight_rows(n_k, d_k, scale=scale, n_rows=n_rows, rng=rng)
    return np.concatenate([softmax_jacobian_norm(weights) for weights in rows])


def query_gradient_norms(
    n_k: int, d_k: int, *, scale: float | None = None, n_rows: int = 4000, rng: Seed
) -> NDArray[np.float64]:
    r"""Return the length of the gradient that reaches the query, row by row.

    The gradient at the weights, :math:`g`, is a random direction of length 1. At the scaled
    scores it is :math:`u = J g`, and at the query :math:`c\, K^T u`, where :math:`c` is the
    scale: scaling the scores also scales their gradient.

    Parameters
    ----------
    n_k, d_k, scale, n_rows, rng
        As in `largest_weights`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> print(f"{np.median(query_gradient_norms(64, 64, rng=0)):.3f}")
    0.021
    """
    rng = np.random.default_rng(rng)
    norms = []
    for q_norm, scores in _score_rows(n_k, d_k, n_rows, rng):
        weights = softmax(scores * _scale(scale, d_k))
        g = rng.standard_normal(scores.shape)
        g /= np.linalg.norm(g, axis=-1, keepdims=True)
        u = softmax_backward(weights, g)
        # Along q, the components of the keys are scores/|q|, which are drawn already. The other
        # d_k - 1 are independent of the scores, so in u @ k they are normal with standard
        # deviation |u|.
        along = (scores * u).sum(axis=-1) / q_norm
        across = (u**2).sum(axis=-1) * (rng.chisquare(d_k - 1, len(u)) if d_k > 1 else 0)
        norms.append(_scale(scale, d_k) * np.sqrt(along**2 + across))
    return np.concatenate(norms)


def cross_entropy_gradient_norms(
    n_k: int, d_k: int, *, scale: float | None = None, n_rows: int = 4000, rng: Seed
) -> NDArray[np.float64]:
    r"""Return the length of the gradient of cross-entropy taken directly on the scores.

    It is :math:`w - y`, where :math:`y` is 1 at a random key, the right answer: weight on wrong
    keys gives a gradient however sharp softmax is.

    Parameters
    ----------
    n_k, d_k, scale, n_rows, rng
        As in `largest_weights`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        From 0 (all weight on the right key) to √2 (all weight on a wrong key).

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> print(Estimate.of_mean(cross_entropy_gradient_norms(10, 64, scale=1.0, rng=0)))
    1.218 ± 0.006
    """
    norms = []
    for weights in weight_rows(n_k, d_k, scale=scale, n_rows=n_rows, rng=rng):
        weights[:, 0] -= 1  # all keys are distributed alike, so any may be the right answer
        norms.append(np.linalg.norm(weights, axis=-1))
    return np.concatenate(norms)


def largest_scores(n_k: int, d_k: int, *, n_rows: int = 3000, rng: Seed) -> NDArray[np.float64]:
    """Return the largest raw score of each row.

    Parameters
    ----------
    n_k, d_k, n_rows, rng
        As in `largest_weights`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> round(float(largest_scores(128, 64, rng=0).mean()))
    21
    """
    rows = _score_rows(n_k, d_k, n_rows, rng)
    return np.concatenate([scores.max(axis=-1) for _, scores in rows])


def overflows(
    n_k: int, d_k: int, *, dtype: DTypeLike = np.float32, n_rows: int = 3000, rng: Seed
) -> NDArray[np.bool_]:
    """Return which rows overflow in softmax if the largest score is not subtracted first.

    Parameters
    ----------
    n_k, d_k, n_rows, rng
        As in `largest_weights`. The scores are raw; the same seed gives the same rows as
        `largest_scores`.
    dtype : dtype
        Floating-point type to exponentiate and sum in.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True where the sum of the exponentials is infinite.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> print(Estimate.of_mean(overflows(128, 1024, rng=0)))
    0.304 ± 0.008
    """
    found = []
    with np.errstate(over="ignore"):
        for _, scores in _score_rows(n_k, d_k, n_rows, rng):
            exponentials = np.exp(scores.astype(dtype))
            found.append(np.isinf(exponentials.sum(axis=-1)))
    return np.concatenate(found)


def _score_rows(
    n_k: int, d_k: int, n_rows: int, rng: Seed
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the lengths of some queries and their raw scores with different random keys.

    The score of a given query with a standard normal key is a sum of normal numbers, itself
    normal with mean 0 and standard deviation |q|. So it is drawn at once, as |q| times a
    normal number, rather than summed from d_k products: the same distribution, d_k times
    faster.
    """
    n_k, d_k, n_rows = (
        read_positive_size(n_k, "n_k"),
        read_positive_size(d_k, "d_k"),
        read_positive_size(n_rows, "n_rows"),
    )
    rng = np.random.default_rng(rng)
    for rows in _chunks(n_rows, n_k):
        q_norm = np.sqrt(rng.chisquare(d_k, rows))
        yield q_norm, q_norm[:, None] * rng.standard_normal((rows, n_k))


def _normal_pairs(
    rows: int, d_k: int, rng: np.random.Generator, entries: Entries
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return queries and keys with entries as given, (rows, d_k) each."""
    mean, variance, correlation, agreement = _read_entries(entries)
    own, shared = np.sqrt(1 - correlation), np.sqrt(correlation)
    q, other = (
        own * rng.standard_normal((rows, d_k)) + shared * rng.standard_normal((rows, 1))
        for _ in range(2)
    )
    k = agreement * q + np.sqrt(1 - agreement**2) * other
    sd = np.sqrt(variance)
    return mean + sd * q, mean + sd * k


def _read_entries(entries: Entries) -> Entries:
    if not (
        entries.variance >= 0 and 0 <= entries.correlation <= 1 and -1 <= entries.agreement <= 1
    ):
        raise ValueError(
            "entries: expected a variance of at least 0, a correlation from 0 to 1 and an "
            f"agreement from -1 to 1, got {entries}."
        )
    return entries


def _scale(scale: float | None, d_k: int) -> float:
    return default_scale(d_k) if scale is None else scale


def _chunks(n: int, width: int) -> Iterator[int]:
    """Split `n` rows of `width` numbers into pieces that fit into `_CHUNK`."""
    most = max(1, _CHUNK // width)
    for start in range(0, n, most):
        yield min(most, n - start)
