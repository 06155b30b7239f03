"""The proof of the assignment `from-text-to-next-word`."""

from __future__ import annotations

import numpy as np

from attn_lib.course.targets import TARGETS
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

#: It stands in the answer cell, and learners leave it as it is.
CALLS_OF_WRITE = """

def calls_of_write(ids, n_words):
    given.calls.clear()
    write(ids, n_words)
    return [*given.calls]
"""

LOOPS = {
    "embed": """
def embed(ids, embedding, positions, n_past):
    if ids.ndim > 1:
        return np.array([embed(text, embedding, positions, n_past) for text in ids])
    return np.array([embedding[word] + positions[n_past + i] for i, word in enumerate(ids)])
""",
    "norm": """
def layer_norm(x, gain, bias):
    if x.ndim > 1:
        return np.array([layer_norm(one, gain, bias) for one in x])
    d = len(x)
    mean = sum(x) / d
    variance = sum((entry - mean) ** 2 for entry in x) / d
    return [g * (e - mean) / (variance + 1e-5) ** 0.5 + b for e, g, b in zip(x, gain, bias)]
""",
    "block": """
def block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    d_k, d_v = w_q.shape[1] // n_heads, w_v.shape[1] // n_heads
    normed, stream = np.asarray(layer_norm(x, gain, bias)), x
    for h in range(n_heads):
        for_k, for_v = slice(h * d_k, h * d_k + d_k), slice(h * d_v, h * d_v + d_v)
        q, k, v = normed @ w_q[:, for_k], normed @ w_k[:, for_k], normed @ w_v[:, for_v]
        stream = stream + attention(q, k, v) @ w_o[for_v]
    return stream
""",
    "rotary": """
def rotate(x, positions):
    if x.ndim > 2:
        return np.array([rotate(one, positions) for one in x])
    turned = []
    for row, p in zip(x, positions):
        entries = []
        for i in range(len(row) // 2):
            angle = p / 10000 ** (2 * i / len(row))
            a, b = row[2 * i], row[2 * i + 1]
            entries += [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
        turned.append(entries)
    return turned
""",
    "note": """
output = [note.output[old] for old in note.order]
row, column = note.order[note.row], note.order[note.column]
weight = float(note.weights[row][column])
for letter in far_apart.pairs:
    if far_apart.pairs[letter][0] - far_apart.pairs[letter][1] == far_apart.query - far_apart.key:
        same = letter.lower()
""",
    "induction": """
def induction_head(weights, ids):
    ids, best = list(ids), (-1, None)
    for layer in range(len(weights)):
        for head in range(len(weights[layer])):
            found = [
                weights[layer][head][i][ids.index(word) + 1]
                for i, word in enumerate(ids)
                if word in ids[:i]
            ]
            best = max(best, (min(found), [layer, head]))
    return best[1]
""",
    "leaving": """
def without_head(w_o, n_heads, head):
    width = w_o.shape[0] // n_heads
    return [[0.0 * n if i // width == head else n for n in row] for i, row in enumerate(w_o)]


asked = texts.orders.split().index(texts.orders.split()[-1])
previous = max("ABCD", key=lambda letter: min(orders["ABCD".index(letter), (1, 3, 5), (0, 2, 4)]))
induction = max("ABCD", key=lambda letter: orders["ABCD".index(letter), -1, asked + 1])
subject = max("ABCD", key=lambda letter: sentence["ABCD".index(letter), -1, 1])
breaks = {previous: "A", induction: "A", subject: "B"}[texts.left_out]
lead = 0
for name, (first, second) in zip(["e", "p", *"ABCD", "b"], parts):
    lead += 0 if name == induction else round(first - second, 2)
""",
    "cache": """
def write(ids, n_words):
    logits, cache = read(ids, 0)
    text = [*ids, np.argmax(logits[-1])]
    while len(text) < len(ids) + n_words:
        logits, cache = read([text[-1]], len(text) - 1, cache)
        text.append(np.argmax(logits[0]))
    return np.array(text)
"""
    + CALLS_OF_WRITE,
}

