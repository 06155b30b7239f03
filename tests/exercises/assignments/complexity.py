"""The proof of the assignment `complexity`."""

from __future__ import annotations

import numpy as np

from attn_lib.course.personal.complexity import two_blocks
from attn_lib.course.targets import (
    cache_bytes,
    decoding_flops,
    mebibytes,
    merge_outputs,
    merge_sums,
    weights_bytes,
)
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

RIGHT = {
    "loops": {
        "counting": """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    operations = 0
    for head in range(heads):
        for width in (d_k, d_v):
            operations += n_q * n_k * (width + width)
    return operations

def projection_flops(n, d_model):
    operations = 0
    for matrix in ("query", "key", "value", "output"):
        operations += n * d_model * 2 * d_model
    return operations
""",
        "merging": """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    rows = []
    for m_a, l_a, o_a, m_b, l_b, o_b in zip(max_a, sum_a, out_a, max_b, sum_b, out_b):
        m = max(m_a, m_b)
        w_a, w_b = l_a * np.exp(m_a - m), l_b * np.exp(m_b - m)
        rows.append([(w_a * a + w_b * b) / (w_a + w_b) for a, b in zip(o_a, o_b)])
    return rows
""",
        "streaming": """
def streaming_attention(q, k, v, block):
    result = []
    for query in q:
        m, total, output = -np.inf, 0.0, 0.0
        i = 0
        while i < len(k):
            s = np.array([query @ key for key in k[i : i + block]]) / len(query) ** 0.5
            new = max(m, s.max())
            total = total * np.exp(m - new) + sum(np.exp(s - new))
            output = output * np.exp(m - new)
            for score, value in zip(s, v[i : i + block]):
                output = output + np.exp(score - new) * value
            m, i = new, i + block
        result.append(output / total)
    return np.array(result)

factors, m = [], max(S[0])
for row in S[1:]:
    new = max(m, *row)
    factors.append(np.exp(m - new))
    m = new
""",
        "drawing": """
def draw_flops(lengths, d_model):
    figure = plt.figure(figsize=(4, 3))
    ax = figure.add_subplot()
    ax.plot(lengths, [4 * int(n) ** 2 * d_model for n in lengths], "o--", label="scores and mix")
    ax.plot(lengths, [8 * int(n) * d_model**2 for n in lengths], "o--", label="projections")
    ax.set(xscale="log", yscale="log", xlabel="Tokens (n)", ylabel="Operations")
    return ax

crossing = 1
while attention_flops(crossing, crossing, width, width, 1) < projection_flops(crossing, width):
    crossing += 1
""",
    },
    "states merged": {
        "counting": """
attention_flops = lambda n_q, n_k, d_k, d_v, heads: 2 * heads * n_q * n_k * (d_k + d_v)
projection_flops = lambda n, d_model: 8 * n * d_model**2
""",
        "by-hand": """
weight = np.exp(max_b - max_a) * sum_b / sum_a
output = (out_a + weight * out_b) / (1 + weight)
merged = np.array([max(max_a, max_b), np.exp(max_a - max(max_a, max_b)) * sum_a * (1 + weight)])
""",
        "merging": """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    logs = np.stack([max_a + np.log(sum_a), max_b + np.log(sum_b)])
    shares = np.exp(logs - np.logaddexp(*logs))
    return np.einsum("bq,bqd->qd", shares, np.stack([out_a, out_b]))
""",
        "streaming": """
def state_of(scores, v):
    m = scores.max(axis=-1)
    e = np.exp(scores - m[:, None])
    return m, e.sum(axis=-1), e @ v / e.sum(axis=-1)[:, None]

def streaming_attention(q, k, v, block):
    state = None
    for i in range(0, len(k), block):
        new = state_of(q @ k[i : i + block].T * q.shape[-1] ** -0.5, v[i : i + block])
        if state is None:
            state = new
            continue
        m = np.maximum(state[0], new[0])
        total = np.exp(state[0] - m) * state[1] + np.exp(new[0] - m) * new[1]
        state = m, total, merge_outputs(*state, *new)
    return state[2]

factors = [np.exp(S[:i].max() - S[: i + 1].max()) for i in (1, 2, 3)]
""",
        "drawing": """
def draw_flops(lengths, d_model):
    ax = plt.subplots()[1]
    n = np.asarray(lengths, dtype=float)
    ax.loglog(n, 4 * n**2 * d_model, n, 8 * n * d_model**2)
    for line, label in zip(ax.lines, ["scores and mix", "projections"]):
        line.set_label(label)
    ax.set_xlabel("number of tokens")
    ax.set_ylabel("operations (FLOPs)")
    return ax

crossing = width + width
""",
    },
    "float32": {
        "counting": """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return heads * np.float32(2) * n_q * n_k * np.add(d_k, d_v, dtype=np.float32)

def projection_flops(n, d_model):
    return np.float32(8) * n * np.float32(d_model) ** 2
""",
        "layer": """
size = np.dtype(dtype).itemsize
weights = np.int64(heads) * n**2 * size
weights_mib = np.float32(weights / 1024 / 1024)
cache = float(n * d_model * size) * 2
step = np.int64(4) * d_model * (1 + n)
""",
        "merging": """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = np.fmax(max_a, max_b)
    a = np.exp((max_a - m).astype(np.float32)) * sum_a.astype(np.float32)
    b = np.exp((max_b - m).astype(np.float32)) * sum_b.astype(np.float32)
    share = (a / (a + b))[:, np.newaxis]
    return (share * out_a + (1 - share) * out_b).astype(np.float32)
""",
        "streaming": """
def streaming_attention(q, k, v, block):
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    q = q / np.float32(q.shape[1] ** 0.5)
    blocks = [slice(i, i + block) for i in range(0, len(k), block)]
    m = np.max([(q @ k[b].T).max(axis=1) for b in blocks], axis=0)[:, None]
    total = sum(np.exp(q @ k[b].T - m).sum(axis=1) for b in blocks)
    return sum(np.exp(q @ k[b].T - m) @ v[b] for b in blocks) / total[:, None]

factors = np.float32([0.6703, 1, 0.3012])
""",
        "drawing": """
def draw_flops(lengths, d_model):
    n = np.asarray(lengths, dtype=np.float32)
    plt.figure()
    plt.loglog(n, 4 * n * n * d_model, label="scores and mix")
    plt.loglog(n, 8 * n * d_model * d_model, label="projections")
    plt.xlabel("tokens $n$")
    plt.ylabel("operations")
    return plt.gca()

crossing = np.float32(2 * width)
""",
    },
    "keyword arguments": {
        "counting": """
def product_flops(rows, inner, columns):
    return 2 * rows * inner * columns

def attention_flops(n_q, n_k, d_k, d_v, heads=1):
    scores = product_flops(rows=n_q, inner=d_k, columns=n_k)
    return heads * (scores + product_flops(rows=n_q, inner=n_k, columns=d_v))

def projection_flops(n=1, d_model=512):
    return 4 * product_flops(n, d_model, d_model)
""",
        "merging": """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b, *, floor=-np.inf):
    m = np.max([max_a, max_b], axis=0, initial=floor)
    a, b = (np.expand_dims(s * np.exp(x - m), axis=1) for x, s in ((max_a, sum_a), (max_b, sum_b)))
    return np.divide(a * out_a + b * out_b, a + b)
""",
        "streaming": """
def streaming_attention(q, k, v, block=64, *, scale=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    m, total, out = -np.inf, 0, 0
    for keys, values in zip(*(np.split(x, range(block, len(k), block)) for x in (k, v))):
        s = scale * np.inner(q, keys)
        new = np.maximum(m, np.amax(s, axis=-1, keepdims=True))
        e = np.exp(s - new)
        shrink = np.exp(m - new)
        out = shrink * out + np.matmul(e, values)
        total = shrink * total + np.sum(e, axis=-1, keepdims=True)
        m = new
    return np.divide(out, total)

factors = list(np.exp(-np.diff(np.maximum.accumulate(np.amax(S, axis=1)))))
""",
        "drawing": """
def draw_flops(lengths=(1, 2), d_model=1):
    fig, ax = plt.subplots()
    for label, flops in {
        "projections": projection_flops(n=lengths, d_model=d_model),
        "scores and mix": attention_flops(lengths, lengths, d_model // 4, d_model // 4, heads=4),
    }.items():
        ax.plot(lengths[::-1], flops[::-1], label=label)
    ax.axvline(2 * d_model, color="grey", zorder=0)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("tokens")
    ax.set_ylabel("OPERATIONS")
    return fig

crossing = 2 * d_model
""",
    },
    "typed in": {
        "layer": """
weights = 47334400
weights_mib = 45.1
cache = 10567680
step = 5289984
""",
        "by-hand": """
merged = [0.6, 3.055]
output = [8.601, 7.642]
""",
    },
}

