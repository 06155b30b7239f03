"""The proof of the assignment `softmax-saturation`."""

from __future__ import annotations

import math

import numpy as np

from attn_lib.course.personal.softmax_saturation import random_scores
from attn_lib.course.targets import mean_largest_weight, two_key_weight
from attn_lib.softmax import softmax, softmax_jacobian, softmax_jacobian_norm
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

RIGHT = {
    "loops": {
        "tempered": """
def tempered_softmax(scores, temperature):
    if scores.ndim > 1:
        return np.array([tempered_softmax(row, temperature) for row in scores])
    largest = max(scores)
    powers = [np.exp((score - largest) / temperature) for score in scores]
    return np.array([power / sum(powers) for power in powers])
""",
        "logarithm": """
def log_softmax(scores):
    result = np.empty(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        row = scores[place]
        total = sum(np.exp(score - max(row)) for score in row)
        for j, score in enumerate(row):
            result[place + (j,)] = score - max(row) - np.log(total)
    return result
""",
        "jacobian": """
def softmax_jacobian(weights):
    if weights.ndim > 1:
        return np.array([softmax_jacobian(row) for row in weights])
    n = len(weights)
    return np.array(
        [[weights[i] * ((i == j) - weights[j]) for j in range(n)] for i in range(n)]
    )
""",
        "backward": """
def softmax_backward(weights, grad_weights):
    if weights.ndim > 1:
        return np.array([softmax_backward(w, g) for w, g in zip(weights, grad_weights)])
    mean = sum(w * g for w, g in zip(weights, grad_weights))
    return np.array([w * (g - mean) for w, g in zip(weights, grad_weights)])
""",
        "sharp": """
def mean_largest_weight(scores):
    total = 0.0
    for row in scores:
        total += max(tempered_softmax(row, 1.0))
    return total / len(scores)

raw, scaled = mean_largest_weight(S), mean_largest_weight(S / width**0.5)
one_hot_rows = 0
for row in S:
    if max(tempered_softmax(row, 1.0)) > 0.99:
        one_hot_rows += 1
""",
    },
    "einsum": {
        "tempered": """
def tempered_softmax(scores, temperature):
    e = np.exp((scores - scores.max(-1)[..., None]) / temperature)
    return np.einsum("...k,...->...k", e, 1 / np.einsum("...k->...", e))
""",
        "logarithm": """
def log_softmax(scores):
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.einsum("...k->...", np.exp(shifted)))[..., None]
""",
        "jacobian": """
def softmax_jacobian(weights):
    diagonal = np.einsum("...i,ij->...ij", weights, np.eye(weights.shape[-1]))
    return diagonal - np.einsum("...i,...j->...ij", weights, weights)
""",
        "backward": """
def softmax_backward(weights, grad_weights):
    jacobian = softmax_jacobian(weights)
    return np.einsum("...ij,...j->...i", jacobian, grad_weights)
""",
        "sharp": """
def mean_largest_weight(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.mean(1 / np.einsum("qk->q", e))

raw = mean_largest_weight(S).round(2)
scaled = mean_largest_weight(S * width**-0.5).round(2)
one_hot_rows = len([row for row in S if mean_largest_weight(row[None]) > 0.99])
""",
    },
    "float32": {
        "tempered": """
def tempered_softmax(scores, temperature):
    s = (scores / temperature).astype(np.float32)
    s = s - s.max(axis=-1, keepdims=True)
    e = np.exp(s)
    return e / e.sum(axis=-1, keepdims=True)
""",
        "logarithm": """
def log_softmax(scores):
    s = (scores - scores.max(axis=-1, keepdims=True)).astype(np.float32)
    return s - np.log(np.exp(s).sum(axis=-1, keepdims=True))
""",
        "jacobian": """
def softmax_jacobian(weights):
    w = weights.astype(np.float32)
    return np.eye(w.shape[-1], dtype=np.float32) * w[..., None] - w[..., None] * w[..., None, :]
""",
        "backward": """
def softmax_backward(weights, grad_weights):
    w, g = weights.astype(np.float32), grad_weights.astype(np.float32)
    return w * g - w * (w[..., None, :] @ g[..., :, None])[..., 0]
""",
        "sharp": """
def mean_largest_weight(scores):
    return np.amax(tempered_softmax(scores, np.float32(1)), axis=1).mean(dtype=np.float32)

raw = mean_largest_weight(S)
scaled = mean_largest_weight((S / np.sqrt(width)).astype(np.float32))
one_hot_rows = np.count_nonzero(tempered_softmax(S, 1).max(axis=1) > 0.99)
""",
    },
    "keyword arguments": {
        "tempered": """
def tempered_softmax(scores, temperature=1.0, *, axis=-1):
    logits = np.divide(scores, temperature)
    logits = logits - np.logaddexp.reduce(logits, axis=axis, keepdims=True)
    return np.exp(logits)
""",
        "logarithm": """
def log_softmax(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True)
""",
        "jacobian": """
def softmax_jacobian(weights):
    J = -weights[..., np.newaxis] @ weights[..., np.newaxis, :]
    i = np.arange(weights.shape[-1])
    J[..., i, i] += weights
    return J
""",
        "backward": """
def softmax_backward(weights, grad_weights):
    weighted = weights * grad_weights
    return weighted - weights * weighted.sum(axis=-1, keepdims=True)
""",
        "sharp": """
def mean_largest_weight(scores, temperature=1):
    weights = tempered_softmax(scores=scores, temperature=temperature)
    return np.sort(weights, axis=-1)[:, -1].mean()

raw = mean_largest_weight(S)
scaled = mean_largest_weight(S, temperature=np.sqrt(width))
one_hot_rows = int(np.sum(np.max(tempered_softmax(S, 1), axis=1) > 0.99))
""",
    },
    "typed in": {
        "gaps": """
weight = 0.931
tempered_weight = 0.786
needed_gap = 1.10
""",
        "alive": """
row_of_picture = (2, 0, 3, 1)
responses = -0.005, -0.064, -0.004, 0.083, -0.011
norms = [0.303, 0.005, 0.400, 0.468]
""",
        "sharp": """
def mean_largest_weight(scores):
    return (1 / np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1)).mean()

raw = 0.85
scaled = 0.37
one_hot_rows = 19
""",
    },
}

