"""What a report says about an answer beyond its numbers: the next step, where it is known."""

from __future__ import annotations

import ast
import linecache
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from attn_lib.course.checks import Checks
from tests.attn_lib.course.checks.telling import report_of, verdict

RNG = np.random.default_rng(13)
Q, K, V = (RNG.normal(size=size) for size in ((3, 7), (5, 7), (5, 2)))
MASK = np.array([[True, False, True, True, False]] * 3)
STACKED = [np.stack([array, array]) for array in (Q, K, V)]


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def masked_attention(q, k, v, mask):
    scores = q @ k.T / 7**0.5
    scores = scores + (1 - mask) * -np.inf
    return softmax(scores) @ v


def not_written(scores):
    """Return the shares of each row."""
    # YOUR CODE HERE
    raise NotImplementedError()


def written_below_the_stub(scores):
    # YOUR CODE HERE
    raise NotImplementedError()
    return softmax(scores)


class TestErrors:
    @pytest.mark.parametrize(
        ("function", "args", "told"),
        [
            (lambda q, k: q @ k, (Q, K), "here one has length 5 and the other 7."),
            (lambda q, k: np.dot(q, k), (Q, K), "here one has length 7 and the other 5."),
            (lambda q, k: q @ k.T, STACKED[:2], ".swapaxes(-1, -2) swaps the last two."),
            (lambda q, k: q @ k.transpose(0, 2, 1), (Q, K), "Count axes from the end:"),
            (lambda q: q.sum(axis=2), (Q,), "Count axes from the end:"),
            (lambda q: q / q.sum(axis=-1), (Q,), "With keepdims=True it stays, with length 1."),
            (lambda q: np.arange(3) * q, (Q,), "x[..., None] adds one at the end."),
            (lambda q: float(q), (Q,), "np.exp or np.sqrt an array."),
            (lambda q: 1 if q > 0 else 0, (Q,), "for arrays: np.where, &, | and ~."),
            (lambda q: q + unheard_of, (Q,), "A function knows its arguments"),  # noqa: F821
        ],
    )
    def test_the_next_step_is_told(self, function, args, told):
        assert told in verdict("call", function, *args, expected=0.0)

    def test_other_shapes_are_not_blamed_on_a_sum(self):
        told = verdict("call", lambda q: q + np.ones(5), Q, expected=0.0)
        assert "A sum, mean or maximum" not in told

    def test_a_library_that_is_not_there_is_named_with_those_that_are(self):
        def imports(scores):
            from a_library_of_theirs import special

            return special.softmax(scores)

        told = verdict("call", imports, Q, expected=0.0)
        assert "a_library_of_theirs cannot be used. When graded there are Python's own" in told
        assert "modules, NumPy and matplotlib." in told


class TestNotWritten:
    def test_the_function_that_is_not_written_is_named(self):
        def calls(scores):
            return not_written(scores) @ V

        told = verdict("call", calls, Q @ K.T, expected=0.0)
        assert told == "it: not yet - f: it calls not_written, which is not written yet."
        assert verdict("call", not_written, Q, expected=0.0) == "it: not yet - f: not written yet."

    def test_an_answer_below_the_stub_is_seen(self):
        told = verdict("call", written_below_the_stub, Q, expected=0.0)
        assert "f: it still raises NotImplementedError (line " in told
        assert told.endswith("raise NotImplementedError()). Delete that line.")
        told = verdict("call", lambda q: written_below_the_stub(q), Q, expected=0.0)
        assert "f: written_below_the_stub still raises NotImplementedError (line " in told


