"""Independent computations of numbers on the pages: plain Python, and new random samples."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np


def shares(scores: Sequence[float]) -> list[float]:
    """Return the softmax of a list, in plain Python, without subtracting the maximum."""
    exponentials = [math.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


def softmax(scores):
    """Return the softmax over the last axis."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@functools.cache
def raw_scores(n, d_k, rows=4000):
    """Return unscaled scores of random queries, each with different random keys."""
    rng = np.random.default_rng(99)
    parts = []
    for _ in range(rows // 500):
        q, k = rng.normal(size=(500, 1, d_k)), rng.normal(size=(500, n, d_k))
        parts.append((q @ k.swapaxes(-1, -2))[:, 0])
    return np.concatenate(parts)


def weights(n, d_k, scale):
    """Return the weights for such scores times `scale`."""
    return softmax(raw_scores(n, d_k) * scale)