EINSUM = {
    "embed": """
def embed(ids, embedding, positions, n_past):
    one_hot = np.eye(len(embedding))[ids]
    places = np.arange(n_past, n_past + ids.shape[-1])
    return np.einsum("...w,wd->...d", one_hot, embedding) + np.take(positions, places, axis=0)
""",
    "norm": """
def layer_norm(x, gain, bias):
    d = x.shape[-1]
    centred = np.einsum("...d,de->...e", x, np.eye(d) - 1 / d)
    squares = np.einsum("...d,...d->...", centred, centred)[..., None]
    return bias + np.einsum("...d,d->...d", centred, gain) / np.sqrt(1e-5 + squares / d)
""",
    "block": """
def block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    normed = layer_norm(x, gain, bias)
    q, k, v = (
        np.einsum("...nm,mhd->...hnd", normed, w.reshape(len(w), n_heads, -1))
        for w in (w_q, w_k, w_v)
    )
    heads = attention(q, k, v)
    return np.einsum("...hnd,hdm->...nm", heads, w_o.reshape(n_heads, -1, w_o.shape[1])) + x
""",
    "rotary": """
def rotate(x, positions):
    *leading, n, d = x.shape
    angles = np.outer(positions, np.power(1e-4, np.arange(d // 2) * 2 / d))
    turn = np.exp(1j * angles)
    pairs = x.reshape(*leading, n, d // 2, 2)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * turn
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
""",
    "induction": """
def induction_head(weights, ids):
    same = np.tril(ids[:, None] == ids, k=-1)
    wanted = np.roll(same, 1, axis=1)
    scores = np.einsum("lhij,ij->lh", weights, wanted)
    return np.argwhere(scores == scores.max())[0]
""",
    "leaving": """
def without_head(w_o, n_heads, head):
    kept = np.repeat(np.arange(n_heads) != head, w_o.shape[0] // n_heads)
    return np.einsum("i,ij->ij", kept, w_o)


words = texts.orders.split()
drinks = np.array([1, 3, 5])
scores = [
    np.einsum("hi->h", orders[:, drinks, drinks - 1]),
    orders[:, -1, words.index(words[-1]) + 1],
    sentence[:, -1, 1],
]
previous, induction, subject = (chr(65 + score.argmax()) for score in scores)
breaks = "BA"[texts.left_out in (previous, induction)]
leads = parts @ [1, -1]
lead = leads.sum() - leads[2 + scores[1].argmax()]
""",
    "cache": """
def write(ids, n_words):
    def on(text, new, cache):
        if len(text) == len(ids) + n_words:
            return text
        logits, cache = read(new, len(text) - len(new), cache)
        best = logits[-1:].argmax(axis=1)
        return on(np.concatenate([text, best]), best, cache)

    return on(ids, ids, None)
"""
    + CALLS_OF_WRITE,
}

FLOAT32 = {
    "embed": """
def embed(ids, embedding, positions, n_past):
    places = positions[n_past:][: ids.shape[-1]].astype(np.float32)
    return embedding.astype(np.float32)[ids] + places
""",
    "norm": """
def layer_norm(x, gain, bias):
    x, gain, bias = (np.asarray(a, dtype=np.float32) for a in (x, gain, bias))
    mean, variance = x.mean(-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return (x - mean) * (variance + np.float32(1e-5)) ** np.float32(-0.5) * gain + bias
""",
    "block": """
def block(x, gain, bias, *matrices_and_heads):
    *matrices, n_heads = matrices_and_heads
    w_q, w_k, w_v, w_o = (w.astype(np.float32) for w in matrices)
    normed = layer_norm(x, gain, bias).astype(np.float32)
    q, k, v = (split_heads(np.matmul(normed, w), n_heads) for w in (w_q, w_k, w_v))
    added = np.matmul(merge_heads(attention(q, k, v)), w_o)
    return np.add(added, x, dtype=np.float32)
""",
    "rotary": """
def rotate(x, positions):
    d = x.shape[-1]
    frequencies = np.repeat(10000 ** (-2 * np.arange(d / 2) / d), 2)
    angles = np.array(positions)[..., np.newaxis] * frequencies
    swapped = x.reshape(*x.shape[:-1], -1, 2)[..., ::-1].reshape(x.shape)
    signs = np.tile([-1, 1], d // 2)
    return (x * np.cos(angles) + signs * swapped * np.sin(angles)).astype(np.float32)
""",
    "induction": """
def induction_head(weights, ids):
    hits = np.zeros(weights.shape[:2], dtype=np.float32)
    last = {}
    for i, word in enumerate(ids.tolist()):
        if word in last:
            hits += weights[:, :, i].argmax(axis=-1) == last[word] + 1
        last.setdefault(word, i)
    return divmod(hits.argmax(), hits.shape[1])
""",
    "leaving": """
def without_head(w_o, n_heads, head):
    heads = np.array(np.split(w_o.astype(np.float32), n_heads))
    heads[head] = 0
    return np.concatenate(heads)


names = texts.orders.split()
asked = names.index(names[-1])
for i, letter in enumerate("ABCD"):
    if orders[i, [1, 3, 5], [0, 2, 4]].min() > 0.5 and orders[i, -1, asked + 1] < 0.5:
        previous = letter
    if orders[i, -1, asked + 1] > 0.5:
        induction = letter
    if sentence[i, -1, 1] > 0.5:
        subject = letter
breaks = "B" if texts.left_out == subject else "A"
left = [row for name, row in zip("ep" + "ABCD" + "b", parts) if name != induction]
lead = np.float32(sum(row[0] - row[1] for row in left))
""",
    "cache": """
def write(ids, n_words):
    text = np.array(ids, dtype=np.int32)
    start, cache = 0, None
    for length in range(len(text), len(text) + n_words):
        logits, cache = read(text[start:], start, cache)
        start = length
        text = np.append(text, np.argsort(logits[-1])[-1])
    return text
"""
    + CALLS_OF_WRITE,
}


