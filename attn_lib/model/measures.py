"""Measuring a model: how often it recalls the drink, and how often it makes the verb agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attn_lib.model.language import DRINKS, PLURAL_VERBS, SINGULAR_VERBS, Sentence, Skill
from attn_lib.model.layers import Array
from attn_lib.model.parts import RIGHT, Parts
from attn_lib.model.transformer import Trace, Transformer, forward
from attn_lib.model.vocabulary import IDS, encode, encode_batch

#: Ways to feed a sentence to a model that is tested on it; see `answer_logits`.
Reading = Literal["whole", "so far", "word by word"]

#: The accuracy of guessing: one of the drinks, or one of two grammatical numbers.
CHANCE: dict[Skill, float] = {"recall": 1 / len(DRINKS), "agreement": 1 / 2}

#: Sentences in a batch: larger batches take more memory and save no time.
CHUNK = 256


def accuracy(
    model: Transformer,
    sentences: Sequence[Sentence],
    *,
    parts: Parts = RIGHT,
    reading: Reading = "whole",
) -> dict[Skill, float]:
    """Return the share of right answers for each skill that the sentences ask for.

    Recall is right if, of all words, the drink has the highest logit. Agreement is right if, of
    all verbs, the one with the highest logit is of the subject's number.

    Parameters
    ----------
    model : Transformer
    sentences : sequence of Sentence
        At least one.
    parts : Parts
        What to attend with.
    reading : {"whole", "so far", "word by word"}
        As in `answer_logits`.

    Returns
    -------
    dict of str to float
        From 0 to 1; `CHANCE` is the accuracy of guessing. An answer counts as wrong if its
        logits are not all finite.

    Raises
    ------
    ValueError
        If there is no sentence, or no such reading.

    Examples
    --------
    >>> from attn_lib.model import draw_sentences, trained_model
    >>> sentences = draw_sentences(100, np.random.default_rng(0), held_out=True)
    >>> accuracy(trained_model(), sentences)
    {'recall': 1.0, 'agreement': 1.0}
    """
    return shares_right(answer_logits(model, sentences, parts=parts, reading=reading), sentences)


def shares_right(logits: Array, sentences: Sequence[Sentence]) -> dict[Skill, float]:
    """Return the share of right answers for each skill; see `accuracy`.

    Parameters
    ----------
    logits : ndarray, shape (answers, n_words)
        What `answer_logits` returned for these sentences.
    sentences : sequence of Sentence

    Returns
    -------
    dict of str to float

    Raises
    ------
    ValueError
        If there is not one row of logits for each answer.
    """
    right: dict[Skill, list[bool]] = {}
    answers = [(s, answer) for s in sentences for answer in s.answers]
    for (sentence, answer), row in zip(answers, logits, strict=True):
        word = sentence.words[answer.position]
        right.setdefault(sentence.skill, []).append(_is_right(row, word, sentence.skill))
    return {skill: float(np.mean(of_skill)) for skill, of_skill in right.items()}


def _is_right(logits: Array, word: str, skill: Skill) -> bool:
    if not np.all(np.isfinite(logits)):
        return False
    if skill == "recall":
        return int(logits.argmax()) == IDS[word]
    singular, plural = (
        max(logits[IDS[verb]] for verb in verbs) for verbs in (SINGULAR_VERBS, PLURAL_VERBS)
    )
    # If the largest logit is not unique, the answer counts as wrong.
    return bool(plural > singular if word in PLURAL_VERBS else singular > plural)


def answer_logits(
    model: Transformer,
    sentences: Sequence[Sentence],
    *,
    parts: Parts = RIGHT,
    reading: Reading = "whole",
) -> Array:
    """Return the logits from which each answer of each sentence is read.

    Parameters
    ----------
    model : Transformer
    sentences : sequence of Sentence
        At least one.
    parts : Parts
        What to attend with.
    reading : {"whole", "so far", "word by word"}
        ``"whole"``: whole sentences in padded batches, as in training; only the mask hides
        the answers. ``"so far"``: for each answer only the words before it, as when the model
        writes. ``"word by word"``: the same, with a cache.

    Returns
    -------
    ndarray, shape (answers, n_words)
        Sentence by sentence, and in a sentence from left to right.

    Raises
    ------
    ValueError
        If there is no sentence, or no such reading.
    """
    if not sentences:
        raise ValueError("answer_logits: expected at least one sentence, got none.")
    readers = {"whole": _read_whole, "so far": _read_so_far, "word by word": _read_word_by_word}
    if reading not in readers:
        expected = ", ".join(f'"{name}"' for name in get_args(Reading))
        raise ValueError(f"answer_logits: expected one of {expected}, got {reading!r}.")
    starts = range(0, len(sentences), CHUNK)
    with np.errstate(all="ignore"):  # wrong parts may overflow, which makes the answer wrong
        chunks = [readers[reading](model, sentences[i : i + CHUNK], parts) for i in starts]
    return np.concatenate(chunks)


def _questions(sentences: Sequence[Sentence]) -> Iterable[tuple[int, int]]:
    """Yield, for each answer, the sentence and the position whose logits predict it."""
    for row, sentence in enumerate(sentences):
        for answer in sentence.answers:
            yield row, answer.position - 1


def _read_whole(model: Transformer, sentences: Sequence[Sentence], parts: Parts) -> Array:
    ids, lengths = encode_batch(sentence.words for sentence in sentences)
    rows, places = zip(*_questions(sentences), strict=True)
    return forward(model, ids, lengths, parts=parts)["logits"][list(rows), list(places)]


def _read_so_far(model: Transformer, sentences: Sequence[Sentence], parts: Parts) -> Array:
    prompts = [encode(sentences[row].words[: place + 1]) for row, place in _questions(sentences)]
    logits = np.empty((len(prompts), model.config.n_words))
    for numbers in _of_equal_length(prompts):
        ids = np.stack([prompts[i] for i in numbers])
        logits[numbers] = forward(model, ids, parts=parts)["logits"][:, -1]
    return logits


def _read_word_by_word(model: Transformer, sentences: Sequence[Sentence], parts: Parts) -> Array:
    texts = [encode(sentence.words) for sentence in sentences]
    logits = np.empty((len(texts), max(map(len, texts)), model.config.n_words))
    for numbers in _of_equal_length(texts):
        ids = np.stack([texts[i] for i in numbers])
        past: Trace | None = None
        for place in range(ids.shape[1]):
            past = forward(model, ids[:, place, None], past=past, parts=parts)
            logits[numbers, place] = past["logits"][:, 0]
    rows, places = zip(*_questions(sentences), strict=True)
    return logits[list(rows), list(places)]


def _of_equal_length(texts: Sequence[NDArray[np.integer]]) -> Iterable[NDArray[np.integer]]:
    """Yield the indices of the texts of each length."""
    lengths = np.array([len(text) for text in texts])
    for length in np.unique(lengths):
        yield np.flatnonzero(lengths == length)