SLIPS = {
    "overall maximum": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp((scores - scores.max()) / temperature)
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"tempered-tests": 1, "sharp-tests": 1},
        told="softmax-shifted-by-overall-maximum",
    ),
    "keepdims missing": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp((scores - scores.max(axis=-1)) / temperature)
    return e / e.sum(axis=-1)
""",
        cost={"tempered-tests": 3, "sharp-tests": 2},
        told="operands could not be broadcast together",
    ),
    "second axis": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return e / e.sum(axis=1, keepdims=True)
""",
        cost={"tempered-tests": 2},
        told="axis 1 is out of bounds",
    ),
    "the largest subtracted at another temperature": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp(scores / temperature - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"tempered-tests": 1},
        told="large scores: not yet",
    ),
    "argument changed": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    scores /= temperature
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
        cost={"tempered-tests": 3, "sharp-tests": 1},
        told="it changed its argument number 1.",
    ),
    "rounded": Slip(
        "tempered",
        """
def tempered_softmax(scores, temperature):
    e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
    return (e / e.sum(axis=-1, keepdims=True)).round(2)
""",
        cost={"tempered-tests": 3, "sharp-tests": 2},
        told="entries differ",
    ),
    "temperature multiplied by hand": Slip(
        "gaps",
        "tempered_weight = 1 / (1 + np.exp(-gap * temperature))",
        adds=True,
        cost={"gaps-tests": 1},
        told="tempered_weight: expected 0.785",
    ),
    "weight divided": Slip(
        "gaps",
        "tempered_weight = weight / temperature",
        adds=True,
        cost={"gaps-tests": 1},
        told="tempered_weight: expected 0.785",
    ),
    "both weights": Slip(
        "gaps",
        "weight = [1 - weight, weight]",
        adds=True,
        cost={"gaps-tests": 1},
        told="weight: expected shape () (a single number), got (2,).",
    ),
    "percent": Slip(
        "gaps",
        "weight = 100 * weight",
        adds=True,
        cost={"gaps-tests": 1},
        told="weight: a weight lies between 0 and 1.",
    ),
    "the gap at the temperature": Slip(
        "gaps",
        "needed_gap = temperature * needed_gap",
        adds=True,
        cost={"gaps-tests": 1},
        told="needed_gap: expected 1.09",
    ),
    "logarithm of the goal": Slip(
        "gaps",
        "needed_gap = np.log(goal)",
        adds=True,
        cost={"gaps-tests": 1},
        told="needed_gap: expected 1.09",
    ),
    "the other way round": Slip(
        "gaps",
        "needed_gap = np.log((1 - goal) / goal)",
        adds=True,
        cost={"gaps-tests": 1},
        told="needed_gap: expected 1.09",
    ),
    "base 10": Slip(
        "gaps",
        "needed_gap = np.log10(goal / (1 - goal))",
        adds=True,
        cost={"gaps-tests": 1},
        told="needed_gap: expected 1.09",
    ),
    "the bugs left in": Slip(
        "logarithm",
        "log_softmax = faulty_log_softmax",
        cost={"logarithm-tests": 2},
        told="expected finite numbers, got -inf at [0]",
    ),
    "one bug mended": Slip(
        "logarithm",
        """
def log_softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))
""",
        cost={"logarithm-tests": 1},
        told="logarithm-of-a-lost-weight",
    ),
    "the other bug mended": Slip(
        "logarithm",
        """
def log_softmax(scores):
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
""",
        cost={"logarithm-tests": 1},
        told="log-sum-exp-that-overflows",
    ),
    "a small number added": Slip(
        "logarithm",
        """
def log_softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True) + 1e-12)
""",
        cost={"logarithm-tests": 1},
        told="expected -2000, got -27.631",
    ),
    "overall maximum in the logarithm": Slip(
        "logarithm",
        """
def log_softmax(scores):
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
""",
        cost={"logarithm-tests": 1},
        told="large scores: not yet",
    ),
    "sign turned round": Slip(
        "logarithm",
        """
def log_softmax(scores):
    largest = scores.max(axis=-1, keepdims=True)
    return largest + np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True)) - scores
""",
        cost={"logarithm-tests": 3},
        told="This is the right result with the opposite sign.",
    ),
    "base 2": Slip(
        "logarithm",
        """
def log_softmax(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=-1, keepdims=True))
""",
        cost={"logarithm-tests": 3},
        told="logarithm-to-base-two",
    ),
    "without keepdims": Slip(
        "logarithm",
        """
def log_softmax(scores):
    shifted = scores - scores.max(axis=-1)
    return shifted - np.log(np.exp(shifted).sum(axis=-1))
""",
        cost={"logarithm-tests": 3},
        told="operands could not be broadcast together",
    ),
    "np.diag and np.outer": Slip(
        "jacobian",
        "def softmax_jacobian(weights):\n    return np.diag(weights) - np.outer(weights, weights)",
        cost={"jacobian-tests": 1, "alive-tests": 3},
        told="Jacobian of one row: ok Jacobians of many rows: not yet",
    ),
    "the transpose of all axes": Slip(
        "jacobian",
        """
def softmax_jacobian(weights):
    w = weights[..., None]
    return w * (np.eye(weights.shape[-1]) - w.T)
""",
        cost={"jacobian-tests": 1, "alive-tests": 3},
        told="Jacobian of one row: ok Jacobians of many rows: not yet",
    ),
    "number of rows for number of keys": Slip(
        "jacobian",
        """
def softmax_jacobian(weights):
    return weights[..., None] * (np.eye(len(weights)) - weights[..., None, :])
""",
        cost={"jacobian-tests": 1, "alive-tests": 3},
        told="operands could not be broadcast together",
    ),
    "ones for the unit matrix": Slip(
        "jacobian",
        """
def softmax_jacobian(weights):
    n = weights.shape[-1]
    return weights[..., None] * (np.ones((n, n)) - weights[..., None, :])
""",
        cost={"jacobian-tests": 2, "alive-tests": 3},
        told="entries differ",
    ),
    "counted from 1": Slip(
        "alive",
        "row_of_picture = [row + 1 for row in row_of_picture]",
        adds=True,
        cost={"alive-tests": 1},
        told="row_of_picture: each row occurs once.",
    ),
    "the inverse order": Slip(
        "alive",
        "row_of_picture = np.argsort(row_of_picture)",
        adds=True,
        cost={"alive-tests": 1},
        told="row_of_picture: entry [0]: expected 2, got 1 (4 of 4 entries differ).",
    ),
    "one response": Slip(
        "alive",
        "responses = responses[key]",
        adds=True,
        cost={"alive-tests": 1},
        told="responses: expected shape (5,), got () (a",
    ),
    "responses of another row": Slip(
        "alive",
        "responses = J[row - 1, :, key]",
        adds=True,
        cost={"alive-tests": 1},
        told="responses: entry [0]: expected -0.004968",
    ),
    "responses to another key": Slip(
        "alive",
        "responses = J[row, :, key - 1]",
        adds=True,
        cost={"alive-tests": 1},
        told="responses: entry [0]",
    ),
    "weights in place of responses": Slip(
        "alive",
        "responses = W[row]",
        adds=True,
        cost={"alive-tests": 1},
        told="responses: entry [0]",
    ),
    "norms of the weights": Slip(
        "alive",
        "norms = np.linalg.norm(W, axis=1)",
        adds=True,
        cost={"alive-tests": 1},
        told="norms: entry [0]: expected 0.302855, got 0.718526",
    ),
    "one norm of all": Slip(
        "alive",
        "norms = np.linalg.norm(J)",
        adds=True,
        cost={"alive-tests": 1},
        told="norms: expected shape (4,), got () (a single number).",
    ),
    "norms of the pictures": Slip(
        "alive",
        "norms = np.sqrt((pictures**2).sum(axis=(1, 2)))",
        adds=True,
        cost={"alive-tests": 1},
        told="norms: entry [0]: expected 0.302",
    ),
    "sums of absolute values": Slip(
        "alive",
        "norms = np.abs(J).sum(axis=(1, 2))",
        adds=True,
        cost={"alive-tests": 1},
        told="norms: entry [0]: expected 0.302",
    ),
    "without keepdims in the sum": Slip(
        "backward",
        """
def softmax_backward(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-1))
""",
        cost={"backward-tests": 1},
        told="gradient of one row: ok gradients of many rows: not yet",
    ),
    "sum of everything": Slip(
        "backward",
        """
def softmax_backward(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum())
""",
        cost={"backward-tests": 1},
        told="gradients of many rows: not yet",
    ),
    "added": Slip(
        "backward",
        """
def softmax_backward(weights, grad_weights):
    return weights * (grad_weights + (weights * grad_weights).sum(axis=-1, keepdims=True))
""",
        cost={"backward-tests": 2},
        told="entries differ",
    ),
    "gradient for weight in front": Slip(
        "backward",
        """
def softmax_backward(weights, grad_weights):
    mean = (weights * grad_weights).sum(axis=-1, keepdims=True)
    return grad_weights * (weights - mean)
""",
        cost={"backward-tests": 2},
        told="entries differ",
    ),
    "a matrix product for many rows": Slip(
        "backward",
        """
def softmax_backward(weights, grad_weights):
    return softmax_jacobian(weights) @ grad_weights
""",
        cost={"backward-tests": 1},
        told="gradients of many rows: not yet",
    ),
    "no mean": Slip(
        "sharp",
        """
def mean_largest_weight(scores):
    return tempered_softmax(scores, 1).max(axis=-1)

raw, scaled = (mean_largest_weight(s).mean() for s in (S, S / width**0.5))
one_hot_rows = (mean_largest_weight(S) > 0.99).sum()
""",
        cost={"sharp-tests": 1},
        told="expected shape () (a single number), got (2,).",
    ),
    "the median": Slip(
        "sharp",
        """
def mean_largest_weight(scores):
    return np.median(tempered_softmax(scores, 1).max(axis=-1))

raw, scaled = (tempered_softmax(s, 1).max(axis=-1).mean() for s in (S, S / width**0.5))
one_hot_rows = (tempered_softmax(S, 1).max(axis=-1) > 0.99).sum()
""",
        cost={"sharp-tests": 1},
        told="mean_largest_weight on shape (7, 4): expected",
    ),
    "the largest score": Slip(
        "sharp",
        """
def mean_largest_weight(scores):
    return scores.max(axis=-1).mean()

raw = scaled = mean_largest_weight(S)
one_hot_rows = 50
""",
        cost={"sharp-tests": 2},
        told="raw: a mean of weights lies between 0 and 1.",
    ),
    "divided by the width": Slip(
        "sharp",
        "scaled = mean_largest_weight(S / width)",
        adds=True,
        cost={"sharp-tests": 1},
        told="scaled: expected 0.374",
    ),
    "the weights divided": Slip(
        "sharp",
        "scaled = raw / np.sqrt(width)",
        adds=True,
        cost={"sharp-tests": 1},
        told="scaled: expected 0.374",
    ),
    "rows of scaled scores": Slip(
        "sharp",
        "one_hot_rows = (tempered_softmax(S, width**0.5).max(axis=-1) > 0.99).sum()",
        adds=True,
        cost={"sharp-tests": 1},
        told="one_hot_rows: expected 19, got 0.",
    ),
    "one row too many": Slip(
        "sharp",
        "one_hot_rows = one_hot_rows + 1",
        adds=True,
        cost={"sharp-tests": 1},
        told="Likely cause: one row too many.",
    ),
    "a share for a number of rows": Slip(
        "sharp",
        "one_hot_rows = one_hot_rows / 50",
        adds=True,
        cost={"sharp-tests": 1},
        told="one_hot_rows: expected 19, got 0.38.",
    ),
    "all weights counted": Slip(
        "sharp",
        "one_hot_rows = (tempered_softmax(S, 1) < 0.99).sum()",
        adds=True,
        cost={"sharp-tests": 1},
        told="one_hot_rows: expected 19, got",
    ),
}


