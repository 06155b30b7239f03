"""The measured effects of a mistake in sentences, as the museum shows them."""

from __future__ import annotations

import math
from typing import Literal

from attn_lib.course.effects.insertion import Effect
from attn_lib.course.effects.measured import measured
from attn_lib.course.effects.retraining import Retraining
from attn_lib.model import CHANCE
from attn_lib.model.language import Skill

#: What a mistake does in the trained model, from no change to no answer.
Outcome = Literal["invisible", "unnoticed", "noticed", "NaN", "stops"]
#: What becomes of a mistake in training.
Repair = Literal["repaired", "looks ahead", "not repaired"]

#: Logits that move by less have not moved: rounding errors of float32 are a hundred times smaller.
UNMOVED = 1e-3
#: Training has repaired a mistake if every accuracy reaches this.
REPAIRED = 0.98

_SMALL = "no score here is large enough to overflow"
_NO_EMPTY_ROW = "no row here is without an allowed key"
_PADDING_AFTER = (
    "the padding comes after the words: the causal mask hides it from them, and nobody reads "
    "its own rows"
)
#: Why mistakes are invisible in the trained model.
WHY_INVISIBLE = {
    "softmax-that-overflows": _SMALL,
    "softmax-shifted-by-overall-maximum": _SMALL,
    "renormalised-after-the-mask": _SMALL,
    "large-negative-added": _NO_EMPTY_ROW,
    "large-negative-fill": _NO_EMPTY_ROW,
    "empty-rows-become-nan": _NO_EMPTY_ROW,
    "padding-mask-one-too-long": _PADDING_AFTER,
    "padding-mask-on-the-queries": _PADDING_AFTER,
    "padding-mask-of-the-longest": _PADDING_AFTER,
    "causality-alone": _PADDING_AFTER,
    "padded-queries-hidden": _PADDING_AFTER,
    "key-padding-on-the-queries": _PADDING_AFTER,
    "causal-mask-aligned-at-the-end": "without a cache each query has its key, so both "
    "alignments are the same",
    "cache-mask-one-too-far": "the new word is the last one, so there is no next key to see",
    "scale-by-width-of-values": "in this model a value is as wide as a key",
    "scale-for-unit-variances": "the model too divides by √d_k, whatever the variances are",
}


def outcome(effect: Effect) -> Outcome:
    """Return which kind of effect it is.

    Parameters
    ----------
    effect : Effect

    Returns
    -------
    {"invisible", "unnoticed", "noticed", "NaN", "stops"}
        ``"unnoticed"``: logits move, and every answer stays right.

    Examples
    --------
    >>> outcome(measured().inserted["scale-by-model-width"])
    'unnoticed'
    """
    if not effect.accuracy:
        return "stops"
    if math.isnan(effect.moved):
        return "NaN"
    if effect.accuracy != measured().right.reading:
        return "noticed"
    return "invisible" if effect.moved < UNMOVED else "unnoticed"


def percent(share: float) -> str:
    r"""Return a share in whole percents, with decimals if it would read as 0 or 100 but is not.

    Examples
    --------
    >>> percent(0.3621), percent(0.9967), percent(1.0)
    ('36\xa0%', '99.7\xa0%', '100\xa0%')
    """
    decimals = 0
    while 0 < share < 1 and float(f"{100 * share:.{decimals}f}") in (0, 100):
        decimals += 1
    return f"{100 * share:.{decimals}f}\u00a0%"


def insertion_in_words(id: str) -> str | None:
    r"""Return what a mistake does in the trained model, or None if it cannot be put there.

    Parameters
    ----------
    id : str
        Of a catalogued mistake.

    Examples
    --------
    >>> print(insertion_in_words("masks-joined-by-or").replace("\xa0", " "))
    recall falls from 100 % to 48 % (chance 17 %), agreement from 100 % to 99.5 % (chance 50 %).
    """
    effect = measured().inserted.get(id)
    if effect is None:
        return None
    match outcome(effect):
        case "stops":
            return "it stops with an error, because shapes do not fit."
        case "NaN":
            return "logits become NaN, and no answer is right."
        case "invisible":
            return f"invisible, because {WHY_INVISIBLE[id]}."
        case "unnoticed":
            return f"no answer changes, although logits move by up to {effect.moved:.2g}."
        case _:
            return f"{_changes(effect)}."


def repair(retraining: Retraining) -> Repair:
    """Return whether training repairs a mistake that is there from the start.

    Parameters
    ----------
    retraining : Retraining

    Returns
    -------
    {"repaired", "looks ahead", "not repaired"}
        ``"repaired"``: every accuracy reaches `REPAIRED`. ``"looks ahead"``: only on whole
        sentences, where words that are still to come can be seen.
    """
    if min(retraining.reading.values()) < REPAIRED:
        return "not repaired"
    return "repaired" if min(retraining.writing.values()) >= REPAIRED else "looks ahead"


def retraining_in_words(id: str) -> str | None:
    r"""Return what becomes of a model trained with a mistake, or None if none was.

    Parameters
    ----------
    id : str
        Of a catalogued mistake.

    Examples
    --------
    >>> print(retraining_in_words("hard-attention").replace("\xa0", " "))
    the model does not learn both skills: recall 41 %, agreement 96 %.
    """
    retraining = measured().retrained.get(id)
    if retraining is None:
        return None
    reading = _shares(retraining.reading)
    match repair(retraining):
        case "not repaired":
            return f"the model does not learn both skills: {reading}."
        case "looks ahead":
            return (
                f"the model learns to look ahead: {reading} in whole sentences, but "
                f"{_shares(retraining.writing)} where the next words are still to be written."
            )
        case _:
            words = f"the model learns both skills: {reading}."
            if min(retraining.corrected.values()) < REPAIRED:
                words += (
                    " But its weights then rely on the mistake: with the right function in its "
                    f"place, {_shares(retraining.corrected)}."
                )
            return words


def _changes(effect: Effect) -> str:
    """Return the change of each accuracy; only the first that falls has a verb."""
    clauses, verb = [], "falls "
    for skill, right in measured().right.reading.items():
        share = effect.accuracy[skill]
        if share == right:
            clauses.append(f"{skill} stays {percent(right)}")
        else:
            chance = percent(CHANCE[skill])
            clauses.append(
                f"{skill} {verb}from {percent(right)} to {percent(share)} (chance {chance})"
            )
            verb = ""
    return ", ".join(clauses)


def _shares(accuracy: dict[Skill, float]) -> str:
    return ", ".join(f"{skill} {percent(share)}" for skill, share in accuracy.items())
