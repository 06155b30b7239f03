"""A lookup learned by gradient descent: what the scale of the scores does to training.

One attention layer has as many queries as keys, and learns all of them. Key i has the i-th
one-hot vector as its value, and query i has to find key i. So the output equals the weights, and
should become the identity matrix. Only the initial queries and keys are random: trainings with
different seeds differ only in their start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib._arguments import read_positive_size
from attn_lib.softmax import softmax, softmax_backward

Loss = Literal["squared", "cross-entropy"]


class Training(NamedTuple):
    """The result of training, for each start at each learning rate."""

    rates: NDArray[np.float64]  #: shape (rates,)
    losses: NDArray[np.float64]  #: before each step and after the last; (rates, seeds, steps + 1)
    weights: NDArray[np.floating]  #: after the last step; (rates, seeds, n, n)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether each query gives its own key the largest weight; (rates, seeds, n)."""
        return self.weights.argmax(axis=-1) == np.arange(self.weights.shape[-1])


def train_lookup(
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    n: int = 10,
    d_k: int = 64,
    scale: float | None = None,
    steps: int = 200,
    loss: Loss = "squared",
) -> Training:
    r"""Return how well `n` queries learn to find their keys, for every rate and every start.

    With :math:`w` the weights of a query and :math:`y` 1 at its key, 0 elsewhere, half the
    squared distance :math:`|w - y|^2` has the gradient :math:`J (w - y)` at the scores,
    cross-entropy :math:`w - y`: only the first passes through the Jacobian of softmax.

    For plain gradient descent, a scale :math:`c` at the rate :math:`\eta` is equivalent to no
    scale, a start :math:`\sqrt c` times as large and the rate :math:`c\,\eta`. So compare
    scales at the rate that suits each of them.

    Parameters
    ----------
    rates : sequence of float
        Learning rates, positive.
    seeds : sequence of int
        One for each start, whose queries and keys are standard normal.
    n : int
        Number of queries and of keys, at least 1.
    d_k : int
        Width of a query and a key, at least 1.
    scale : float, optional
        Factor on the raw scores. Default ``1 / sqrt(d_k)``; 1 leaves them raw.
    steps : int
        Number of steps, at least 1. Each follows the gradient of the loss summed over queries.
    loss : {"squared", "cross-entropy"}
        The loss to minimise. The returned losses are half the squared distance, averaged over
        the queries, in both cases.

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1, the loss is neither of the two, or a
        rate is not positive or so large that the scores overflow.

    Examples
    --------
    >>> raw, scaled = (train_lookup([1.0], seeds=range(16), scale=c) for c in (1.0, None))
    >>> float(raw.found.mean().round(2)), float(scaled.found.mean().round(2))
    (0.31, 1.0)
    """
    n, d_k, steps = (
        read_positive_size(n, "n"),
        read_positive_size(d_k, "d_k"),
        read_positive_size(steps, "steps"),
    )
    if not all(rate > 0 for rate in rates):
        raise ValueError(f"train_lookup: expected positive rates, got {list(rates)}.")
    if loss not in ("squared", "cross-entropy"):
        raise ValueError(f'train_lookup: expected loss "squared" or "cross-entropy", got {loss!r}.')
    c = 1 / math.sqrt(d_k) if scale is None else scale
    starts = [np.random.default_rng(seed).standard_normal((2, n, d_k)) for seed in seeds]
    q, k = np.stack([np.stack(starts, axis=1)] * len(rates), axis=1)  # (rates, seeds, n, d_k)
    tried = np.array(rates, dtype=float)
    step = c * tried[:, None, None, None]
    losses = []
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps + 1):  # the last update is not evaluated
            weights = softmax(c * (q @ k.swapaxes(-1, -2)))  # (rates, seeds, n, n)
            error = weights - np.eye(n)
            losses.append(0.5 * (error**2).sum(axis=-1).mean(axis=-1))
            d_scores = softmax_backward(weights, error) if loss == "squared" else error
            # Rounding queries and keys to float32 removes the last digits of float64, in which
            # machines differ. Some trainings are chaotic, and would amplify such differences.
            q, k = (
                (old - step * slope).astype(np.float32).astype(float)
                for old, slope in ((q, d_scores @ k), (k, d_scores.swapaxes(-1, -2) @ q))
            )
    if not np.all(np.isfinite(losses[-1])):
        raise ValueError(
            f"train_lookup: expected rates that keep the scores finite, got {list(rates)}; "
            "give smaller ones."
        )
    return Training(tried, np.stack(losses, axis=-1), weights)