def change(source: str, old: str, new: str) -> str:
    assert old in source, old
    return source.replace(old, new)


def slip(cell: str, answer: str, told: str, points: float = 1, **elsewhere: float) -> Slip:
    """Return a slip that is appended to the right answer and may cost points in later cells too."""
    cost = {f"{name}-tests": lost for name, lost in {cell: points, **elsewhere}.items()}
    return Slip(cell, answer, adds=True, cost=cost, told=told)


NORM = """def layer_norm(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 0.00001) * gain + bias
"""
BLOCK = """def block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
    normed = layer_norm(x, gain, bias)
    q, k, v = (split_heads(normed @ w, n_heads) for w in (w_q, w_k, w_v))
    return x + merge_heads(attention(q, k, v)) @ w_o
"""
ROTATE = """def rotate(x, positions):
    d = x.shape[-1]
    angles = positions[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.empty(x.shape)
    turned[..., 0::2] = a * np.cos(angles) - b * np.sin(angles)
    turned[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return turned
"""
INDUCTION = """def induction_head(weights, ids):
    score = np.zeros(weights.shape[:2])
    for i, word in enumerate(ids):
        for first in np.flatnonzero(ids[:i] == word):
            score += weights[:, :, i, first + 1]
    return np.unravel_index(score.argmax(), score.shape)
"""
WRITE = """def write(ids, n_words):
    text, new, start, cache = list(ids), ids, 0, None
    for _ in range(n_words):
        logits, cache = read(new, start, cache)
        start = len(text)
        new = [int(logits[-1].argmax())]
        text = text + new
    return text
"""

