"""Personal numbers for the assignment `from-text-to-next-word`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
from attn_lib.course.personal.misreadings import from_text_to_next_word as misreadings
from attn_lib.course.personal.misreadings import none_accepted
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
from attn_lib.model.transformer import Trace

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
    column: int  #: of that row


class Pairs(NamedTuple):
    """Positions of a query and a key, and four other such pairs. One has the same score."""

    query: int  #: position of the query
    key: int  #: position of the key
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
            and none_accepted(misreadings.of_shuffled_note(note))
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
    say, with a weight of `CLEAR_ROLE` at least, and the others less by `CLEAR_GAP`. Who looks for
    a role at a word beside the right one finds another head. Each mistake of `SHOWN_BY_LEADS`
    gives a wrong answer, and so does each head taken for the induction head.

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

    def draw_orders(rng: np.random.Generator) -> list[str]:
        words = recall_sentence(rng, pairs=3).words[:6]
        asked = int(rng.integers(2))  # not the last name: its drink is also the previous word
        return [*words, words[2 * asked]]

    def draw_sentence(rng: np.random.Generator) -> list[str]:
        drawn = agreement_sentence(rng, attractors=2)
        return list(drawn.words[: drawn.answers[0].position])

    orders = first_suitable(learner_id, "disguise-orders", draw_orders, _are_clear_orders)
    sentence = first_suitable(learner_id, "disguise-sentence", draw_sentence, _is_clear_sentence)
    rng = personal_rng(learner_id, "disguise-heads")
    heads = [(layer, head) for layer in (0, 1) for head in (0, 1)]
    letters = tuple(heads[i] for i in rng.permutation(4))
    texts = Disguise(" ".join(orders), " ".join(sentence), letters, _drinks(orders), "")
    with_roles = [int(of_heads.argmax()) for of_heads in role_scores(texts).values()]
    return texts._replace(left_out=LETTERS[rng.choice(with_roles)])


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
    orders, sentence = maps(texts, texts.orders), maps(texts, texts.sentence)
    previous, induction = _scores_in_orders(orders, texts.orders.split())
    return {"previous word": previous, "induction": induction, "subject": sentence[:, -1, 1]}


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
    return _weights(text)[[2 * layer + head for layer, head in texts.heads]]


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
    parts = _parts(texts.orders.split())
    own = [PARTS_BEFORE_HEADS + 2 * layer + head for layer, head in texts.heads]
    return parts[[*range(PARTS_BEFORE_HEADS), *own, *range(PARTS_BEFORE_HEADS + 4, len(parts))]]


@lru_cache(maxsize=64)
def _read(text: str) -> Trace:
    return forward(trained_model(), encode(text))


def _weights(text: str) -> Array:
    """Return the weights of all heads of both layers in a row, shape (4, n, n)."""
    trace = _read(text)
    both = [trace["layer1.weights"], trace["layer2.weights"]]
    return np.concatenate(both).astype(float)


def _drinks(orders: Sequence[str]) -> tuple[str, str]:
    """Return the drink of the name that comes again, and that of the other early order."""
    asked = orders.index(orders[-1])
    return orders[asked + 1], orders[3 - asked]


def _parts(orders: Sequence[str]) -> Array:
    """Return the parts of the logits of both drinks, with the heads in the order of the model."""
    parts = logit_parts(trained_model(), _read(" ".join(orders)))
    rows = [part[-1, encode(_drinks(orders))] for part in parts.values()]
    return np.array(rows, dtype=float).round(2) + 0.0  # no −0.0


def _scores_in_orders(weights: Array, words: Sequence[str]) -> list[Array]:
    """Return how well each head fills the roles of the previous-word and the induction head."""
    drinks, source = np.arange(1, len(words) - 1, 2), words.index(words[-1]) + 1
    return [weights[:, drinks, drinks - 1].mean(axis=1), weights[:, -1, source]]


def _are_clear_orders(words: list[str]) -> bool:
    if len(set(words)) < 6:
        return False
    weights = _weights(" ".join(words))
    drinks, asked = np.arange(1, len(words) - 1, 2), words.index(words[-1])
    beside = {asked - 1, asked, asked + 2, len(words) - 2, len(words) - 1} - {-1, asked + 1}
    previous, induction = _scores_in_orders(weights, words)
    misread_previous = [
        weights[:, drinks, drinks].mean(axis=1),
        weights[:, drinks[1:], drinks[1:] - 2].mean(axis=1),
    ]
    if not _is_clear(previous, misread_previous):
        return False
    if not _is_clear(induction, [weights[:, -1, key] for key in beside]):
        return False
    logits = _read(" ".join(words))["logits"][-1]
    if WORDS[logits.argmax()] != _drinks(words)[0] or previous.argmax() == induction.argmax():
        return False
    parts, own = _parts(words), PARTS_BEFORE_HEADS + int(induction.argmax())
    leads = parts[:, 0] - parts[:, 1]
    others = np.abs(np.delete(leads, own) - leads[own])
    asked_for = {"lead_without_head": (parts, own)}
    return bool(
        others.min() > 0.1
        and none_accepted(misreadings.of_parts_of_logits(parts, own))
        and mistakes_show(asked_for, SHOWN_BY_LEADS, margin=0.1)
    )


def _is_clear_sentence(words: list[str]) -> bool:
    row = _weights(" ".join(words))[:, -1]
    return _is_clear(row[:, 1], [row[:, key] for key in (0, 2, 4, len(words) - 1)])


def _is_clear(scores: Array, misread: Sequence[Array]) -> bool:
    """Say whether one head fills a role, and looking at other words points to other heads."""
    *_, second, first = np.sort(scores)
    return bool(
        first > max(CLEAR_ROLE, second + CLEAR_GAP)
        and all(other.argmax() != scores.argmax() for other in misread)
    )


def _differ(target: str, args: Sequence[Any]) -> bool:
    """Say whether the named mistakes give different answers, so that each can be recognised."""
    wrong = [function(*args) for function in wrong_functions(target, SHOWN_BY_SHUFFLING[target])]
    return bool(np.diff(np.sort(wrong)).min() > HAND_MARGIN)
