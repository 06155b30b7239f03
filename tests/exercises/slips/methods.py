"""Answers that give right numbers by another way than the one that a task asks for."""

from __future__ import annotations

from tests.exercises.proof.proof import Slip

#: How streaming takes in the scores of a block and its values, and what it returns in the end.
MERGING = """        new_max = np.maximum(row_max, scores.max(axis=1, keepdims=True))
        e, shrink = np.exp(scores - new_max), np.exp(row_max - new_max)
        row_sum = shrink * row_sum + e.sum(axis=1, keepdims=True)
        output = shrink * output + e @ values
        row_max = new_max
    return output / row_sum
"""


def streaming(body: str, told: str = "bytes_of_streaming:") -> Slip:
    """Return a slip of `streaming_attention` with this body."""
    answer = f"def streaming_attention(q, k, v, block):\n{body}"
    return Slip("streaming", answer, adds=True, cost={"streaming-tests": 2}, told=told)


def in_blocks(
    of: str, told: str = "bytes_of_streaming:", before: str = "", scores: str = "q @ keys.T"
) -> Slip:
    """Return a slip that streams over the pieces `of` keys and values."""
    return streaming(
        f"""    {before}
    row_max, row_sum, output = -np.inf, 0.0, 0.0
    for start in {of}:
        keys, values = k[start : start + block], v[start : start + block]
        scores = {scores} / np.sqrt(q.shape[1])
{MERGING}""",
        told,
    )


STREAMING = {
    "the faulty one with one block": streaming("    return faulty_streaming(q, k, v, len(k))\n"),
    "all scores at once": streaming(
        """    scores = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v
"""
    ),
    "all scores in float32, in place": streaming(
        """    scores = q.astype(np.float32) @ k.T.astype(np.float32)
    scores /= np.float32(np.sqrt(q.shape[1]))
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return scores @ v / scores.sum(axis=1, keepdims=True)
"""
    ),
    "all scores computed, then read in blocks": in_blocks(
        "range(0, len(k), block)",
        before="table = q @ k.T",
        scores="table[:, start : start + block]",
    ),
    "blocks of nearly equal size": Slip(
        "streaming",
        f"""
def streaming_attention(q, k, v, block):
    row_max, row_sum, output = -np.inf, 0.0, 0.0
    n_blocks = max(len(k) // block, 1)
    for keys, values in zip(np.array_split(k, n_blocks), np.array_split(v, n_blocks)):
        scores = q @ keys.T / np.sqrt(q.shape[1])
{MERGING}""",
        adds=True,
        cost={"streaming-tests": 1},
        told="with blocks of 2000,",
    ),
    "a block of its own": in_blocks("range(0, len(k), block)", before="block = 128"),
    "a block for all keys": in_blocks("range(0, len(k), block)", before="block = len(k)"),
    "one key at a time": in_blocks("range(0, len(k), block)", before="block = 1"),
    "each query with all keys": streaming(
        """    rows = []
    for query in q:
        scores = k @ query / np.sqrt(len(query))
        e = np.exp(scores - scores.max())
        rows.append(e @ v / e.sum())
    return np.array(rows)
"""
    ),
    "blocks of queries": streaming(
        """    parts = []
    for start in range(0, len(q), block):
        scores = q[start : start + block] @ k.T / np.sqrt(q.shape[1])
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        parts.append(e @ v / e.sum(axis=1, keepdims=True))
    return np.vstack(parts)
"""
    ),
    "the scores of all blocks kept": streaming(
        """    pieces = [q @ k[i : i + block].T / np.sqrt(q.shape[1]) for i in range(0, len(k), block)]
    row_max = np.max([piece.max(axis=1) for piece in pieces], axis=0)[:, None]
    total = sum(np.exp(piece - row_max).sum(axis=1) for piece in pieces)
    outputs = (np.exp(p - row_max) @ v[i * block : (i + 1) * block] for i, p in enumerate(pieces))
    return sum(outputs) / total[:, None]
"""
    ),
    "the weights of all blocks kept": streaming(
        """    weights, row_max = np.zeros((len(q), 0)), np.full((len(q), 1), -np.inf)
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        new_max = np.maximum(row_max, scores.max(axis=1, keepdims=True))
        weights = np.hstack([weights * np.exp(row_max - new_max), np.exp(scores - new_max)])
        row_max = new_max
    return weights @ v / weights.sum(axis=1, keepdims=True)
"""
    ),
}


