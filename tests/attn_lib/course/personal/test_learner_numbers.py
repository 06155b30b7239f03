"""A change of the course does not change learners' numbers."""

from __future__ import annotations

import json

import numpy as np

from tests.attn_lib.course.personal.learner_numbers import LEARNERS, TABLE, digests, drawn, plain

CHANGED = (
    "Learners' numbers have changed, so right answers handed in before would lose points. Undo "
    "the change. Only between two terms may you keep it: then write the table again, with "
    "`python -m tests.attn_lib.course.personal.learner_numbers --write`, and raise the major "
    "version."
)


def test_learners_keep_their_numbers():
    known, now = json.loads(TABLE.read_text(encoding="utf-8")), digests()
    assert [name for name in known if known[name] != now.get(name)] == [], CHANGED
    assert now.keys() == known.keys(), (
        "A function was added or removed: write the table again, with --write."
    )


def test_learners_have_different_numbers():
    functions = dict(drawn())
    assert len(functions) > 20
    for name, draw in functions.items():
        assert len({json.dumps(plain(draw(learner))) for learner in LEARNERS}) > 4, name


def test_rounding_does_not_count_as_a_change():
    assert plain((np.array([0.1 + 0.2]), 3, "a", np.int64(4))) == [[0.3], 3, "a", 4.0]
    assert plain([0.3, True]) == [0.3, True]
