"""Wrong readings of the numbers of the assignment `softmax-saturation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.misreadings.core import Asked
from attn_lib.softmax import softmax, softmax_jacobian

if TYPE_CHECKING:
    from attn_lib.course.personal.softmax_saturation import (
        RandomScores,
        TwoScores,
        WeightsAndJacobians,
    )


def of_two_scores(numbers: TwoScores) -> dict[str, Asked]:
    """Return the weights and the gap that are asked for, and what other readings give.

    Parameters
    ----------
    numbers : TwoScores
    """
    low, high, temperature, goal = numbers
    gap, tempered = numbers.gap, numbers.gap / numbers.temperature
    right, colder = _weight(gap), _weight(tempered)
    return {
        "weight": Asked(
            right,
            {
                "of the other key": _weight(-gap),
                "at the temperature": colder,
                "at the temperature, multiplied": _weight(gap * temperature),
                "shares of the scores": high / (low + high),
                "shares of the last digits": gap / (1 + gap),
                "odds": np.exp(-gap),
                "one minus the odds": 1 - np.exp(-gap),
                "powers of 2": 1 / (1 + 2.0**-gap),
                "powers of 10": 1 / (1 + 10.0**-gap),
                "gap halved": _weight(gap / 2),
                "gap squared": _weight(gap**2),
                "best key alone": 1.0,
                "equal": 0.5,
            },
            decimals=3,
        ),
        "tempered_weight": Asked(
            colder,
            {
                "of the other key": _weight(-tempered),
                "temperature ignored": right,
                "temperature multiplied": _weight(gap * temperature),
                "root of the temperature": _weight(gap / temperature**0.5),
                "temperature squared": _weight(tempered / temperature),
                "temperature subtracted": _weight(gap - temperature),
                "weight divided": right / temperature,
                "odds divided": 1 / (1 + np.exp(-gap) / temperature),
                "odds": np.exp(-tempered),
                "one minus the odds": 1 - np.exp(-tempered),
                "powers of 2": 1 / (1 + 2.0**-tempered),
                "root of the weight, not normalised": right ** (1 / temperature),
                "high score alone divided": high / temperature / (high / temperature + low),
                "equal": 0.5,
                "goal": goal,
            },
            decimals=3,
        ),
        "needed_gap": Asked(
            np.log(goal / (1 - goal)),
            {
                "of the other key": -np.log(goal / (1 - goal)),
                "odds": goal / (1 - goal),
                "log of the goal": np.log(goal),
                "log of the goal, without its sign": -np.log(goal),
                "log of the rest": np.log(1 - goal),
                "log of the rest, without its sign": -np.log(1 - goal),
                "log to base 10": np.log10(goal / (1 - goal)),
                "log to base 2": np.log2(goal / (1 - goal)),
                "difference of the weights": 2 * goal - 1,
                "exponential of the goal": np.exp(goal),
                "at the temperature": temperature * np.log(goal / (1 - goal)),
                "divided by the temperature": np.log(goal / (1 - goal)) / temperature,
                "own gap": gap,
                "gap that the weight lacks": np.log(goal / right) if goal > right else 0.0,
            },
            decimals=2,
        ),
    }


def of_weights_and_jacobians(numbers: WeightsAndJacobians) -> dict[str, Asked]:
    """Return what is asked about rows of weights, and what other readings give.

    Parameters
    ----------
    numbers : WeightsAndJacobians
    """
    W, pictures, row, key = numbers
    order, w, J = np.array(numbers.row_of_jacobian), W[row], softmax_jacobian(W)
    norms = np.linalg.norm(J, axis=(1, 2))
    of_key = np.eye(len(w))[key]
    return {
        "row_of_picture": Asked(
            order,
            {
                "the picture of each row, not the row of each picture": np.argsort(order),
                "counted from 1": order + 1,
                "in reverse": order[::-1],
                "rows in reverse": 3 - order,
                "as they stand": np.arange(4),
                "liveliest first": np.argsort(-norms),
                "deadest first": np.argsort(norms),
            },
        ),
        "responses": Asked(
            J[row, :, key],
            {
                "the response of each weight to its own score": np.diag(J[row]),
                "sign turned": -J[row, :, key],
                "without the diagonal": -w * w[key],
                "without the factor": of_key - w[key],
                "diagonal entry alone": of_key * w[key] * (1 - w[key]),
                "of one weight, to all scores, without factor": of_key - w,
                "of the key before": J[row, :, key - 1],
                "of the key after": J[row, :, (key + 1) % len(w)],
                "of the key counted from the right": J[row, :, -1 - key],
                "of the row before": J[row - 1, :, key],
                "of the row after": J[(row + 1) % 4, :, key],
                "of the picture with the row's number": pictures[row][:, key],
                "key and row exchanged": J[min(key, 3), :, row],
                "the weights": w,
                "sizes without their signs": np.abs(J[row, :, key]),
            },
            decimals=3,
        ),
        "norms": Asked(
            norms,
            {
                "in the order of the pictures": norms[order],
                "in the inverse order": norms[np.argsort(order)],
                "root forgotten": norms**2,
                "sum of sizes": np.abs(J).sum(axis=(1, 2)),
                "largest entry": np.abs(J).max(axis=(1, 2)),
                "mean square": norms / 5,
                "largest singular value": np.linalg.norm(J, 2, axis=(1, 2)),
                "diagonal only": np.linalg.norm(np.diagonal(J, axis1=1, axis2=2), axis=1),
                "trace": np.trace(J, axis1=1, axis2=2),
                "norms of the weights": np.linalg.norm(W, axis=1),
                "without the diagonal": (W**2).sum(axis=1),
                "sorted": np.sort(norms),
                "last row first": norms[::-1],
            },
            decimals=3,
        ),
    }


def of_random_scores(numbers: RandomScores) -> dict[str, Asked]:
    """Return how sharp the weights of random scores are, and what other readings give.

    Parameters
    ----------
    numbers : RandomScores
    """
    d_k, S = numbers
    raw, scaled = softmax(S), softmax(S / np.sqrt(d_k))
    largest = raw.max(axis=1)
    sharp = (largest > 0.99).sum()
    return {
        "raw": Asked(
            largest.mean(),
            _other_means(S)
            | {
                "scaled": scaled.max(axis=1).mean(),
                "share of one-hot rows": (largest > 0.99).mean(),
            },
            decimals=2,
        ),
        "scaled": Asked(
            scaled.max(axis=1).mean(),
            _other_means(S / np.sqrt(d_k))
            | {
                "not scaled": largest.mean(),
                "by d_k": softmax(S / d_k).max(axis=1).mean(),
                "by the root of the number of keys": softmax(S / S.shape[1] ** 0.5)
                .max(axis=1)
                .mean(),
                "by the spread of all scores": softmax(S / S.std(ddof=1) ** 2).max(axis=1).mean(),
                "weights divided": largest.mean() / np.sqrt(d_k),
            },
            decimals=2,
        ),
        "one_hot_rows": Asked(
            sharp,
            {
                "the rows that are not above 0.99": 50 - sharp,
                "above 0.9": (largest > 0.9).sum(),
                "above 0.95": (largest > 0.95).sum(),
                "above 0.999": (largest > 0.999).sum(),
                "rounded to 1": (largest.round(2) == 1).sum(),
                "scaled": (scaled.max(axis=1) > 0.99).sum(),
                "softmax down the columns": (softmax(S, axis=0) > 0.99).any(axis=1).sum(),
                "largest of each column": (softmax(S, axis=0).max(axis=0) > 0.99).sum(),
                "in percent": 2 * sharp,
                "as a share": sharp / 50,
                "one row too many": sharp + 1,
                "one row too few": sharp - 1,
                "all rows": 50,
            },
        ),
    }


def _other_means(S: NDArray[np.floating]) -> dict[str, float]:
    """Return other ways to sum up how large the largest weights of rows of scores are."""
    weights, by_column = softmax(S), softmax(S, axis=0)
    largest = weights.max(axis=1)
    return {
        "by median": float(np.median(largest)),
        "largest of all": largest.max(),
        "smallest of the largest": largest.min(),
        "first row only": largest[0],
        "last row only": largest[-1],
        "means first": weights.mean(axis=0).max(),
        "largest of each column": weights.max(axis=0).mean(),
        "softmax down the columns": by_column.max(axis=1).mean(),
        "softmax and largest down the columns": by_column.max(axis=0).mean(),
        "softmax of everything": softmax(S.ravel()).max(),
        "mean of all weights": weights.mean(),
        "middle of the extremes": (largest.max() + largest.min()) / 2,
    }


def _weight(gap: float) -> float:
    return float(1 / (1 + np.exp(-gap)))