STREAMING = """
def streaming_attention(q, k, v, block):
    row_max = np.full((len(q), 1), -np.inf)
    row_sum = np.zeros((len(q), 1))
    output = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        new_max = np.maximum(row_max, scores.max(axis=1, keepdims=True))
        rescale = np.exp(row_max - new_max)
        exponentials = np.exp(scores - new_max)
        row_sum = rescale * row_sum + exponentials.sum(axis=1, keepdims=True)
        output = rescale * output + exponentials @ v[start : start + block]
        row_max = new_max
    return output / row_sum
"""


def streaming_slip(right, wrong, cost=3, told="blocks that are full: not yet"):
    """Return the right answer with one piece of it changed."""
    assert right in STREAMING
    answer = STREAMING.replace(right, wrong)
    return Slip("streaming", answer, adds=True, cost={"streaming-tests": cost}, told=told)


def drawing_slip(lines, cost, told, axes='ax.set(xlabel="tokens n", ylabel="operations")'):
    """Return an answer that draws these lines."""
    answer = f"""
def draw_flops(lengths, d_model):
    fig, ax = plt.subplots()
    {lines}
    {axes}
    return ax
"""
    return Slip("drawing", answer, adds=True, cost={"drawing-tests": cost}, told=told)


ATTENTION_LINE = 'ax.loglog(lengths, 4 * lengths**2 * d_model, label="scores and mix"); '
PROJECTION_LINE = 'ax.loglog(lengths, 8 * lengths * d_model**2, label="projections")'