class TestNotFinite:
    def test_zero_times_infinity_is_named_with_its_line(self):
        told = verdict("call", masked_attention, Q, K, V, MASK, target="masked_attention")
        assert "expected finite numbers, got nan at [0, 0] (6 of 6 entries)." in told
        assert ": scores = scores + (1 - mask) * -np.inf. 0 * inf is NaN, so" in told

    def test_an_overflow_is_named_with_its_line(self):
        def overflows(scores):
            shares = np.exp(scores)
            return shares / shares.sum(axis=-1, keepdims=True)

        told = verdict("call", overflows, Q + 1000, expected=softmax(Q))
        assert ": shares = np.exp(scores). np.exp of a number above 709 is too large" in told

    def test_no_line_is_named_if_the_result_is_finite(self):
        told = verdict("call", lambda q: np.nan_to_num(q * np.inf - np.inf), Q, expected=Q)
        assert "entry [0, 0]" in told
        assert "The first" not in told


class TestResults:
    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda *a: attention(*a).round(2), "the right result, rounded to 2 decimals."),
            (lambda *a: (100 * attention(*a)).round() / 100, "rounded to 2 decimals."),
            (lambda *a: attention(*a).T, "the right result, transposed"),
            (lambda *a: attention(*a)[None], "with an axis of length 1 too many."),
            (lambda *a: (attention(*a),), "It is a tuple of one: a comma at the end"),
            (lambda *a: (np.eye(3), attention(*a)), "Number 2 has the shape that is asked for."),
            (lambda *a: (10 * attention(*a)).astype(int), ""),
            (lambda *a: -attention(*a), "the right result with the opposite sign."),
            (lambda *a: attention(*a)[::-1], "These are the right numbers in other places:"),
            (lambda *a: 100 * attention(*a), "in percent; shares of 1 are asked for."),
            (lambda *a: attention(*a) * 7**0.5, "Each number is 2.646 times the right one."),
            (lambda *a: attention(*a) / -3, "Each number is -1/3 times the right one. Is a"),
            (lambda *a: attention(*a) / 1.1, "entries differ)."),
            (lambda *a: 0 * attention(*a), "entries differ)."),
        ],
    )
    def test_what_a_slip_makes_of_the_right_result(self, function, told):
        assert told in verdict("call", function, Q, K, V, expected=attention(Q, K, V))

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda q: (q.mean(), q.var()), "It is a tuple of 2; a comma, as in `return a, b`,"),
            (lambda q: (q.var(),), "It is a tuple of one: a comma at the end of a line"),
        ],
    )
    def test_a_tuple_for_one_number(self, function, told):
        assert told in verdict("call", function, Q, expected=Q.var())

    def test_whole_numbers(self):
        right = np.array([[1.5, 2.7], [3.2, 0.1]])
        told = verdict("value", right.astype(int), name="x", expected=right)
        assert "the right result without its decimals" in told

    @pytest.mark.parametrize(
        ("given", "right", "told"),
        [
            (0.3, 0.27, "This is the right number, rounded to 1 decimal."),
            (26, 26.0768, "This is the right number, rounded to whole numbers."),
            (7.0, 64.0, "expected 64, got 7."),
            (-2.5, 2.5, "This is the right number with the opposite sign."),
            (27.3, 0.273, "This is the right number in percent; shares of 1 are asked for."),
            (33554.432, 33554432, "This is the right number in another unit."),
            (2.5, 0.5, "expected 0.5, got 2.5."),
        ],
    )
    def test_numbers(self, given, right, told):
        assert told in verdict("value", given, name="x", expected=right)

    def test_the_root_of_a_variance(self):
        told = verdict("value", 8.0, name="variance", expected=64.0)
        assert "This is the square root of the right number. The root of a variance is" in told
        told = verdict("value", 64.0, name="sd", expected=8.0)
        assert "This is the square of the right number. The square of a standard" in told

    def test_the_root_of_another_number(self):
        assert (
            verdict("value", 7.0, name="x", expected=49.0) == "it: not yet - x: expected 49, got 7."
        )
        told = verdict("call", lambda: np.array([1.5, 7.0]), expected=[2.25, 49.0])
        assert told.endswith("This is the square root of the right result.")

    @pytest.mark.parametrize(
        ("given", "right", "told"),
        [
            (960.0, 7680.0, "The number is 1/8 times the right one. Is a factor missing, or one"),
            (64.0, 0.5, "expected 0.5, got 64."),  # a factor of 128 may be chance
            ([2, 4], [4, 8], "entries differ)."),  # ids
            ([5e-324, 0.0], [1e300, 1e-5], "entries differ)."),
            ([1e300, 1e-5], [5e-324, 0.25], "entries differ)."),
        ],
    )
    def test_factors_of_results(self, given, right, told):
        said = verdict("call", lambda: given, expected=right)
        assert told in said
        assert ("times the right one" in said) == ("times" in told)

    def test_numbers_that_differ_late_are_shown_with_enough_digits(self):
        told = verdict("value", 123456789, name="x", expected=123456780, within=1)
        assert "expected 123456780, got 123456789." in told

    def test_a_wide_tolerance_allows_no_hint_that_does_not_fit(self):
        told = verdict("value", 2.0, name="x", expected=3.0, within=0.5)
        assert told == "it: not yet - x: expected 3, got 2."

    def test_truth_values(self):
        told = verdict("value", np.eye(2), name="x", expected=np.eye(2) > 0)
        assert "expected True and False, got float64. A comparison such as i >= j gives" in told

    def test_what_is_no_letter_is_shown_in_one_line(self):
        told = verdict("choice", np.ones((40, 40)), "ABC", name="x")
        assert '"C", got array([[1., 1., 1., ..., 1., 1., 1.], [1… (' in told

    def test_a_named_mistake_comes_first(self):
        told = verdict("value", 8.0, name="x", target="score_variance", args=(64,))
        assert "(sd-for-variance; see the book" in told
        assert "square root" not in told


