"""Wrong readings of the numbers of the assignment `dot-products`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.misreadings.core import Asked
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from attn_lib.course.personal.dot_products import Sizes, TwoKeys


def of_sizes(sizes: Sizes) -> dict[str, Asked]:
    """Return the shapes that the sizes of an attention call have, and other shapes.

    Parameters
    ----------
    sizes : Sizes
    """
    B, H, n_q, n_k, d_k, d_v = sizes
    return {
        "weights_shape": Asked(
            (B, H, n_q, n_k),
            {
                "transposed": (B, H, n_k, n_q),
                "as the queries": (B, H, n_q, d_k),
                "as the output": (B, H, n_q, d_v),
                "keys with keys": (B, H, n_k, n_k),
                "queries with queries": (B, H, n_q, n_q),
                "batch and head exchanged": (H, B, n_q, n_k),
            },
        ),
        "output_shape": Asked(
            (B, H, n_q, d_v),
            {
                "as the weights": (B, H, n_q, n_k),
                "as the queries": (B, H, n_q, d_k),
                "as the values": (B, H, n_k, d_v),
                "transposed": (B, H, d_v, n_q),
                "heads merged": (B, 1, n_q, H * d_v),
                "batch and head exchanged": (H, B, n_q, d_v),
            },
        ),
    }


def of_weights(W: NDArray[np.floating]) -> dict[str, Asked]:
    """Return what the learner reads off the weights, and what other readings give.

    Parameters
    ----------
    W : ndarray, shape (3, 4)
    """
    favourites, ordered = W.argmax(axis=1), np.sort(W, axis=1)
    return {
        "favourites": Asked(
            favourites,
            {
                "columns taken for queries": W.argmax(axis=0)[:3],
                "smallest weight": W.argmin(axis=1),
                "second largest weight": W.argsort(axis=1)[:, -2],
                "counted from 1": favourites + 1,
                "counted from the right": 3 - favourites,
                "last query first": favourites[::-1],
            },
        ),
        "share": Asked(
            W[2, 0],
            {
                "row and column exchanged": W[0, 2],
                "query counted from 1": W[1, 0],
                "key counted from 1": W[2, 1],
                "last key": W[2, 3],
                "of query 0": W[0, 0],
                "of its favourite": W[2].max(),
                "of all other keys": 1 - W[2, 0],
                "of the column": W[2, 0] / W[:, 0].sum(),
                "beside its favourite": W[2, 0] / W[2].max(),
            },
            decimals=2,
        ),
        "rest": Asked(
            1 - W[1].max(),
            {
                "the favourite itself": W[1].max(),
                "second largest for the rest": ordered[1, -2],
                "mean of the rest": (1 - W[1].max()) / 3,
                "two smallest": ordered[1, :2].sum(),
                "largest and second": ordered[1, 2:].sum(),
                "without the smallest": 1 - W[1].min(),
                "without key 1": 1 - W[1, 1],
                "query counted from 1": 1 - W[0].max(),
                "of query 2": 1 - W[2].max(),
                "favourite of query 0": 1 - W[1, favourites[0]],
                "of the column": W[:, 1].sum() - W[:, 1].max(),
                "what is left of the column": 1 - W[:, 1].max(),
                "of the column of key 0": W[:, 0].sum() - W[:, 0].max(),
            },
            decimals=2,
        ),
    }


def of_raw_scores(q: NDArray[Any], k: NDArray[Any], v: NDArray[Any]) -> Asked:
    """Return the scores of two keys, and what other readings give.

    Parameters
    ----------
    q : ndarray of numbers, shape (..., 2)
    k, v : ndarray of numbers, shape (..., 2, 2)
        One key or value a row. Leading axes are those of several draws.
    """
    query = q[..., None, :]
    raw = (k * query).sum(-1)
    distances = np.linalg.norm(k - query, axis=-1)
    return Asked(
        raw,
        {
            "columns taken for keys": (k * q[..., None]).sum(-2),
            "first coordinate only": q[..., :1] * k[..., 0],
            "second coordinate only": q[..., 1:] * k[..., 1],
            "keys exchanged": raw[..., ::-1],
            "coordinates crossed": (k * query[..., ::-1]).sum(-1),
            "values for keys": (v * query).sum(-1),
            "values for keys, by columns": (v * q[..., None]).sum(-2),
            "query and keys added": q.sum(-1, keepdims=True) + k.sum(-1),
            "keys alone": k.sum(-1),
            "products subtracted": (k * query * [1, -1]).sum(-1),
            "largest product": (k * query).max(-1),
            "keys without signs": (np.abs(k) * query).sum(-1),
            "distances": distances,
            "distances, nearest first": -distances,
            "keys with keys": (k * k).sum(-1),
            "without signs": np.abs(raw),
            "mean of the products": raw / 2,
            "scaled": raw / np.sqrt(2),
        },
        decimals=3,
    )


#: Readings of the scores that other answers of `of_two_keys` have in another form.
_OF_RAW_SCORES_ALONE = ("without signs", "mean of the products", "scaled")


def of_two_keys(numbers: TwoKeys) -> dict[str, Asked]:
    """Return the steps of attention for two keys, and what other readings give.

    Parameters
    ----------
    numbers : TwoKeys
    """
    q, k, v = (array.astype(float) for array in numbers)
    raw_scores = of_raw_scores(q, k, v)
    raw, root = raw_scores.right, np.sqrt(2)
    scaled, weights = raw / root, softmax(raw / root)
    other_scores = raw_scores.wrong.items()
    other_scaled = {
        name: scores / root for name, scores in other_scores if name not in _OF_RAW_SCORES_ALONE
    } | {
        "not scaled": raw,
        "by d_k": raw / 2,
        "times the root": raw * root,
        "by the length of the query": raw / np.linalg.norm(q),
        "by the root of 3": raw / np.sqrt(3),
        "first one only": raw / [root, 1],
        "rounded to whole numbers": scaled.round(),
        "rounded to one decimal": scaled.round(1),
    }
    exponentials = np.exp(scaled)
    leading = np.eye(2)[scaled.argmax()]
    powers = 2**scaled
    # One call for all of them: most of the time that a draw takes is spent here.
    softmaxes = softmax(np.stack([*other_scaled.values()]))
    other_weights = dict(zip(other_scaled, softmaxes, strict=True)) | {
        "not normalised": exponentials,
        "beside the largest": exponentials / exponentials.max(),
        "shares of the scores": _divided(scaled, scaled.sum()),
        "shares of the sizes of the scores": _divided(np.abs(scaled), np.abs(scaled).sum()),
        "powers of 2": powers / powers.sum(),
        "each score by itself": 1 / (1 + 1 / exponentials),
        "best key alone": leading,
        "equal": np.full(2, 0.5),
        "scaled again": softmax(scaled / root),
        "scaled after the softmax": softmax(raw) / root,
        "signs turned": softmax(-scaled),
    }
    mixtures = {name: other @ v for name, other in other_weights.items()}
    del mixtures["rounded to one decimal"]  # often too near, and it is asked not to round
    return {
        "raw_scores": raw_scores,
        "scaled_scores": Asked(
            scaled,
            {name: other for name, other in other_scaled.items() if "rounded" not in name}
            | {"without signs": np.abs(scaled)},
            decimals=3,
        ),
        "weights": Asked(
            weights,
            {name: other for name, other in other_weights.items() if "rounded" not in name},
            decimals=3,
        ),
        "output": Asked(
            weights @ v,
            mixtures
            | {
                "columns of values": v @ weights,
                "keys for values": weights @ k,
                "values summed first": weights * v.sum(axis=1),
                "first value's first, second's second": weights * np.diag(v),
                "scores for weights": scaled @ v,
                "raw scores for weights": raw @ v,
                "first value only": weights[0] * v[0],
                "values added": v.sum(axis=0),
                "softmax of the values": weights @ softmax(v),
                "mean of the weighted values": weights @ v / 2,
            },
            decimals=3,
        ),
    }


def _divided(numbers: NDArray[np.floating], by: float) -> NDArray[np.floating]:
    return numbers / by if by else np.full_like(numbers, np.nan)
