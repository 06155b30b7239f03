"""Personal numbers for the assignment `from-text-to-next-word`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal.core import (
    HAND_MARGIN,
    first_suitable,
    mistakes_show,
    personal_rng,
    wrong_functions,
)
from attn_lib.model import (
    WORDS,
    agreement_sentence,
    encode,
    forward,
    logit_parts,
    recall_sentence,
    trained_model,
)
from attn_lib.model.heads import Role
from attn_lib.model.language import DRINKS, NAMES

Array = NDArray[np.float64]

#: The mistakes that must change the answer about words in another order, by target.
SHOWN_BY_SHUFFLING = {
    "output_after_shuffling": (
        "output-left-in-place",
        "output-shuffled-back",
        "output-turned-round",
    ),
    "weight_after_shuffling": (
        "weight-at-the-old-place",
        "weight-of-the-other-word",
        "weight-shuffled-back",
        "weight-with-only-the-row-moved",
        "weight-with-only-the-column-moved",
    ),
}

#: The mistakes that must change the lead of a word without the induction head.
SHOWN_BY_LEADS = {
    "lead_without_head": (
        "lead-with-the-head",
        "lead-of-the-head-alone",
        "logit-for-lead",
        "half-a-head-left-out",
        "lead-the-other-way",
    ),
}

#: The names of the heads in disguise, and of four pairs of positions.
LETTERS = "ABCD"

#: Rows of `parts_of_logits` before those of the heads: embedding and position.
PARTS_BEFORE_HEADS = 2

#: Least share of the weight that a head must put where its role says, to be recognised by it.
CLEAR_ROLE = 0.6

#: How much more it must put there than any other head.
CLEAR_GAP = 0.3


class ShuffledNote(NamedTuple):
    """A waiter's note, its attention without positions, and the order of the words after a fall."""

    words: tuple[str, ...]  #: five different words
    order: NDArray[np.int64]  #: entry i is the old place of the word that is now at place i
    weights: Array  #: before the fall, shape (5, 5), hundredths
    output: Array  #: before the fall, one number for each word, shape (5,)
    row: int  #: of the weight after the fall that is asked for
    column: int


class Pairs(NamedTuple):
    """Positions of a query and a key, and four other such pairs. One has the same score."""

    query: int
    key: int
    pairs: Mapping[str, tuple[int, int]]  #: position of query and key, by the letters A to D


class Disguise(NamedTuple):
    """Two texts for the trained model, and the letters that its four heads go by."""

    orders: str  #: a text that ends with a name whose drink comes next
    sentence: str  #: a text that ends with the noun before the verb
    heads: tuple[tuple[int, int], ...]  #: layer and head, counted from 0, of A, B, C and D
    drinks: tuple[str, str]  #: the drink that comes next, and that of another order
    left_out: str  #: the letter of a head with one of the three roles


def shuffled_note(learner_id: str) -> ShuffledNote:
    """Return a note of five words whose order changes, with short numbers.

    Each mistake of `SHOWN_BY_SHUFFLING` gives a wrong answer. Those in the weight give different
    ones.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> note = shuffled_note("ada")
    >>> len(set(note.words)), sorted(note.order.tolist())
    (5, [0, 1, 2, 3, 4])
    """

    def draw(rng: np.random.Generator) -> ShuffledNote:
        names = rng.choice(NAMES, size=3, replace=False).tolist()
        drinks = rng.choice(DRINKS, size=2, replace=False).tolist()
        words = (names[0], drinks[0], names[1], drinks[1], names[2])
        weights = (5 + rng.multinomial(75, rng.dirichlet(np.ones(5), size=5))) / 100
        output = (weights @ rng.integers(0, 10, size=5)).round(2)
        row, column = rng.choice(5, size=2, replace=False).tolist()
        return ShuffledNote(words, rng.permutation(5), weights, output, row, column)

    def suitable(note: ShuffledNote) -> bool:
        asked = {
            "output_after_shuffling": (note.output, note.order),
            "weight_after_shuffling": (note.weights, note.order, note.row, note.column),
        }
        return bool(
            np.diff(np.sort(note.output)).min() > 0.05
            and not np.any(note.order == np.arange(5))
            and mistakes_show(asked, SHOWN_BY_SHUFFLING, margin=0.02)
            and _differ("weight_after_shuffling", asked["weight_after_shuffling"])
        )

    return first_suitable(learner_id, "shuffled-note", draw, suitable)


def rotary_pairs(learner_id: str) -> Pairs:
    """Return positions of a query and a key, and four pairs of which one is as far apart.

    Of the others, one has query and key exchanged, one the same sum, one the same ratio.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> query, key, pairs = rotary_pairs("ada")
    >>> [q - k for q, k in pairs.values()].count(query - key)
    1
    """
    rng = personal_rng(learner_id, "rotary-pairs")
    distance, key = rng.integers(2, 8), rng.integers(3, 10)
    query = key + distance
    further, aside, times = rng.integers(20, 90), rng.integers(1, 3), rng.integers(2, 4)
    drawn = [
        (query + further, key + further),
        (key + further, query + further),
        (query + aside, key - aside),
        (query * times, key * times),
    ]
    order = rng.permutation(4)
    pairs = {letter: drawn[i] for letter, i in zip(LETTERS, order, strict=True)}
    return Pairs(int(query), int(key), {name: (int(q), int(k)) for name, (q, k) in pairs.items()})


