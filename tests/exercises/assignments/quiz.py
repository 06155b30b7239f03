"""The proof of the assignment `quiz`."""

from __future__ import annotations

from attn_lib.course.targets import output_shape
from tests.attn_lib.course.personal.left_out import IN_A_CAUSAL_ROW, IN_ONE_ROW
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

LOOPS = {
    "formula": """
def attention_formula(q, k, v):
    if np.ndim(q) > 2:
        return np.array([attention_formula(*one) for one in zip(q, k, v)])
    mixed = []
    for query in q:
        scores = [sum(a * b for a, b in zip(query, key)) / len(query) ** 0.5 for key in k]
        exponentials = [np.exp(score - max(scores)) for score in scores]
        total = sum(exponentials)
        mixed.append([sum(e * value / total for e, value in zip(exponentials, column))
                      for column in np.transpose(v)])
    return mixed
""",
    "why": """
variance_by_root, variance_by_width, variance_by_c = (d_k / x**2 for x in (d_k**0.5, d_k, c))
exps = [np.exp(score / np.sqrt(d_k)) for score in raw]
scaled_weights = [e / sum(exps) for e in exps]
largest_raw = max(np.exp(float(s)) for s in raw) / sum(np.exp(float(s)) for s in raw)
why = " b "
""",
    "variance": """
variance_plain = sum(1 for _ in range(d_k))
variance_yours = sum(var_q * var_k for _ in range(d_k))
""",
    "output": "self_shape = cross_shape = [b, n, d_v]",
    "row": """
side = "rc"[int(abs(sum(table[0]) - 1) > 0.01)]
W = table if side == "r" else table.T
share = W[query][key]
received = sum(row[looked_at] for row in W)
meaning = "d"
""",
    "cost": """
score_operations = n * n * (d_k + d_k)
all_operations = sum(score_operations + n * n * 2 * d_v for _ in range(heads))
factor_longer, factor_wider, growth = longer * longer, float(wider), "c"
""",
    "future": """
row_weights = [np.exp(scores[i, j]) if j <= i else 0 for j in range(5)]
row_weights = [w / sum(row_weights) for w in row_weights]
zero_for_hidden = [np.exp(scores[i, j] if j <= i else 0) for j in range(5)]
leak = sum(zero_for_hidden[i + 1 :]) / sum(zero_for_hidden)
hidden_score = "a"
zeros = sum(range(n))
moved = len(range(changed, n))
""",
}

EINSUM = {
    "formula": """
def attention_formula(q, k, v):
    scores = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    shifted = scores - np.max(scores, -1)[..., None]
    weights = np.exp(shifted - np.log(np.exp(shifted).sum(-1))[..., None])
    return np.einsum("...ij,...jc->...ic", weights, v)
""",
    "why": """
by = d_k / np.array([np.sqrt(d_k), d_k, c]) ** 2
variance_by_root, variance_by_width, variance_by_c = by
shares = np.exp(np.outer([1 / np.sqrt(d_k), 1], raw))
shares = np.einsum("rj,r->rj", shares, 1 / shares.sum(-1))
scaled_weights, largest_raw, why = shares[0], shares[1].max(), "B"
""",
    "variance": "variance_plain, variance_yours = np.array([1, var_q * var_k]) * d_k",
    "output": """
self_shape = np.einsum("bij,bjd->bid", np.empty((b, n, n)), np.empty((b, n, d_v))).shape
cross_shape = np.einsum("bij,bjd->bid", np.empty((b, n, m)), np.empty((b, m, d_v))).shape
""",
    "row": """
rows = np.allclose(np.einsum("ij->i", table), 1)
side, W = ("R", table) if rows else ("C", np.einsum("ij->ji", table))
share, received, meaning = W[query, key], np.einsum("ij->j", W)[looked_at], "D"
""",
    "future": """
masked = np.where(np.tri(5, dtype=bool), scores, -np.inf)
weights = np.exp(masked) / np.einsum("ij->i", np.exp(masked))[:, None]
row_weights = weights[i]
zeroed = np.exp(np.tril(scores))
leak = np.triu(zeroed, 1)[i].sum() / zeroed[i].sum()
hidden_score = "A"
zeros = np.sum(np.tri(n) == 0)
moved = np.tri(n)[:, changed].sum()
""",
}

