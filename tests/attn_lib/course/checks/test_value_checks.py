"""The reports of checks on values that are computed, typed in or chosen."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks, ChecksFailed
from attn_lib.course.checks.comparison import difference
from attn_lib.course.checks.remote import Remote
from tests.attn_lib.course.checks.telling import report_of, verdict

Q, K = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])


class Generator(Remote):
    """Represents a generator in another process."""

    type_name = "generator"


def said_of(value, method, *args, **options) -> str:
    return verdict(method, value, *args, name="x", **options)


class TestValue:
    @pytest.mark.parametrize("typed", [[0.893, 0.107], (0.893, 0.107), np.array([0.8934, 0.1066])])
    def test_decimals(self, typed):
        args = (Q, K[:2], np.eye(2))
        options = {"target": "attention", "args": args, "row": 0, "decimals": 3}
        assert said_of(typed, "value", **options) == "ok"

    @pytest.mark.parametrize("typed", [[0.891, 0.107], [0.89, 0.11], [0.893, 0.109]])
    def test_error_larger_than_the_decimals_allow(self, typed):
        args = (Q, K[:2], np.eye(2))
        options = {"target": "attention", "args": args, "row": 0, "decimals": 3}
        assert "entries differ" in said_of(typed, "value", **options)

    def test_a_row_is_compared_with_the_same_row_of_the_mistakes(self):
        options = {"target": "scaled_scores", "args": (Q, K), "row": 0, "decimals": 3}
        assert said_of([3.536, 1.414, -0.707], "value", **options) == "ok"
        said = said_of([5, 2, -1], "value", **options)
        assert "entry [0]: expected 3.53553, got 5 (3 of 3 entries differ)." in said
        assert "(no-scale; see the book, variance-growth#why-the-root)" in said

    def test_missing(self):
        check = Checks({})
        check.part("it", points=1)
        check.value("x", expected=3)
        assert "x: not there yet." in report_of(check)

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ([1, 2], "ok"),
            (np.array([1.5, 2]), "ok"),
            ([1, 2, 3], "expected 2 numbers, got 3."),
            ([[1, 2]], "expected shape (2,), got (1, 2)."),
            (["1", "2"], "expected 2 numbers, but entry [0] is the text '1'. Write it without"),
            (Generator(), "expected 2 numbers, got generator."),
            (..., "expected 2 numbers, got the placeholder `...`. Fill it in."),
            ([1, np.inf], "expected finite numbers, got inf at [1] (1 of 2 entries)."),
        ],
    )
    def test_form(self, value, told):
        assert told in said_of(value, "form", (2,))

    def test_form_of_a_number(self):
        assert said_of(0.5, "form") == "ok"
        told = "expected a number, got the text '0.5'. Write it without quotes: 0.5."
        assert told in said_of("0.5", "form")

    @pytest.mark.parametrize("value", [[0.4, 0.4], "x", None, [[1]], object()])
    def test_a_condition_that_does_not_hold(self, value):
        check = Checks({"x": value})
        check.part("it", points=1)
        check.holds("x", lambda x: x.sum() == 1 and x.ndim == 1, "they have to sum to 1.")
        assert report_of(check) == "it: not yet - x: they have to sum to 1."

    def test_a_condition_that_holds(self):
        assert said_of([0.5, 0.5], "holds", lambda x: x.sum() == 1, "no") == "ok"

    @pytest.mark.parametrize("letter", ["B", "b", " B "])
    def test_the_right_letter(self, letter):
        assert said_of(letter, "choice", "ABC", right="B") == "ok"

    @pytest.mark.parametrize("letter", ["", "AB", "D", None, 1, ["B"], np.array("B")])
    def test_no_letter(self, letter):
        check = Checks({"x": letter})
        check.part("it", points=1)
        check.choice("x", "ABC")
        assert 'x: expected one of the letters "A", "B", "C", got' in report_of(check)

    def test_a_wrong_letter_is_explained(self):
        said = said_of("a", "choice", "ABC", right="B", because={"A": "A is a query."})
        assert said == 'it: not yet - x: "A" is not right. A is a query.'
        assert said_of("C", "choice", "ABC", right="B").endswith('"C" is not right.')

    def test_a_check_of_the_form_does_not_say_right(self, capsys):
        check = Checks({"x": [1, 2], "y": "A"})
        check.part("numbers", points=1)
        check.form("x", (2,))
        check.part("letter", points=1)
        check.choice("y", "AB")
        check.finish()
        told = "filled in. Whether it is right is checked when it is graded."
        assert capsys.readouterr().out == f"numbers: {told}\nletter: {told}\n"

    def test_while_grading_the_form_is_not_confirmed(self, capsys, monkeypatch):
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
        check = Checks({"x": [1, 2]})
        check.part("numbers", points=1)
        check.form("x", (2,))
        assert check.finish() == 1.0
        assert capsys.readouterr().out == "numbers: ok\n"

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (
                np.array([[1.0, None, 2.0]]),
                "x: expected an array of shape (1, 3), but entry [0, 1] is None.",
            ),
            (
                np.ma.masked_greater([[1.0, 5.0, 2.0]], 3),
                "got a masked array. Fill the masked entries: x.filled(0).",
            ),
        ],
    )
    def test_arrays_that_are_not_numbers(self, value, told):
        assert told in said_of(value, "value", expected=[[1.0, 5.0, 2.0]])

    def test_a_masked_array_without_masked_entries_is_an_array(self):
        assert said_of(np.ma.array([1.0, 2.0]), "value", expected=[1.0, 2.0]) == "ok"


def test_difference_compares_within_its_tolerance():
    expected = np.array([1.0, 100.0])
    assert difference([1.0, 100.9], expected, (1e-2, 0.0)) == ""
    assert difference([1.0, 101.1], expected, (1e-2, 0.0)) == (
        "entry [1]: expected 100, got 101.1 (1 of 2 entries differ)."
    )


def test_a_prediction_is_right_within_the_tolerance():
    check = Checks({"x": 16.4})
    check.part("near", points=1)
    check.value("x", expected=16.0, within=0.5)
    check.part("not near", points=1)
    check.value("x", expected=16.0, within=0.3)
    with pytest.raises(
        ChecksFailed, match=r"near: ok, worth 1 point\nnot near: not yet\n  - x: expected 16, got"
    ):
        check.finish()
