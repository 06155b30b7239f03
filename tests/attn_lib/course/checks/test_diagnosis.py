"""Which cause is named for several answers: one that agrees with all of them, or none."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks
from attn_lib.course.mistakes import spellings
from tests.attn_lib.course.checks.telling import mistakes_in, report_of

PLAIN = np.array([[1.0, 5.0, 2.0], [0.5, -1.0, 0.0]])
LARGE = np.array([[1001.0, 1005.0, 1002.0], [3.0, 3.5, 1.0]])
ALL_LARGE = 1000 + PLAIN
BATCH = np.stack([PLAIN, -PLAIN, 2 * PLAIN])
ROW = PLAIN[0]


def told_of(function, *calls, target="softmax") -> list[str]:
    """Return the mistakes named when these calls are checked, each in a part of its own."""
    check = Checks({"f": function})
    for number, scores in enumerate(calls):
        check.part(f"part {number}", points=1)
        check.call("f", scores, target=target)
    with np.errstate(all="ignore"):
        return mistakes_in(check)


def softmax_along(axis):
    def softmax(scores):
        exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)

    return softmax


def overflows(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def shifted_by_the_mean(scores):
    exponentials = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


class TestCause:
    def test_it_is_named_where_it_explains_all_calls(self):
        assert told_of(softmax_along(-2), PLAIN, BATCH) == ["softmax-over-queries"]
        assert told_of(overflows, PLAIN, LARGE, ALL_LARGE) == ["softmax-that-overflows"]

    def test_another_wrong_answer_contradicts_it(self):
        def everything(scores):
            return softmax_along(None)(scores) if scores.ndim == 2 else 0 * scores

        assert told_of(everything, PLAIN) == ["softmax-over-everything"]
        assert told_of(everything, PLAIN, BATCH) == []
        assert told_of(everything, BATCH, PLAIN) == []

    def test_a_right_answer_contradicts_it(self):
        far_apart = np.array([[0.0, 1000.0, -1000.0], [3.0, 3.5, 1.0]])
        assert told_of(shifted_by_the_mean, far_apart) == ["softmax-that-overflows"]
        assert told_of(shifted_by_the_mean, far_apart, ALL_LARGE) == []
        assert told_of(shifted_by_the_mean, ALL_LARGE, far_apart) == []

    def test_a_call_that_raises_does_not(self):
        assert told_of(softmax_along(-2), ROW, PLAIN) == ["softmax-over-queries"]

    @pytest.mark.parametrize("scores", [LARGE, ALL_LARGE], ids=["some numbers", "no numbers"])
    def test_nan_is_trusted_beside_numbers_only(self, scores):
        named = told_of(overflows, scores)
        assert named == ([] if scores is ALL_LARGE else ["softmax-that-overflows"])

    def test_a_right_call_beside_is_enough_numbers(self):
        assert told_of(overflows, PLAIN, ALL_LARGE) == ["softmax-that-overflows"]

    def test_an_infinity_in_its_place_is_a_number(self):
        def times_zero(allowed):
            return (1.0 - allowed) * -np.inf

        allowed = np.array([[True, False, True]])
        assert told_of(times_zero, allowed, target="additive_mask") == ["minus-infinity-times-zero"]

    def test_answers_of_other_names_have_no_say(self):
        check = Checks({"f": softmax_along(-2), "g": softmax_along(-1)})
        check.part("it", points=1)
        check.call("f", PLAIN, target="softmax")
        check.call("g", PLAIN, target="softmax")
        assert mistakes_in(check) == ["softmax-over-queries"]

    def test_it_is_told_wherever_it_shows(self):
        check = Checks({"f": softmax_along(-2)})
        for number, scores in enumerate([PLAIN, BATCH]):
            check.part(f"part {number}", points=1)
            check.call("f", scores, target="softmax")
        assert [part.findings[0].mistake for part in check.parts] == ["softmax-over-queries"] * 2

    def test_what_is_asked_later_takes_it_back(self):
        check = Checks({"f": lambda s: softmax_along(None)(s) if s.ndim == 2 else 0 * s})
        check.part("it", points=1)
        check.call("f", PLAIN, target="softmax")
        assert check.parts[0].findings[0].mistake == "softmax-over-everything"
        check.call("f", ROW, target="softmax")
        assert check.parts[0].findings[0].mistake is None
        assert "Likely cause" not in report_of(check)


class TestSpellings:
    @pytest.mark.parametrize("axis", [0, -2])
    def test_columns_are_columns_however_they_are_counted(self, axis):
        assert told_of(softmax_along(axis), PLAIN, BATCH) == ["softmax-over-queries"]

    def test_one_of_them_has_to_explain_all(self):
        def both(scores):
            return softmax_along(0 if scores.ndim == 3 else -2)(scores)

        assert told_of(both, PLAIN, BATCH) == ["softmax-over-queries"]
        assert told_of(both, PLAIN, BATCH, BATCH[None]) == []

    def test_they_give_the_same_on_two_axes(self):
        forms = [form for mistake, form in spellings("softmax") if mistake.also]
        assert len(forms) == 2
        np.testing.assert_allclose(forms[0](PLAIN), forms[1](PLAIN))
        assert not np.allclose(forms[0](BATCH), forms[1](BATCH))
