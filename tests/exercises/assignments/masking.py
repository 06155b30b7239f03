"""The proof of the assignment `masking`."""

from __future__ import annotations

from attn_lib.course.personal.masking import empty_row
from attn_lib.softmax import softmax
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

RIGHT = {
    "loops": {
        "causal": """
def causal_mask(n_q, n_k):
    return [[j <= i for j in range(n_k)] for i in range(n_q)]

def cached_causal_mask(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            if n_k - 1 - j >= n_q - 1 - i:
                mask[i, j] = True
    return mask
""",
        "padded": """
def mask_from_key_padding(blocked):
    return [[[not key for key in sequence]] for sequence in blocked]

def combined_mask(lengths, n):
    return np.array([
        [[j <= i and j < length for j in range(n)] for i in range(n)] for length in lengths
    ])
""",
        "softmax": """
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    if scores.ndim > 1:
        return np.array([masked_softmax(*row) for row in zip(scores, mask)])
    allowed = [s for s, may in zip(scores, mask) if may]
    total = sum(np.exp(s - max(allowed)) for s in allowed)
    return np.array([
        np.exp(s - max(allowed)) / total if may else 0.0 for s, may in zip(scores, mask)
    ])
""",
        "bug": """
def padded_attention(q, k, v, lengths):
    output = np.zeros((*q.shape[:2], v.shape[2]))
    for b, length in enumerate(lengths):
        if length > 0:
            scores = q[b] @ k[b, :length].T / np.sqrt(q.shape[2])
            output[b] = masked_softmax(scores, np.ones(scores.shape, dtype=bool)) @ v[b, :length]
    return output
""",
        "outside": """
def seen_from_outside(before, after):
    n = len(before)
    seen = np.zeros((n, n), dtype=bool)
    for j in range(n):
        for i in range(n):
            seen[i, j] = any(abs(b - a) > 1e-6 for b, a in zip(before[i], after[j][i]))
    return seen

seen = seen_from_outside(before, after)
future = sum(1 for i in range(n) for j in range(n) if j > i and seen[i, j])
lost = sum(1 for i in range(n) for j in range(n) if j <= i and not seen[i, j])
verdict = "b"
""",
    },
    "positions": {
        "causal": """
def causal_mask(n_q, n_k):
    return np.arange(n_k) <= np.arange(n_q)[:, None]

def cached_causal_mask(n_q, n_k):
    return np.arange(n_k) - n_k <= np.arange(n_q)[:, None] - n_q
""",
        "padded": """
def mask_from_key_padding(blocked):
    return np.expand_dims(np.logical_not(blocked), 1)

def combined_mask(lengths, n):
    i, j = np.indices((n, n))
    limit = np.minimum(i + 1, np.reshape(lengths, (-1, 1, 1)))
    return j < limit
""",
        "softmax": """
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    top = np.nan_to_num(hidden.max(-1, keepdims=True), neginf=0)
    e = np.exp(hidden - top)
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)
""",
        "empty-row": """
filled = np.full(len(row_scores), 1 / len(row_scores)).round(3)
added = masked_softmax(row_scores, True).round(3)
half = " b"
""",
        "bug": """
def padded_attention(q, k, v, lengths):
    scores = np.einsum("bqd,bkd->bqk", q, k) * q.shape[-1] ** -0.5
    blocked = np.arange(k.shape[1]) >= np.reshape(lengths, (-1, 1, 1))
    return np.einsum("bqk,bkd->bqd", masked_softmax(scores, ~blocked), v)
""",
        "reading": """
visible = np.count_nonzero(M, axis=-1)
kind, number = "c", M[-1].sum()
""",
        "outside": """
def seen_from_outside(before, after):
    return np.any(~np.isclose(after, before, rtol=0, atol=1e-6), axis=2).transpose()

seen = seen_from_outside(before, after)
future = np.triu(seen, k=1).sum()
lost = np.tril(~seen).sum()
verdict = "B"
""",
    },
    "float32": {
        "causal": """
def causal_mask(n_q, n_k):
    return np.tri(n_q, n_k, dtype=bool)

def cached_causal_mask(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q, dtype=np.float32) > 0
""",
        "padded": """
def mask_from_key_padding(blocked):
    return (1 - blocked.astype(np.float32)[:, np.newaxis]).astype(bool)

def combined_mask(lengths, n):
    padding = np.array([[j < length for j in range(n)] for length in lengths])
    return np.tri(n, dtype=np.float32) * padding[:, None] == 1
""",
        "softmax": """
def masked_softmax(scores, mask):
    scores = scores.astype(np.float32)
    hidden = scores + np.where(mask, np.float32(0), np.float32(-np.inf))
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.nan_to_num(weights)
""",
        "empty-row": """
filled = np.float32([1 / row_scores.size] * row_scores.size)
added = masked_softmax(row_scores[None], np.ones((1, 1), bool))[0]
half = "B"
""",
        "bug": """
def padded_attention(q, k, v, lengths):
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1]))
    mask = np.zeros(scores.shape, dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, :, :length] = True
    return masked_softmax(scores, mask) @ v
""",
        "outside": """
def seen_from_outside(before, after):
    difference = np.float32(after - before)
    return np.abs(difference).sum(axis=-1).T > 1e-6

seen = seen_from_outside(before, after)
future, lost, verdict = 0.0, 2.0 * n - 1, "B"
""",
    },
    "keyword arguments": {
        "causal": """
def cached_causal_mask(n_q=1, n_k=1, *, offset=None):
    offset = n_k - n_q if offset is None else offset
    return ~np.triu(np.ones(shape=(n_q, n_k), dtype=bool), k=offset + 1)

def causal_mask(n_q=1, n_k=1):
    return cached_causal_mask(n_q, n_k, offset=0)
""",
        "padded": """
def mask_from_key_padding(blocked):
    return np.invert(blocked).reshape(len(blocked), 1, -1)

def combined_mask(lengths, n):
    blocked = np.arange(n) >= np.asarray(lengths)[:, np.newaxis]
    return np.logical_and(mask_from_key_padding(blocked=blocked), causal_mask(n_q=n, n_k=n))
""",
        "softmax": """
def masked_softmax(scores, mask, axis=-1):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores * 1.0, axis=axis, keepdims=True, where=mask, initial=-np.inf)
    e = np.exp(scores - top, where=mask, out=np.zeros(scores.shape))
    total = np.sum(e, axis=axis, keepdims=True)
    return np.divide(e, total, where=total > 0, out=np.zeros(e.shape))
""",
        "bug": """
def padded_attention(q, k, v, lengths, axis=-1):
    blocked = np.arange(v.shape[-2]) >= np.asarray(lengths)[:, None]
    scores = q @ k.swapaxes(-1, -2) / q.shape[axis] ** 0.5
    weights = masked_softmax(scores=scores, mask=mask_from_key_padding(blocked=blocked))
    return np.matmul(weights, v)
""",
        "outside": """
def seen_from_outside(before, after):
    return np.linalg.norm(after - before, axis=-1).T > 1e-6

seen = seen_from_outside(after=after, before=before)
extra = seen.astype(int) - causal_mask(n, n)
future, lost, verdict = np.count_nonzero(extra == 1), np.count_nonzero(extra == -1), "B"
""",
    },
    "typed in": {
        "empty-row": """
filled = [0.2, 0.2, 0.2, 0.2, 0.2]
added = [0.289, 0.144, 0.130, 0.320, 0.118]
half = "B"
""",
    },
}