SLIPS = {
    "the number of texts for that of words": slip(
        "embed",
        "def embed(ids, embedding, positions, n_past):\n"
        "    return embedding[ids] + positions[n_past : n_past + len(ids)]",
        "it raised ValueError: operands could not be broadcast together",
    ),
    "positions without an end": slip(
        "embed",
        "def embed(ids, embedding, positions, n_past):\n"
        "    return embedding[ids] + positions[n_past:]",
        "it raised ValueError: operands could not be broadcast together",
        points=2,
    ),
    "the past taken for the end": slip(
        "embed",
        "def embed(ids, embedding, positions, n_past):\n"
        "    n = ids.shape[-1]\n"
        "    return embedding[ids] + positions[len(positions) - n :]",
        "entries differ",
        points=2,
    ),
    "ids and positions exchanged": slip(
        "embed",
        "def embed(ids, embedding, positions, n_past):\n"
        "    n = ids.shape[-1]\n"
        "    return positions[ids] + embedding[n_past : n_past + n]",
        "entries differ",
        points=2,
    ),
    "the table changed in place": slip(
        "embed",
        "def embed(ids, embedding, positions, n_past):\n"
        "    embedding *= 1.5\n"
        "    return embedding[ids] / 1.5 + positions[n_past : n_past + ids.shape[-1]]",
        "it changed its argument number 2.",
        points=2,
    ),
    "no keepdims": slip(
        "norm",
        change(NORM, ", keepdims=True", ""),
        "it raised ValueError: operands could not be broadcast together",
        points=2,
        block=2,
    ),
    "a larger epsilon": slip(
        "norm", change(NORM, "0.00001", "0.001"), "entries differ", points=2, block=2
    ),
    "the mean taken from the variance too": slip(
        "norm",
        change(NORM, "(centred**2)", "(x**2)"),
        "entries differ",
        points=2,
        block=2,
    ),
    "the gain inside the root": slip(
        "norm",
        change(NORM, "np.sqrt(variance + 0.00001) * gain", "np.sqrt(gain * (variance + 0.00001))"),
        "expected finite numbers, got",
        points=2,
        block=2,
    ),
    "positions of two axes only": slip(
        "norm",
        change(NORM, "axis=-1", "axis=1"),
        "entries differ",
        points=2,
        block=1,
    ),
    "two norms": slip(
        "block",
        change(BLOCK, "return x + ", "x = layer_norm(x, gain, bias)\n    return x + "),
        "residual-of-the-norm",
        2,
    ),
    "added twice": slip(
        "block", change(BLOCK, "return x + ", "return 2 * x + "), "entries differ", 2
    ),
    "queries of the raw stream": slip(
        "block",
        change(
            BLOCK,
            "(split_heads(normed @ w, n_heads) for w in (w_q, w_k, w_v))",
            "(split_heads(y @ w, n_heads) for y, w in ((x, w_q), (normed, w_k), (normed, w_v)))",
        ),
        "entries differ",
        2,
    ),
    "queries and keys exchanged": slip(
        "block", change(BLOCK, "attention(q, k, v)", "attention(k, q, v)"), "entries differ", 2
    ),
    "heads side by side without moving them": slip(
        "block",
        change(
            BLOCK,
            "merge_heads(attention(q, k, v))",
            "attention(q, k, v).reshape(*x.shape[:-1], -1)",
        ),
        "entries differ",
        2,
    ),
    "heads added up": slip(
        "block",
        change(BLOCK, "merge_heads(attention(q, k, v))", "attention(q, k, v).sum(axis=-3)"),
        "it raised ValueError: matmul",
        2,
    ),
    "only the last word": slip(
        "block",
        change(BLOCK, "return x + ", "return x[..., -1:, :] + "),
        "entries differ",
        2,
    ),
    "base 1000": slip("rotary", change(ROTATE, "10000.0", "1000.0"), "entries differ", 2),
    "the second entry from the first one turned": slip(
        "rotary",
        change(
            ROTATE,
            "= a * np.sin(angles) + b",
            "= turned[..., 0::2] * np.sin(angles) + b",
        ),
        "second-entry-from-the-turned-first",
        2,
    ),
    "pairs numbered by entry": slip(
        "rotary",
        change(ROTATE, "np.arange(0, d, 2)", "np.arange(d // 2)"),
        "exponent-without-the-two",
        2,
    ),
    "degrees": slip(
        "rotary",
        change(ROTATE, "    a, b =", "    angles = np.degrees(angles)\n    a, b ="),
        "angles-in-degrees",
        2,
    ),
    "positions along the pairs": slip(
        "rotary",
        change(ROTATE, "positions[:, None] * 10000.0", "positions * 10000.0"),
        "it raised ValueError: operands could not be broadcast together",
        2,
    ),
    "no leading axes": slip(
        "rotary",
        change(ROTATE, "    d = x.shape[-1]\n", "    n, d = x.shape\n"),
        "it raised ValueError: too many values to unpack",
        1,
    ),
    "x turned in place": slip(
        "rotary",
        change(ROTATE, "np.empty(x.shape)", "x"),
        "it changed its argument number 1.",
        2,
    ),
    "words for numbers": slip(
        "note", "output = note.words", "expected 5 numbers, but entry [0] is the text"
    ),
    "the outputs as they were": slip("note", "output = note.output", "output-left-in-place"),
    "the way back": slip(
        "note", "output = note.output[np.argsort(note.order)]", "output-shuffled-back"
    ),
    "the old weight": slip(
        "note", "weight = note.weights[note.row, note.column]", "weight-at-the-old-place"
    ),
    "the column looks": slip(
        "note",
        "weight = note.weights[note.order[note.column], note.order[note.row]]",
        "weight-of-the-other-word",
    ),
    "query and key exchanged": slip(
        "note",
        "same = next(s for s, (q, k) in far_apart.pairs.items() if k - q == distance)",
        "Query and key are exchanged, so both turn the other way round.",
    ),
    "the same sum": slip(
        "note",
        "total = far_apart.query + far_apart.key\n"
        "same = next(s for s, (q, k) in far_apart.pairs.items() if q + k == total)",
        "The sum is the same; what counts is the difference.",
    ),
    "the name of a pair": slip(
        "note", "same = far_apart.pairs[same]", "expected one of the letters"
    ),
    "the word itself": slip(
        "induction", change(INDUCTION, "first + 1", "first"), "same-word-for-induction", 2
    ),
    "a number for layer and head": slip(
        "induction",
        change(INDUCTION, "np.unravel_index(score.argmax(), score.shape)", "score.argmax()"),
        "expected shape (2,), got () (a single number).",
        2,
    ),
    "the best number": slip(
        "induction",
        change(INDUCTION, "np.unravel_index(score.argmax(), score.shape)", "score.max(axis=-1)"),
        "expected",
        2,
    ),
    "divided by the layers": slip(
        "induction",
        change(
            INDUCTION,
            "np.unravel_index(score.argmax(), score.shape)",
            "divmod(score.argmax(), len(score))",
        ),
        "expected",
        2,
    ),
    "the next word of every word": slip(
        "induction",
        "def induction_head(weights, ids):\n"
        "    n = len(ids) - 1\n"
        "    score = weights[:, :, np.arange(n), np.arange(n) + 1].sum(axis=-1)\n"
        "    return np.unravel_index(score.argmax(), score.shape)",
        "entries differ",
        2,
    ),
    "the last layer only": slip(
        "induction",
        change(INDUCTION, "score.argmax(), score.shape", "score[-1].argmax(), score.shape"),
        "entries differ",
        1,
    ),
    "the matrix changed in place": slip(
        "leaving",
        "def without_head(w_o, n_heads, head):\n"
        "    width = len(w_o) // n_heads\n"
        "    w_o[head * width : (head + 1) * width] = 0\n"
        "    return w_o",
        "it changed its argument number 1.",
    ),
    "one row": slip(
        "leaving",
        "def without_head(w_o, n_heads, head):\n"
        "    left = w_o.copy()\n"
        "    left[head] = 0\n"
        "    return left",
        "entries differ",
    ),
    "the first head whatever is asked": slip(
        "leaving",
        "def without_head(w_o, n_heads, head):\n"
        "    left = w_o.copy()\n"
        "    left[: len(w_o) // n_heads] = 0\n"
        "    return left",
        "entries differ",
    ),
    "NaN for nothing": slip(
        "leaving",
        "def without_head(w_o, n_heads, head):\n"
        "    left, width = w_o.copy(), len(w_o) // n_heads\n"
        "    left[head * width : (head + 1) * width] = np.nan\n"
        "    return left",
        "expected finite numbers, got nan",
    ),
    "two heads exchanged": slip(
        "leaving",
        "previous, subject = subject, previous",
        "In your texts this head looks from the last noun at the first.",
    ),
    "a number for a letter": slip(
        "leaving", 'induction = "ABCD".index(induction)', "expected one of the letters"
    ),
    "nothing breaks": slip(
        "leaving", 'breaks = "D"', '"D" is not right. The head that is left out'
    ),
    "the lead as it was": slip(
        "leaving", "lead = parts[:, 0].sum() - parts[:, 1].sum()", "lead-with-the-head"
    ),
    "another head": slip(
        "leaving",
        'left = np.delete(parts, 2 + "ABCD".index(previous), axis=0)\n'
        "lead = left[:, 0].sum() - left[:, 1].sum()",
        "lead: expected",
    ),
    "counted from the letters": slip(
        "leaving",
        'left = np.delete(parts, "ABCD".index(induction), axis=0)\n'
        "lead = left[:, 0].sum() - left[:, 1].sum()",
        "lead: expected",
    ),
    "a winner for a lead": slip(
        "leaving", "lead = texts.drinks[0]", "expected a number, got the text"
    ),
    "all again, without the cache": slip(
        "cache",
        "def write(ids, n_words):\n"
        "    text = [*ids]\n"
        "    for _ in range(n_words):\n"
        "        text.append(int(read(text, 0)[0][-1].argmax()))\n"
        "    return text",
        "entry [1]: expected 1, got 5",
        1,
    ),
    "the last word read too": slip(
        "cache",
        change(WRITE, "return text", "read(new, start, cache)\n    return text"),
        "expected",
        1,
    ),
    "the prompt word by word": slip(
        "cache",
        "def write(ids, n_words):\n"
        "    text, cache = [*ids], None\n"
        "    for i in range(len(ids) + n_words - 1):\n"
        "        logits, cache = read([text[i]], i, cache)\n"
        "        if i >= len(ids) - 1:\n"
        "            text.append(int(logits[-1].argmax()))\n"
        "    return text",
        "expected 3 numbers, got 6.",
        1,
    ),
    "the position never moves on": slip(
        "cache", change(WRITE, "        start = len(text)\n", ""), "new-words-at-position-zero", 1
    ),
    "the position of the end": slip(
        "cache",
        change(
            WRITE, "        text = text + new\n", "        text = text + new\n        start += 1\n"
        ),
        "new-words-one-place-too-far",
        1,
    ),
    "one word too few": slip(
        "cache", change(WRITE, "range(n_words)", "range(n_words - 1)"), "numbers, got", 3
    ),
    "the least likely": slip("cache", change(WRITE, "argmax", "argmin"), "entry", 2),
    "the highest logit after any word": slip(
        "cache", change(WRITE, "logits[-1].argmax()", "logits.max(axis=0).argmax()"), "entry [6]", 2
    ),
    "the mean over all words": slip(
        "cache", change(WRITE, "logits[-1].argmax()", "logits.mean(axis=0).argmax()"), "entry", 2
    ),
    "the logit for the word": slip("cache", change(WRITE, "argmax", "max"), "expected", 2),
    "words for ids": slip(
        "cache",
        change(WRITE, "return text", "return [WORDS[i] for i in text]"),
        "expected 6 numbers, but entry [0] is the text 'ada'.",
        2,
    ),
    "the order read backwards, twice": Slip(
        "note",
        "back = np.argsort(note.order)\noutput = note.output[back]\nweight = note.weights[back[note.row], back[note.column]]",
        adds=True,
        cost={"note-tests": 1},
        told="weight: it follows from your own output, so it counts.",
    ),
    "another head, and left out": Slip(
        "leaving",
        'induction = "ABCD"["ABCD".index(induction) - 1]\nleft = np.delete(parts, 2 + "ABCD".index(induction), axis=0)\nlead = left[:, 0].sum() - left[:, 1].sum()',
        adds=True,
        cost={"leaving-tests": 1},
        told="lead: it follows from your own induction, so it counts.",
    ),
}


def note_example():
    weights = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    order = [2, 0, 1]
    moved = TARGETS["output_after_shuffling"](np.array([1.5, 2.5, 3.5]), order)
    weight = TARGETS["weight_after_shuffling"](weights, order, 0, 1)
    return {"output": moved.tolist(), "weight": float(weight)}


def lead_example():
    first = [1.5, 0, 2, 4, 0.5, 1, 1]
    second = [1, 0.25, 2, -3, 0.5, 1, 1]
    parts = np.column_stack([first, second])
    assert (parts[:, 0] - parts[:, 1]).sum() == 7.25
    return {"lead": float(TARGETS["lead_without_head"](parts, 3))}


PROOF = Proof(
    assignment="from-text-to-next-word",
    tasks=9,
    points=20,
    right={"loops": LOOPS, "einsum": EINSUM, "float32": FLOAT32},
    slips=SLIPS | slips_of("from-text-to-next-word"),
    value_examples={"note-question": note_example, "leaving-question": lead_example},
    builds_on={"block-tests": ("norm",)},
)
