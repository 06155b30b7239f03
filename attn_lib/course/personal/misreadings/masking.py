"""Wrong readings of the numbers of the assignment `masking`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.misreadings.core import Asked
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from attn_lib.course.personal.masking import MaskFromOutside, Reading


def of_empty_row(scores: NDArray[np.float64]) -> dict[str, Asked]:
    """Return the weights of a row without visible keys, and what other readings give.

    Parameters
    ----------
    scores : ndarray, shape (n_k,)
    """
    n, weights = len(scores), softmax(scores)
    equal, total = np.full(n, 1 / n), scores.sum()
    powers = 2**scores
    return {
        "filled": Asked(
            equal,
            {
                "weights without a mask": weights,
                "zeros, as by a rule for empty rows": np.zeros(n),
                "ones": np.ones(n),
                "one key too many": np.full(n, 1 / (n + 1)),
                "one key too few": np.full(n, 1 / (n - 1)),
                "first key alone": np.eye(n)[0],
                "best key alone": np.eye(n)[scores.argmax()],
                "the filling itself, not the weights": np.full(n, -1e9),
            },
            decimals=3,
        ),
        "added": Asked(
            weights,
            {
                "equal weights": equal,
                "zeros, as by a rule for empty rows": np.zeros(n),
                "signs turned": softmax(-scores),
                "in reverse": weights[::-1],
                "sorted": np.sort(weights),
                "powers of 2": powers / powers.sum(),
                "not normalised": np.exp(scores),
                "beside the largest": np.exp(scores - scores.max()),
                "shares of the scores": scores / total if total else np.full(n, np.nan),
                "shares of the sizes of the scores": np.abs(scores) / np.abs(scores).sum(),
                "rounded to whole numbers": softmax(scores.round()),
                "best key alone": np.eye(n)[scores.argmax()],
                "last key hidden": softmax(np.where(np.arange(n) < n - 1, scores, -np.inf)),
                "scaled again": softmax(scores / np.sqrt(n)),
            },
            decimals=3,
        ),
    }


def of_reading(reading: Reading) -> dict[str, Asked]:
    """Return what is read off a mask, and what other readings give.

    Parameters
    ----------
    reading : Reading
    """
    mask, kind, number = reading
    n_q, n_k = mask.shape
    visible = mask.sum(axis=1)
    own = n_k - n_q + np.arange(n_q)  # the key beside each query
    return {
        "visible": Asked(
            visible,
            {
                "columns": mask.sum(axis=0),
                "hidden keys": n_k - visible,
                "its own key left out": visible - mask[np.arange(n_q), own],
                "the number of the last visible key": n_k - 1 - mask[:, ::-1].argmax(axis=1),
                "the number of the first visible key": mask.argmax(axis=1),
                "counted from 1": visible + 1,
                "as if causal": np.arange(1, n_q + 1),
                "added up": visible.cumsum(),
            },
        ),
        "number": Asked(
            number,
            {
                "the rest": n_k - number,
                "one too few": number - 1,
                "one too many": number + 1,
                "queries": n_q,
                "keys": n_k,
                "all visible pairs": visible.sum(),
            }
            # The first query of a padding mask, and the last of the other two, see the number.
            | ({} if kind == "C" else {"visible to the first query": visible[0]})
            | ({"visible to the last query": visible[-1]} if kind == "A" else {}),
        ),
    }


def of_mask_from_outside(given: MaskFromOutside) -> dict[str, Asked]:
    """Return what is wrong with a mask, and what other readings give.

    Parameters
    ----------
    given : MaskFromOutside
    """
    mask, kind = given
    right = _errors_of(mask)
    n, causal = len(mask), np.tri(len(mask), dtype=bool)
    future, lost = mask & ~causal, causal & ~mask
    other = {
        "transposed": _errors_of(mask.T),
        "seen and hidden exchanged": _errors_of(~mask),
        "future and past exchanged": right[::-1],
        "queries counted": (future.any(axis=1).sum(), lost.any(axis=1).sum()),
        "keys counted": (future.any(axis=0).sum(), lost.any(axis=0).sum()),
        "largest row counted": (future.sum(axis=1).max(), lost.sum(axis=1).max()),
        "diagonal taken for the future": _errors_of(mask, np.tri(n, k=-1, dtype=bool)),
        "next key taken for the past": _errors_of(mask, np.tri(n, k=1, dtype=bool)),
        "against the mirrored mask": _errors_of(mask, causal.T),
        "nothing wrong": (0, 0),
        "nothing hidden": (n * (n - 1) // 2, 0),
        "last position left out": _errors_of(mask[:-1, :-1]),
        "first position left out": _errors_of(mask[1:, 1:]),
    }
    if kind != "E":  # all that an inverted mask shows is the future, and all that it hides the past
        other["all seen and all hidden"] = (int(mask.sum()), int((~mask).sum()))
    # The two counts earn their point together, so a reading has to change one of them.
    return {"future and lost": Asked(right, other)}


def _errors_of(mask: NDArray[Any], right: NDArray[Any] | None = None) -> tuple[int, int]:
    causal = np.tri(len(mask), dtype=bool) if right is None else right
    return int((mask & ~causal).sum()), int((causal & ~mask).sum())