class TestTyped:
    @pytest.mark.parametrize(
        ("value", "shape", "told"),
        [
            ([0, 893, 0, 107], (2,), "with a comma, 0,893 is the two numbers 0 and 893."),
            ((0, 25), (), "with a comma, 0,25 is the two numbers 0 and 25."),
            ([0, 893, 1], (2,), "with a comma, 0,893 is the two numbers 0 and 893."),
            ([0.2, "0,8"], (2,), "entry [1] is the text '0,8'. Write it without quotes and with"),
            ([0.2, None], (2,), "entry [1] is None."),
            ([[1, 2], [3, len]], (2, 2), "entry [1, 1] is a function. To call it, write its"),
            ([0.2, ...], (2,), "entry [1] is the placeholder `...`. Fill it in."),
            ([0.2, {}], (2,), "entry [1] is a dict. Put the numbers into square brackets"),
            ([[0.2], [0.8]], (2,), "Each number stands in brackets of its own"),
            ("(2, 3)", (2,), "got the text '(2, 3)'. Write it without quotes."),
            ("1,234.5", (), "Write it without quotes and separators: 1234.5."),
            ([np.ma.masked, 0.2], (2,), "entry [0] is a masked array. Fill the masked entries:"),
            (np.array(["a", "b"]), (2,), "entry [0] is the text 'a'."),
            ("±5.66", (), "got the text '±5.66'. Write the number alone."),
            ("134.217.728", (), "Write it without quotes and separators: 134217728."),
        ],
    )
    def test_what_is_no_number_is_named(self, value, shape, told):
        assert told in verdict("form", value, shape, name="x")

    @pytest.mark.parametrize("text", ["1.234.56", "1.234,567", "5 / 2", "1e5"])
    def test_no_number_is_read_from_a_text_that_may_mean_another(self, text):
        assert verdict("form", text, (), name="x").endswith(f"got the text {text!r}.")

    @pytest.mark.parametrize(
        ("value", "shape", "told"),
        [
            ([(4, 3, 2)], (3,), "got (1, 3). It has one pair of brackets too many."),
            (np.zeros((4, 3, 2)), (3,), "If its shape is asked for, type the 3 numbers of that"),
            ((0.25,), (), "It is a tuple of one: a comma at the end of a line"),
        ],
    )
    def test_a_wrong_shape_is_explained(self, value, shape, told):
        assert told in verdict("form", value, shape, name="x")

    def test_an_array_with_another_number_of_axes_is_not_taken_for_a_shape(self):
        told = verdict("form", np.zeros((4, 3)), (3,), name="x")
        assert told.endswith("expected shape (3,), got (4, 3).")

    @pytest.mark.parametrize("value", [[2, 3, 4, 5, 6], [0.2, 0.3, 0.5]])
    def test_no_comma_is_suspected_in_other_lists(self, value):
        assert "comma" not in verdict("form", value, (len(value) - 1,), name="x")

    @pytest.mark.parametrize(
        "value",
        [
            [Fraction(1, 4), Fraction(3, 4)],
            [Decimal("0.25"), 0.75],
            np.array([Fraction(1, 4), Fraction(3, 4)]),
        ],
    )
    def test_exact_numbers_are_numbers(self, value):
        assert verdict("value", value, name="x", expected=[0.25, 0.75]) == "ok"
        assert "entry [0]: expected 1, got 0.25" in verdict(
            "value", value, name="x", expected=[1.0, 0.75]
        )


