"""Training: how wrong a model is, and the way from random numbers to one that recalls and agrees.

The command ``python -m attn_lib.model.train`` trains the course's model again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib._arguments import read_positive_size
from attn_lib.model.adam import Adam
from attn_lib.model.gradients import backward
from attn_lib.model.language import MAX_WORDS, Sentence, Skill, draw_sentences
from attn_lib.model.layers import Array
from attn_lib.model.parts import RIGHT, Parts
from attn_lib.model.transformer import Config, Transformer, forward
from attn_lib.model.vocabulary import WORDS, encode_batch
from attn_lib.softmax import log_softmax

#: The sizes of the course's model.
CONFIG = Config(n_words=len(WORDS), max_length=MAX_WORDS)
STEPS = 2000
BATCH_SIZE = 64
RATE = 3e-3
#: Skills of the sentences, in rotation. Recall is learned later, so it gets more sentences.
SKILLS: tuple[Skill, ...] = ("recall", "recall", "agreement")
#: Steps in which the rate rises from 0, and the fraction of it that remains at the end.
WARM_UP = 100
LEFT_AT_THE_END = 0.1
#: Weight in the loss of words that nothing decides. With 1 they drown the others.
WEIGHT_OF_OTHERS = 0.1


class TrainingBatch(NamedTuple):
    """A batch of sentences: for each word, the next word as its target."""

    ids: NDArray[np.int64]  #: all words but the last, shape (batch, n)
    targets: NDArray[np.int64]  #: all words but the first, shape (batch, n)
    word_weights: Array  #: what each target counts in the loss; 0 for padding
    lengths: NDArray[np.int64]  #: words of `ids` that are no padding, shape (batch,)


class Training(NamedTuple):
    """A trained model, and the losses during its training."""

    model: Transformer  #: after the last step
    losses: NDArray[np.float64]  #: on the batch of each step, before the update; shape (steps,)


def training_batch(
    sentences: Sequence[Sentence], weight_of_others: float = WEIGHT_OF_OTHERS
) -> TrainingBatch:
    """Return sentences as arrays for training.

    Parameters
    ----------
    sentences : sequence of Sentence
    weight_of_others : float
        What a word that cannot be known counts in the loss; one that can be known counts 1.

    Returns
    -------
    TrainingBatch

    Examples
    --------
    >>> from attn_lib.model.language import Answer
    >>> words = ("the", "cats", "sleep", ".")
    >>> sentence = Sentence(words, "agreement", (Answer(position=2, source=1),))
    >>> training_batch([sentence]).word_weights
    array([[0.1, 1. , 0.1]])
    """
    ids, lengths = encode_batch(sentence.words for sentence in sentences)
    is_word = np.arange(1, ids.shape[1]) < lengths[:, None]
    word_weights = np.where(is_word, weight_of_others, 0.0)
    for row, sentence in enumerate(sentences):
        for answer in sentence.answers:
            word_weights[row, answer.position - 1] = 1
    # The last word of the longest sentence is only a target, so it is not among the ids.
    read = np.minimum(lengths, ids.shape[1] - 1)
    return TrainingBatch(ids[:, :-1], ids[:, 1:], word_weights, read)


def train_model(
    model: Transformer,
    seed: int,
    *,
    steps: int = STEPS,
    batch_size: int = BATCH_SIZE,
    rate: float = RATE,
    weight_of_others: float = WEIGHT_OF_OTHERS,
    parts: Parts = RIGHT,
    watch: Callable[[int, Transformer], None] | None = None,
    stop_after: int | None = None,
) -> Training:
    """Return the model after training on batches of newly drawn sentences.

    Parameters
    ----------
    model : Transformer
        The initial model; it is not changed.
    seed : int
        Of the sentences.
    steps : int
        Number of batches.
    batch_size : int
        Sentences in each batch; two of three are recall sentences.
    rate : float
        Adam's learning rate at its highest. It rises from 0 in the first steps, then falls in
        a straight line to a tenth.
    weight_of_others : float
        As in `training_batch`.
    parts : Parts
        What to attend with.
    watch : callable, optional
        Called with the number of steps taken and the model, before each step and at the end.
    stop_after : int, optional
        Take only so many of the steps. Default: all. The learning rate is that of a training of
        `steps`, so these are its first steps.

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1, the rate is not positive, or the parts'
        attention has no backward pass.

    Examples
    --------
    >>> from attn_lib.model import initialise
    >>> start = initialise(CONFIG, seed=0)
    >>> losses = train_model(start, seed=0, steps=20).losses
    >>> bool(losses[-1] < losses[0])
    True
    """
    steps, batch_size = (
        read_positive_size(steps, "steps"),
        read_positive_size(batch_size, "batch_size"),
    )
    if not rate > 0:
        raise ValueError(f"train_model: expected a positive rate, got {rate}.")
    rng = np.random.default_rng(seed)
    adam = Adam()
    losses: list[float] = []
    for step in range(steps)[:stop_after]:
        if watch is not None:
            watch(step, model)
        batch = training_batch(draw_sentences(batch_size, rng, *SKILLS), weight_of_others)
        loss, gradients = loss_and_gradients(model, batch, parts)
        losses.append(loss)
        rising = min(1.0, (step + 1) / WARM_UP)
        falling = 1 - (1 - LEFT_AT_THE_END) * step / steps
        updates = adam.step(gradients, rate * rising * falling)
        # Computed in float64 and stored in float32: this rounds off the digits in which machines
        # differ, so the same seed gives nearly always the same model.
        parameters = {
            name: (array + updates[name]).astype(np.float32)
            for name, array in model.parameters.items()
        }
        model = Transformer(model.config, parameters)
    if watch is not None:
        watch(len(losses), model)
    return Training(model, np.array(losses))


def loss_and_gradients(
    model: Transformer, batch: TrainingBatch, parts: Parts = RIGHT
) -> tuple[float, dict[str, Array]]:
    """Return the loss on a batch and its gradient at every parameter, in float64.

    Parameters
    ----------
    model : Transformer
    batch : TrainingBatch
    parts : Parts
        What to attend with.

    Returns
    -------
    loss : float
    gradients : dict of str to ndarray
        The names and shapes of the model's parameters.
    """
    ids, targets, word_weights, lengths = batch
    wide = model.astype(np.float64)
    trace = forward(wide, ids, lengths, parts=parts)
    loss, grad_logits = cross_entropy(trace["logits"], targets, word_weights)
    return loss, backward(wide, ids, trace, grad_logits, lengths, parts=parts)


def cross_entropy(
    logits: Array, targets: NDArray[np.integer], word_weights: Array
) -> tuple[float, Array]:
    r"""Return the loss and its gradient at the logits.

    :math:`\sum_i u_i\, (-\log p_i) / \sum_i u_i`, where :math:`p_i` is the probability, by
    softmax of the logits, of the word that comes and :math:`u_i` its weight. The gradient at the
    logits is the probabilities, less 1 at that word, times :math:`u_i / \sum_i u_i`.

    Parameters
    ----------
    logits : ndarray, shape (..., n, n_words)
    targets : ndarray of int, shape (..., n)
        Ids of the words that come.
    word_weights : ndarray, shape (..., n)
        0 or more, and not all 0. Padding weighs 0.

    Returns
    -------
    loss : float
        In nats for each word: log(n_words) if all words are thought equally likely.
    gradient : ndarray, shape (..., n, n_words)

    Raises
    ------
    ValueError
        If the shapes do not fit together, or no word weighs anything.

    Examples
    --------
    >>> loss, gradient = cross_entropy(np.zeros((2, 4)), np.array([3, 0]), np.array([1.0, 3.0]))
    >>> round(loss, 4)
    1.3863
    >>> gradient
    array([[ 0.0625,  0.0625,  0.0625, -0.1875],
           [-0.5625,  0.1875,  0.1875,  0.1875]])
    """
    if not logits.shape[:-1] == targets.shape == word_weights.shape:
        raise ValueError(
            "cross_entropy: expected logits (..., n, n_words) and one target and one weight for "
            f"each word, got {logits.shape}, {targets.shape} and {word_weights.shape}."
        )
    total = word_weights.sum()
    if not total > 0:
        raise ValueError("cross_entropy: expected a word of positive weight, got none.")
    shares = (word_weights / total).astype(logits.dtype)  # (..., n)
    log_probabilities = log_softmax(logits)  # (..., n, n_words)
    of_targets = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
    is_target = targets[..., None] == np.arange(logits.shape[-1])
    gradient = (np.exp(log_probabilities) - is_target) * shares[..., None]
    return float(-(of_targets * shares).sum()), gradient
