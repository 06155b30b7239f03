"""A typed answer that follows from a wrong one counts, if that one comes from the own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks
from attn_lib.course.personal.dot_products import two_keys
from attn_lib.course.personal.misreadings import Asked
from tests.attn_lib.course.checks.telling import report_of

NUMBERS = two_keys("ada")
QUERY, KEYS, VALUES = (array.astype(float) for array in NUMBERS)
RAW = KEYS @ QUERY


def softmax(scores):
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


def report(raw, weights=None, output=None):
    """Return the points of three steps by hand, and the report."""
    raw = np.asarray(raw, dtype=float)
    weights = softmax(raw / 2**0.5) if weights is None else np.asarray(weights)
    output = weights @ VALUES if output is None else np.asarray(output)
    check = Checks({"raw_scores": raw, "weights": weights, "output": output})
    check.readings("dot_products.of_two_keys", NUMBERS)
    right = softmax(RAW / 2**0.5)
    check.part("raw scores", points=1)
    check.value("raw_scores", target="score_matrix", args=(QUERY[None], KEYS), row=0, decimals=3)
    check.part("weights", points=1)
    follows = {"raw_scores": lambda scores: softmax(scores / 2**0.5)}
    check.value("weights", expected=right, decimals=3, after=follows)
    check.part("output", points=1)
    follows = {"weights": lambda weights: weights @ VALUES}
    check.value("output", expected=right @ VALUES, decimals=3, after=follows)
    return [part.passed for part in check.parts], report_of(check)


class TestWhatCounts:
    def test_right_answers_have_no_remark(self):
        passed, told = report(RAW)
        assert passed == [True, True, True]
        assert told == "ok"

    @pytest.mark.parametrize(
        "raw",
        [
            QUERY @ KEYS,  # columns for keys
            RAW[::-1],
            -RAW,
            10 * RAW,
            2 * RAW,
            1.1 * RAW,
            [RAW[0], RAW[1] + 5],
            [RAW[0] - 1000, RAW[1]],
        ],
        ids=str,
    )
    def test_a_slip_costs_its_own_point_only(self, raw):
        passed, told = report(raw)
        assert passed == [False, True, True]
        assert "weights: it follows from your own raw_scores, so it counts." in told
        assert "output: it follows from your own weights, so it counts." in told

    @pytest.mark.parametrize("raw", [[0, 0], [5, 2], [1, 1], [1e6, 7], [RAW[0], RAW[0]]], ids=str)
    def test_numbers_of_nowhere_earn_nothing_however_consistent(self, raw):
        passed, told = report(raw)
        assert passed == [False, False, False]
        assert "It follows from your own raw_scores: put that right first." in told
        assert "so it counts" not in told

    def test_what_does_not_follow_is_wrong(self):
        passed, told = report(-RAW, weights=[0.6, 0.4])
        assert passed[:2] == [False, False]
        assert "own raw_scores" not in told

    @pytest.mark.parametrize("raw", [[np.nan, 1], [np.inf, 1]], ids=str)
    def test_after_a_step_that_is_no_number_the_right_answer_counts(self, raw):
        right = softmax(RAW / 2**0.5)
        assert report(raw, right, right @ VALUES)[0] == [False, True, True]
        assert report(raw, [0.4, 0.6], [1, 2])[0] == [False, False, False]

    def test_steps_may_be_rounded_when_they_are_typed(self):
        wrong = softmax(-RAW / 2**0.5)
        assert report(-RAW, wrong.round(3), wrong @ VALUES)[0] == [False, True, True]
        off = wrong @ VALUES + [0.05, 0]
        assert report(-RAW, wrong.round(3), off)[0] == [False, True, False]

    def test_zeros_come_from_no_numbers(self):
        """A right answer that has a zero in it does not make zeros a slip."""
        check = Checks({"first": np.zeros(2), "second": np.zeros(2)})
        check.part("both", points=1)
        check.value("first", expected=[0.0, 3.0], decimals=3)
        check.value("second", expected=[0.0, 6.0], decimals=3, after={"first": lambda x: 2 * x})
        assert "so it counts" not in report_of(check)


class TestLetters:
    def choose(self, side, total):
        check = Checks({"side": side, "total": total})
        check.part("side", points=1)
        check.choice("side", "RC", right="R")
        check.part("total", points=1)
        follows = {"side": lambda side: {"R": 1.0, "C": 7.0}[side]}
        check.value("total", expected=1.0, decimals=2, after=follows)
        return [part.passed for part in check.parts]

    def test_a_number_may_follow_from_a_wrong_letter(self):
        assert self.choose("C", 7.0) == [False, True]
        assert self.choose("C", 6.0) == [False, False]
        assert self.choose("R", 7.0) == [True, False]
        assert self.choose("Z", 7.0) == [False, False]

    def test_a_letter_may_follow_from_a_wrong_number(self):
        check = Checks({"away": 0.69, "verdict": "A"})
        check.part("both", points=1)
        check.value("away", expected=6.9, decimals=2)
        follows = {"away": lambda away: "A" if away < 3 else "B"}
        check.choice("verdict", "AB", right="B", because={"A": "No."}, after=follows)
        assert "verdict: it follows from your own away, so it counts." in report_of(check)


def test_a_function_that_cannot_use_the_step_is_no_error():
    check = Checks({"first": [1.0, 9.0], "second": 4.0})
    check.part("both", points=1)
    check.value("first", expected=[1.0, 2.0], decimals=3)
    check.value("second", expected=1.0, decimals=3, after={"first": lambda x: VALUES[int(x[1])]})
    assert "second: expected 1, got 4." in report_of(check)


class TestCauses:
    """What is said of a number by hand that follows from nothing."""

    def told(self, weights):
        check = Checks({"weights": np.asarray(weights)})
        check.readings("dot_products.of_two_keys", NUMBERS)
        check.part("weights", points=1)
        asked = {"target": "attention", "args": (QUERY[None], KEYS, np.eye(2)), "row": 0}
        check.value("weights", **asked, decimals=3)
        return report_of(check)

    def test_a_mistake_that_gives_each_digit_is_named(self):
        assert "(no-scale; see the book" in self.told(softmax(RAW).round(3))

    def test_a_mistake_that_gives_nearly_these_digits_is_not_named(self):
        off = np.add(softmax(RAW), [0.0009, -0.0009])
        assert "Likely cause" not in self.told(off)

    def test_a_reading_is_named_that_no_mistake_is(self):
        columns = softmax(QUERY @ KEYS / 2**0.5).round(3)
        assert "Likely cause: columns taken for keys." in self.told(columns)

    def test_numbers_that_are_rounded_too_far_get_no_cause_but_rounding(self):
        told = self.told(softmax(RAW / 2**0.5).round(1))
        assert "rounded" in told or "rounds" in told
        assert told.count("(weights-rounded-midway; see the book") == told.count("Likely cause")

    def test_of_two_readings_with_the_same_digits_none_is_named(self):
        check = Checks({"total": 0.5})
        check._ledger.steps.readings = {
            "total": Asked(0.9, {"one": 0.5001, "other": 0.4999}, decimals=3)
        }
        check.part("total", points=1)
        check.value("total", expected=0.9, decimals=3)
        assert report_of(check) == "total: not yet - total: expected 0.9, got 0.5."