SLIPS = {
    "numbers for booleans": Slip(
        "causal",
        """
def causal_mask(n_q, n_k):
    return np.tril(np.ones((n_q, n_k)))

def cached_causal_mask(n_q, n_k):
    return np.tril(np.ones((n_q, n_k)), k=n_k - n_q)
""",
        cost={"causal-tests": 2, "padded-tests": 2},
        told="expected True and False, got float64.",
    ),
    "square in any case": Slip(
        "causal",
        """
def causal_mask(n_q, n_k):
    return np.tril(np.ones((n_q, n_q), dtype=bool))

def cached_causal_mask(n_q, n_k):
    return np.tril(np.ones((n_k, n_k), dtype=bool))
""",
        cost={"causal-tests": 2},
        told="expected shape (3, 5), got (3, 3).",
    ),
    "keys as rows": Slip(
        "causal",
        """
def causal_mask(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), dtype=bool))

def cached_causal_mask(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), dtype=bool), k=n_k - n_q)
""",
        cost={"causal-tests": 2},
        told="expected shape (3, 5), got (5, 3).",
    ),
    "offset never below 0": Slip(
        "causal",
        """
def causal_mask(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool))

def cached_causal_mask(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), dtype=bool), k=max(0, n_k - n_q))
""",
        cost={"causal-tests": 1},
        told="causal mask: ok causal mask with a cache: not yet",
    ),
    "minus for not": Slip(
        "padded",
        """
def mask_from_key_padding(blocked):
    return -blocked[:, None, :]

def combined_mask(lengths, n):
    return causal_mask(n, n) & (np.arange(n) < np.asarray(lengths)[:, None, None])
""",
        cost={"padded-tests": 1},
        told="it raised TypeError: The numpy boolean negative",
    ),
    "not of integers": Slip(
        "padded",
        """
def mask_from_key_padding(blocked):
    return ~blocked.astype(int)[:, None, :]

def combined_mask(lengths, n):
    return causal_mask(n, n) & (np.arange(n) < np.asarray(lengths)[:, None, None])
""",
        cost={"padded-tests": 1},
        told="expected True and False, got int64.",
    ),
    "lengths without axes": Slip(
        "padded",
        """
def mask_from_key_padding(blocked):
    return ~blocked[:, None, :]

def combined_mask(lengths, n):
    return causal_mask(n, n) & (np.arange(n) < np.asarray(lengths))
""",
        cost={"padded-tests": 2},
        told="it raised ValueError: operands could not be broadcast together",
    ),
    "lengths with one axis": Slip(
        "padded",
        """
def mask_from_key_padding(blocked):
    return ~blocked[:, None, :]

def combined_mask(lengths, n):
    return causal_mask(n, n) & (np.arange(n) < np.asarray(lengths)[:, None])
""",
        cost={"padded-tests": 2},
        told="expected shape (1, 4, 4), got (4, 4).",
    ),
    "one mask for all": Slip(
        "padded",
        """
def mask_from_key_padding(blocked):
    return ~blocked[:1, None, :]

def combined_mask(lengths, n):
    return causal_mask(n, n)[None] & (np.arange(n) < lengths[0])
""",
        cost={"padded-tests": 2},
        told="expected shape (2, 1, 4), got (1, 1, 4).",
    ),
    "renormalised afterwards": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"softmax-tests": 2, "bug-tests": 1},
        told="(renormalised-after-the-mask; see the book",
    ),
    "the mask forgotten": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"softmax-tests": 4, "bug-tests": 2},
        told="(mask-not-used; see the book",
    ),
    "a small number in the denominator": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    return e / (e.sum(axis=-1, keepdims=True) + 1e-12)
