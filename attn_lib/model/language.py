"""A toy language of two skills: recalling who drinks what, and making the verb agree.

Recall, ``ada tea bob milk bob milk ada tea .``: a waiter takes the orders, then serves them.
Each name is given a drink; then every name comes again, in any order, and its drink can be
known. Who drinks what is drawn anew for each sentence, so nothing but the sentence itself can
tell. Nothing stands between a drink and the next name: a stop there could collect the pair
before it, and a model would look for names at stops.

Agreement, ``the cats near the dog sleep .``: the verb agrees with the first noun, whatever
stands between. The nouns between, the attractors, may be of the other number (Linzen et al.
2016, "Assessing the Ability of LSTMs to Learn Syntax-Sensitive Dependencies", section 2).
"""

from __future__ import annotations

import zlib
from typing import Literal, NamedTuple

import numpy as np

from attn_lib._arguments import read_positive_size

Skill = Literal["recall", "agreement"]

NAMES = ("ada", "bob", "cleo", "dan", "eve", "finn", "gus", "hana")
DRINKS = ("tea", "milk", "cocoa", "coffee", "juice", "lemonade")
SINGULAR_NOUNS = ("cat", "dog", "fox", "owl", "llama", "penguin", "wizard", "robot")
PLURAL_NOUNS = ("cats", "dogs", "foxes", "owls", "llamas", "penguins", "wizards", "robots")
SINGULAR_VERBS = ("sleeps", "dances", "snores", "sings", "giggles", "knits")
PLURAL_VERBS = ("sleep", "dance", "snore", "sing", "giggle", "knit")
PREPOSITIONS = ("near", "behind", "beside", "under")

MIN_PAIRS, MAX_PAIRS = 2, 4
MAX_ATTRACTORS = 3
#: Words of the longest sentence: every pair of a name and a drink twice, and a stop.
MAX_WORDS = 2 * 2 * MAX_PAIRS + 1


class Answer(NamedTuple):
    """A word that the words before it decide, and where to look for it."""

    position: int  #: of the word that can be known
    source: int  #: of the earlier word that decides it, the drink as ordered or the subject


class Sentence(NamedTuple):
    """One sentence of the language, with the words that a good reader can predict."""

    words: tuple[str, ...]  #: the stop at the end included
    skill: Skill  #: what it asks of a reader
    answers: tuple[Answer, ...]  #: the words that can be known

    def __str__(self) -> str:
        return " ".join(self.words)


def recall_sentence(rng: np.random.Generator, pairs: int | None = None) -> Sentence:
    """Return a sentence that pairs names with drinks, then asks for every drink again.

    Parameters
    ----------
    rng : numpy.random.Generator
    pairs : int, optional
        Number of names, from 1 to 8. Default: drawn from 2 to 4. All names differ; two of
        them may have the same drink, so no drink is found by elimination.

    Returns
    -------
    Sentence
        Its answers are the drinks of the second round, in the order in which they come.

    Raises
    ------
    ValueError
        If `pairs` is less than 1 or more than the number of names.

    Examples
    --------
    >>> print(recall_sentence(np.random.default_rng(2), pairs=2))
    gus cocoa finn coffee gus cocoa finn coffee .
    """
    if pairs is None:
        pairs = int(rng.integers(MIN_PAIRS, MAX_PAIRS + 1))
    if not 1 <= pairs <= len(NAMES):
        raise ValueError(
            f"recall_sentence: expected pairs from 1 to {len(NAMES)}, the number of names, "
            f"got {pairs}."
        )
    names = [NAMES[i] for i in rng.permutation(len(NAMES))[:pairs]]
    drinks = [DRINKS[i] for i in rng.integers(len(DRINKS), size=pairs)]
    served = [int(i) for i in rng.permutation(pairs)]
    words = [word for i in (*range(pairs), *served) for word in (names[i], drinks[i])]
    answers = tuple(
        Answer(position=2 * (pairs + place) + 1, source=2 * i + 1) for place, i in enumerate(served)
    )
    return Sentence((*words, "."), "recall", answers)


