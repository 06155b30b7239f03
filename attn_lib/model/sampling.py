"""Sampling: the model chooses the next word, which is appended to the text, and so on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attn_lib._arguments import read_size
from attn_lib.model.layers import Array
from attn_lib.model.parts import RIGHT, Parts
from attn_lib.model.transformer import Config, Trace, Transformer, forward
from attn_lib.model.vocabulary import WORDS, decode, encode
from attn_lib.softmax import softmax


class Generation(NamedTuple):
    """A text that a model wrote, with its logits and its cost."""

    text: str  #: the prompt and the new words
    logits: Array  #: from which each new word was chosen, shape (new words, n_words)
    multiplications: tuple[int, ...]  #: in the matrix products of each new word


def multiplications(config: Config, n: int, n_past: int = 0) -> int:
    """Return the number of multiplications in the matrix products of one call of `forward`.

    Parameters
    ----------
    config : Config
    n, n_past : int
        Number of words that are read, and of those whose keys and values are cached.

    Returns
    -------
    int
        Counts the projections, scores, mixtures, feed-forward layers and logits. Scores that
        the mask hides are computed too. Norm and softmax, which cost much less, are not
        counted.

    Raises
    ------
    ValueError
        If a number is not whole or negative.

    Examples
    --------
    >>> multiplications(Config(n_words=49), n=13), multiplications(Config(n_words=49), 1, 12)
    (148512, 11424)
    """
    n, n_past = read_size(n, "n"), read_size(n_past, "n_past")
    d_heads = config.n_heads * config.d_k
    projections = 4 * n * config.d_model * d_heads
    attention = 2 * n * (n_past + n) * d_heads
    feed_forward = 2 * n * config.d_model * config.d_ff
    logits = n * config.d_model * config.n_words
    return config.n_layers * (projections + attention + feed_forward) + logits


def generate(
    model: Transformer,
    prompt: str,
    n_words: int,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    use_cache: bool = True,
    parts: Parts = RIGHT,
) -> Generation:
    """Return the prompt, continued by the model.

    Parameters
    ----------
    model : Transformer
    prompt : str
        At least one word of the vocabulary.
    n_words : int
        Number of words to add.
    temperature : float
        0: always take the word with the highest logit. Above 0: draw from the softmax of the
        logits divided by the temperature.
    seed : int
        Seed of the draws.
    use_cache : bool
        Keep the keys and values of earlier words and process only the new word. Otherwise the
        whole text is processed again for each word. The words are the same.
    parts : Parts
        What to attend with.

    Returns
    -------
    Generation

    Raises
    ------
    ValueError
        If the prompt is empty or has a word that is not in the vocabulary, the temperature is
        negative, or the text becomes longer than the positions that the model has learned.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> generate(trained_model(), "ada tea bob milk ada", n_words=1).text
    'ada tea bob milk ada tea'
    """
    if not temperature >= 0:
        raise ValueError(f"generate: expected a temperature of 0 or more, got {temperature}.")
    if model.config.n_words != len(WORDS):
        raise ValueError(
            f"generate: expected a model of the {len(WORDS)} words of this language, "
            f"got one of {model.config.n_words}."
        )
    rng = np.random.default_rng(seed)
    ids = encode(prompt)
    past: Trace | None = None
    logits, counts = [], []
    for _ in range(read_size(n_words, "n_words")):
        n_past = 0 if past is None else past["layer1.k"].shape[-2]
        counts.append(multiplications(model.config, len(ids) - n_past, n_past))
        trace = forward(model, ids[n_past:], past=past, parts=parts)
        if use_cache:
            past = trace
        logits.append(trace["logits"][-1])  # (n_words,)
        ids = np.append(ids, _choose(logits[-1], temperature, rng))
    chosen_from = np.array(logits).reshape(-1, model.config.n_words)
    return Generation(decode(ids), chosen_from, tuple(counts))


def _choose(logits: Array, temperature: float, rng: np.random.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    return int(rng.choice(len(logits), p=softmax(logits.astype(float) / temperature)))
