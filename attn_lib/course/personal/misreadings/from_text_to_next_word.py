"""Wrong readings of the numbers of the assignment `from-text-to-next-word`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.misreadings.core import Asked

if TYPE_CHECKING:
    from attn_lib.course.personal.from_text_to_next_word import Pairs, ShuffledNote


def of_shuffled_note(note: ShuffledNote) -> dict[str, Asked]:
    """Return what attention gives after the fall, and what other readings give.

    Parameters
    ----------
    note : ShuffledNote
    """
    _, order, W, output, row, column = note
    back = np.argsort(order)
    new_row, new_column = order[row], order[column]
    counted = {"counted from 1": (row - 1, column - 1)} if min(row, column) else {}
    return {
        "output": Asked(
            output[order],
            {
                "left in place": output,
                "shuffled back": output[back],
                "in reverse": output[::-1],
                "new order in reverse": output[order][::-1],
                "shuffled twice": output[order][order],
                "sorted": np.sort(output),
                "weights for output": W[row],
                "one place on": np.roll(output, 1),
                "one place back": np.roll(output, -1),
            },
            decimals=3,
        ),
        "weight": Asked(
            W[new_row, new_column],
            {
                "at the old place": W[row, column],
                "at the old place, exchanged": W[column, row],
                "of the other word": W[new_column, new_row],
                "shuffled back": W[back[row], back[column]],
                "shuffled back, exchanged": W[back[column], back[row]],
                "with only the row moved": W[new_row, column],
                "with only the column moved": W[row, new_column],
                "of the word to itself": W[new_row, new_row],
                "of the other word to itself": W[new_column, new_column],
                "largest of the row": W[new_row].max(),
                "column counted from the end": W[new_row, -1 - new_column],
                "shuffled twice": W[order[new_row], order[new_column]],
            }
            | {name: W[order[i], order[j]] for name, (i, j) in counted.items()},
            decimals=3,
        ),
    }


def of_rotary_pairs(given: Pairs) -> dict[str, Asked]:
    """Return the letter of the pair that is as far apart, and what other readings give.

    Parameters
    ----------
    given : Pairs
    """
    query, key, pairs = given

    def nearest(asked: float, measure: dict[str, float]) -> str:
        return min(measure, key=lambda letter: abs(measure[letter] - asked))

    differences = {letter: float(q - k) for letter, (q, k) in pairs.items()}
    return {
        "same": Asked(
            nearest(query - key, differences),
            {
                "query and key exchanged": nearest(key - query, differences),
                "sum": nearest(query + key, {name: q + k for name, (q, k) in pairs.items()}),
                "ratio": nearest(query / key, {name: q / k for name, (q, k) in pairs.items()}),
                "nearest query": nearest(query, {name: q for name, (q, _) in pairs.items()}),
                "nearest key": nearest(key, {name: k for name, (_, k) in pairs.items()}),
                "farthest apart": max(differences, key=lambda letter: abs(differences[letter])),
            },
        )
    }


def of_parts_of_logits(parts: NDArray[np.float64], own: int) -> dict[str, Asked]:
    """Return the lead that is left without a head, and what other readings give.

    Parameters
    ----------
    parts : ndarray, shape (n_parts, 2)
    own : int
        The row of the head that is left out.
    """
    leads = parts[:, 0] - parts[:, 1]
    left = leads.sum() - leads[own]
    heads = [row for row in range(2, len(parts) - 1) if row != own]
    return {
        "lead": Asked(
            left,
            {f"without the head in row {row}": leads.sum() - leads[row] for row in heads}
            | {
                "with the head": leads.sum(),
                "of the head alone": leads[own],
                "sign turned": -left,
                "sign forgotten": abs(left) if left < 0 else np.nan,
                "head subtracted twice": left - leads[own],
                "head half left out": leads.sum() - leads[own] / 2,
                "head left out of the first drink only": leads.sum() - parts[own, 0],
                "head left out of the second drink only": leads.sum() + parts[own, 1],
                "logit of the first drink": parts[:, 0].sum() - parts[own, 0],
                "logit of the second drink": parts[:, 1].sum() - parts[own, 1],
                "heads alone": sum(leads[row] for row in heads),
                "without embedding": left - leads[0],
                "without position": left - leads[1],
                "without bias": left - leads[-1],
                "drinks added": parts.sum() - parts[own].sum(),
                "mean": left / (len(parts) - 1),
            },
            decimals=2,
        )
    }