def agreement_sentence(rng: np.random.Generator, attractors: int | None = None) -> Sentence:
    """Return a sentence whose verb agrees with its first noun.

    Parameters
    ----------
    rng : numpy.random.Generator
    attractors : int, optional
        Number of nouns between the subject and its verb, 0 or more. Default: drawn from 0
        to 3. Each is singular or plural, whatever the subject is.

    Returns
    -------
    Sentence
        Its only answer is the verb. Only the verb's number can be known, not which verb it is.

    Raises
    ------
    ValueError
        If `attractors` is negative.

    Examples
    --------
    >>> print(agreement_sentence(np.random.default_rng(11), attractors=2))
    the owl beside the llama near the llamas snores .
    """
    if attractors is None:
        attractors = int(rng.integers(MAX_ATTRACTORS + 1))
    if attractors < 0:
        raise ValueError(f"agreement_sentence: expected 0 or more attractors, got {attractors}.")
    plural = rng.integers(2, size=attractors + 1)
    kinds = rng.integers(len(SINGULAR_NOUNS), size=attractors + 1)
    nouns = [(SINGULAR_NOUNS, PLURAL_NOUNS)[p][i] for p, i in zip(plural, kinds, strict=True)]
    between = rng.integers(len(PREPOSITIONS), size=attractors)
    words = ["the", nouns[0]]
    for preposition, noun in zip(between, nouns[1:], strict=True):
        words += [PREPOSITIONS[preposition], "the", noun]
    verb = (SINGULAR_VERBS, PLURAL_VERBS)[plural[0]][rng.integers(len(SINGULAR_VERBS))]
    answer = Answer(position=len(words), source=1)
    return Sentence((*words, verb, "."), "agreement", (answer,))


def is_held_out(sentence: Sentence) -> bool:
    """Return whether a sentence is held out of training, to test what the model has learned.

    One in five is held out, of the recall sentences and of those with an attractor. A checksum of
    the words before the last answer decides, so a held-out question never occurs in training, not
    even with another answer. Sentences without an attractor are all used for training, because the
    model learns from them which nouns are plural.

    Parameters
    ----------
    sentence : Sentence

    Returns
    -------
    bool

    Examples
    --------
    >>> sentences = [agreement_sentence(np.random.default_rng(seed)) for seed in range(1000)]
    >>> sum(map(is_held_out, sentences))
    149
    """
    position, source = sentence.answers[-1]
    if sentence.skill == "agreement" and position == source + 1:
        return False
    question = " ".join(sentence.words[:position])
    return zlib.crc32(question.encode()) % 5 == 0


def draw_sentences(
    number: int, rng: np.random.Generator, *skills: Skill, held_out: bool = False
) -> list[Sentence]:
    """Return sentences of one skill, or of several in rotation.

    Parameters
    ----------
    number : int
        Number of sentences, at least 1.
    rng : numpy.random.Generator
    *skills : {"recall", "agreement"}
        Skills of the sentences, in rotation. Default: recall, agreement. With ``"recall",
        "recall", "agreement"``, two of three sentences are recall.
    held_out : bool
        Whether to draw held-out sentences or sentences for training; see `is_held_out`.

    Returns
    -------
    list of Sentence

    Raises
    ------
    ValueError
        If `number` is not a whole number of at least 1, or there is no such skill.

    Examples
    --------
    >>> for sentence in draw_sentences(2, np.random.default_rng(5)):
    ...     print(sentence)
    bob lemonade eve tea cleo milk dan cocoa eve tea dan cocoa cleo milk bob lemonade .
    the cat sleeps .
    """
    makers = {"recall": recall_sentence, "agreement": agreement_sentence}
    unknown = [skill for skill in skills if skill not in makers]
    if unknown:
        raise ValueError(
            f'draw_sentences: expected the skills "recall" or "agreement", got {unknown[0]!r}.'
        )
    turns = [makers[skill] for skill in skills or makers]
    sentences: list[Sentence] = []
    while len(sentences) < read_positive_size(number, "number"):
        sentence = turns[len(sentences) % len(turns)](rng)
        if is_held_out(sentence) == held_out:
            sentences.append(sentence)
    return sentences


def has_opposed_attractor(sentence: Sentence) -> bool:
    """Return whether a noun between subject and verb differs in number from the subject.

    Examples
    --------
    >>> words = "the cats near the dog sleep .".split()
    >>> has_opposed_attractor(Sentence(tuple(words), "agreement", (Answer(5, 1),)))
    True
    """
    if sentence.skill != "agreement":
        return False
    nouns = [word for word in sentence.words if word in SINGULAR_NOUNS + PLURAL_NOUNS]
    return any((noun in PLURAL_NOUNS) != (nouns[0] in PLURAL_NOUNS) for noun in nouns[1:])
