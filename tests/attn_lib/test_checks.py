"""What `attn_lib.checks` says about every kind of work, and what it awards."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from attn_lib.checks import Checks, ChecksFailed, named_mistakes
from attn_lib.checks.comparison import difference
from attn_lib.checks.results import WIDTH
from attn_lib.mistakes import catalogue

Q, K = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
SCORES = np.array([[5.0, 2.0, -1.0]])


def right(q, k):
    return q @ k.T


def report_on(function, *args, target="score_matrix", **options) -> str:
    """Return what is said about a function, in one line."""
    check = Checks({"f": function})
    check.part("it", points=1)
    check.call("f", *(args or (Q, K)), target=target, **options)
    return report_of(check)


def report_of(check: Checks) -> str:
    try:
        check.finish()
    except ChecksFailed as failed:
        return " ".join(str(failed).split())
    return "ok"


def checked(name, method, *args, **options) -> str:
    """Return what is said about a value, in one line."""
    check = Checks({} if name is None else {"x": name})
    check.part("it", points=1)
    getattr(check, method)("x", *args, **options)
    return report_of(check)


@pytest.fixture
def grading(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")


class TestPoints:
    def test_parts_are_earned_one_by_one(self, grading, capsys):
        check = Checks({"good": right, "bad": lambda q, k: k @ q.T})
        check.part("first", points=2)
        check.call("good", Q, K, target="score_matrix")
        check.part("second", points=3)
        check.call("good", Q, K, target="score_matrix")
        check.call("bad", Q, K, target="score_matrix")
        check.part("third", points=0.5)
        check.call("good", Q, K, target="score_matrix")
        assert check.finish() == 2.5
        out = capsys.readouterr().out
        assert "first: ok\nsecond: not yet\n" in out
        assert out.endswith("third: ok\n")

    @pytest.mark.parametrize("points", [1, 2.0, np.float64(3)])
    def test_the_score_is_a_plain_float(self, points, grading):
        check = Checks({"good": right})
        check.part("it", points=points)
        check.call("good", Q, K, target="score_matrix")
        score = check.finish()
        assert type(score) is float
        assert score == points

    def test_nothing_earned_raises(self, grading):
        check = Checks({"bad": lambda q, k: q})
        check.part("it", points=2)
        check.call("bad", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed, match="it: not yet"):
            check.finish()

    @pytest.mark.parametrize("execution", [None, "validate"])
    def test_at_home_there_is_no_score(self, execution, monkeypatch, capsys):
        monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
        if execution:
            monkeypatch.setenv("NBGRADER_EXECUTION", execution)
        check = Checks({"good": right, "bad": lambda q, k: k})
        check.part("first", points=2)
        check.call("good", Q, K, target="score_matrix")
        assert check.finish() is None
        assert capsys.readouterr().out == "first: ok\n"
        check.part("second", points=2)
        check.call("bad", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed, match="first: ok\nsecond: not yet"):
            check.finish()

    def test_a_cell_without_checks_is_an_error_of_its_author(self):
        with pytest.raises(ValueError, match="expected at least one check"):
            Checks({}).finish()
        check = Checks({"good": right})
        check.part("first", points=1)
        check.call("good", Q, K, target="score_matrix")
        check.part("second", points=1)
        with pytest.raises(ValueError, match="expected at least one check"):
            check.finish()

    def test_a_check_before_the_first_part_is_an_error_of_its_author(self):
        with pytest.raises(ValueError, match="expected part"):
            Checks({"good": right}).call("good", Q, K, target="score_matrix")

    def test_a_check_without_a_right_answer_is_an_error_of_its_author(self):
        check = Checks({"x": 1.0})
        check.part("it", points=1)
        with pytest.raises(ValueError, match="expected `target` or `expected`"):
            check.value("x")


class TestCall:
    @pytest.mark.parametrize(
        "function",
        [
            right,
            lambda q, k: (q @ k.T).tolist(),
            lambda q, k: (q @ k.T).astype(np.float32),
            lambda q, k: (q @ k.T).astype(np.float16),
            lambda q, k: (q @ k.T).astype(int),
            lambda q, k: np.asfortranarray(q @ k.T),
            lambda q, k: np.asmatrix(q) @ np.asmatrix(k).T,
            lambda q, k: np.ma.array(q @ k.T),
            lambda *both: both[0] @ both[1].T,
        ],
    )
    def test_right_in_any_form(self, function):
        assert report_on(function) == "ok"

    @pytest.mark.parametrize(
        "prepare",
        [
            np.asfortranarray,
            lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
            lambda a: a[::-1][::-1],
            lambda a: a.astype(np.float32),
            lambda a: np.broadcast_to(a, a.shape),
        ],
    )
    def test_inputs_of_any_layout(self, prepare):
        assert report_on(right, prepare(Q), prepare(K)) == "ok"

    def test_the_given_arrays_stay_as_they_are(self):
        q, k = Q.copy(), K.copy()

        def spoil(q, k):
            result = q @ k.T
            k[:] = 0
            return result

        assert "it changed its argument number 2." in report_on(spoil, q, k)
        assert np.array_equal(k, K)

    def test_an_unchanged_nan_is_no_change(self):
        scores = np.array([[np.nan, 1.0]])
        said = report_on(np.nan_to_num, scores, target=None, expected=np.array([[0.0, 1.0]]))
        assert said == "ok"

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda q, k: None, "expected an array of shape (1, 3), got None. Is there a `return`"),
            (lambda q, k: ..., "got the placeholder `...`. Fill it in."),
            (lambda q, k: "5, 2, -1", "expected an array of shape (1, 3), got str."),
            (lambda q, k: {5: 2}, "expected an array of shape (1, 3), got dict."),
            (lambda q, k: [[1, 2], [3]], "expected an array of shape (1, 3), got list."),
            (lambda q, k: (q @ k.T)[0], "expected shape (1, 3), got (3,)."),
            (lambda q, k: 5.0, "expected shape (1, 3), got () (a single number)."),
            (lambda q, k: q @ k.T + 0j, "expected real numbers, got dtype complex128."),
            (lambda q, k: q @ k.T > 0, "expected real numbers, got dtype bool."),
            (
                lambda q, k: np.where(q @ k.T == 2, np.nan, q @ k.T),
                "expected finite numbers, got nan at [0, 1] (1 of 3 entries).",
            ),
            (
                lambda q, k: q @ k.T + [[0, 0, 1]],
                (
                    "f on shapes (1, 2), (3, 2): entry [0, 2]: expected -1, got 0 "
                    "(1 of 3 entries differ)."
                ),
            ),
        ],
    )
    def test_wrong_results_are_told_in_this_order(self, function, told):
        assert told in report_on(function)

    def test_a_single_number_has_no_position(self):
        said = report_on(lambda x: 3.0, 1.0, target=None, expected=2.0)
        assert said == "it: not yet - f on shape 1.0: expected 2, got 3."

    def test_an_error_is_told_with_the_learners_line(self):
        def f(q, k):
            return np.stack([q, k])  # the learner's line

        said = report_on(f)
        assert "it raised ValueError: all input arrays must have the same shape (line " in said
        assert ": return np.stack([q, k]) # the learner's line)" in said

    def test_a_transpose_of_all_axes_is_told_apart(self):
        def reverses_all_axes(q, k):
            return q @ k.T

        q, k = np.ones((2, 3, 4)), np.ones((2, 5, 4))
        hint = ".swapaxes(-1, -2) swaps the last two."
        assert hint in report_on(reverses_all_axes, q, k)
        assert hint not in report_on(reverses_all_axes, q[0], k[0].T)

    def test_an_error_of_the_call_itself_has_no_line(self):
        said = report_on(lambda q: q)
        assert "it raised TypeError:" in said
        assert "takes 1 positional argument but 2 were given" in said
        assert "(line" not in said

    def test_leaving_python_is_an_error_like_others(self):
        assert "it raised SystemExit: 3" in report_on(lambda q, k: sys.exit(3))

    def test_an_interrupted_call_ends_the_cell_with_what_is_known(self):
        def endless(q, k):
            raise KeyboardInterrupt

        check = Checks({"f": endless, "g": right})
        check.part("first", points=1)
        check.call("g", Q, K, target="score_matrix")
        check.part("second", points=1)
        with pytest.raises(ChecksFailed, match="it was stopped before it returned") as stopped:
            check.call("f", Q, K, target="score_matrix")
        assert str(stopped.value).startswith("first: ok\nsecond: not yet")
        assert stopped.value.__context__ is None

    def test_the_stub_is_not_written_yet(self):
        def stub(q, k):
            raise NotImplementedError

        assert report_on(stub) == "it: not yet - f: not written yet."

    def test_no_function(self):
        assert report_on(3.0) == "it: not yet - f: expected a function, got float."

    def test_no_such_name(self):
        check = Checks({})
        check.part("it", points=1)
        check.call("softmax", SCORES, target="softmax")
        assert "softmax: not there yet. Fill in its cell above and run it." in report_of(check)

    def test_warnings_and_stderr_are_dropped_and_prints_are_kept(self, capsys):
        def noisy(q, k):
            warnings.warn("look out", stacklevel=1)
            print("aside", file=sys.stderr)
            print("q is", q)
            np.log(np.zeros(1))
            return q @ k.T

        assert report_on(noisy) == "ok"
        captured = capsys.readouterr()
        assert captured.err == ""
        assert "q is [[2. 1.]]" in captured.out

    @pytest.mark.parametrize("profile", [None, lambda *_: None])
    def test_the_profiler_is_put_back(self, profile):
        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            report_on(right)
            after = sys.getprofile()
        finally:
            sys.setprofile(before)
        assert after is profile

    def test_numbers_of_float32_precision_are_right(self):
        rng = np.random.default_rng(4)
        q, k, v = (100 * rng.normal(size=(50, 64)) for _ in range(3))

        def single(q, k, v):
            return scaled_in_single(*(a.astype(np.float32) for a in (q / 100, k / 100, v)))

        def scaled_in_single(q, k, v):
            scores = q @ k.T / np.sqrt(np.float32(64))
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            return weights / weights.sum(-1, keepdims=True) @ v

        expected = scaled_dot_product_attention(q / 100, k / 100, v)
        assert report_on(single, q, k, v, target=None, expected=expected) == "ok"

    def test_an_answer_of_attn_lib_is_seen_behind_other_functions(self):
        def f(q, k):
            return helper(q, k)

        def helper(q, k):
            return scaled_dot_product_attention(q, k, np.eye(3), return_trace=True).raw

        said = report_on(f)
        assert "f: it calls attn_lib's own scaled_dot_product_attention. Write it yourself." in said


class TestDiagnosis:
    @pytest.mark.parametrize("mistake", catalogue("softmax"), ids=lambda m: m.id)
    def test_a_catalogued_mistake_is_named(self, mistake):
        scores = np.array([[900.0, 901.0, 902.0], [1.0, 0.0, -1.0]])
        with np.errstate(all="ignore"):
            wrong = mistake.wrong(scores)
        check = Checks({"f": lambda _: wrong})
        check.part("it", points=1)
        check.call("f", scores, target="softmax")
        with pytest.raises(ChecksFailed) as failed:
            check.finish()
        assert named_mistakes(str(failed.value)) == [check.parts[0].results[0].mistake]
        assert check.parts[0].results[0].mistake == mistake.id
        told = f"{mistake.sentence} ({mistake.id}; see the book, {mistake.section})"
        assert told in " ".join(str(failed.value).split())

    def test_another_wrong_answer_has_no_cause(self):
        assert "Likely cause" not in report_on(lambda q, k: q @ k.T + 1)

    def test_a_right_answer_is_never_a_mistake(self):
        """Where a mistake gives the right numbers, nothing is wrong."""
        one_row = np.array([[1.0, 2.0, 3.0]])
        assert report_on(lambda s: np.exp(s) / np.exp(s).sum(), one_row, target="softmax") == "ok"


class TestValue:
    @pytest.mark.parametrize("typed", [[0.893, 0.107], (0.893, 0.107), np.array([0.8934, 0.1066])])
    def test_decimals(self, typed):
        args = (Q, K[:2], np.eye(2))
        options = {"target": "attention", "args": args, "row": 0, "decimals": 3}
        assert checked(typed, "value", **options) == "ok"

    @pytest.mark.parametrize("typed", [[0.891, 0.107], [0.89, 0.11], [0.893, 0.109]])
    def test_too_far_for_its_decimals(self, typed):
        args = (Q, K[:2], np.eye(2))
        options = {"target": "attention", "args": args, "row": 0, "decimals": 3}
        assert "entries differ" in checked(typed, "value", **options)

    def test_a_row_is_compared_with_the_same_row_of_the_mistakes(self):
        options = {"target": "scaled_scores", "args": (Q, K), "row": 0, "decimals": 3}
        assert checked([3.536, 1.414, -0.707], "value", **options) == "ok"
        said = checked([5, 2, -1], "value", **options)
        assert "entry [0]: expected 3.53553, got 5 (3 of 3 entries differ)." in said
        assert "(no-scale; see the book, dot-products#sharpness-not-ranking)" in said

    def test_missing(self):
        assert "x: not there yet." in checked(None, "value", expected=3)

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ([1, 2], "ok"),
            (np.array([1.5, 2]), "ok"),
            ([1, 2, 3], "expected 2 numbers, got 3."),
            ([[1, 2]], "expected shape (2,), got (1, 2)."),
            (["1", "2"], "expected 2 numbers, got list."),
            (..., "expected 2 numbers, got the placeholder `...`. Fill it in."),
            ([1, np.inf], "expected finite numbers, got inf at [1] (1 of 2 entries)."),
        ],
    )
    def test_form(self, value, told):
        assert told in checked(value, "form", (2,))

    def test_form_of_a_number(self):
        assert checked(0.5, "form") == "ok"
        assert "expected a number, got str." in checked("0.5", "form")

    @pytest.mark.parametrize("value", [[0.4, 0.4], "x", None, [[1]], object()])
    def test_what_does_not_hold(self, value):
        check = Checks({"x": value})
        check.part("it", points=1)
        check.holds("x", lambda x: x.sum() == 1 and x.ndim == 1, "they have to sum to 1.")
        assert report_of(check) == "it: not yet - x: they have to sum to 1."

    def test_what_holds(self):
        assert checked([0.5, 0.5], "holds", lambda x: x.sum() == 1, "no") == "ok"

    @pytest.mark.parametrize("letter", ["B", "b", " B "])
    def test_the_right_letter(self, letter):
        assert checked(letter, "choice", "ABC", right="B") == "ok"

    @pytest.mark.parametrize("letter", ["", "AB", "D", None, 1, ["B"], np.array("B")])
    def test_no_letter(self, letter):
        check = Checks({"x": letter})
        check.part("it", points=1)
        check.choice("x", "ABC")
        assert 'x: expected one of the letters "A", "B", "C", got' in report_of(check)

    def test_a_wrong_letter_is_explained(self):
        said = checked("a", "choice", "ABC", right="B", because={"A": "A is a query."})
        assert said == 'it: not yet - x: "A" is not right. A is a query.'
        assert checked("C", "choice", "ABC", right="B").endswith('"C" is not right.')

    def test_only_the_form_is_not_called_right(self, capsys):
        check = Checks({"x": [1, 2], "y": "A"})
        check.part("numbers", points=1)
        check.form("x", (2,))
        check.part("letter", points=1)
        check.choice("y", "AB")
        check.finish()
        told = "filled in. Whether it is right is checked when it is graded."
        assert capsys.readouterr().out == f"numbers: {told}\nletter: {told}\n"


class TestLearnerId:
    def test_it_is_the_id_the_numbers_are_drawn_from(self):
        assert Checks({"learner_id": " Ada"}).learner_id() == "ada"

    @pytest.mark.parametrize(
        ("names", "told"),
        [
            ({}, "learner_id: not there yet. Put your id into its cell near the top, in quotes,"),
            ({"learner_id": 7}, "learner_id: expected a string, got 7; put it in quotes."),
            ({"learner_id": " "}, "learner_id: expected your id, got '' without a letter or digit"),
        ],
    )
    def test_without_one_every_part_fails(self, names, told):
        check = Checks({**names, "x": 1})
        assert check.learner_id() == "nobody"
        for title in ("first", "second"):
            check.part(title, points=1)
            check.value("x", expected=1)
        said = report_of(check)
        assert said.count(told) == 2
        assert "ok" not in said


class TestReport:
    def test_it_stays_within_its_width(self):
        check = Checks({"f": lambda q, k: k @ q.T})
        check.part("it", points=1)
        check.call("f", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed) as failed:
            check.finish()
        lines = str(failed.value).splitlines()
        assert len(lines) > 3
        assert max(map(len, lines)) <= WIDTH

    def test_a_finding_is_told_once_a_part_and_a_cause_once_a_cell(self):
        check = Checks({"f": lambda q, k: k @ q.T, "g": None})
        for title in ("first", "second"):
            check.part(title, points=1)
            check.call("f", Q, K, target="score_matrix")
            check.call("f", Q, K, target="score_matrix")
            check.call("f", Q, K[:2], target="score_matrix")
            check.call("g", Q, K, target="score_matrix")
            check.call("g", Q, K, target="score_matrix")
        said = report_of(check)
        assert said.count("Likely cause") == 1
        assert said.count("expected shape (1, 3), got (3, 1)") == 2
        assert said.count("expected shape (1, 2), got (2, 1)") == 2
        assert said.count("g: expected a function") == 2

    def test_ipython_shows_it_without_a_traceback(self):
        failed = ChecksFailed("first: ok\nsecond: not yet")
        assert failed._render_traceback_() == ["first: ok", "second: not yet"]

    def test_named_mistakes_are_found_wherever_the_line_breaks(self):
        report = (
            "x\n  Likely cause: It (or so)\n    is off. (an-id; see the\n    book, page#place)\n"
            "  Likely cause: Again. (divide-by-d_k; see the book, page#place)\n"
            "  Likely cause: Once more. (an-id; see the book, page#place)\n"
        )
        assert named_mistakes(report) == ["an-id", "divide-by-d_k"]
        assert named_mistakes("(not-a-cause; see the book, page#place)") == []


def test_difference_compares_within_its_tolerance():
    expected = np.array([1.0, 100.0])
    assert difference([1.0, 100.9], expected, (1e-2, 0.0)) == ""
    assert difference([1.0, 101.1], expected, (1e-2, 0.0)) == (
        "entry [1]: expected 100, got 101.1 (1 of 2 entries differ)."
    )