def experiment(lines: str, told: str = "divided scores: not yet") -> Slip:
    """Return a slip of `estimated_variance` with these lines, which begin with a generator."""
    body = "".join(f"    {line}\n" for line in lines.strip().splitlines())
    answer = (
        "def estimated_variance(d_k, divisor, n, seed):\n"
        f"    rng = np.random.default_rng(seed)\n{body}"
    )
    return Slip("experiment", answer, adds=True, cost={"experiment-tests": 2}, told=told)


def pairs(q: str, k: str, told: str = "divided scores: not yet") -> Slip:
    """Return a slip that measures the variance on these queries and keys."""
    return experiment(f"q = {q}\nk = {k}\nreturn measured_variance(q / divisor, k)", told)


_NORMAL = "rng.normal(size=(n, d_k))"

EXPERIMENT = {
    "scores drawn from the theory": experiment(
        "scores = rng.normal(0, d_k**0.5, n)\nreturn (scores / divisor).var()"
    ),
    "variances drawn from the theory": experiment(
        "return d_k / divisor**2 * rng.chisquare(n - 1) / n"
    ),
    "the theory with noise": experiment(
        "return d_k / divisor**2 * (1 + rng.normal() * ((2 + 6 / d_k) / n) ** 0.5)"
    ),
    "half as many pairs": pairs("rng.normal(size=(n // 2, d_k))", "rng.normal(size=(n // 2, d_k))"),
    "twice as many pairs": pairs("rng.normal(size=(2 * n, d_k))", "rng.normal(size=(2 * n, d_k))"),
    "a number of pairs of its own": pairs(
        "rng.normal(size=(4000, d_k))", "rng.normal(size=(4000, d_k))"
    ),
    "at most a thousand pairs": experiment(
        f"n = min(n, 1000)\nq, k = {_NORMAL}, {_NORMAL}\nreturn measured_variance(q / divisor, k)",
        told="variances_of_sizes: 3000 and 4000 pairs give",
    ),
    "the next seed for the keys": pairs(
        _NORMAL,
        "np.random.default_rng(seed + 1).normal(size=(n, d_k))",
        told="estimates of neighbouring seeds are alike",
    ),
    "every query with every key": experiment(
        f"q, k = {_NORMAL}, {_NORMAL}\nreturn (q @ k.T / divisor).var()"
    ),
    "uniform entries": pairs(
        "rng.uniform(-(3**0.5), 3**0.5, size=(n, d_k))",
        "rng.uniform(-(3**0.5), 3**0.5, size=(n, d_k))",
    ),
    "entries of plus or minus one": pairs(
        "rng.choice([-1.0, 1.0], size=(n, d_k))", "rng.choice([-1.0, 1.0], size=(n, d_k))"
    ),
    "entries with heavy tails": pairs(
        "rng.laplace(scale=0.5**0.5, size=(n, d_k))", "rng.laplace(scale=0.5**0.5, size=(n, d_k))"
    ),
    "queries in reverse for keys": pairs(_NORMAL, "q[::-1]"),
    "queries moved by one for keys": pairs(_NORMAL, "np.roll(q, 1, axis=0)"),
    "queries shuffled for keys": pairs(_NORMAL, "rng.permutation(q)"),
    "one key for all queries": pairs(_NORMAL, "rng.normal(size=d_k)"),
    "the same pair n times": pairs(_NORMAL, "np.tile(rng.normal(size=d_k), (n, 1))"),
    "divided by n - 1": experiment(
        f"q, k = {_NORMAL}, {_NORMAL}\nreturn np.var((q * k).sum(axis=1) / divisor, ddof=1)"
    ),
    "the mean of the squares": experiment(
        f"q, k = {_NORMAL}, {_NORMAL}\nreturn (((q * k).sum(axis=1) / divisor) ** 2).mean()"
    ),
}

