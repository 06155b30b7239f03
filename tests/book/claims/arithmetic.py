"""What the pages compute, once more: in plain Python, and on random rows of our own."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np


def shares(scores: Sequence[float]) -> list[float]:
    """Softmax in plain Python, without any shift."""
    exponentials = [math.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


def softmax(scores):
    """Softmax over the last axis."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@functools.cache
def raw_scores(n, d_k, rows=4000):
    """Scores of queries, each with keys of its own."""
    rng = np.random.default_rng(99)
    parts = []
    for _ in range(rows // 500):
        q, k = rng.normal(size=(500, 1, d_k)), rng.normal(size=(500, n, d_k))
        parts.append((q @ k.swapaxes(-1, -2))[:, 0])
    return np.concatenate(parts)


def weights(n, d_k, scale):
    """Weights of these scores."""
    return softmax(raw_scores(n, d_k) * scale)