FLOAT32 = {
    "formula": """
def attention_formula(q, k, v):
    q, k, v = (np.asarray(a, dtype=np.float32) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials @ v / exponentials.sum(-1, keepdims=True)
""",
    "why": """
width = np.float32(d_k)
variance_by_root, variance_by_width, variance_by_c = np.float32(1), 1 / width, width / c**2
e = np.exp(raw.astype(np.float32) / np.sqrt(width))
scaled_weights = e / e.sum()
f = np.exp(raw.astype(np.float32))
largest_raw, why = (f / f.sum()).max(), "B"
""",
    "variance": "variance_plain = np.float32(d_k)\nvariance_yours = variance_plain * var_q * var_k",
}

TYPED = {
    "formula": """
def softmax(scores):
    scores = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def attention_formula(queries, keys, values, *, scale=None):
    scale = 1 / np.sqrt(np.shape(keys)[-1]) if scale is None else scale
    return softmax(scale * np.matmul(queries, np.swapaxes(keys, -2, -1))) @ values
""",
    "why": """
variance_by_root, variance_by_width = 1, round(1 / d_k, 4)
variance_by_c = round(d_k / c**2, 4)
e = np.exp(raw / np.sqrt(d_k))
scaled_weights = (e / e.sum()).round(3).tolist()
largest_raw = float((np.exp(raw) / np.exp(raw).sum()).max().round(3))
why = "B"
""",
    "variance": "variance_plain = d_k\nvariance_yours = round(d_k * var_q * var_k, 3)",
    "output": "self_shape = np.array([b, n, d_v])\ncross_shape = tuple(self_shape.tolist())",
    "row": """
shown = table.round(3)
side = "R" if abs(shown.sum(1) - 1).max() < 0.01 else "C"
W = shown if side == "R" else shown.T
share, received, meaning = round(W[query, key], 2), round(W[:, looked_at].sum(), 2), "D"
""",
    "future": """
past = np.exp(scores[i, : i + 1])
row_weights = (np.array([*past, *np.zeros(4 - i)]) / past.sum()).round(3).tolist()
leak = round((4 - i) / (past.sum() + 4 - i), 3)
hidden_score, zeros, moved = "A", (n * n - n) / 2, float(n - changed)
""",
}


def formula(body: str) -> str:
    return f"def attention_formula(q, k, v):\n{body}"


SHARES = "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True) @ v"


def wrong(cell: str, answer: str, told: str, points: float = 1) -> Slip:
    return Slip(cell, answer, adds=True, cost={f"{cell}-tests": points}, told=told)


