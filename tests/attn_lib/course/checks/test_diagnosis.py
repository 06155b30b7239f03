"""A cause is named only if it agrees with all results of an answer."""

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


def mistakes_named(function, *calls, target="softmax") -> list[str]:
    """Return the mistakes named when these calls are checked, each in a separate part."""
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
    def test_it_is_named_if_it_explains_all_calls(self):
        assert mistakes_named(softmax_along(-2), PLAIN, BATCH) == ["softmax-over-queries"]
        assert mistakes_named(overflows, PLAIN, LARGE, ALL_LARGE) == ["softmax-that-overflows"]

    def test_another_wrong_answer_contradicts_it(self):
        def everything(scores):
            return softmax_along(None)(scores) if scores.ndim == 2 else 0 * scores

        assert mistakes_named(everything, PLAIN) == ["softmax-over-everything"]
        assert mistakes_named(everything, PLAIN, BATCH) == []
        assert mistakes_named(everything, BATCH, PLAIN) == []

    def test_a_right_answer_contradicts_it(self):
        far_apart = np.array([[0.0, 1000.0, -1000.0], [3.0, 3.5, 1.0]])
        assert mistakes_named(shifted_by_the_mean, far_apart) == ["softmax-that-overflows"]
        assert mistakes_named(shifted_by_the_mean, far_apart, ALL_LARGE) == []
        assert mistakes_named(shifted_by_the_mean, ALL_LARGE, far_apart) == []

    def test_a_call_that_raises_does_not_contradict_it(self):
        assert mistakes_named(softmax_along(-2), ROW, PLAIN) == ["softmax-over-queries"]

    @pytest.mark.parametrize("scores", [LARGE, ALL_LARGE], ids=["some numbers", "no numbers"])
    def test_nan_counts_only_together_with_numbers(self, scores):
        named = mistakes_named(overflows, scores)
        assert named == ([] if scores is ALL_LARGE else ["softmax-that-overflows"])

    def test_another_right_call_provides_enough_numbers(self):
        assert mistakes_named(overflows, PLAIN, ALL_LARGE) == ["softmax-that-overflows"]

    def test_an_expected_infinity_counts_as_a_number(self):
        def times_zero(allowed):
            return (1.0 - allowed) * -np.inf

        allowed = np.array([[True, False, True]])
        assert mistakes_named(times_zero, allowed, target="additive_mask") == [
            "minus-infinity-times-zero"
        ]

    def test_answers_with_other_names_are_ignored(self):
        check = Checks({"f": softmax_along(-2), "g": softmax_along(-1)})
        check.part("it", points=1)
        check.call("f", PLAIN, target="softmax")
        check.call("g", PLAIN, target="softmax")
        assert mistakes_in(check) == ["softmax-over-queries"]

    def test_it_is_named_in_every_part_where_it_shows(self):
        check = Checks({"f": softmax_along(-2)})
        for number, scores in enumerate([PLAIN, BATCH]):
            check.part(f"part {number}", points=1)
            check.call("f", scores, target="softmax")
        assert [part.findings[0].mistake for part in check.parts] == ["softmax-over-queries"] * 2

    def test_a_later_call_can_withdraw_it(self):
        check = Checks({"f": lambda s: softmax_along(None)(s) if s.ndim == 2 else 0 * s})
        check.part("it", points=1)
        check.call("f", PLAIN, target="softmax")
        assert check.parts[0].findings[0].mistake == "softmax-over-everything"
        check.call("f", ROW, target="softmax")
        assert check.parts[0].findings[0].mistake is None
        assert "Likely cause" not in report_of(check)


class TestSpellings:
    @pytest.mark.parametrize("axis", [0, -2])
    def test_axes_may_be_counted_from_either_end(self, axis):
        assert mistakes_named(softmax_along(axis), PLAIN, BATCH) == ["softmax-over-queries"]

    def test_one_spelling_must_explain_all_calls(self):
        def both(scores):
            return softmax_along(0 if scores.ndim == 3 else -2)(scores)

        assert mistakes_named(both, PLAIN, BATCH) == ["softmax-over-queries"]
        assert mistakes_named(both, PLAIN, BATCH, BATCH[None]) == []

    def test_spellings_agree_on_two_axes(self):
        forms = [form for mistake, form in spellings("softmax") if mistake.also]
        assert len(forms) == 2
        np.testing.assert_allclose(forms[0](PLAIN), forms[1](PLAIN))
        assert not np.allclose(forms[0](BATCH), forms[1](BATCH))
