"""The proof of the assignment `putting-it-together`."""

from __future__ import annotations

import numpy as np

from attn_lib.course.personal.putting_it_together import layer_sizes
from attn_lib.course.targets import TARGETS
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

LOOPS = {
    "heads": """
def split_heads(x, n_heads):
    if x.ndim > 2:
        return np.array([split_heads(one, n_heads) for one in x])
    d = x.shape[1] // n_heads
    return [[list(row[h * d : (h + 1) * d]) for row in x] for h in range(n_heads)]


def merge_heads(x):
    if np.ndim(x) > 3:
        return np.array([merge_heads(one) for one in x])
    return np.concatenate(list(x), axis=-1)
""",
    "layer": """
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    d_k, d_v = w_q.shape[1] // n_heads, w_v.shape[1] // n_heads
    total = 0
    for h in range(n_heads):
        for_k, for_v = slice(h * d_k, h * d_k + d_k), slice(h * d_v, h * d_v + d_v)
        q, k, v = x @ w_q[:, for_k], x @ w_k[:, for_k], x @ w_v[:, for_v]
        total = total + softmax(q @ np.swapaxes(k, -1, -2) / d_k**0.5) @ v @ w_o[for_v]
    return total
""",
    "sizes": """
weights_shape, w_o_shape, divisor = [H, n_q, n_k], [H * d_v, d_out], d_k**0.5
learned = sum(H * (d_k + d_k + d_v) for _ in range(d_model)) + sum(H * d_v for _ in range(d_out))
""",
    "head": """
def draw_head(x, w_q, w_k, n_heads, head):
    d = w_q.shape[1] // n_heads
    q, k = x @ w_q[:, head * d : head * d + d], x @ w_k[:, head * d : head * d + d]
    weights = [softmax(np.array([query @ key for key in k]) / d**0.5) for query in q]
    figure = plt.figure()
    axes = figure.add_subplot()
    axes.imshow(np.array(weights), cmap="Blues", vmin=0, vmax=1)
    axes.set(xlabel="key", ylabel="query", title=f"head {head}")
    return figure
""",
    "by-hand": """
grad_v = [[sum(W[i, j] * grad_o[i, c] for i in (0, 1)) for c in (0, 1)] for j in (0, 1)]
grad_w = [[sum(grad_o[i, c] * V[j, c] for c in (0, 1)) for j in (0, 1)] for i in (0, 1)]
means = [sum(W[i, j] * grad_w[i][j] for j in (0, 1)) for i in (0, 1)]
grad_s = [[W[i, j] * (grad_w[i][j] - means[i]) for j in (0, 1)] for i in (0, 1)]
""",
    "gradients": """
def back(grad_output, q, k, v):
    if q.ndim > 2:
        both = [back(*one) for one in zip(grad_output, q, k, v)]
        return np.array([b[0] for b in both]), np.array([b[1] for b in both])
    dq, dk, root = np.zeros(q.shape), np.zeros(k.shape), q.shape[1] ** 0.5
    for i, query in enumerate(q):
        w = softmax(np.array([query @ key for key in k]) / root)
        dw = np.array([grad_output[i] @ value for value in v])
        for j, ds in enumerate(w * (dw - w @ dw)):
            dq[i] += ds * k[j] / root
            dk[j] += ds * query / root
    return dq, dk


def query_gradient(grad_output, q, k, v):
    return back(grad_output, q, k, v)[0]


def key_gradient(grad_output, q, k, v):
    return back(grad_output, q, k, v)[1]
""",
    "differences": """
def difference(h):
    above, below = queries.copy(), queries.copy()
    above[row, column] += h
    below[row, column] -= h
    return (loss(above) - loss(below)) / (2 * h)


coarse, fine = difference(0.4), difference(0.00001)
for letter in "abcd":
    if abs(claims[letter.upper()][row, column] - fine) < 0.001:
        claimed_by = letter
""",
}