SLIPS = {
    "k.T": Slip(
        "formula",
        formula(f"    s = q @ k.T / np.sqrt(q.shape[-1])\n{SHARES}"),
        cost={"formula-tests": 1},
        told="it raised ValueError: matmul",
    ),
    "no transpose": Slip(
        "formula",
        formula(f"    s = q @ k / np.sqrt(q.shape[-1])\n{SHARES}"),
        cost={"formula-tests": 4},
        told="it raised ValueError: matmul",
    ),
    "scale from the number of queries": Slip(
        "formula",
        formula(f"    s = q @ k.swapaxes(-1, -2) / np.sqrt(len(q))\n{SHARES}"),
        cost={"formula-tests": 4},
        told="entries differ",
    ),
    "scale from the values": Slip(
        "formula",
        formula(f"    s = q @ k.swapaxes(-1, -2) / np.sqrt(v.shape[-1])\n{SHARES}"),
        cost={"formula-tests": 4},
        told="entries differ",
    ),
    "keepdims missing": Slip(
        "formula",
        formula(
            "    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])\n"
            "    e = np.exp(s - s.max(-1, keepdims=True))\n"
            "    return e / e.sum(-1) @ v"
        ),
        cost={"formula-tests": 4},
        told="operands could not be broadcast together",
    ),
    "the weights returned": Slip(
        "formula",
        formula(f"    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])\n{SHARES[:-4]}"),
        cost={"formula-tests": 4},
        told="expected shape (2, 1), got (2, 2).",
    ),
    "an argument changed": Slip(
        "formula",
        formula(f"    q /= np.sqrt(q.shape[-1])\n    s = q @ k.swapaxes(-1, -2)\n{SHARES}"),
        cost={"formula-tests": 4},
        told="it changed its argument number 1.",
    ),
    "clipped": Slip(
        "formula",
        formula(
            "    s = np.clip(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -50, 50)\n"
            "    e = np.exp(s)\n    return e / e.sum(axis=-1, keepdims=True) @ v"
        ),
        cost={"formula-tests": 1},
        told="attention_formula on shapes (3, 4), (3, 4), (3, 3): entry [0, 0]: expected",
    ),
    "the root divided by once": wrong(
        "why", "variance_by_root = d_k**0.5", "variance_by_root: expected 1"
    ),
    "the factor for the variance": wrong(
        "why", "variance_by_width = 1 / d_k**0.5", "variance_by_width: expected"
    ),
    "the width and c exchanged": wrong(
        "why", "variance_by_c = c**2 / d_k", "variance_by_c: expected"
    ),
    "weights in percent": wrong(
        "why", "scaled_weights = 100 * scaled_weights", "the five have to sum to 1."
    ),
    "the scaled one for the raw one": wrong(
        "why", "largest_raw = scaled_weights.max()", "largest_raw: expected"
    ),
    "speed": wrong("why", 'why = "A"', '"A" is not right. An exponential takes as long'),
    "orthogonality": wrong("why", 'why = "C"', '"C" is not right. Dividing by a positive'),
    "memory": wrong("why", 'why = "D"', '"D" is not right. A number takes the same bytes'),
    "variance 0": wrong("variance", "variance_plain = 0", "mean-for-variance"),
    "variance 1": wrong("variance", "variance_plain = 1", "variance-does-not-grow"),
    "the root of the width": wrong("variance", "variance_plain = d_k**0.5", "sd-for-variance"),
    "the key's variance forgotten": wrong(
        "variance", "variance_yours = d_k * var_q", "variance_yours: expected"
    ),
    "a text for a number": wrong(
        "variance", 'variance_yours = "d_k"', "expected a number, got the text 'd_k'."
    ),
    "as the weights": wrong("output", "self_shape = (b, n, n)", "output-shape-as-weights"),
    "as the queries": wrong("output", "self_shape = (b, n, d_k)", "output-shape-as-queries"),
    "without positions": wrong(
        "output", "self_shape = (b, d_k, d_v)", "output-shape-without-positions"
    ),
    "a row for each key": wrong("output", "cross_shape = (b, m, d_v)", "output-shape-as-values"),
    "the batch forgotten": wrong("output", "cross_shape = (n, d_v)", "expected 3 numbers, got 2."),
    "turned round": wrong("row", "share = W[key, query]", "row-for-column"),
    "the other side": wrong(
        "row", 'side = "C" if side == "R" else "R"', "what one query spends does."
    ),
    "share in percent": wrong("row", "share = 100 * share", "a share lies between 0 and 1."),
    "what the position spends": wrong("row", "received = W[looked_at].sum()", "received: expected"),
    "the query at i": wrong("row", 'meaning = "A"', '"A" is not right. The query at i went'),
    "the key at i": wrong("row", 'meaning = "B"', '"B" is not right. Key i shows in column i'),
    "the value at i": wrong("row", 'meaning = "C"', '"C" is not right. Values come in after'),
    "multiplications alone": wrong(
        "cost", "score_operations = n**2 * d_k", "flops-without-the-two"
    ),
    "one head": wrong("cost", "all_operations //= heads", "flops-of-one-head"),
    "the width of all heads squared": wrong(
        "cost", "all_operations = 2 * heads * n * (d_k**2 + d_v**2)", "all_operations: expected"
    ),
    "linear in the length": wrong("cost", "factor_longer = longer", "factor_longer: expected"),
    "squared in the width": wrong("cost", "factor_wider = wider**2", "factor_wider: expected"),
    "O(n)": wrong("cost", 'growth = "A"', '"A" is not right. Each position looks at all n'),
    "O(nd)": wrong("cost", 'growth = "B"', '"B" is not right. It is the cost of one query'),
    "O(d²)": wrong("cost", 'growth = "D"', '"D" is not right. It is what a projection costs'),
    "the row not masked": wrong(
        "future",
        "row_weights = np.exp(scores[i]) / np.exp(scores[i]).sum()",
        "(mask-not-used; see the book",
    ),
    "zeros after the softmax": wrong(
        "future",
        "row_weights = exponentials / np.exp(scores[i]).sum()",
        "the five have to sum to 1.",
    ),
    "what stays": wrong("future", "leak = 1 - leak", "leak: expected"),
    "a score of 0": wrong("future", 'hidden_score = "B"', '"B" is not right. The exponential'),
    "a score of 1": wrong("future", 'hidden_score = "C"', '"C" is not right. As a score, 1'),
    "symmetric": wrong("future", 'hidden_score = "D"', '"D" is not right. The past is visible'),
    "half of the table": wrong("future", "zeros = n * n / 2", "zeros: expected"),
    "what is seen": wrong("future", "zeros = n * (n + 1) / 2", "zeros: expected"),
    "the past moved": wrong("future", "moved = changed", "moved: expected"),
    "itself not moved": wrong("future", "moved = n - changed - 1", "moved: expected"),
    "a paper for another": wrong(
        "papers", 'paper_1 = {"A": "B", "B": "A", "C": "A", "D": "A"}[paper_1]', "paper_1:"
    ),
    "a name for a letter": wrong(
        "papers", 'paper_4 = "Vaswani"', "paper_4: expected one of the letters"
    ),
    "one left out": wrong("papers", "del paper_6", "paper_6: not there yet."),
    "the other side, and on from there": Slip(
        "row",
        'side, W = ("C", table.T) if side == "R" else ("R", table)\nshare, received = W[query, key], W[:, looked_at].sum()',
        adds=True,
        cost={"row-tests": 1},
        told="received: it follows from your own side, so it counts.",
    ),
    "multiplications alone, in both": Slip(
        "cost",
        "score_operations = n * n * d_k\nall_operations = heads * n * n * (d_k + d_v)",
        adds=True,
        cost={"cost-tests": 1},
        told="all_operations: it follows from your own score_operations, so it counts.",
    ),
    "multiplications alone, then both": Slip(
        "cost",
        "score_operations = n * n * d_k\nall_operations = heads * (score_operations + 2 * n * n * d_v)",
        adds=True,
        cost={"cost-tests": 1},
        told="all_operations: it follows from your own score_operations, so it counts.",
    ),
}

PROOF = Proof(
    assignment="quiz",
    tasks=8,
    points=20,
    right={"loops": LOOPS, "einsum": EINSUM, "float32": FLOAT32, "typed": TYPED},
    slips=SLIPS | slips_of("quiz"),
    value_examples={
        "output-question": lambda: {"self_shape": tuple(output_shape(*[(4, 100, 64)] * 3))}
    },
    unseen={
        **{f"why-tests/{mistake}": reason for mistake, reason in IN_ONE_ROW.items()},
        **{f"future-tests/{mistake}": reason for mistake, reason in IN_A_CAUSAL_ROW.items()},
    },
)
