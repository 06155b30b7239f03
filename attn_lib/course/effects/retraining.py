"""Training the model with a mistake in place, from the start of the course's trained model.

Training follows the derivative of what is computed, so a wrong function needs a derivative of its
own. Mistakes in ``softmax_backward`` are the other way round: what is computed is right, and its
derivative is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.attention import AttentionTrace
from attn_lib.course.effects.insertion import held_out_sentences
from attn_lib.course.mistakes import Mistake, catalogue
from attn_lib.course.targets import masked_softmax
from attn_lib.model import (
    CONFIG,
    RIGHT,
    Attention,
    Parts,
    Sentence,
    Training,
    accuracy,
    generate,
    initialise,
    replacement,
    scaled_attention,
    softmax_vjp,
    train_model,
    weights_attention,
)
from attn_lib.model.language import MAX_WORDS, Skill
from attn_lib.model.replacing import WeightsBackward
from attn_lib.model.train import SEED
from attn_lib.softmax import softmax

Array = NDArray[Any]

#: What each trained model continues, and by how many words. It is the chapter's example of writing.
PROMPT = "cleo juice dan tea eve milk eve"
N_WORDS = 6
#: First steps whose losses are kept, to be compared when the training is repeated.
FIRST = 4
#: Steps over which the loss is averaged.
STRIDE = 100

_ROOT = CONFIG.d_k**0.5


class Retraining(NamedTuple):
    """A model that was trained with a mistake in place, and what it can do."""

    losses: tuple[float, ...]  #: on the batches of the first steps
    curve: tuple[float, ...]  #: means of the loss over each `STRIDE` steps
    reading: dict[Skill, float]  #: accuracy in the setting of training, the mistake in place
    writing: dict[Skill, float]  #: the same where the model has only the words so far
    corrected: dict[Skill, float]  #: in the setting of training, the right functions put back
    text: str  #: `PROMPT`, continued with the mistake in place


def _of_rows(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(d, weights)


def _of_columns(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(d, weights, axis=-2)


def _of_the_whole_array(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(np.ravel(d), np.ravel(weights)).reshape(np.shape(weights))


def _of_exponentials(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return d * weights


def _of_allowed_scores(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(d, weights) * mask


def _of_allowed_weights(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(d * mask, softmax(scores))


def _of_softmax_over_root(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return softmax_vjp(d, weights * _ROOT)


def _of_products(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return d * mask


def _zero(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
    return np.zeros_like(d)


def _hidden(scores: Array, mask: Array) -> Array:
    return np.where(mask, scores, -np.inf)


def _unscaled_softmax_over_root(scores: Array, mask: Array) -> Array:
    return softmax(_hidden(scores * _ROOT, mask)) / _ROOT


def _allowed_scores(scores: Array, mask: Array) -> Array:
    return scores * mask


def _one_for_the_best(scores: Array, mask: Array) -> Array:
    return np.eye(scores.shape[-1])[_hidden(scores, mask).argmax(axis=-1)]


def _equal(scores: Array, mask: Array) -> Array:
    return softmax(_hidden(np.zeros_like(scores), mask))


def _cosines() -> Attention:
    def of_length_1(rows: Array) -> Array:
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    def across(grad: Array, rows: Array) -> Array:
        """Return the gradient at rows from that at the same rows of length 1."""
        unit = of_length_1(rows)
        along = unit * np.sum(grad * unit, axis=-1, keepdims=True)
        return (grad - along) / np.linalg.norm(rows, axis=-1, keepdims=True)

    return _of_other_inputs(
        lambda q, k: (of_length_1(q), of_length_1(k)),
        lambda d_q, d_k, q, k: (across(d_q, q), across(d_k, k)),
    )


def _keys_as_queries() -> Attention:
    return _of_other_inputs(lambda q, k: (k, q), lambda d_q, d_k, q, k: (d_k, d_q))


def _by_number_of_keys() -> Attention:
    def factors(q: Array) -> Array:
        n_keys = np.arange(1, q.shape[-2] + 1, dtype=q.dtype)[:, None]
        return np.sqrt(CONFIG.d_k / n_keys).astype(q.dtype)

    return _of_other_inputs(
        lambda q, k: (q * factors(q), k), lambda d_q, d_k, q, k: (d_q * factors(q), d_k)
    )


def _of_other_inputs(
    change: Callable[[Array, Array], tuple[Array, Array]],
    change_back: Callable[[Array, Array, Array, Array], tuple[Array, Array]],
) -> Attention:
    """Return the right attention of changed queries and keys.

    `change` takes q and k; `change_back` takes the gradients at the changed ones, and q and k.
    """
    right = scaled_attention()

    def forward(q: Array, k: Array, v: Array, mask: Array) -> Array | AttentionTrace:
        return right.forward(*change(q, k), v, mask)

    def backward(
        grad: Array, q: Array, k: Array, v: Array, mask: Array
    ) -> tuple[Array, Array, Array]:
        assert right.backward is not None
        d_q, d_k, d_v = right.backward(grad, *change(q, k), v, mask)
        return *change_back(d_q, d_k, q, k), d_v

    return Attention(forward, backward)


def _with_derivative(backward: WeightsBackward, mistake: Mistake) -> Parts:
    return replacement(mistake.target, mistake.wrong, backward, all_texts=True)


def _text_by_text(backward: WeightsBackward, mistake: Mistake) -> Parts:
    return replacement(mistake.target, mistake.wrong, backward)


def _with_mask(mistake: Mistake) -> Parts:
    return replacement(mistake.target, mistake.wrong)


def _with_weights(
    weights_of: Callable[[Array, Array], Array], backward: WeightsBackward, mistake: Mistake
) -> Parts:
    return RIGHT._replace(attention=weights_attention(weights_of, backward, all_texts=True))


def _with_attention(make: Callable[[], Attention], mistake: Mistake) -> Parts:
    return RIGHT._replace(attention=make())


def _with_wrong_derivative(mistake: Mistake) -> Parts:
    def backward(d: Array, scores: Array, mask: Array, weights: Array) -> Array:
        return mistake.wrong(weights, d)

    return replacement("masked_softmax", masked_softmax, backward, all_texts=True)


#: For each mistake that the model can be trained with: how to make the parts to train it with.
TRAINABLE: dict[str, Callable[[Mistake], Parts]] = {
    "no-scale": partial(_with_attention, partial(scaled_attention, 1.0)),
    "divide-by-d_k": partial(_with_attention, partial(scaled_attention, 1 / CONFIG.d_k)),
    "no-softmax": partial(_with_weights, _allowed_scores, _of_products),
    "hard-attention": partial(_with_weights, _one_for_the_best, _zero),
    "equal-weights": partial(_with_weights, _equal, _zero),
    "softmax-over-queries": partial(_with_derivative, _of_columns),
    "causal-mask-of-ones": _with_mask,
    "zero-for-minus-infinity": partial(_with_derivative, _of_allowed_scores),
    "mask-after-softmax": partial(_with_derivative, _of_allowed_weights),
}


@cache
def _by_id() -> dict[str, Mistake]:
    return {mistake.id: mistake for mistake in catalogue()}


def parts_to_train(id: str) -> Parts:
    """Return the parts of a model that can be trained with a mistake in place.

    Parameters
    ----------
    id : str
        One of `TRAINABLE`.

    Returns
    -------
    Parts

    Raises
    ------
    ValueError
        If the model cannot be trained with this mistake.

    Examples
    --------
    >>> parts = parts_to_train("no-scale")
    >>> one = np.ones((1, 1, 16))
    >>> parts.attention.forward(one, one, one, np.array([[True]])).scaled
    array([[[16.]]])
    """
    if id not in TRAINABLE:
        raise ValueError(
            f"parts_to_train: expected one of {', '.join(TRAINABLE)}, got {id!r}; "
            "other mistakes have no derivative here."
        )
    return TRAINABLE[id](_by_id()[id])


def train_with(id: str, stop_after: int | None = None) -> Training:
    """Return a model trained with a mistake in place.

    It starts from the same numbers as the course's model and sees the same sentences.

    Parameters
    ----------
    id : str
        One of `TRAINABLE`.
    stop_after : int, optional
        Take only the first steps.

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        As `parts_to_train`.
    """
    start, parts = initialise(CONFIG, SEED), parts_to_train(id)
    with np.errstate(all="ignore"):  # some trainings end in NaN
        return train_model(start, SEED, parts=parts, stop_after=stop_after)


def retrain(id: str) -> Retraining:
    """Train with a mistake in place, which takes most of a minute, and measure the model.

    Parameters
    ----------
    id : str
        One of `TRAINABLE`.

    Returns
    -------
    Retraining

    Raises
    ------
    ValueError
        As `parts_to_train`.
    """
    return measure_training(train_with(id), parts_to_train(id))


def train_rightly() -> Retraining:
    """Train with the right functions, and measure the model."""
    return measure_training(train_model(initialise(CONFIG, SEED), SEED), RIGHT)


def measure_training(
    training: Training, parts: Parts, sentences: Sequence[Sentence] | None = None
) -> Retraining:
    """Return what a model can do after training.

    Parameters
    ----------
    training : Training
        Its steps are a multiple of `STRIDE`.
    parts : Parts
        What the model was trained with.
    sentences : sequence of Sentence, optional
        Default: `held_out_sentences`.

    Returns
    -------
    Retraining
    """
    model, losses = training
    sentences = held_out_sentences() if sentences is None else sentences
    # In training the last word of the longest sentences is no input. A model that looks ahead
    # would find it at a position where it has never seen a word.
    as_trained = [s._replace(words=s.words[: MAX_WORDS - 1]) for s in sentences]
    with np.errstate(all="ignore"):
        return Retraining(
            losses=tuple(losses[:FIRST].tolist()),
            curve=tuple(losses.reshape(-1, STRIDE).mean(axis=-1).tolist()),
            reading=accuracy(model, as_trained, parts=parts),
            writing=accuracy(model, sentences, parts=parts, reading="so far"),
            corrected=accuracy(model, as_trained),
            text=generate(model, PROMPT, N_WORDS, use_cache=False, parts=parts).text,
        )
