"""Training with another scale of the scores, and from another initial spread of them.

Two things decide how far the scores spread that enter the softmax at the start of training: the
factor in the code, and the size of the initial matrices that make queries and keys. A trial
chooses both, so that it can be told which of them matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attn_lib.model.language import Sentence, Skill, draw_sentences
from attn_lib.model.measures import accuracy
from attn_lib.model.parts import RIGHT, Parts, scaled_attention
from attn_lib.model.training import CONFIG, train_model
from attn_lib.model.transformer import Transformer, forward, initialise, layer_names
from attn_lib.model.vocabulary import encode_batch
from attn_lib.softmax import softmax_jacobian_norm

WIDTHS = (4, 16, 64)
#: Batches of a training, half as many as for the course's model.
STEPS = 1000
#: Batches between two measurements of the accuracy.
EVERY = 100
#: How many losses are recorded, to be compared with those of a new training.
FIRST = 3
HELD_OUT = 200  # sentences
HELD_OUT_SEED = 20
#: A row of weights is called dead if the norm of its Jacobian is less, as in the chapter on
#: saturation.
DEAD = 0.01


class SoftmaxRows(NamedTuple):
    """What the softmax of a model does, over all rows of weights with more than one key."""

    spread: float  #: root of the mean squared score that enters the softmax
    largest: float  #: mean of the largest weight of a row
    dead: float  #: fraction of the rows whose Jacobian has a norm below `DEAD`


class ScaleTrial(NamedTuple):
    """One training, and what came of it."""

    d_k: int  #: numbers in a query and in a key
    divided: bool  #: whether scores are divided by the root of d_k
    spread: float  #: standard deviation that the scores in the softmax have at the start, nominal
    seed: int  #: of the initial model and of the training sentences
    first_losses: list[float]  #: of the first batches
    recall: list[float]  #: accuracy before training and after every 100 batches
    agreement: list[float]  #: as `recall`, of the other skill
    start: SoftmaxRows  #: before training
    end: SoftmaxRows  #: after it


def scaled_parts(divided: bool) -> Parts:
    """Return the parts of a model whose scores are divided by the root of d_k, or not.

    Parameters
    ----------
    divided : bool

    Returns
    -------
    Parts

    Examples
    --------
    >>> one = np.ones((1, 4))
    >>> scaled_parts(divided=False).attention.forward(one, one, one, np.array([[True]])).scaled
    array([[4.]])
    """
    return RIGHT._replace(attention=scaled_attention(None if divided else 1.0))


def scaled_start(d_k: int, divided: bool, spread: float, seed: int) -> Transformer:
    r"""Return an untrained model whose scores spread as asked where they enter the softmax.

    `initialise` gives queries and keys entries of variance 1, so raw scores have a standard
    deviation of :math:`\sqrt{d_k}`. Here the matrices of queries and keys are multiplied by a
    number that makes it `spread`, after the division if there is one.

    Parameters
    ----------
    d_k : int
        Width of a query and a key.
    divided : bool
        Whether the model's scores are divided by the root of d_k.
    spread : float
        Standard deviation of the scores in the softmax, positive.
    seed : int
        Of the initial model.

    Returns
    -------
    Transformer

    Raises
    ------
    ValueError
        If the spread is not positive.

    Examples
    --------
    >>> usual = initialise(CONFIG._replace(d_k=16), seed=0).parameters["layer1.w_q"]
    >>> smaller = scaled_start(16, divided=False, spread=1, seed=0).parameters["layer1.w_q"]
    >>> bool(np.all(smaller == usual / 2))  # a quarter of the scores
    True
    """
    if not spread > 0:
        raise ValueError(f"scaled_start: expected a positive spread, got {spread}.")
    model = initialise(CONFIG._replace(d_k=d_k), seed)
    usual = 1.0 if divided else math.sqrt(d_k)
    factor = np.float32(math.sqrt(spread / usual))
    parameters = {
        name: array * factor if name.endswith((".w_q", ".w_k")) else array
        for name, array in model.parameters.items()
    }
    return model._replace(parameters=parameters)


def softmax_rows(
    model: Transformer, sentences: Sequence[Sentence], parts: Parts = RIGHT
) -> SoftmaxRows:
    """Return how far the scores of a model spread, and how sharp its weights are.

    Parameters
    ----------
    model : Transformer
    sentences : sequence of Sentence
        Read by the model; the first word of each has a single key and is left out.
    parts : Parts
        What to attend with; its attention has to return a trace.

    Returns
    -------
    SoftmaxRows

    Examples
    --------
    >>> sentences = draw_sentences(50, np.random.default_rng(0))
    >>> rows = softmax_rows(scaled_start(16, True, 3.0, seed=0), sentences)
    >>> 2.5 < rows.spread < 3.5
    True
    """
    ids, lengths = encode_batch(sentence.words for sentence in sentences)
    trace = forward(model, ids, lengths, parts=parts)
    is_row = np.arange(ids.shape[1]) < lengths[:, None]  # (batch, n)
    is_row[:, 0] = False
    squares, largest, norms = [], [], []
    for layer in layer_names(model.config):
        # (batch, n_heads, n, n) -> (rows, n_heads, n)
        scores, weights = (
            trace[f"{layer}.{name}"].swapaxes(1, 2)[is_row].astype(float)
            for name in ("scores", "weights")
        )
        squares.append(scores[np.isfinite(scores)] ** 2)
        largest.append(weights.max(axis=-1).ravel())
        norms.append(softmax_jacobian_norm(weights / weights.sum(axis=-1, keepdims=True)).ravel())
    return SoftmaxRows(
        spread=float(np.sqrt(np.concatenate(squares).mean())),
        largest=float(np.concatenate(largest).mean()),
        dead=float((np.concatenate(norms) < DEAD).mean()),
    )


def scale_trial(
    d_k: int, divided: bool, spread: float, seed: int, steps: int = STEPS
) -> ScaleTrial:
    """Train a model and return what came of it.

    Parameters
    ----------
    d_k, divided, spread
        As in `scaled_start`.
    seed : int
        Of the initial model and of the training sentences.
    steps : int
        Number of batches.

    Returns
    -------
    ScaleTrial
    """
    parts = scaled_parts(divided)
    sentences = draw_sentences(HELD_OUT, np.random.default_rng(HELD_OUT_SEED), held_out=True)
    measured: list[dict[Skill, float]] = []

    def watch(step: int, model: Transformer) -> None:
        if step % EVERY == 0:
            measured.append(accuracy(model, sentences, parts=parts))

    start = scaled_start(d_k, divided, spread, seed)
    training = train_model(start, seed, steps=steps, parts=parts, watch=watch)
    return ScaleTrial(
        *(d_k, divided, spread, seed),
        first_losses=training.losses[:FIRST].tolist(),
        recall=[shares["recall"] for shares in measured],
        agreement=[shares["agreement"] for shares in measured],
        start=softmax_rows(start, sentences, parts),
        end=softmax_rows(training.model, sentences, parts),
    )
