"""Putting a catalogued mistake into the trained model, and measuring what it does there.

The model computes its answers by targets of the course: scores, softmax, masks, heads. A mistake
takes the place of its target; the trained weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.mistakes import Mistake
from attn_lib.course.targets import masked_attention, score_matrix
from attn_lib.model import (
    CONFIG,
    STEPS,
    Parts,
    Sentence,
    answer_logits,
    draw_sentences,
    replacement,
    shares_right,
    trained_model,
)
from attn_lib.model.language import Skill
from attn_lib.model.measures import Reading
from attn_lib.multihead import merge_heads, split_heads

Function = Callable[..., Any]
Array = NDArray[Any]

#: Held-out sentences on which effects are measured, and their seed. An agreement sentence asks for
#: one answer and a recall sentence for three or so, so there are more of the former.
N_SENTENCES = 300
SKILLS: tuple[Skill, ...] = ("recall", "agreement", "agreement")
SEED = 0
#: Keys in a block, where streaming attention stands for attention.
BLOCK = 4

_ROOT = CONFIG.d_k**0.5


class Effect(NamedTuple):
    """What the trained model does with a mistake in it."""

    accuracy: dict[Skill, float]  #: from 0 to 1; empty if the model stops with an error
    moved: float  #: the largest change of a logit; NaN if a logit is NaN or the model stops


def _in_blocks(function: Function) -> Parts:
    def attention(q: Array, k: Array, v: Array) -> Array:
        return np.stack([function(*head, BLOCK) for head in zip(q, k, v, strict=True)])

    return replacement("attention", attention)


def _with_factor(factor: Callable[[int], float]) -> Parts:
    """Replace the scale by a factor that is computed from the number of keys."""
    return replacement("scaled_scores", lambda q, k: score_matrix(q, k) * factor(k.shape[-2]))


def _as_both_masks(function: Function) -> Parts:
    parts = replacement("padding_mask", function)
    return parts._replace(causal_mask=lambda n_q, n_k: np.ones((n_q, n_k), dtype=bool))


def _split_by(function: Function) -> Parts:
    def attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
        q, k, v = (function(merge_heads(heads), len(heads)) for heads in (q, k, v))
        return masked_attention(q, k, v, mask)

    return replacement("masked_attention", attention)


def _merged_by(function: Function) -> Parts:
    def attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
        # The model merges the heads again, rightly, so they are split for that.
        return split_heads(function(masked_attention(q, k, v, mask)), len(q))

    return replacement("masked_attention", attention)


#: For each target that the model computes: how to turn a function for it into parts of the model.
PLACES: dict[str, Callable[[Function], Parts]] = {
    **{step: partial(replacement, step) for step in STEPS},
    # No mistake here mixes texts, so they can be computed at once.
    "attention": partial(replacement, "attention", all_texts=True),
    "attention_formula": partial(replacement, "attention", all_texts=True),
    "streaming_attention": _in_blocks,
    "scale_for": lambda function: _with_factor(lambda n_k: function(CONFIG.d_k)),
    "head_scale": lambda function: _with_factor(
        lambda n_k: function(CONFIG.d_model, CONFIG.n_heads, n_k)
    ),
    # √d_k is a temperature: it divides the raw scores.
    "tempered_softmax": lambda function: replacement(
        "softmax", lambda scores: function(scores * _ROOT, _ROOT)
    ),
    "combined_mask": _as_both_masks,
    "mask_from_key_padding": lambda function: replacement(
        "padding_mask", lambda lengths, n_k: function(np.arange(n_k) >= lengths[:, None])
    ),
    "split_heads": _split_by,
    "merge_heads": _merged_by,
}


@cache
def held_out_sentences() -> tuple[Sentence, ...]:
    """Return the sentences on which effects are measured; none occurred in training.

    Examples
    --------
    >>> print(held_out_sentences()[1])
    the dog under the owl beside the cat behind the owls knits .
    """
    rng = np.random.default_rng(SEED)
    return tuple(draw_sentences(N_SENTENCES, rng, *SKILLS, held_out=True))


@cache
def _right_logits() -> Array:
    return answer_logits(trained_model(), held_out_sentences())


def insertion_effect(mistake: Mistake, sentences: Sequence[Sentence] | None = None) -> Effect:
    """Return what the trained model does with a mistake in place of the right function.

    Parameters
    ----------
    mistake : Mistake
        Its target is one of `PLACES`.
    sentences : sequence of Sentence, optional
        Default: `held_out_sentences`. They are read whole, in padded batches; word by word, with
        a cache, where the mistake is in the mask for a cache.

    Returns
    -------
    Effect

    Raises
    ------
    ValueError
        If the model does not compute the mistake's target.

    Examples
    --------
    >>> from attn_lib.course.mistakes import catalogue
    >>> overflowing = next(m for m in catalogue() if m.id == "softmax-that-overflows")
    >>> effect = insertion_effect(overflowing)
    >>> effect.accuracy, effect.moved < 1e-3
    ({'recall': 1.0, 'agreement': 1.0}, True)
    """
    if mistake.target not in PLACES:
        raise ValueError(
            f"insertion_effect: expected a mistake in one of {', '.join(PLACES)}, which the "
            f"model computes, got one in {mistake.target}."
        )
    if sentences is None:
        sentences, right = held_out_sentences(), _right_logits()
    else:
        right = answer_logits(trained_model(), sentences)
    parts = PLACES[mistake.target](mistake.wrong)
    reading: Reading = "word by word" if mistake.target == "cached_causal_mask" else "whole"
    try:
        wrong = answer_logits(trained_model(), sentences, parts=parts, reading=reading)
    except ValueError:  # the shapes do not fit
        return Effect({}, float("nan"))
    return Effect(shares_right(wrong, sentences), float(np.abs(wrong - right).max()))