SLIPS = {
    "a head for each query": Slip(
        "counting",
        """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return 2 * n_q * n_k * (d_k + d_v) * heads * n_q

def projection_flops(n, d_model):
    return 8 * n * d_model**2
""",
        cost={"counting-tests": 2, "drawing-tests": 1},
        told="attention_flops for 3, 5, 7, 4, 1: expected 330, got 990.",
    ),
    "width shared by the heads": Slip(
        "counting",
        """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return 2 * n_q * n_k * (d_k // heads + d_v // heads) * heads

def projection_flops(n, d_model):
    return 8 * n * d_model**2
""",
        cost={"counting-tests": 1},
        told="attention, one head: ok attention, several heads: not yet",
    ),
    "one addition fewer": Slip(
        "counting",
        """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return heads * n_q * n_k * (2 * d_k - 1 + 2 * d_v - 1)

def projection_flops(n, d_model):
    return 4 * n * d_model * (2 * d_model - 1)
""",
        cost={"counting-tests": 3, "drawing-tests": 2},
        told="expected 330, got 300.",
    ),
    "softmax counted too": Slip(
        "counting",
        """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return heads * n_q * n_k * (2 * d_k + 5 + 2 * d_v)

def projection_flops(n, d_model):
    return 8 * n * d_model**2
""",
        cost={"counting-tests": 2, "drawing-tests": 1},
        told="expected 330, got 405.",
    ),
    "feed-forward part counted too": Slip(
        "counting",
        """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return 2 * heads * n_q * n_k * (d_k + d_v)

def projection_flops(n, d_model):
    return 24 * n * d_model**2
""",
        cost={"counting-tests": 1, "drawing-tests": 1},
        told="projection_flops for 3, 10: expected 2400, got 7200.",
    ),
    "three for float32": Slip(
        "layer",
        "weights = heads * n * n * 3\nweights_mib = weights / 2**20",
        adds=True,
        cost={"layer-tests": 1},
        told="weights: expected",
    ),
    "divided by 1000 and by 1024": Slip(
        "layer",
        "weights_mib = weights / 1000 / 1024",
        adds=True,
        cost={"layer-tests": 1},
        told="weights_mib: expected",
    ),
    "mebibytes of one head": Slip(
        "layer",
        "weights_mib = weights_mib / heads",
        adds=True,
        cost={"layer-tests": 1},
        told="weights_mib: expected",
    ),
    "cache for each head": Slip(
        "layer",
        "cache = cache * heads",
        adds=True,
        cost={"layer-tests": 1},
        told="cache: expected",
    ),
    "softmax of the step counted too": Slip(
        "layer",
        "step = step + 5 * (n + 1) * heads",
        adds=True,
        cost={"layer-tests": 1},
        told="step: expected",
    ),
    "projections of the step counted too": Slip(
        "layer",
        "step = step + 8 * d_model**2",
        adds=True,
        cost={"layer-tests": 1},
        told="step: expected",
    ),
    "units in the answer": Slip(
        "layer",
        'weights_mib = f"{weights_mib:.1f} MiB"',
        adds=True,
        cost={"layer-tests": 1},
        told="weights_mib: expected a number, got the text '45.1 MiB'. Write the number alone.",
    ),
    "sum alone": Slip(
        "by-hand",
        "merged = merged[1]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="merged: expected shape (2,), got () (a single number).",
    ),
    "two to the power": Slip(
        "by-hand",
        "merged = [common, 2 ** (max_a - common) * sum_a + 2 ** (max_b - common) * sum_b]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="merged: entry [1]: expected 3.05462",
    ),
    "blocks swapped": Slip(
        "by-hand",
        "output = (part_b * out_a + part_a * out_b) / (part_a + part_b)",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: entry [0]: expected 8.60137",
    ),
    "only one block in the output": Slip(
        "by-hand",
        "output = out_b",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: entry [0]: expected 8.60137, got 6",
    ),
    "maximum not subtracted": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    a, b = (np.exp(max_a) * sum_a)[:, None], (np.exp(max_b) * sum_b)[:, None]
    return (a * out_a + b * out_b) / (a + b)
""",
        cost={"merging-tests": 1},
        told="scores of ordinary size: ok large scores: not yet",
    ),
    "the maximum of block A": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    a, b = sum_a[:, None], (np.exp(max_b - max_a) * sum_b)[:, None]
    return (a * out_a + b * out_b) / (a + b)
""",
        cost={"merging-tests": 1},
        told="scores of ordinary size: ok large scores: not yet",
    ),
    "max of two arrays": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = max(max_a, max_b)
    a, b = (np.exp(max_a - m) * sum_a)[:, None], (np.exp(max_b - m) * sum_b)[:, None]
    return (a * out_a + b * out_b) / (a + b)
