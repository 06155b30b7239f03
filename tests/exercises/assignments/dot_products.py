"""The proof of the assignment `dot-products`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from attn_lib.course.personal.dot_products import two_keys
from attn_lib.course.targets import TARGETS, output_shape, weights_shape
from grader.releasing.answer_files import read_answers
from tests.attn_lib.course.personal.left_out import BY_TWO_KEYS
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

ANSWERS = Path(__file__).resolve().parents[2] / "sample_class" / "answers"

RIGHT = {
    style: read_answers(ANSWERS / f"full-marks-{style}.py")
    for style in ("loops", "einsum", "float32")
}
RIGHT |= {
    "keys first": {
        "score-matrix": "score_matrix = lambda q, k: (k @ q.swapaxes(-1, -2)).swapaxes(-1, -2)"
    },
    "lists": {
        "score-matrix": "def score_matrix(q, k):\n    if q.ndim == 2:\n        return np.inner(q, k).tolist()\n    return [score_matrix(a, b) for a, b in zip(q, k)]\n\n"
    },
    "Fortran order": {
        "score-matrix": "def score_matrix(q, k):\n    products = q[..., :, None, :] * k[..., None, :, :]\n    return np.asfortranarray(products.sum(-1))"
    },
    "log of the sum": {
        "softmax": "def softmax(scores):\n    scores = scores.copy()\n    scores -= scores.max(-1, keepdims=True)\n    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])"
    },
    "warnings": {
        "softmax": "import warnings\n\ndef softmax(scores):\n    warnings.warn('a warning is not a failure')\n    print('shape', scores.shape)\n    e = np.exp(scores - np.nanmax(scores, axis=-1, keepdims=True))\n    return e / e.sum(-1)[..., np.newaxis]"
    },
    "a class": {
        "attention": "class Attention:\n    def __call__(self, q, k, v):\n        s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5\n        w = np.exp(s - s.max(-1)[..., None])\n        return w @ v / w.sum(-1, keepdims=True)\n\nattention = Attention()"
    },
    "other argument names": {
        "attention": "def attention(queries, keys, values, scale=None):\n    scale = scale or len(np.moveaxis(queries, -1, 0)) ** -0.5\n    return softmax(score_matrix(queries * scale, keys)) @ values"
    },
}

SLIPS = {
    "k.T": Slip(
        "score-matrix",
        "def score_matrix(q, k):\n    return q @ k.T",
        cost={"score-matrix-tests": 1, "attention-tests": 1},
        told="it raised ValueError: matmul",
    ),
    "transpose of q": Slip(
        "score-matrix",
        "def score_matrix(q, k):\n    return q.swapaxes(-1, -2) @ k",
        cost={"score-matrix-tests": 2, "attention-tests": 4},
        told="it raised ValueError: matmul",
    ),
    "no transpose": Slip(
        "score-matrix",
        "def score_matrix(q, k):\n    return q @ k",
        cost={"score-matrix-tests": 2, "attention-tests": 4},
        told="it raised ValueError: matmul",
    ),
    "no return": Slip(
        "score-matrix",
        "def score_matrix(q, k):\n    q @ k.swapaxes(-1, -2)",
        cost={"score-matrix-tests": 2, "attention-tests": 4},
        told="got None. Is there a `return`",
    ),
    "arguments left out": Slip(
        "score-matrix",
        "def score_matrix():\n    return 0",
        cost={"score-matrix-tests": 2, "attention-tests": 4},
        told="it raised TypeError: score_matrix() takes 0 positional arguments but 2 were given",
    ),
    "a value in place of a function": Slip(
        "score-matrix",
        "score_matrix = np.eye(3)",
        cost={"score-matrix-tests": 2, "attention-tests": 4},
        told="score_matrix: expected a function, got ndarray.",
    ),
    "keepdims missing in the sum": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1)",
        cost={"softmax-tests": 3, "attention-tests": 3},
        told="operands could not be broadcast together",
    ),
    "keepdims missing in the maximum": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores - scores.max(-1))\n    return e / e.sum(-1, keepdims=True)",
        cost={"softmax-tests": 3, "attention-tests": 3},
        told="operands could not be broadcast together",
    ),
    "first axis": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores - scores.max(axis=0))\n    return e / e.sum(axis=0)",
        cost={"softmax-tests": 3, "attention-tests": 4},
        told="softmax-over-queries",
    ),
    "second axis": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores - scores.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)",
        cost={"softmax-tests": 2, "attention-tests": 1},
        told="axis 1 is out of bounds",
    ),
    "argument changed": Slip(
        "softmax",
        "def softmax(scores):\n    scores -= scores.max(-1, keepdims=True)\n    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)",
        cost={"softmax-tests": 3},
        told="it changed its argument number 1.",
    ),
    "maximum added": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores + scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
        cost={"softmax-tests": 1, "attention-tests": 1},
        told="softmax on shape (2, 2): expected finite numbers, got nan",
    ),
    "powers of two": Slip(
        "softmax",
        "def softmax(scores):\n    e = 2 ** (scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
        cost={"softmax-tests": 3, "attention-tests": 4},
        told="entries differ",
    ),
    "logarithm of the softmax": Slip(
        "softmax",
        "def softmax(scores):\n    s = scores - scores.max(-1, keepdims=True)\n    return s - np.log(np.exp(s).sum(-1, keepdims=True))",
        cost={"softmax-tests": 3, "attention-tests": 4},
        told="entries differ",
    ),
    "rounded": Slip(
        "softmax",
        "def softmax(scores):\n    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return (e / e.sum(-1, keepdims=True)).round(2)",
        cost={"softmax-tests": 3, "attention-tests": 4},
        told="entries differ",
    ),
    "scale from the number of queries": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-2])) @ v",
        cost={"attention-tests": 4},
        told="entries differ",
    ),
    "scale from the values": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(v.shape[-1])) @ v",
        cost={"attention-tests": 4},
        told="entries differ",
    ),
    "scale of the example": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(2)) @ v",
        cost={"attention-tests": 4},
        told="entries differ",
    ),
    "the weights returned": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1]))",
        cost={"attention-tests": 4},
        told="expected shape (3, 2), got (3, 5).",
    ),
    "keys and values swapped": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, v) / np.sqrt(q.shape[-1])) @ k",
        cost={"attention-tests": 4},
        told="it raised ValueError",
    ),
    "keys for values": Slip(
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1])) @ k",
        cost={"attention-tests": 4},
        told="expected shape (3, 2), got (3, 4).",
    ),
    "the first sequence only": Slip(
        "attention",
        "def attention(q, k, v):\n    while q.ndim > 2:\n        q, k, v = q[0], k[0], v[0]\n    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1])) @ v",
        cost={"attention-tests": 1},
        told="expected shape (2, 3, 6), got (3, 6).",
    ),
    "output_shape = (B, H, n_q)": Slip(
        "shapes",
        "output_shape = (B, H, n_q)",
        adds=True,
        cost={"shapes-tests": 1},
        told="expected 4 numbers, got 3.",
    ),
    "output_shape = B * H * n_q * d_v": Slip(
        "shapes",
        "output_shape = B * H * n_q * d_v",
        adds=True,
        cost={"shapes-tests": 1},
        told="expected shape (4,), got () (a",
    ),
    "weights_shape = 'B, H, n_q, n_k'": Slip(
        "shapes",
        "weights_shape = 'B, H, n_q, n_k'",
        adds=True,
        cost={"shapes-tests": 1},
        told="expected 4 numbers, got the text 'B, H, n_q, n_k'.",
    ),
    "favourites = W.argmax(axis=0)": Slip(
        "reading",
        "favourites = W.argmax(axis=0)",
        adds=True,
        cost={"reading-tests": 1},
        told="expected 3 numbers, got 4.",
    ),
    "favourites = [f + 1 for f in favourites]": Slip(
        "reading",
        "favourites = [f + 1 for f in favourites]",
        adds=True,
        cost={"reading-tests": 1},
        told="(3 of 3 entries differ)",
    ),
    "rest = W[1].max()": Slip(
        "reading", "rest = W[1].max()", adds=True, cost={"reading-tests": 1}, told="rest: expected"
    ),
    "rest = 100 * rest": Slip(
        "reading",
        "rest = 100 * rest",
        adds=True,
        cost={"reading-tests": 1},
        told="a share of a row lies between 0 and 1.",
    ),
    "meaning = D = 4": Slip(
        "reading",
        "meaning = D = 4",
        adds=True,
        cost={"reading-tests": 1},
        told="expected one of the letters",
    ),
    'meaning = "A"': Slip(
        "reading",
        'meaning = "A"',
        adds=True,
        cost={"reading-tests": 1},
        told='"A" is not right. The query at i has d_k numbers',
    ),
    'meaning = "B"': Slip(
        "reading",
        'meaning = "B"',
        adds=True,
        cost={"reading-tests": 1},
        told='"B" is not right. Key i shows in column i',
    ),
    'meaning = "C"': Slip(
        "reading",
        'meaning = "C"',
        adds=True,
        cost={"reading-tests": 1},
        told='"C" is not right. The values come in after',
    ),
    "weights = [0.4, 0.4]": Slip(
        "by-hand",
        "weights = [0.4, 0.4]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="the two have to sum to 1.",
    ),
    "weights = [weights]": Slip(
        "by-hand",
        "weights = [weights]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="expected shape (2,), got (1, 2).",
    ),
    "output = output[0]": Slip(
        "by-hand",
        "output = output[0]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="expected shape (2,), got () (a single number).",
    ),
    "del raw_scores": Slip(
        "by-hand",
        "del raw_scores",
        adds=True,
        cost={"by-hand-tests": 1},
        told="raw_scores: not there yet.",
    ),
    "an error in the cell": Slip(
        "softmax",
        "def softmax(scores:\n    return scores",
        cost={"softmax-tests": 3, "attention-tests": 4},
        told="softmax: not there yet. Fill in its cell above and run it.",
    ),
    "columns for keys, and on from there": Slip(
        "by-hand",
        "raw_scores = query @ keys\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: it follows from your own weights, so it counts.",
    ),
    "a sign lost, and on from there": Slip(
        "by-hand",
        "raw_scores = -np.array(raw_scores)\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 1},
        told="weights: it follows from your own scaled_scores, so it counts.",
    ),
    "one product wrong, and on from there": Slip(
        "by-hand",
        "raw_scores = raw_scores + np.array([0, 3])\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 1},
        told="scaled_scores: it follows from your own raw_scores, so it counts.",
    ),
    "not scaled, and on from there": Slip(
        "by-hand",
        "raw_scores = np.array(raw_scores)\nscaled_scores = raw_scores\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 1},
        told="weights: it follows from your own scaled_scores, so it counts.",
    ),
    "typed to three decimals, and on from there": Slip(
        "by-hand",
        "raw_scores = query @ keys\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values\nscaled_scores = scaled_scores.round(3)\nweights = weights.round(3)",
        adds=True,
        cost={"by-hand-tests": 1},
        told="output: it follows from your own weights, so it counts.",
    ),
    "zeros, and on from there": Slip(
        "by-hand",
        "raw_scores = np.zeros(2)\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 4},
        told="It follows from your own raw_scores: put that right first.",
    ),
    "numbers of the example, and on from there": Slip(
        "by-hand",
        "raw_scores = np.array([5, 2])\nscaled_scores = raw_scores / 2**0.5\nweights = softmax(scaled_scores)\noutput = weights @ values",
        adds=True,
        cost={"by-hand-tests": 4},
        told="It follows from your own weights: put that right first.",
    ),
    "far too large, and not on from there": Slip(
        "by-hand",
        "raw_scores = 1000 * np.array(raw_scores)\nscaled_scores = np.array(raw_scores) / 2\nweights = [0.6, 0.4]\noutput = [1, 2]",
        adds=True,
        cost={"by-hand-tests": 4},
        told="scaled_scores: entry [0]: expected",
    ),
    "no number, and right from there": Slip(
        "by-hand",
        "raw_scores = [np.nan, raw_scores[1]]",
        adds=True,
        cost={"by-hand-tests": 1},
        told="raw_scores: expected finite numbers, got nan at [0]",
    ),
    "the rest beside a wrong favourite": Slip(
        "reading",
        "favourites[1] = int(W[1].argsort()[-2])\nrest = 1 - W[1, favourites[1]]",
        adds=True,
        cost={"reading-tests": 1},
        told="rest: it follows from your own favourites, so it counts.",
    ),
}


def by_hand_example():
    q, k = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0]])
    v = np.array([[10.0, 0.0], [0.0, 8.0]])
    return {
        "raw_scores": TARGETS["score_matrix"](q, k)[0].tolist(),
        "scaled_scores": TARGETS["scaled_scores"](q, k)[0].round(3).tolist(),
        "weights": TARGETS["attention"](q, k, np.eye(2))[0].round(3).tolist(),
        "output": TARGETS["attention"](q, k, v)[0].round(3).tolist(),
    }


def shapes_example():
    shapes = [(4, 8, 100, 64)] * 3
    return {
        "weights_shape": tuple(weights_shape(*shapes)),
        "output_shape": tuple(output_shape(*shapes)),
    }


def numbers_in_words():
    q, k, v = two_keys("ada")
    weights = TARGETS["attention"](q[None], k, np.eye(2))[0]
    output = TARGETS["attention"](q[None], k, v)[0]
    return [f"{number:.3f}" for number in (weights.max(), *output, weights.min())]


PROOF = Proof(
    assignment="dot-products",
    tasks=7,
    points=20,
    right=RIGHT,
    slips=SLIPS | slips_of("dot-products"),
    value_examples={"by-hand-question": by_hand_example, "shapes-question": shapes_example},
    model_numbers={"in-words": numbers_in_words},
    builds_on={"attention-tests": ("score-matrix", "softmax")},
    unseen={f"by-hand-tests/{mistake}": reason for mistake, reason in BY_TWO_KEYS.items()},
)