_LOSS = """
def loss_of(grad_output, q, k, v):
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return (grad_output * (weights @ v)).sum()


def difference(loss, x, step):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        h = np.zeros(x.shape)
        h[place] = {step}
        gradient[place] = {quotient}
    return gradient


def query_gradient(grad_output, q, k, v):
    return difference(lambda q: loss_of(grad_output, q, k, v), q, {size})


def key_gradient(grad_output, q, k, v):
    return difference(lambda k: loss_of(grad_output, q, k, v), k, {size})
"""
_CENTRAL = "(loss(x + h) - loss(x - h)) / (2 * h[place])"
_FORWARD = "(loss(x + h) - loss(x)) / h[place]"
_FIVE_POINTS = (
    "(8 * (loss(x + h) - loss(x - h)) - (loss(x + 2 * h) - loss(x - 2 * h))) / (12 * h[place])"
)


def differences(
    size: str,
    step: str = "step",
    quotient: str = _CENTRAL,
    told: str = "gradient at the queries: not yet",
) -> Slip:
    """Return a slip that takes both gradients by differences with steps of this size."""
    answer = _LOSS.format(size=size, step=step, quotient=quotient)
    return Slip("gradients", answer, adds=True, cost={"gradients-tests": 3}, told=told)


GRADIENTS = {
    **{
        f"differences with the step {step}": differences(step)
        for step in ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6")
    },
    "forward differences": differences("1e-6", quotient=_FORWARD),
    "differences over five points": differences("1e-2", quotient=_FIVE_POINTS),
    "a step for each entry": differences("1e-4", step="step * abs(x[place])"),
    "a step for the largest entry": differences("1e-5", step="step * abs(x).max()"),
    "a step for large entries": differences("1e-5", step="step * max(1, abs(x[place]))"),
}

_SOFTMAX = """
def plain_softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""


def jacobian(step: str, told: str = "Jacobian of one row: not yet") -> Slip:
    """Return a slip that takes the Jacobian by central differences."""
    answer = f"""{_SOFTMAX}
def softmax_jacobian(weights):
    scores, n, h = np.log(weights), weights.shape[-1], {step}
    columns = [
        (plain_softmax(scores + h * np.eye(n)[j]) - plain_softmax(scores - h * np.eye(n)[j])) / (2 * h)
        for j in range(n)
    ]
    return np.stack(columns, axis=-1)
"""
    return Slip("jacobian", answer, adds=True, cost={"jacobian-tests": 2}, told=told)


def backward(step: str, told: str = "gradient of one row: not yet") -> Slip:
    """Return a slip that passes a gradient back by central differences."""
    answer = f"""{_SOFTMAX}
def softmax_backward(weights, grad_weights):
    scores, n, h = np.log(weights), weights.shape[-1], {step}
    slopes = [
        (plain_softmax(scores + h * np.eye(n)[j]) - plain_softmax(scores - h * np.eye(n)[j])) / (2 * h)
        for j in range(n)
    ]
    return np.stack([(slope * grad_weights).sum(axis=-1) for slope in slopes], axis=-1)
"""
    return Slip("backward", answer, adds=True, cost={"backward-tests": 2}, told=told)


SATURATION = {
    **{f"a Jacobian by steps of {step}": jacobian(step) for step in ("1e-2", "1e-4", "1e-6")},
    **{f"a gradient by steps of {step}": backward(step) for step in ("1e-2", "1e-4", "1e-6")},
}

SLIPS = {
    "complexity": STREAMING,
    "variance-growth": EXPERIMENT,
    "putting-it-together": GRADIENTS,
    "softmax-saturation": SATURATION,
}