""",
        cost={"merging-tests": 2},
        told="it raised ValueError: The truth value of an array",
    ),
    "one maximum for all queries": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = max(max_a.max(), max_b.max())
    a, b = (np.exp(max_a - m) * sum_a)[:, None], (np.exp(max_b - m) * sum_b)[:, None]
    return (a * out_a + b * out_b) / (a + b)
""",
        cost={"merging-tests": 1},
        told="large scores: not yet",
    ),
    "no second axis": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = np.maximum(max_a, max_b)
    a, b = np.exp(max_a - m) * sum_a, np.exp(max_b - m) * sum_b
    return (a * out_a + b * out_b) / (a + b)
""",
        cost={"merging-tests": 2},
        told="it raised ValueError: operands could not be broadcast together",
    ),
    "outputs already summed": Slip(
        "merging",
        """
def merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = np.maximum(max_a, max_b)
    a, b = np.exp(max_a - m)[:, None], np.exp(max_b - m)[:, None]
    return (a * out_a + b * out_b) / (a * sum_a[:, None] + b * sum_b[:, None])
""",
        cost={"merging-tests": 2},
        told="scores of ordinary size: not yet",
    ),
    "still faulty": streaming_slip("output = rescale * output", "output = output"),
    "rescaled the wrong way": streaming_slip("row_max - new_max", "new_max - row_max"),
    "new block rescaled too": streaming_slip(
        "rescale * row_sum + exponentials.sum(axis=1, keepdims=True)",
        "rescale * (row_sum + exponentials.sum(axis=1, keepdims=True))",
    ),
    "maximum not kept": streaming_slip("        row_max = new_max\n", ""),
    "maximum of the last block": streaming_slip(
        "np.maximum(row_max, scores.max(axis=1, keepdims=True))",
        "scores.max(axis=1, keepdims=True)",
        cost=1,
        told="large scores: not yet",
    ),
    "one maximum for all queries of a block": streaming_slip(
        "scores.max(axis=1, keepdims=True)",
        "scores.max()",
        cost=1,
        told="large scores: not yet",
    ),
    "divided in each step": streaming_slip(
        "row_max = new_max", "row_max, output = new_max, output / row_sum"
    ),
    "sum over all queries": streaming_slip(
        "exponentials.sum(axis=1, keepdims=True)", "exponentials.sum()"
    ),
    "values of the first block": streaming_slip("@ v[start : start + block]", "@ v[:block]"),
    "last key of each block left out": streaming_slip("start + block", "start + block - 1"),
    "last block left out": streaming_slip(
        "range(0, len(k), block)",
        "range(0, len(k) - block + 1, block)",
        cost=2,
        told="last-block-left-out",
    ),
    "scale of the block": streaming_slip("np.sqrt(q.shape[1])", "np.sqrt(block)"),
    "factors the wrong way round": Slip(
        "streaming",
        "factors = 1 / factors",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: a factor lies between 0 and 1.",
    ),
    "factors of the last scores": Slip(
        "streaming",
        "factors = np.exp(-np.diff(np.maximum.accumulate(S[:, 1])))",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: entry [2]: expected 0.301194, got 1",
    ),
    "a factor for the first block too": Slip(
        "streaming",
        "factors = [0, *factors]",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: expected 3 numbers, got 4.",
    ),
    "every block against the one before": Slip(
        "streaming",
        "factors = np.exp(-np.abs(np.diff(S.max(axis=1))))",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: entry [1]: expected 1, got 0.40657",
    ),
    "every block's own maximum": Slip(
        "streaming",
        "m = S.max(axis=1)\nfactors = np.minimum(1, np.exp(m[:-1] - m[1:]))",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: entry [2]: expected 0.301194, got 0.122456",
    ),
    "factors to the last maximum": Slip(
        "streaming",
        "factors = np.exp(running_max[:-1] - running_max[-1])",
        adds=True,
        cost={"streaming-tests": 1},
        told="factors: entry [0]: expected 0.67032, got 0.201897",
    ),
    "no return of the axes": Slip(
        "drawing",
        "def draw_flops(lengths, d_model):\n    plt.loglog(lengths, lengths)",
        adds=True,
        cost={"drawing-tests": 3},
        told="expected the Axes that it drew into, got NoneType. Is there a `return ax`?",
    ),
    "linear axes": drawing_slip(
        (ATTENTION_LINE + PROJECTION_LINE).replace("loglog", "plot"),
        1,
        "expected a log x axis, got linear",
    ),
    "one logarithmic axis": drawing_slip(
        (ATTENTION_LINE + PROJECTION_LINE).replace("loglog", "semilogy"),
        1,
        "expected a log x axis, got linear",
    ),
    "lines without labels": drawing_slip(
        "ax.loglog(lengths, 4 * lengths**2 * d_model, lengths, 8 * lengths * d_model**2)",
        2,
        "expected a line labelled 'scores and mix', found no line with a label.",
    ),
    "labels swapped": drawing_slip(
        (ATTENTION_LINE + PROJECTION_LINE)
        .replace("projections", "other")
        .replace("scores and mix", "projections")
        .replace("other", "scores and mix"),
        2,
        "scores and mix: not yet",
    ),
    "axes without labels": drawing_slip(
        ATTENTION_LINE + PROJECTION_LINE, 1, "its x axis has no label", axes="ax.legend()"
    ),
    "scores alone": drawing_slip(
        ATTENTION_LINE.replace("4 *", "2 *") + PROJECTION_LINE, 1, "mix-not-counted"
    ),
    "a width of its own": drawing_slip(
        (ATTENTION_LINE + PROJECTION_LINE).replace("d_model", "512"),
        2,
        "line 'projections', y on shape (6,), with 96: entry [0]: expected",
    ),
    "lengths of its own": drawing_slip(
        "lengths = 2 ** np.arange(7, 15); " + ATTENTION_LINE + PROJECTION_LINE,
        2,
        "expected 6 numbers, got 8. Plot against the array that the function is given, as it is.",
    ),
    "crossing at the tokens": Slip(
        "drawing",
        "crossing = n",
        adds=True,
        cost={"drawing-tests": 1},
        told="crossing: expected",
    ),
    "crossing of the figure": Slip(
        "drawing",
        "crossing = 1024",
        adds=True,
        cost={"drawing-tests": 1},
        told="crossing: expected",
    ),
    "crossing of one head": Slip(
        "drawing",
        "crossing = crossing / heads",
        adds=True,
        cost={"drawing-tests": 1},
        told="crossing: expected",
    ),
    "not rescaled, nor the outputs": Slip(
        "by-hand",
        "merged = [common, sum_a + sum_b]\noutput = (sum_a * out_a + sum_b * out_b) / (sum_a + sum_b)",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: it follows from your own merged, so it counts.",
    ),
    "a sum with a slip, divided by it": Slip(
        "by-hand",
        "merged = [common, part_a + part_b + 0.5]\noutput = (part_a * out_a + part_b * out_b) / merged[1]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: it follows from your own merged, so it counts.",
    ),
}


def layer_example():
    weights = weights_bytes(8, 2048, 2048, "float32")
    return {
        "weights": weights,
        "weights_mib": mebibytes(weights),
        "cache": cache_bytes(2048, 512, "float32"),
        "step": decoding_flops(2048, 512),
    }


def by_hand_example():
    max_a, sum_a, out_a = np.array([2.0]), np.array([1.5]), np.array([[10.0, 0.0]])
    max_b, sum_b, out_b = np.array([4.0]), np.array([1.2]), np.array([[0.0, 8.0]])
    return {
        "merged": merge_sums(max_a, sum_a, max_b, sum_b)[:, 0].round(3).tolist(),
        "output": merge_outputs(max_a, sum_a, out_a, max_b, sum_b, out_b)[0].round(3).tolist(),
    }


def streaming_example():
    largest = np.maximum.accumulate([2.0, 4.0, 1.0, 3.0])
    return {"factors": np.exp(-np.diff(largest)).round(3).tolist()}


def numbers_in_words():
    blocks = two_blocks("ada")
    small, large = sorted([blocks.max_a, blocks.max_b])
    assert small == blocks.max_a
    a, b = f"{abs(small):.1f}", f"{large:.1f}"
    return [a, b, f"{np.exp(small - large):.3f}", a, b, b, a, a, b]


_ONE_WIDTH = "in the figure keys and values are equally wide"

PROOF = Proof(
    assignment="complexity",
    tasks=7,
    points=20,
    right=RIGHT,
    slips=SLIPS | slips_of("complexity"),
    value_examples={
        "layer-question": layer_example,
        "by-hand-question": by_hand_example,
        "streaming-question": streaming_example,
    },
    model_numbers={"in-words": numbers_in_words},
    builds_on={"drawing-tests": ("counting",)},
    unseen={
        "drawing-tests/mix-counted-with-d_k": _ONE_WIDTH,
        "drawing-tests/scores-counted-with-d_v": _ONE_WIDTH,
        "drawing-tests/flops-of-one-head": "one head as wide as the layer stands for all of them",
    },
)