def disguise(learner_id: str) -> Disguise:
    """Return two texts, and letters for the heads of the trained model.

    In these texts the previous-word, the induction and the subject head look where their roles
    say, with a weight of `CLEAR_ROLE` at least, and the others less by `CLEAR_GAP`. Each mistake
    of `SHOWN_BY_LEADS` gives a wrong answer, and so does each head taken for the induction head.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> texts = disguise("ada")
    >>> texts.orders.split()[-1] in texts.orders.split()[:-1], len(set(texts.heads))
    (True, 4)
    """
    heads = [(layer, head) for layer in (0, 1) for head in (0, 1)]

    def draw(rng: np.random.Generator) -> Disguise:
        words = recall_sentence(rng, pairs=3).words[:6]
        asked = int(rng.integers(2))  # not the last name: its drink is also the previous word
        drinks = words[2 * asked + 1], words[3 - 2 * asked]
        drawn = agreement_sentence(rng, attractors=2)
        sentence = " ".join(drawn.words[: drawn.answers[0].position])
        letters = tuple(heads[i] for i in rng.permutation(4))
        orders, left_out = " ".join([*words, words[2 * asked]]), str(rng.choice([*LETTERS]))
        return Disguise(orders, sentence, letters, drinks, left_out)

    def suitable(texts: Disguise) -> bool:
        if len(set(texts.orders.split())) < 6:
            return False
        scores = role_scores(texts)
        clear = all(
            of_heads.max() > max(CLEAR_ROLE, np.sort(of_heads)[-2] + CLEAR_GAP)
            for of_heads in scores.values()
        )
        fills = [int(of_heads.argmax()) for of_heads in scores.values()]
        if not clear or len(set(fills)) < 3 or LETTERS.index(texts.left_out) not in fills:
            return False
        logits = forward(trained_model(), encode(texts.orders))["logits"][-1]
        if WORDS[logits.argmax()] != texts.drinks[0]:
            return False
        parts, own = parts_of_logits(texts), PARTS_BEFORE_HEADS + fills[1]
        leads = parts[:, 0] - parts[:, 1]
        others = np.abs(np.delete(leads, own) - leads[own])
        asked = {"lead_without_head": (parts, own)}
        return bool(others.min() > 0.1 and mistakes_show(asked, SHOWN_BY_LEADS, margin=0.1))

    return first_suitable(learner_id, "disguise", draw, suitable)


def role_scores(texts: Disguise) -> dict[Role, Array]:
    """Return how much weight each head puts where each role looks.

    Parameters
    ----------
    texts : Disguise

    Returns
    -------
    dict of str to ndarray, shape (4,)
        In the order of the letters. From each drink to the name before it; from the name that
        comes again to its drink; from the last noun to the subject.

    Examples
    --------
    >>> scores = role_scores(disguise("ada"))
    >>> [bool(of_heads.max() > CLEAR_ROLE) for of_heads in scores.values()]
    [True, True, True]
    """
    words = texts.orders.split()
    orders, sentence = maps(texts, texts.orders), maps(texts, texts.sentence)
    drinks = np.arange(1, len(words) - 1, 2)
    return {
        "previous word": orders[:, drinks, drinks - 1].mean(axis=1),
        "induction": orders[:, -1, words.index(words[-1]) + 1],
        "subject": sentence[:, -1, 1],
    }


def maps(texts: Disguise, text: str) -> Array:
    """Return the weights of the four heads for one text, in the order of their letters.

    Parameters
    ----------
    texts : Disguise
    text : str

    Returns
    -------
    ndarray, shape (4, n, n)

    Examples
    --------
    >>> texts = disguise("ada")
    >>> maps(texts, texts.orders).shape
    (4, 7, 7)
    """
    trace = forward(trained_model(), encode(text))
    weights = [trace[f"layer{layer + 1}.weights"][head] for layer, head in texts.heads]
    return np.array(weights, dtype=float)


def parts_of_logits(texts: Disguise) -> Array:
    """Return what each part of the last stream adds to the logits of the two drinks.

    Parameters
    ----------
    texts : Disguise

    Returns
    -------
    ndarray, shape (7, 2)
        Embedding, position, heads A to D, bias of the last norm; with two decimals, relative to
        the mean over all words.

    Examples
    --------
    >>> texts = disguise("ada")
    >>> right, second = parts_of_logits(texts).sum(axis=0)
    >>> bool(right > second)
    True
    """
    trace = forward(trained_model(), encode(texts.orders))
    parts = logit_parts(trained_model(), trace)
    names = [
        "embedding",
        "position",
        *(f"layer {layer + 1}, head {head + 1}" for layer, head in texts.heads),
    ]
    columns = encode(texts.drinks)
    rows = [parts[name][-1, columns] for name in (*names, "bias of the last norm")]
    return np.array(rows, dtype=float).round(2) + 0.0  # no −0.0


def _differ(target: str, args: Sequence[Any]) -> bool:
    """Say whether the named mistakes give different answers, so that each can be recognised."""
    wrong = [function(*args) for function in wrong_functions(target, SHOWN_BY_SHUFFLING[target])]
    return bool(np.diff(np.sort(wrong)).min() > HAND_MARGIN)
