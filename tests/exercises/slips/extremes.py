"""Answers right for ordinary inputs only: no large scores, whole numbers or second call."""

from __future__ import annotations

from collections.abc import Mapping

from tests.exercises.proof.proof import Slip

Slips = dict[str, Slip]
#: Lost points: those of the answer's own test cell, or points by test cell.
Cost = float | Mapping[str, float]


def added(cell: str, answer: str, cost: Cost, told: str) -> Slip:
    """Return a slip whose code follows the right answer and replaces a function of it."""
    costs = cost if isinstance(cost, Mapping) else {f"{cell}-tests": cost}
    return Slip(cell, answer, adds=True, cost=costs, told=told)


def _remembering(cell: str, names: str, cost: Cost) -> Slip:
    lines = "\n".join(f"{name} = remembering({name})" for name in names.split())
    answer = f"""
def remembering(function):
    results = {{}}
    def remembered(*args):
        shapes = tuple(np.shape(arg) for arg in args)
        if shapes not in results:
            results[shapes] = function(*args)
        return results[shapes]
    return remembered

{lines}
"""
    return added(cell, answer, cost, ": expected")


def _truncating(cell: str, name: str, place: int, cost: Cost, told: str) -> Slip:
    return added(
        cell,
        f"""
exact_{name} = {name}

def {name}(*args):
    result = np.zeros(np.shape(exact_{name}(*args)), dtype=np.asarray(args[{place}]).dtype)
    result[...] = exact_{name}(*args)
    return result
""",
        cost,
        told,
    )


def remembering(**cells: tuple[str, Cost]) -> Slips:
    """Return for each cell a slip whose functions return the first result for a shape again."""
    slips = {}
    for key, (names, cost) in cells.items():
        slip = _remembering(key.replace("_", "-"), names, cost)
        slips[f"{names} as for the first arrays of this shape"] = slip
    return slips


def truncating(told: str = ": expected", **names: tuple[str, int, Cost]) -> Slips:
    """Return for each function a slip that puts the result into an array of an argument's type."""
    return {
        f"{name} in the type of argument {place}": _truncating(cell, name, place, cost, told)
        for name, (cell, place, cost) in names.items()
    }


#: How weights are made of `s`, the scores of a row, in ways that large scores break.
FRAGILE = {
    "nothing subtracted": "e = np.exp(s)",
    "the largest of all rows subtracted": "e = np.exp(s - s.max())",
    "the first score subtracted": "e = np.exp(s - s[..., :1])",
    "the last score subtracted": "e = np.exp(s - s[..., -1:])",
    "the mean subtracted": "e = np.exp(s - s.mean(axis=-1, keepdims=True))",
    "the smallest subtracted": "e = np.exp(s - s.min(axis=-1, keepdims=True))",
    "scores clipped": "e = np.exp(np.clip(s, -700, 700))",
}


def fragile(cell: str, cost: Cost, before: str, after: str, told: str, ways: str = "") -> Slips:
    """Return a slip for each way to make weights that large scores break.

    Parameters
    ----------
    before, after : str
        The code up to the scores `s`, and after the exponentials `e`.
    ways : str
        Numbers of the ways in `FRAGILE` to leave out.
    """
    name = before.split("(")[0].removeprefix("def ").strip()
    return {
        f"{name}, {way}": added(cell, f"{before}\n    {line}\n{after}", cost, told)
        for number, (way, line) in enumerate(FRAGILE.items())
        if str(number) not in ways
    }


_WEIGHTS = "e / e.sum(axis=-1, keepdims=True)"
_SCORES = "s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])"

DOT_PRODUCTS = {
    **remembering(
        score_matrix=("score_matrix", {"score-matrix-tests": 2, "attention-tests": 1}),
        softmax=("softmax", {"softmax-tests": 1, "attention-tests": 3}),
        attention=("attention", 1),
    ),
    **truncating(
        score_matrix=("score-matrix", 0, 1),
        softmax=("softmax", 0, 1),
        attention=("attention", 2, 1),
    ),
    **fragile(
        "softmax",
        {"softmax-tests": 1, "attention-tests": 1},
        "def softmax(scores):\n    s = scores",
        f"    return {_WEIGHTS}",
        "large",
        "01",
    ),
    **fragile(
        "attention",
        1,
        f"def attention(q, k, v):\n    {_SCORES}",
        f"    return {_WEIGHTS} @ v",
        "large",
    ),
}

QUIZ = {
    **remembering(formula=("attention_formula", 1)),
    **truncating(attention_formula=("formula", 2, 1)),
    **fragile(
        "formula",
        1,
        f"def attention_formula(q, k, v):\n    {_SCORES}",
        f"    return {_WEIGHTS} @ v",
        "large",
        "01",
    ),
}