def gaps_example():
    return {
        "weight": round(two_key_weight(4.0), 3),
        "tempered_weight": round(two_key_weight(4.0 / 2), 3),
        "needed_gap": round(math.log(0.9 / (1 - 0.9)), 2),
    }


def alive_example():
    weights = np.array([[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    return {
        "responses": softmax_jacobian(weights)[0, :, 0].tolist(),
        "norms": softmax_jacobian_norm(weights).round(3).tolist(),
    }


def numbers_in_words():
    d_k, scores = random_scores("ada")
    assert d_k == 64
    assert len(scores) == 50
    assert (softmax(scores).max(axis=-1) > 0.99).sum() == 19
    means = mean_largest_weight(scores), mean_largest_weight(scores / np.sqrt(d_k))
    return ["0.99", *(f"{mean:.2f}" for mean in means)]


PROOF = Proof(
    assignment="softmax-saturation",
    tasks=8,
    points=20,
    right=RIGHT,
    slips=SLIPS | slips_of("softmax-saturation"),
    value_examples={"gaps-question": gaps_example, "alive-question": alive_example},
    model_numbers={"in-words": numbers_in_words},
    builds_on={
        "alive-tests": ("jacobian",),
        "backward-tests": ("jacobian",),
        "sharp-tests": ("tempered",),
    },
)