EINSUM = {
    "heads": """
def split_heads(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


def merge_heads(x):
    return np.concatenate(np.moveaxis(x, -3, 0), axis=-1)
""",
    "layer": """
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (
        np.einsum("...nm,mhd->...hnd", x, w.reshape(len(w), n_heads, -1))
        for w in (w_q, w_k, w_v)
    )
    scores = np.einsum("...id,...jd->...ij", q, k) / np.sqrt(k.shape[-1])
    heads = np.einsum("...ij,...jd->...id", softmax(scores), v)
    return np.einsum("...hnd,hdo->...no", heads, w_o.reshape(n_heads, -1, w_o.shape[1]))
""",
    "sizes": """
weights_shape = np.einsum("hid,hjd->hij", np.empty((H, n_q, d_k)), np.empty((H, n_k, d_k))).shape
w_o_shape = np.array([H * d_v, d_out])
divisor = np.sqrt(d_k).round(3)
learned = sum(a * b for a, b in [(d_model, H * d_k)] * 2 + [(d_model, H * d_v), w_o_shape])
""",
    "head": """
def draw_head(x, w_q, w_k, n_heads, head):
    q, k = split_heads(x @ w_q, n_heads), split_heads(x @ w_k, n_heads)
    weights = softmax(np.einsum("hid,hjd->hij", q, k) / q.shape[-1] ** 0.5)
    fig, ax = plt.subplots(figsize=(3, 3))
    ax.imshow(weights[head], cmap="magma")
    plt.xlabel("key")
    plt.ylabel("query")
    plt.colorbar(ax.images[0], ax=ax)
    return ax
""",
    "by-hand": """
grad_v = np.einsum("ij,ic->jc", W, grad_o)
grad_w = np.einsum("ic,jc->ij", grad_o, V)
grad_s = np.einsum("ij,ij->ij", W, grad_w) - W * np.einsum("ij,ij->i", W, grad_w)[:, None]
""",
    "gradients": """
def at_scores(grad_output, q, k, v):
    w = softmax(np.einsum("...id,...jd->...ij", q, k) / np.sqrt(k.shape[-1]))
    r = np.einsum("...ic,...ij,...jc->...i", grad_output, w, v)
    return w * (np.einsum("...ic,...jc->...ij", grad_output, v) - r[..., None])


def query_gradient(grad_output, q, k, v):
    grad = at_scores(grad_output, q, k, v)
    return np.einsum("...ij,...jd->...id", grad, k) / np.sqrt(k.shape[-1])


def key_gradient(grad_output, q, k, v):
    grad = at_scores(grad_output, q, k, v)
    return np.einsum("...ij,...id->...jd", grad, q) / np.sqrt(k.shape[-1])
""",
}

FLOAT32 = {
    "heads": """
def split_heads(x, n_heads):
    x = np.asarray(x, dtype=np.float32)
    shape = x.shape[:-1] + (n_heads, x.shape[-1] // n_heads)
    return np.moveaxis(x.reshape(shape), -2, -3)


def merge_heads(x):
    x = np.asarray(x, dtype=np.float32)
    x = np.moveaxis(x, -3, -2)
    return x.reshape(x.shape[:-2] + (-1,))
""",
    "layer": """
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    x, w_q, w_k, w_v, w_o = (a.astype(np.float32) for a in (x, w_q, w_k, w_v, w_o))
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return merge_heads(softmax(q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5)) @ v) @ w_o
""",
    "head": """
def draw_head(x, w_q, w_k, n_heads, head):
    q, k = (split_heads((x @ w).astype(np.float32), n_heads)[head] for w in (w_q, w_k))
    ax = plt.figure().gca()
    ax.imshow(softmax(q @ k.T / np.float32(q.shape[-1] ** 0.5)))
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    return ax
""",
    "by-hand": "grad_v, grad_w = W.T @ grad_o, grad_o @ V.T\n"
    "grad_s = W.prod(1)[:, None] * (grad_w - grad_w[:, ::-1])\n"
    "grad_v, grad_w, grad_s = (a.astype(np.float32) for a in (grad_v, grad_w, grad_s))",
    "gradients": """
def steps(grad_output, q, k, v):
    grad_output, q, k, v = (a.astype(np.float32) for a in (grad_output, q, k, v))
    scale = np.float32(q.shape[-1] ** -0.5)
    w = softmax(q @ k.swapaxes(-1, -2) * scale)
    dw = grad_output @ v.swapaxes(-1, -2)
    jacobian = w[..., None] * (np.eye(w.shape[-1], dtype=np.float32) - w[..., None, :])
    return (jacobian @ dw[..., None])[..., 0] * scale, q, k


def query_gradient(grad_output, q, k, v):
    ds, q, k = steps(grad_output, q, k, v)
    return ds @ k


def key_gradient(grad_output, q, k, v):
    ds, q, k = steps(grad_output, q, k, v)
    return ds.swapaxes(-1, -2) @ q
""",
    "differences": """
up = np.eye(2)[row][:, None] * np.eye(4)[column]
coarse = round((loss(queries + 0.4 * up) - loss(queries - 0.4 * up)) / 0.8, 3)
fine = round((loss(queries + 1e-5 * up) - loss(queries - 1e-5 * up)) / 2e-5, 4)
claimed_by = sorted(claims, key=lambda name: np.abs(claims[name] - fine)[row, column])[0]
""",
}