""",
        cost={"softmax-tests": 1, "bug-tests": 1},
        told="large scores, hidden or not: not yet",
    ),
    "maximum not subtracted": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    e = np.where(mask, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total > 0, e / total, 0)
""",
        cost={"softmax-tests": 1, "bug-tests": 1},
        told="large scores, hidden or not: not yet",
    ),
    "the scores overwritten": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
""",
        cost={"softmax-tests": 4},
        told="it changed its argument number 1.",
    ),
    "lowest number of the type": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, np.finfo(scores.dtype).min)
    e = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"softmax-tests": 2, "bug-tests": 1},
        told="rows with nothing to attend to: not yet",
    ),
    "empty rows uniform": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    hidden = np.where(mask, scores, -np.inf)
    e = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True), nan=1 / scores.shape[-1])
""",
        cost={"softmax-tests": 1, "bug-tests": 1},
        told="expected 0, got 0.333333",
    ),
    "scores picked out": Slip(
        "softmax",
        """
def masked_softmax(scores, mask):
    e = np.exp(scores[mask] - scores[mask].max())
    return e / e.sum()
""",
        cost={"softmax-tests": 4, "bug-tests": 2},
        told="expected shape (4, 4), got (10,).",
    ),
    "zeros when filled": Slip(
        "empty-row",
        "filled = [0, 0, 0, 0, 0]",
        adds=True,
        cost={"empty-row-tests": 1},
        told="filled: entry [0]: expected 0.2, got 0",
    ),
    "filled and added swapped": Slip(
        "empty-row",
        "filled, added = added, filled",
        adds=True,
        cost={"empty-row-tests": 2},
        told="added: entry [0]: expected 0.289213, got 0.2",
    ),
    "one number for the row": Slip(
        "empty-row",
        "filled = 0.2",
        adds=True,
        cost={"empty-row-tests": 1},
        told="filled: expected shape (5,), got () (a single number).",
    ),
    "nan typed in": Slip(
        "empty-row",
        "added = [np.nan] * 5",
        adds=True,
        cost={"empty-row-tests": 1},
        told="added: expected finite numbers, got nan",
    ),
    "keys counted by the queries": Slip(
        "bug",
        """
def padded_attention(q, k, v, lengths):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    real = np.arange(q.shape[-2]) < np.asarray(lengths)[:, None, None]
    return masked_softmax(scores, real) @ v
""",
        cost={"bug-tests": 1},
        told="a padded batch: ok a length of 0, and keys of another sequence: not yet",
    ),
    "no axis for the queries": Slip(
        "bug",
        """
def padded_attention(q, k, v, lengths):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    real = np.arange(k.shape[-2]) < np.asarray(lengths)[:, None]
    return masked_softmax(scores, real) @ v
""",
        cost={"bug-tests": 2},
        told="it raised ValueError: operands could not be broadcast together",
    ),
    "queries and keys hidden": Slip(
        "bug",
        """
def padded_attention(q, k, v, lengths):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    columns = np.arange(k.shape[-2]) < np.asarray(lengths)[:, None, None]
    rows = np.arange(q.shape[-2])[:, None] < np.asarray(lengths)[:, None, None]
    return masked_softmax(scores, rows & columns) @ v
""",
        cost={"bug-tests": 2},
        told="padded-queries-hidden-too",
    ),
    "scale left out": Slip(
        "bug",
        """
def padded_attention(q, k, v, lengths):
    real = np.arange(k.shape[-2]) < np.asarray(lengths)[:, None, None]
    return masked_softmax(q @ np.swapaxes(k, -1, -2), real) @ v
""",
        cost={"bug-tests": 2},
        told="Likely cause:",
    ),
    "rows and columns confused": Slip(
        "reading",
        "visible = M.sum(axis=0)",
        adds=True,
        cost={"reading-tests": 1},
        told="see the book, masking#queries-or-keys",
    ),
    "hidden keys": Slip(
        "reading",
        "visible = (~M).sum(axis=1)",
        adds=True,
        cost={"reading-tests": 1},
        told="hidden-keys-counted",
    ),
    "positions for numbers of keys": Slip(
        "reading",
        "visible = [count - 1 for count in visible]",
        adds=True,
        cost={"reading-tests": 1},
        told="visible: entry [0]: expected 4, got 3",
    ),
    "number of pairs": Slip(
        "reading",
        "number = M.sum()",
        adds=True,
        cost={"reading-tests": 1},
        told="number: expected",
    ),
    "the padding counted": Slip(
        "reading",
        "number = M.shape[1] - number",
        adds=True,
        cost={"reading-tests": 1},
        told="number: expected",
    ),
    "kind in words": Slip(
        "reading",
        'kind = "padding"',
        adds=True,
        cost={"reading-tests": 1},
        told='expected one of the letters "A", "B", "C", "D"',
    ),
    "positions as rows": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return np.abs(after - before).max(axis=-1) > 1e-6\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="seen_from_outside on shapes (4, 3), (4, 4, 3): entry [0, 1]: expected False",
    ),
    "moves upwards only": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return (after - before).max(axis=-1).T > 1e-6\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="which outputs moved: not yet",
    ),
    "changes added up": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return np.abs((after - before).sum(axis=-1)).T > 1e-6\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="seen_from_outside on shapes (3, 2), (3, 3, 2): entry [0, 0]: expected True",
    ),
    "a bound of its own": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return np.abs(after - before).max(axis=-1).T > 1e-5\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="seen_from_outside on shapes (3, 2), (3, 3, 2): entry [0, 0]: expected True",
    ),
    "rounding taken for a move": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return (after != before).any(axis=-1).T\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="expected False, got True",
    ),
    "every number has to move": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return (np.abs(after - before) > 1e-6).all(axis=-1).T\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="expected True, got False",
    ),
    "first number only": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return np.abs(after - before)[:, :, 0].T > 1e-6\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="expected True, got False",
    ),
    **{
        f"moved by {what}": Slip(
            "outside",
            f"def seen_from_outside(before, after):\n    return ({moved}).T",
            adds=True,
            cost={"outside-tests": 2},
            told="which outputs moved: not yet",
        )
        for what, moved in {
            "the mean": "np.abs(after - before).mean(axis=-1) > 1e-6",
            "the root mean square": "np.sqrt(((after - before) ** 2).mean(axis=-1)) > 1e-6",
            "half of the bound": "np.abs(after - before).max(axis=-1) > 5e-7",
            "nearly twice the bound": "np.abs(after - before).max(axis=-1) > 1.9e-6",
            "what np.isclose allows": "~np.isclose(after, before, atol=1e-6).all(axis=-1)",
            "the sixth decimal": "(after.round(6) != before.round(6)).any(axis=-1)",
        }.items()
    },
    "numbers that moved": Slip(
        "outside",
        "def seen_from_outside(before, after):\n"
        "    return np.abs(after - before) > 1e-6\n"
        'future, lost, verdict = 0, 2 * n - 1, "B"',
        cost={"outside-tests": 2},
        told="expected shape (4, 4), got (4, 4, 3).",
    ),
    "future and lost swapped": Slip(
        "outside",
        "future, lost = lost, future",
        adds=True,
        cost={"outside-tests": 1},
        told="future: expected 0, got 21.",
    ),
    "pairs that are right counted too": Slip(
        "outside",
        "lost = (~seen).sum()",
        adds=True,
        cost={"outside-tests": 1},
        told="lost: expected 21, got 76.",
    ),
    "share for a number": Slip(
        "outside",
        "lost = lost / right.sum()",
        adds=True,
        cost={"outside-tests": 1},
        told="lost: expected 21, got",
    ),
}

_SQUARE = "the mask is as wide as high, where both alignments are the same"
_ONE_ROW = "one row of small scores is all there is, and it has the overall maximum"


def numbers_in_words():
    hidden = softmax(empty_row("ada"))[-1]
    return [f"{hidden:.3f}", f"{1 - hidden:.3f}"]


PROOF = Proof(
    assignment="masking",
    tasks=8,
    points=20,
    right=RIGHT,
    slips=SLIPS | slips_of("masking"),
    model_numbers={"in-words": numbers_in_words},
    builds_on={"padded-tests": ("causal",), "bug-tests": ("softmax",)},
    unseen={
        "padded-tests/causal-mask-aligned-at-the-end": _SQUARE,
        "empty-row-tests/softmax-over-everything": _ONE_ROW,
        "empty-row-tests/softmax-shifted-by-overall-maximum": _ONE_ROW,
        "empty-row-tests/softmax-that-overflows": "the scores are small",
    },
)