SATURATION = {
    **remembering(
        tempered=("tempered_softmax", {"tempered-tests": 1, "sharp-tests": 2}),
        logarithm=("log_softmax", 2),
        jacobian=("softmax_jacobian", 2),
        backward=("softmax_backward", 2),
        sharp=("mean_largest_weight", 1),
    ),
    **truncating(
        tempered_softmax=("tempered", 0, {"tempered-tests": 1, "sharp-tests": 1}),
        log_softmax=("logarithm", 0, 2),
    ),
    **fragile(
        "tempered",
        {"tempered-tests": 1, "sharp-tests": 1},
        "def tempered_softmax(scores, temperature):\n    s = scores / temperature",
        f"    return {_WEIGHTS}",
        "large",
        "01",
    ),
    **fragile(
        "sharp",
        1,
        "def mean_largest_weight(scores):\n    s = scores",
        f"    return ({_WEIGHTS}).max(axis=-1).mean()",
        "the function: not yet",
    ),
    "a root of the weights": added(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = (e / e.sum(axis=-1, keepdims=True)) ** (1 / temperature)
    return w / w.sum(axis=-1, keepdims=True)
""",
        1,
        "large scores: not yet",
    ),
    **{
        f"log_softmax, {way} subtracted": added(
            "logarithm",
            f"""
def log_softmax(scores):
    largest = {largest}
    return scores - (largest + np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True)))
""",
            1,
            "large",
        )
        for way, largest in {
            "the last score": "scores[..., -1:]",
            "the first score": "scores[..., :1]",
            "the mean": "scores.mean(axis=-1, keepdims=True)",
            "the smallest": "scores.min(axis=-1, keepdims=True)",
        }.items()
    },
    "a tiny number added to the weights": added(
        "logarithm",
        """
def log_softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True) + 1e-300)
""",
        1,
        "scores far below the largest: not yet",
    ),
    "logarithms cut off": added(
        "logarithm",
        """
exact_log_softmax = log_softmax

def log_softmax(scores):
    return np.maximum(exact_log_softmax(scores), -3000)
""",
        1,
        "not yet",
    ),
    "a Jacobian of weights made to sum to 1": added(
        "jacobian",
        """
exact_jacobian = softmax_jacobian

def softmax_jacobian(weights):
    return exact_jacobian(weights / weights.sum(axis=-1, keepdims=True))
""",
        2,
        "many rows: not yet",
    ),
}


def masked(lines: str, cost: Cost, told: str = "large scores, hidden or not: not yet") -> Slip:
    """Return a slip of `masked_softmax` that puts these lines before a softmax."""
    return added(
        "softmax",
        f"""
def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    {lines}
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(mask.any(axis=-1, keepdims=True), w, 0)
""",
        cost,
        told,
    )


MASKING = {
    **remembering(
        softmax=("masked_softmax", {"softmax-tests": 3, "bug-tests": 1}),
        bug=("padded_attention", 1),
        outside=("seen_from_outside", 2),
        padded=("mask_from_key_padding", 1),
    ),
    **truncating(masked_softmax=("softmax", 0, 1), padded_attention=("bug", 2, 1)),
    **{
        f"{number} put for hidden scores": masked(f"s = np.where(mask, scores, {number})", 1)
        for number in ("-3000.0", "-1e4", "-1e9", "-1e12")
    },
    **{
        f"{number} added to hidden scores": masked(
            f"s = scores + np.where(mask, 0, {number})", {"softmax-tests": 1, "bug-tests": 1}
        )
        for number in ("-1e4", "-1e9", "-1e12")
    },
    "hidden scores a thousand below the smallest": masked(
        "s = np.where(mask, scores, scores.min() - 1000)", 1
    ),
    "hidden weights of a millionth": added(
        "softmax",
        """
exact_masked_softmax = masked_softmax

def masked_softmax(scores, mask):
    return np.where(mask, exact_masked_softmax(scores, mask), 1e-6)
""",
        {"softmax-tests": 4, "bug-tests": 1},
        "expected exactly 0",
    ),
    "a tiny number in the sum": added(
        "softmax",
        """
def masked_softmax(scores, mask):
    top = np.max(scores, axis=-1, keepdims=True)
    e = np.exp(scores - top) * mask
    return e / (e.sum(axis=-1, keepdims=True) + 1e-12)
""",
        {"softmax-tests": 1, "bug-tests": 1},
        "large scores, hidden or not: not yet",
    ),
    "moved by more than a share": added(
        "outside",
        """
def seen_from_outside(before, after):
    return np.any(~np.isclose(after, before, rtol=1e-5, atol=1e-6), axis=-1).T
""",
        2,
        "which outputs moved: not yet",
    ),
    "moved in whole numbers": added(
        "outside",
        """
def seen_from_outside(before, after):
    return (np.abs((after - before).astype(int)).max(axis=-1) > 0).T
