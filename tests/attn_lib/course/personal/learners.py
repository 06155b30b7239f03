"""Learners to draw numbers for, and what their numbers show."""

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
    """Return the ids of the mistakes that move no number of an answer by more than `margin`.

    Only the `part` of the answer that this index takes is looked at.
    """
    hidden = set()
    with np.errstate(all="ignore"):
        right = np.asarray(TARGETS[target](*args))
        for mistake, wrong in appearances(target):
            try:
                answer = np.asarray(wrong(*args))
            except ValueError:  # its shapes do not multiply, which shows
                continue
            if answer.shape == right.shape and np.all(np.abs(answer - right)[part] <= margin):
                hidden.add(mistake.id)
    return hidden


def check_shown(
    target, arguments, named=(), *, left_out=None, margin=HAND_MARGIN, part=lambda learner: ...
):
    """Check which mistakes the numbers of all learners show.

    `arguments` and `part` take a learner. The mistakes `named` have to show for every learner.
    `left_out` has the others that do not show for somebody, each with the reason.
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
    assert set(left_out) - somewhere == set(), "These show for everybody: take them out here."
