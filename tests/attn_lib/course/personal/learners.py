"""Learners to draw numbers for, and what their numbers cannot show."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes import appearances
from attn_lib.course.personal.core import HAND_MARGIN
from attn_lib.course.targets import TARGETS

LEARNERS = [f"learner {number}" for number in range(100)]


def hidden_mistakes(target, args, margin=HAND_MARGIN, part=...):
    """Return the ids of the mistakes that move no number of an answer by more than `margin`.

    Only the `part` of the answer that this index takes is looked at.
    """
    hidden = set()
    with np.errstate(all="ignore"):
        right = np.asarray(TARGETS[target](*args))
        for mistake, wrong in appearances(target):
            answer = np.asarray(wrong(*args))
            if answer.shape == right.shape and np.all(np.abs(answer - right)[part] <= margin):
                hidden.add(mistake.id)
    return hidden