LAYER = """def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
"""
BOTH_GRADIENTS = """
def at_scores(grad_output, q, k, v):
    w = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    dw = grad_output @ v.swapaxes(-1, -2)
    return w * (dw - (w * dw).sum(axis=-1, keepdims=True))


def query_gradient(grad_output, q, k, v):
    return at_scores(grad_output, q, k, v) @ k / np.sqrt(q.shape[-1])


def key_gradient(grad_output, q, k, v):
    return at_scores(grad_output, q, k, v).swapaxes(-1, -2) @ q / np.sqrt(q.shape[-1])
"""
DRAW = """def draw_head(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    fig, ax = plt.subplots()
    ax.imshow(softmax(q @ k.T / np.sqrt(q.shape[-1])))
    ax.set(xlabel="key", ylabel="query")
    return ax
"""


def change(source: str, old: str, new: str) -> str:
    assert old in source, old
    return source.replace(old, new)


def slip(cell: str, answer: str, told: str, points: float = 1, **elsewhere: float) -> Slip:
    """Return a slip that is appended to the right answer and may cost points in later cells too."""
    cost = {f"{name}-tests": lost for name, lost in {cell: points, **elsewhere}.items()}
    return Slip(cell, answer, adds=True, cost=cost, told=told)


SLIPS = {
    "the neighbours in the wrong order": slip(
        "heads",
        "def split_heads(x, n_heads):\n"
        "    return x.reshape(*x.shape[:-1], n_heads, -1).T.swapaxes(-1, -2)",
        "split_heads on shape (5, 6), with 2: expected shape (2, 5, 3), got (3, 5, 2).",
        points=2,
        layer=3,
        head=2,
    ),
    "the number of heads for the width of one": slip(
        "heads",
        "def split_heads(x, n_heads):\n"
        "    return x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads).swapaxes(-3, -2)",
        "split_heads on shape (5, 6), with 2: expected shape (2, 5, 3), got (3, 5, 2).",
        points=2,
        layer=3,
        head=2,
    ),
    "merging without leading axes": slip(
        "heads",
        "def merge_heads(x):\n"
        "    n_heads, n, d = x.shape\n"
        "    return x.swapaxes(0, 1).reshape(n, n_heads * d)",
        "it raised ValueError: too many values to unpack",
        layer=1,
    ),
    "splitting counted from the front": slip(
        "heads",
        "def split_heads(x, n_heads):\n"
        "    *leading, n, width = x.shape\n"
        "    return x.reshape(*leading, n, n_heads, width // n_heads).swapaxes(0, 1)",
        "split_heads on shape (2, 3, 8), with 4: expected shape (2, 4, 3, 2), got (3, 2, 4, 2).",
        layer=1,
    ),
    "the colleague's version": slip(
        "heads", "merge_heads = other_merge", "merged-without-swapping-back", 2, layer=3
    ),
    "the wrong axes swapped back": slip(
        "heads",
        "def merge_heads(x):\n"
        "    *leading, n_heads, n, d = x.shape\n"
        "    return x.swapaxes(-2, -1).reshape(*leading, n, n_heads * d)",
        "entries differ",
        2,
        layer=3,
    ),
    "the scale left out": slip(
        "layer",
        LAYER + "    return merge_heads(softmax(q @ k.swapaxes(-1, -2)) @ v) @ w_o",
        "no-scale",
        3,
    ),
    "the scale of the values": slip(
        "layer",
        LAYER + "    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(v.shape[-1]))\n"
        "    return merge_heads(weights @ v) @ w_o",
        "entries differ",
        3,
    ),
    "the keys for the values": slip(
        "layer",
        LAYER + "    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))\n"
        "    return merge_heads(weights @ k) @ w_o",
        "it raised ValueError: matmul",
        3,
    ),
    "the heads not merged": slip(
        "layer",
        LAYER + "    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))\n"
        "    return weights @ v @ w_o",
        "it raised ValueError: matmul",
        3,
    ),
    "k.T": slip(
        "layer",
        LAYER + "    weights = softmax(q @ k.T / np.sqrt(q.shape[-1]))\n"
        "    return merge_heads(weights @ v) @ w_o",
        "it raised ValueError",
        3,
    ),
    "shapes without the heads": slip(
        "sizes", "weights_shape = (n_q, n_k)", "expected 3 numbers, got 2."
    ),
    "queries and keys exchanged": slip(
        "sizes", "weights_shape = (H, n_k, n_q)", "weights-shape-transposed"
    ),
    "as wide as the model": slip(
        "sizes", "w_o_shape = (d_model, d_out)", "w_o_shape: entry [0]: expected"
    ),
    "turned over": slip("sizes", "w_o_shape = (d_out, H * d_v)", "(2 of 2 entries differ)"),
    "the root of the model": slip("sizes", "divisor = d_model**0.5", "divisor: expected"),
    "the root of the joint width": slip("sizes", "divisor = (H * d_k) ** 0.5", "divisor: expected"),
    "no root": slip("sizes", "divisor = d_k", "divisor: expected"),
    "the width over the heads": slip(
        "sizes", "divisor = (d_model / H) ** 0.5", "divisor: expected"
    ),
    "one head learns": slip("sizes", "learned //= H", "learned: expected"),
    "the last matrix forgotten": slip("sizes", "learned -= H * d_v * d_out", "learned: expected"),
    "one matrix for queries and keys": slip(
        "sizes", "learned -= d_model * H * d_k", "learned: expected"
    ),
    "the picture not returned": slip(
        "head",
        change(DRAW, "    return ax\n", ""),
        "expected the Axes that it drew into, got NoneType.",
        2,
    ),
    "always the first head": slip(
        "head", change(DRAW, "[head]", "[0]"), "draw_head, image on shapes", 1
    ),
    "heads counted from 1": slip(
        "head", change(DRAW, "[head]", "[head - 1]"), "draw_head, image on shapes", 2
    ),
    "the picture turned over": slip(
        "head", change(DRAW, "[-1])))", "[-1])).T)"), "draw_head, image on shapes", 2
    ),
    "scores drawn": slip(
        "head", change(DRAW, "softmax(q @ k.T", "(q @ k.T"), "draw_head, image on shapes", 2
    ),
    "the scale not drawn": slip(
        "head", change(DRAW, " / np.sqrt(q.shape[-1])", ""), "draw_head, image on shapes", 2
    ),
    "the picture scaled by the model": slip(
        "head", change(DRAW, "q.shape[-1]", "x.shape[-1]"), "draw_head, image on shapes", 2
    ),
    "no labels": slip(
        "head",
        change(DRAW, 'ax.set(xlabel="key", ylabel="query")', "pass"),
        "its x axis has no label",
    ),
    "labels swapped": slip(
        "head",
        change(DRAW, 'xlabel="key", ylabel="query"', 'xlabel="query", ylabel="key"'),
        "the labels of its two axes are swapped: 'key' belongs to the x axis.",
    ),
    "any labels": slip(
        "head",
        change(DRAW, 'ylabel="query"', 'ylabel="position"'),
        "expected 'query' in the label of the y axis, got 'position'",
    ),
    "a grid for an image": slip(
        "head", change(DRAW, "ax.imshow", "ax.pcolormesh"), "expected one image, found none", 2
    ),
    "the weights not turned over": slip(
        "by-hand", "grad_v = W @ grad_o", "value-gradient-not-transposed"
    ),
    "the values not turned over": slip("by-hand", "grad_w = grad_o @ V", "grad_w: entry"),
    "the row sum left out": slip("by-hand", "grad_s = W * grad_w", "row-sum-missing"),
    "the sign of the softmax": slip("by-hand", "grad_s = -grad_s", "grad_s: entry"),
    "a row too many": slip(
        "by-hand", "grad_v = [*grad_v, [0, 0]]", "expected shape (2, 2), got (3, 2)."
    ),
    "keepdims missing": slip(
        "gradients",
        change(BOTH_GRADIENTS, ", keepdims=True", ""),
        "operands could not be broadcast together",
        3,
    ),
    "sum over the queries": slip(
        "gradients", change(BOTH_GRADIENTS, "axis=-1", "axis=-2"), "column-sum-for-row-sum", 3
    ),
    "the scale of the values backwards": slip(
        "gradients",
        change(BOTH_GRADIENTS, "@ k / np.sqrt(q.shape[-1])", "@ k / np.sqrt(v.shape[-1])"),
        "entries differ",
        2,
    ),
    "no scale forwards": slip(
        "gradients",
        change(
            BOTH_GRADIENTS,
            "softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))",
            "softmax(q @ k.swapaxes(-1, -2))",
        ),
        "entries differ",
        3,
    ),
    ".T": slip(
        "gradients",
        change(
            BOTH_GRADIENTS,
            "at_scores(grad_output, q, k, v).swapaxes(-1, -2)",
            "at_scores(grad_output, q, k, v).T",
        ),
        "it raised ValueError",
        1,
    ),
    "queries for keys": slip(
        "gradients",
        change(
            BOTH_GRADIENTS,
            "at_scores(grad_output, q, k, v) @ k",
            "at_scores(grad_output, q, k, v) @ q",
        ),
        "it raised ValueError: matmul",
        2,
    ),
    "half the way": slip("differences", "coarse = 2 * coarse", "difference-over-one-step"),
    "to one side": slip(
        "differences",
        "step[row, column] = 0.4\ncoarse = (loss(queries + step) - loss(queries)) / 0.4",
        "forward-difference",
    ),
    "downhill": slip("differences", "coarse = -coarse", "difference-downhill"),
    "the coarse one again": slip("differences", "fine = coarse", "fine: expected"),
    "the number for the letter": slip(
        "differences", "claimed_by = claims[claimed_by]", "expected one of the letters"
    ),
    "somebody else": slip(
        "differences",
        "claimed_by = max(claims, key=lambda letter: abs(claims[letter][row, column] - fine))",
        "is not right.",
    ),
    "values not transposed, and on from there": Slip(
        "by-hand",
        "grad_w = grad_o @ V\ngrad_s = W * (grad_w - (W * grad_w).sum(axis=1, keepdims=True))",
        adds=True,
        cost={"by-hand-tests": 1},
        told="grad_s: it follows from your own grad_w, so it counts.",
    ),
    "ones, and on from there": Slip(
        "by-hand",
        "grad_w = np.ones((2, 2))\ngrad_s = np.zeros((2, 2))",
        adds=True,
        cost={"by-hand-tests": 2},
        told="It follows from your own grad_w: put that right first.",
    ),
}