class TestLength:
    def test_a_part_shows_the_first_failed_call_of_an_answer(self):
        check = Checks({"f": masked_attention, "g": lambda q: q + len(q)})
        check.part("it", points=1)
        for q in (Q, Q[:2], 2 * Q, Q[1:]):
            check.call("f", q, K, V, MASK[: len(q)], target="masked_attention")
            check.call("g", q, expected=q)
        told = report_of(check)
        assert told.count("expected") == 2
        assert told.count("And 3 more of its checks failed.") == 2

    def test_equal_findings_that_no_call_explains_are_not_counted(self):
        check = Checks({"f": not_written})
        check.part("it", points=1)
        for _ in range(3):
            check.call("f", Q, expected=Q)
        assert report_of(check) == "it: not yet - f: not written yet."


class TestSurroundings:
    """A test cell at home defines its names among the learner's; a graded one does not."""

    TEST = """from attn_lib.course.checks import Checks
check = Checks(globals())
q, k, n = np.eye(2), np.eye(2), 2
check.part("it", points=1)
check.call("f", q, expected=np.eye(2))
"""

    def kernel(self, answer: str):
        """A shell that executes each statement of a cell on its own, as IPython does."""
        names = {"__name__": "__main__", "np": np}

        def execute(source: str, file: str) -> None:
            linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
            for statement in ast.parse(source).body:
                exec(compile(ast.Module([statement], []), file, "exec"), names)

        execute(answer, "<cell 1>")
        return names, lambda: execute(self.TEST, "<cell 2>")

    @pytest.mark.parametrize("name", ["q", "k"])
    def test_an_answer_does_not_see_what_a_test_cell_defines(self, name):
        names, run_test = self.kernel(f"def f(a):\n    return {name}")
        for _ in range(2):  # the names of the first time are still there
            run_test()
            (part,) = names["check"].parts
            assert f"NameError: name '{name}' is not defined" in part.findings[0].message
            assert np.array_equal(names[name], np.eye(2))

    def test_an_answer_sees_its_own_value_of_the_same_name(self):
        names, run_test = self.kernel("n = 1\nk = 2\ndef f(a):\n    return a * n * k / 2")
        run_test()
        assert names["check"].parts[0].passed
        assert names["n"] == 2

    def test_what_earlier_test_cells_left_is_not_seen_either(self):
        names, run_test = self.kernel("def f(a):\n    return a")
        run_test()
        assert names["check"].parts[0].passed
        self.TEST = self.TEST.replace("q, k, n = np.eye(2), np.eye(2), 2", "q = np.eye(2)")
        exec("def f(a):\n    return k", names)
        run_test()
        assert "name 'k' is not defined" in names["check"].parts[0].findings[0].message
