"""Wrong readings of the numbers of the assignment `quiz`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attn_lib.course.personal.misreadings.core import Asked
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from attn_lib.course.personal.quiz import (
        BatchSizes,
        CausalScores,
        Cost,
        FoundMatrix,
        Spread,
        WideScores,
    )


def of_wide_scores(numbers: WideScores) -> dict[str, Asked]:
    """Return what is asked about scores of a wide spread, and what other readings give.

    Parameters
    ----------
    numbers : WideScores
    """
    d_k, c, raw = numbers
    root = d_k**0.5
    scaled, unscaled = softmax(raw / root), softmax(raw.astype(float))
    ordered = np.sort(unscaled)

    def others(divisor: float, no_mistakes: Sequence[str] = ()) -> dict[str, float]:
        other = {
            "divided once": d_k / divisor,
            "left alone": d_k,
            "the sd": root / divisor,
            "one product only": 1 / divisor**2,
            "multiplied": d_k * divisor**2,
            "divided by the root": d_k / divisor**0.5,
            "upside down": divisor**2 / d_k,
            "mean": 0.0,
        }
        return {name: number for name, number in other.items() if name not in no_mistakes}

    return {
        "variance_by_root": Asked(1.0, others(root, ("the sd", "upside down")), decimals=4),
        "variance_by_width": Asked(
            1 / d_k, others(d_k) | {"by the root": 1.0, "by c": d_k / c**2}, decimals=4
        ),
        "variance_by_c": Asked(
            d_k / c**2, others(c) | {"by the width": 1 / d_k, "by the root": 1.0}, decimals=4
        ),
        "scaled_weights": Asked(
            scaled,
            {
                "not scaled": unscaled,
                "by the width": softmax(raw / d_k),
                "by c": softmax(raw / c),
                "multiplied": softmax(raw * root),
                "by their own spread": softmax(raw / raw.std()),
                "by their own spread, of a sample": softmax(raw / raw.std(ddof=1)),
                "by the root of the number of keys": softmax(raw / 5**0.5),
                "signs turned": softmax(-raw / root),
                "in reverse": scaled[::-1],
                "sorted": np.sort(scaled),
                "powers of 2": softmax(raw / root * np.log(2)),
                "without signs": softmax(np.abs(raw) / root),
                "shares of the sizes": np.abs(raw) / np.abs(raw).sum(),
                "equal": np.full(5, 0.2),
                "largest alone": np.eye(5)[raw.argmax()],
                "scaled after the softmax": unscaled / root,
            },
            decimals=3,
        ),
        "largest_raw": Asked(
            unscaled.max(),
            {
                "scaled": scaled.max(),
                "by c": softmax(raw / c).max(),
                "second largest": ordered[-2],
                "the rest": 1 - unscaled.max(),
                "all of it": 1.0,
                "first key": unscaled[0],
                "last key": unscaled[-1],
                "against the second only": ordered[-1] / (ordered[-1] + ordered[-2]),
                "powers of 2": softmax(raw * np.log(2)).max(),
                "without signs": softmax(np.abs(raw).astype(float)).max(),
            },
            decimals=3,
        ),
    }


def of_spread(numbers: Spread) -> dict[str, Asked]:
    """Return the variance of scores, and what other readings give.

    Parameters
    ----------
    numbers : Spread
    """
    d_k, var_q, var_k = numbers
    both = var_q * var_k
    return {
        "variance_plain": Asked(
            d_k,
            {
                "sd": d_k**0.5,
                "mean": 0,
                "scaled": 1,
                "own variances": d_k * both,
                "squared": d_k**2,
                "variances added": 2 * d_k,
                "one product less": d_k - 1,
                "two sds": 2 * d_k**0.5,
            },
            decimals=3,
        ),
        "variance_yours": Asked(
            d_k * both,
            {
                "sd": (d_k * both) ** 0.5,
                "one product": both,
                "plain": d_k,
                "variances added": d_k * (var_q + var_k),
                "variances averaged": d_k * (var_q + var_k) / 2,
                "variances subtracted": d_k * abs(var_q - var_k),
                "query only": d_k * var_q,
                "key only": d_k * var_k,
                "sds multiplied": d_k * both**0.5,
                "variances squared": d_k * both**2,
                "squared": d_k**2 * both,
                "root of the width": d_k**0.5 * both,
                "one product less": (d_k - 1) * both,
                "mean": 0,
                "divided": d_k / both,
                "one divided by the other": d_k * var_q / var_k,
            },
            decimals=3,
        ),
    }


def of_batch_sizes(sizes: BatchSizes) -> dict[str, Asked]:
    """Return the shapes of two outputs, and what other readings give.

    Parameters
    ----------
    sizes : BatchSizes
    """
    b, n, d_k, d_v, m = sizes
    return {
        "self_shape": Asked(
            (b, n, d_v),
            {
                "as the queries": (b, n, d_k),
                "as the weights": (b, n, n),
                "transposed": (b, d_v, n),
                "without positions": (b, d_k, d_v),
                "of the other sequence": (b, m, d_v),
                "batch last": (n, d_v, b),
            },
        ),
        "cross_shape": Asked(
            (b, n, d_v),
            {
                "as the values": (b, m, d_v),
                "as the queries": (b, n, d_k),
                "as the weights": (b, n, m),
                "as the weights, transposed": (b, m, n),
                "transposed": (b, d_v, n),
                "both sequences": (b, n + m, d_v),
            },
        ),
    }


def of_found_matrix(found: FoundMatrix) -> dict[str, Asked]:
    """Return what is read off a table of weights, and what other readings give.

    Parameters
    ----------
    found : FoundMatrix
    """
    table, query, key, at = found
    is_by_rows = bool(np.allclose(table.sum(axis=1), 1))
    W = table if is_by_rows else table.T
    share, received = W[query, key], W[:, at].sum()
    counted = {  # nobody who counts from 1 finds a position 0
        "query counted from 1": (query - 1, key),
        "key counted from 1": (query, key - 1),
        "counted from 1": (query - 1, key - 1),
    }
    return {
        "side": Asked("R" if is_by_rows else "C", {"the other": "C" if is_by_rows else "R"}),
        "share": Asked(
            share,
            {
                "rows and columns exchanged": W[key, query],
                "largest of its row": W[query].max(),
                "of the column": share / W[:, key].sum(),
                "the others": 1 - share,
                "beside its largest": share / W[query].max(),
                "to itself": W[query, query],
                "of the key to itself": W[key, key],
                "to the one looked at": W[query, at],
                "of the one looked at": W[at, key],
                "next key": W[query, (key + 1) % 5],
                "counted from the end": W[-1 - query, -1 - key],
            }
            | {name: W[there] for name, there in counted.items() if min(there) >= 0},
            decimals=2,
        ),
        "received": Asked(
            received,
            {
                "what it spends": W[at].sum(),
                "without own": received - W[at, at],
                "mean": received / 5,
                "largest": W[:, at].max(),
                "from the query alone": W[query, at],
                "of the query": W[:, query].sum(),
                "of the key": W[:, key].sum(),
                "of the next position": W[:, (at + 1) % 5].sum(),
                "counted from the end": W[:, -1 - at].sum(),
                "own only": W[at, at],
                "spent on others": 1 - W[at, at],
                "with the row": received + W[at].sum() - W[at, at],
                "without the query": received - W[query, at],
            }
            | ({"counted from 1": W[:, at - 1].sum()} if at else {}),
            decimals=2,
        ),
    }


def of_cost(numbers: Cost) -> dict[str, Asked]:
    """Return counts of operations and how they grow, and what other readings give.

    Parameters
    ----------
    numbers : Cost
    """
    n, d_k, d_v, heads, longer, wider = numbers
    return {
        "score_operations": Asked(
            2 * n * n * d_k,
            {
                "multiplications alone": n * n * d_k,
                "additions one less": n * n * (2 * d_k - 1),
                "linear in the length": 2 * n * d_k,
                "without the width": 2 * n * n,
                "width squared": 2 * n * d_k**2,
                "width of the values": 2 * n * n * d_v,
                "all heads": 2 * n * n * d_k * heads,
                "both products": 2 * n * n * (d_k + d_v),
                "causal half": n * (n + 1) * d_k,
                "two squared as well": 4 * n * n * d_k,
            },
        ),
        "all_operations": Asked(
            heads * 2 * n * n * (d_k + d_v),
            {
                "one head": 2 * n * n * (d_k + d_v),
                "scores alone": heads * 2 * n * n * d_k,
                "mix alone": heads * 2 * n * n * d_v,
                "keys twice": heads * 4 * n * n * d_k,
                "values twice": heads * 4 * n * n * d_v,
                "multiplications alone": heads * n * n * (d_k + d_v),
                "widths multiplied": heads * 2 * n * n * d_k * d_v,
                "linear in the length": heads * 2 * n * (d_k + d_v),
                "width squared": heads * 2 * n * (d_k**2 + d_v**2),
                "heads for the scores only": 2 * n * n * (heads * d_k + d_v),
                "heads for the mix only": 2 * n * n * (d_k + heads * d_v),
                "heads squared": heads**2 * 2 * n * n * (d_k + d_v),
                "causal half": heads * n * (n + 1) * (d_k + d_v),
            },
        ),
        "factor_longer": Asked(
            longer**2,
            {
                "linear": longer,
                "twice": 2 * longer,
                "cubed": longer**3,
                "two to the power": 2**longer,
                "the width as well": longer * wider,
                "square of the width": wider**2,
                "wider": wider,
                "the increase": longer**2 - 1,
                "root": longer**0.5,
                "four times": 4 * longer,
            },
        ),
        "factor_wider": Asked(
            wider,
            {
                "squared": wider**2,
                "both widths": 2 * wider,
                "longer": longer,
                "the length as well": longer * wider,
                "longer squared": longer**2,
                "the increase": wider - 1,
                "root": wider**0.5,
                "not at all": 1,
            },
        ),
    }


def of_causal_scores(numbers: CausalScores) -> dict[str, Asked]:
    """Return what is asked about causal weights, and what other readings give.

    Parameters
    ----------
    numbers : CausalScores
    """
    S, i, n, changed = numbers
    visible, with_zeros = np.tri(5, dtype=bool), np.where(np.tri(5, dtype=bool), S, 0.0)
    W = softmax(np.where(visible, S, -np.inf))
    row, leaking, open_row = W[i], softmax(with_zeros), softmax(S[i])
    leak = leaking[i, i + 1 :].sum()
    ones_filled = softmax(np.where(visible, S, 1.0))
    past_only = np.where(np.arange(5) < i, S[i], -np.inf)
    return {
        "row_weights": Asked(
            row,
            {
                "not masked": open_row,
                "zeros for minus infinity": leaking[i],
                "masked after the softmax": np.where(visible[i], open_row, 0),
                "future shown, past hidden": softmax(np.where(visible.T[i], S[i], -np.inf)),
                "columns": softmax(np.where(visible[i], S[:, i], -np.inf)),
                "softmax down the columns": softmax(np.where(visible, S, -np.inf), axis=0)[i],
                "row counted from 1": W[i - 1],
                "next row": W[i + 1],
                "without own": softmax(past_only),
                "one key too many": softmax(np.where(np.arange(5) <= i + 1, S[i], -np.inf)),
                "scores times the mask": softmax(S[i] * visible[i]),
                "powers of 2": softmax(np.where(visible[i], S[i] * np.log(2), -np.inf)),
                "signs turned": softmax(np.where(visible[i], -S[i], -np.inf)),
                "not normalised": np.where(visible[i], np.exp(S[i]), 0),
                "equal": visible[i] / (i + 1),
                "scaled again": softmax(np.where(visible[i], S[i] / 5**0.5, -np.inf)),
                "transposed": W.T[i],
            },
            decimals=3,
        ),
        "leak": Asked(
            leak,
            {
                "not masked": open_row[i + 1 :].sum(),
                "the weight of the past in place of the future": 1 - leak,
                "of one future position": leaking[i, i + 1],
                "own position counted": leaking[i, i:].sum(),
                "row counted from 1": leaking[i - 1, i:].sum(),
                "next row": leaking[i + 1, i + 2 :].sum(),
                "ones filled in": ones_filled[i, i + 1 :].sum(),
                "largest weight": leaking[i].max(),
                "largest causal weight": row.max(),
                "not normalised": float(4 - i),
                "share of the positions": (4 - i) / 5,
                "of the past": leaking[i, :i].sum(),
                "zero for each score": 0.0,
                "one hidden position short": leaking[i, i + 2 :].sum(),
                "beside what stays": leak / (1 - leak),
                "down the column": softmax(with_zeros, axis=0)[i, i + 1 :].sum(),
                "zeros for the exponentials": 0.0,
                "columns": softmax(np.where(visible[i], S[:, i], 0.0))[i + 1 :].sum(),
                "powers of 2": softmax(with_zeros[i] * np.log(2))[i + 1 :].sum(),
            },
            decimals=3,
        ),
        "zeros": Asked(
            n * (n - 1) // 2,
            {
                "the pairs that are seen": n * (n + 1) // 2,
                "half of the table": n * n / 2,
                "without the diagonal": n * (n - 1),
                "all pairs": n * n,
                "one diagonal less": (n - 1) * (n - 2) // 2,
                "linear": n - 1,
                "of the five": 10,
                "of the changed one": changed,
                "beside n": n * (n - 1) // 2 - 1,
            },
        ),
        "moved": Asked(
            n - changed,
            {
                "the positions before it": changed,
                "the positions up to it": changed + 1,
                "its own output left out": n - changed - 1,
                "one too many": n - changed + 1,
                "all outputs": n,
                "all outputs but its own": n - 1,
                "its own output only": 1,
                "counted from the end": n - 1 - changed,
                "row of the scores": i,
                "pairs": (n - changed) * (n - changed + 1) // 2,
            },
        ),
    }