def sizes_example():
    n_q, n_k, d_model, H, d_k, d_v, d_out = 5, 9, 8, 2, 4, 4, 8
    shapes = ((H, n_q, d_k), (H, n_k, d_k), (H, n_k, d_v))
    matrices = [(d_model, H * d_k)] * 2 + [(d_model, H * d_v), (H * d_v, d_out)]
    return {
        "weights_shape": tuple(TARGETS["weights_shape"](*shapes)),
        "w_o_shape": matrices[-1],
        "divisor": d_k**0.5,
        "learned": sum(rows * columns for rows, columns in matrices),
    }


def by_hand_example():
    weights, v = np.array([[0.5, 0.5], [0.8, 0.2]]), np.array([[1, 0], [3, 2]])
    grad_output = np.array([[1, 0], [2, 1]])
    grad_weights = TARGETS["weights_gradient"](grad_output, v)
    return {
        "grad_v": TARGETS["value_gradient"](weights, grad_output).round(3).tolist(),
        "grad_w": grad_weights.tolist(),
        "grad_s": TARGETS["softmax_backward"](weights, grad_weights).round(3).tolist(),
    }


def numbers_in_words():
    sizes = layer_sizes("ada")
    return [f"{root:.3f}" for root in (sizes.d_k**0.5, sizes.d_model**0.5)]


PROOF = Proof(
    assignment="putting-it-together",
    tasks=8,
    points=20,
    right={"loops": LOOPS, "einsum": EINSUM, "float32": FLOAT32},
    slips=SLIPS | slips_of("putting-it-together"),
    value_examples={"sizes-question": sizes_example, "by-hand-question": by_hand_example},
    model_numbers={"in-words": numbers_in_words},
    builds_on={"layer-tests": ("heads",), "head-tests": ("heads",)},
)
