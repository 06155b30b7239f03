"""Learners to draw numbers for, and a check of the mistakes that their numbers reveal."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes import appearances
from attn_lib.course.personal.core import HAND_MARGIN
from attn_lib.course.targets import TARGETS

LEARNERS = [f"learner {number}" for number in range(100)]

NOT_DECIDED = (
    "The numbers of some learners do not show these mistakes. That is allowed, and changes no "
    "numbers: enter each in `left_out` here, with the reason. Or, between two terms, name it "
    "where the numbers are drawn, in attn_lib/course/personal."
)


def hidden_mistakes(target, args, margin=HAND_MARGIN, part=...):
    """Return the ids of the mistakes that change no number of an answer by more than `margin`.

    `part` is an index; only `answer[part]` is compared.
    """
    hidden = set()
    with np.errstate(all="ignore"):
        right = np.asarray(TARGETS[target](*args))
        for mistake, wrong in appearances(target):
            try:
                answer = np.asarray(wrong(*args))
            except ValueError:  # the shapes do not fit, so the mistake shows
                continue
            if answer.shape == right.shape and np.all(np.abs(answer - right)[part] <= margin):
                hidden.add(mistake.id)
    return hidden


def check_shown(
    target, arguments, named=(), *, left_out=None, margin=HAND_MARGIN, part=lambda learner: ...
):
    """Check which mistakes the learners' numbers reveal.

    `arguments` and `part` are functions of the learner. The mistakes in `named` must show for
    every learner. `left_out` maps each other mistake that does not show for some learner to the
    reason.
    """
    left_out = left_out or {}
    hidden = {
        learner: hidden_mistakes(target, arguments(learner), margin, part(learner))
        for learner in LEARNERS
    }
    unshown = {learner: ids & set(named) for learner, ids in hidden.items() if ids & set(named)}
    assert unshown == {}, target
    somewhere = set().union(*hidden.values())
    assert somewhere - set(left_out) == set(), NOT_DECIDED
    assert set(left_out) - somewhere == set(), (
        "These show for every learner: remove them from left_out."
    )
