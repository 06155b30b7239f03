"""Wrong readings of the numbers of the assignment `complexity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.misreadings.core import Asked

if TYPE_CHECKING:
    from attn_lib.course.personal.complexity import Layer, TwoBlocks


def of_layer(sizes: Layer) -> dict[str, Asked]:
    """Return what a layer costs, and what other readings give.

    Parameters
    ----------
    sizes : Layer
    """
    heads, d_model, n, dtype = sizes
    d_head, size = d_model // heads, {"float16": 2, "float32": 4}[dtype]
    weights, other_size = heads * n * n * size, 6 - size
    other_weights = {
        "one head": n * n * size,
        "numbers for bytes": heads * n * n,
        "bits for bytes": 8 * weights,
        "linear in the length": heads * n * size,
        "width for heads": d_model * n * n * size,
        "width of a head for heads": d_head * n * n * size,
        "the other type": heads * n * n * other_size,
        "double precision": heads * n * n * 8,
        "causal half": heads * n * (n + 1) // 2 * size,
        "queries, keys and weights": weights + 2 * n * d_model * size,
        "one token more": heads * (n + 1) ** 2 * size,
        "memory of the cache": 2 * n * d_model * size,
        "heads squared": heads**2 * n * n * size,
        "two matrices": 2 * weights,
    }
    return {
        "weights": Asked(weights, other_weights, decimals=0),
        "weights_mib": Asked(
            weights / 2**20,
            {
                name: other / 2**20
                for name, other in other_weights.items()
                if name != "one token more"  # hardly seen in MiB, and plain in bytes
            }
            | {
                "MB": weights / 1e6,
                "KiB": weights / 2**10,
                "GiB": weights / 2**30,
                "thousand KiB": weights / 2**10 / 1e3,
                "KB by 1024": weights / 1e3 / 2**10,
                "bits by 2^20": weights / 2**17,
            },
            decimals=1,
        ),
        "cache": Asked(
            2 * n * d_model * size,
            {
                "keys alone": n * d_model * size,
                "width of a head": 2 * n * d_head * size,
                "heads counted again": 2 * n * d_model * heads * size,
                "numbers for bytes": 2 * n * d_model,
                "bits for bytes": 16 * n * d_model * size,
                "squared in the length": 2 * n * n * d_model * size,
                "the other type": 2 * n * d_model * other_size,
                "queries as well": 3 * n * d_model * size,
                "output as well": 4 * n * d_model * size,
                "one token more": 2 * (n + 1) * d_model * size,
                "one token": 2 * d_model * size,
                "memory of the weights": weights,
            },
            decimals=0,
        ),
        "step": Asked(
            4 * (n + 1) * d_model,
            {
                "own key not counted": 4 * n * d_model,
                "everything anew": 4 * (n + 1) ** 2 * d_model,
                "scores alone": 2 * (n + 1) * d_model,
                "multiplications alone": 2 * (n + 1) * d_model,
                "width of a head": 4 * (n + 1) * (d_model // heads),
                "heads counted again": 4 * (n + 1) * d_model * heads,
                "two more": 4 * (n + 2) * d_model,
                "one query, one key": 4 * d_model,
                "with the projections": 4 * (n + 1) * d_model + 8 * d_model**2,
                "old tokens among themselves": 4 * n * n * d_model,
                "the type counted": 4 * (n + 1) * d_model * size,
            },
            decimals=0,
        ),
    }


def of_crossing(sizes: Layer) -> dict[str, Asked]:
    """Return where the costs of a layer cross, and what other readings give.

    Parameters
    ----------
    sizes : Layer
    """
    heads, d_model, n, _ = sizes
    d_head = d_model // heads
    return {
        "crossing": Asked(
            2 * d_model,
            {
                "the width": d_model,
                "scores alone": 4 * d_model,
                "with the feed-forward": 6 * d_model,
                "one projection": d_model // 2,
                "three projections": 3 * d_model / 2,
                "width of a head": 2 * d_head,
                "own length": n,
                "width squared": 2 * d_model**2,
                "root": (2 * d_model) ** 0.5,
                "eight": 8 * d_model,
            },
            decimals=0,
        ),
    }


def of_two_blocks(blocks: TwoBlocks) -> dict[str, Asked]:
    """Return the merger of two blocks, and what other readings give.

    Parameters
    ----------
    blocks : TwoBlocks
    """
    max_a, sum_a, out_a, max_b, sum_b, out_b = blocks
    common, gap = max(max_a, max_b), abs(max_a - max_b)
    exp_a, exp_b = np.exp(max_a - common), np.exp(max_b - common)
    part_a, part_b = sum_a * exp_a, sum_b * exp_b

    def mixture(share_a: float, share_b: float) -> NDArray[np.float64]:
        return (share_a * out_a + share_b * out_b) / (share_a + share_b)

    other_parts = {
        "not rescaled": (sum_a, sum_b),
        "blocks exchanged": (sum_a * exp_b, sum_b * exp_a),
        "made larger": (sum_a / exp_a, sum_b / exp_b),
        "larger one made larger, smaller one left": (sum_a / exp_b, sum_b / exp_a),
        "both made smaller": (sum_a * np.exp(-gap), sum_b * np.exp(-gap)),
        "lowered to the smaller score": (
            sum_a * np.exp(max_a - min(max_a, max_b)),
            sum_b * np.exp(max_b - min(max_a, max_b)),
        ),
        "to the sum of the scores": (sum_a * np.exp(-max_b), sum_b * np.exp(-max_a)),
        "sums forgotten": (exp_a, exp_b),
        "powers of 2": (sum_a * 2 ** (max_a - common), sum_b * 2 ** (max_b - common)),
        "rescaled by the gap": ((sum_a * gap, sum_b) if max_a < max_b else (sum_a, sum_b * gap)),
        "divided by the gap": (sum_a / gap, sum_b) if max_a < max_b else (sum_a, sum_b / gap),
        "rescaled twice": (part_a * exp_a, part_b * exp_b),
        "each by its own score": (sum_a * np.exp(max_a), sum_b * np.exp(max_b)),
        "each by minus its own score": (sum_a * np.exp(-max_a), sum_b * np.exp(-max_b)),
        "root of the factor": (sum_a * exp_a**0.5, sum_b * exp_b**0.5),
    }
    shared = (  # factors that both blocks share, so that they are gone from the output
        "each by its own score",
        "lowered to the smaller score",
        "to the sum of the scores",
        "larger one made larger, smaller one left",
    )
    return {
        "merged": Asked(
            (common, part_a + part_b),
            {name: (common, a + b) for name, (a, b) in other_parts.items()}
            | {
                "the smaller score": (min(max_a, max_b), part_a + part_b),
                "scores added": (max_a + max_b, part_a + part_b),
                "mean score": ((max_a + max_b) / 2, part_a + part_b),
                "larger sum": (common, max(part_a, part_b)),
                "score of block A": (max_a, part_a + part_b)
                if max_a < max_b
                else (max_b, part_a + part_b),
                "sums multiplied": (common, part_a * part_b),
                "mean sum": (common, (part_a + part_b) / 2),
            },
            decimals=3,
        ),
        "output": Asked(
            mixture(part_a, part_b),
            {name: mixture(a, b) for name, (a, b) in other_parts.items() if name not in shared}
            | {
                "mean": (out_a + out_b) / 2,
                "added": out_a + out_b,
                "not divided": part_a * out_a + part_b * out_b,
                "divided by the sums": (part_a * out_a + part_b * out_b) / (sum_a + sum_b),
                "outputs exchanged": (part_a * out_b + part_b * out_a) / (part_a + part_b),
                "coordinates exchanged": mixture(part_a, part_b)[::-1],
                "block with the larger score alone": out_a if max_a > max_b else out_b,
                "shares of the scores": mixture(max_a, max_b)
                if max_a + max_b
                else np.full(2, np.nan),
            },
            decimals=3,
        ),
    }


def of_running_scores(S: NDArray[np.float64]) -> dict[str, Asked]:
    """Return the factors at which sums are rescaled, and what other readings give.

    Parameters
    ----------
    S : ndarray, shape (4, 2)
    """
    largest = S.max(axis=1)
    running = np.maximum.accumulate(largest)
    factors = np.exp(-np.diff(running))
    return {
        "factors": Asked(
            factors,
            {
                "first column only": _factors(S[:, 0]),
                "second column only": _factors(S[:, 1]),
                "smallest of each block": _factors(S.min(axis=1)),
                "mean of each block": _factors(S.mean(axis=1)),
                "sum of each block": _factors(S.sum(axis=1)),
                "blocks of neighbours in columns": _factors(S.T.reshape(4, 2).max(axis=1)),
                "last block first": _factors(largest[::-1]),
                "from block to block": np.minimum(1, np.exp(-np.diff(largest))),
                "from block to block, turned round": np.minimum(1, np.exp(np.diff(largest))),
                "sizes of the steps": np.exp(-np.abs(np.diff(largest))),
                "to the last maximum": np.exp(running[:-1] - running[-1]),
                "from the first maximum": np.exp(running[0] - running[1:]),
                "of the new block": np.exp(largest[1:] - running[1:]),
                "of the block before": np.exp(largest[:-1] - running[1:]),
                "upside down, new over old": 1 / factors,
                "multiplied up": factors.cumprod(),
                "powers of 2": 2.0 ** -np.diff(running),
                "without the exponential": -np.diff(running),
                "in reverse": factors[::-1],
                "never rescaled": np.ones(3),
                "one block early": np.append(factors[1:], 1),
                "one block late": np.append(1, factors[:-1]),
                "without signs": _factors(np.abs(S).max(axis=1)),
                "ratios of the maxima": _ratios(running),
            },
            decimals=3,
        )
    }


def _factors(of_blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.diff(np.maximum.accumulate(of_blocks)))


def _ratios(running: NDArray[np.float64]) -> NDArray[np.float64]:
    return running[:-1] / running[1:] if np.all(running[1:]) else np.full(3, np.nan)