""",
        2,
        "which outputs moved: not yet",
    ),
    **fragile(
        "bug",
        1,
        """def padded_attention(q, k, v, lengths):
    real = np.arange(k.shape[1]) < np.asarray(lengths)[:, None, None]
    s = np.where(real, q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]), -1e9)""",
        "    return np.where(real.any(-1, keepdims=True), e / e.sum(axis=-1, keepdims=True), 0) @ v",
        "a length of 0",
        "23456",
    ),
}

_STREAM = """
def streaming_attention(q, k, v, block):
    row_max = {begin}
    row_sum, output = 0.0, 0.0
    for start in range(0, len(k), block):
        s = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        new_max = {new}
        e, shrink = np.exp(s - new_max), np.exp(row_max - new_max)
        row_sum = shrink * row_sum + e.sum(axis=1, keepdims=True)
        output = shrink * output + e @ v[start : start + block]
        row_max = new_max
    return output / row_sum
"""
_MERGE = """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    common = {common}
    a, b = ((np.exp(m - common) * s)[:, None] for m, s in ((max_a, sum_a), (max_b, sum_b)))
    return (a * out_a + b * out_b) / (a + b)
"""

COMPLEXITY = {
    **remembering(merging=("merge_outputs", 1), streaming=("streaming_attention", 3)),
    **truncating(merge_outputs=("merging", 2, 1), streaming_attention=("streaming", 2, 1)),
    **{
        f"merged with {way}": added(
            "merging", _MERGE.format(common=common), 1, "large scores: not yet"
        )
        for way, common in {
            "the mean of the two maxima": "(max_a + max_b) / 2",
            "the smaller maximum": "np.minimum(max_a, max_b)",
            "the maximum of block B": "max_b",
            "the maximum of the last query": "np.maximum(max_a, max_b)[-1]",
            "a maximum of at least 0": "np.maximum(0, np.maximum(max_a, max_b))",
        }.items()
    },
    **{
        f"streamed with {way}": added(
            "streaming", _STREAM.format(begin=begin, new=new), 1, "large scores: not yet"
        )
        for way, (begin, new) in {
            "a maximum that begins with 0": (
                "np.zeros((len(q), 1))",
                "np.maximum(row_max, s.max(axis=1, keepdims=True))",
            ),
            "a maximum that begins with -1000": (
                "np.full((len(q), 1), -1000.0)",
                "np.maximum(row_max, s.max(axis=1, keepdims=True))",
            ),
            "no maximum": ("0.0", "0.0"),
            "the largest score of a block's first key": (
                "-np.inf",
                "np.maximum(row_max, s[:, :1])",
            ),
            "the mean of a block": (
                "-np.inf",
                "np.maximum(row_max, s.mean(axis=1, keepdims=True))",
            ),
        }.items()
    },
}

VARIANCE = {
    **remembering(measured=("measured_variance", {"measured-tests": 1, "experiment-tests": 2})),
}

TOGETHER = {
    **remembering(
        heads=("split_heads merge_heads", {"heads-tests": 3, "layer-tests": 3, "head-tests": 2}),
        layer=("multi_head_attention", 1),
        gradients=("query_gradient key_gradient", 3),
    ),
    **truncating(
        multi_head_attention=("layer", 0, 1),
        query_gradient=("gradients", 1, 2),
        key_gradient=("gradients", 2, 2),
    ),
    **fragile(
        "layer",
        1,
        f"""def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    {_SCORES}""",
        f"    return merge_heads({_WEIGHTS} @ v) @ w_o",
        "not yet",
        "26",
    ),
    **fragile(
        "gradients",
        3,
        f"""def score_gradient(grad_output, q, k, v):
    {_SCORES}""",
        f"""    w = {_WEIGHTS}
    g = grad_output @ np.swapaxes(v, -1, -2)
    return w * (g - (w * g).sum(axis=-1, keepdims=True))""",
        "not yet",
        "26",
    ),
    **fragile(
        "head",
        2,
        f"""def draw_head(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    {_SCORES}""",
        f"""    ax = plt.subplots()[1]
    ax.imshow({_WEIGHTS})
    ax.set(xlabel="key", ylabel="query")
    return ax""",
        "not yet",
        "26",
    ),
}

TEXT = {
    **remembering(
        embed=("embed", 1),
        norm=("layer_norm", {"norm-tests": 1, "block-tests": 1}),
        block=("block", 1),
        rotary=("rotate", 1),
        induction=("induction_head", 2),
        leaving=("without_head", 1),
        cache=("write", 3),
    ),
    **truncating(
        embed=("embed", 1, 1),
        layer_norm=("norm", 0, {"norm-tests": 1, "block-tests": 1}),
        rotate=("rotary", 0, 1),
    ),
    "positions in the type of the embedding": added(
        "embed",
        """
def embed(ids, embedding, positions, n_past):
    x = embedding[ids]
    x += positions[n_past : n_past + ids.shape[-1]].astype(x.dtype)
    return x
""",
        1,
        "not yet",
    ),
}

SLIPS = {
    "dot-products": DOT_PRODUCTS,
    "quiz": QUIZ,
    "softmax-saturation": SATURATION,
    "masking": MASKING,
    "complexity": COMPLEXITY,
    "variance-growth": VARIANCE,
    "putting-it-together": TOGETHER,
    "from-text-to-next-word": TEXT,
}
