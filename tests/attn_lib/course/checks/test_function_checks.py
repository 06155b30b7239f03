"""The reports of `Checks.call` on right, wrong and failing functions."""

from __future__ import annotations

import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention
from attn_lib.course.checks import Checks, ChecksFailed
from attn_lib.course.checks.observation import Observation, StandIn, observe
from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from tests.attn_lib.course.checks.telling import report_of, verdict

Q, K = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])


def right(q, k):
    return q @ k.T


def report_of_call(function, *args, target="score_matrix", **options) -> str:
    return verdict("call", function, *(args or (Q, K)), target=target, **options)


class Lies(np.ndarray):
    """An array that calls itself half precise, and everything equal."""

    dtype = np.dtype(np.float16)

    def __eq__(self, other):
        return np.ones(self.shape, bool)

    def __array_ufunc__(self, *_, **__):
        return np.True_


OTHER_FORMS = {
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "longdouble": lambda a: a.astype(np.longdouble),
    "complex": lambda a: a.astype(complex),
    "complex of half the size": lambda a: a.astype(np.complex64),
    "objects of float16": lambda a: a.astype(np.float16).astype(object),
    "a list of float16": lambda a: [list(row) for row in a.astype(np.float16)],
    "a structure": lambda a: a.astype([("x", np.float16)]),
    "texts": lambda a: a.astype(str),
    "truth": lambda a: a.astype(bool),
    "a masked array": lambda a: np.ma.array(a.astype(np.float16)),
    "a class that lies": lambda a: a.view(Lies),
}


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
        assert report_of_call(function) == "ok"

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
        assert report_of_call(right, prepare(Q), prepare(K)) == "ok"

    @pytest.mark.parametrize("form", OTHER_FORMS)
    def test_an_answer_does_not_choose_its_tolerance(self, form):
        def wrong(q, k):
            return OTHER_FORMS[form]((q @ k.T) * 1.001)

        assert "expected" in report_of_call(wrong)

    def test_half_precision_is_enough_for_a_task_in_half_precision(self):
        q, k = (np.linspace(0.1, 2, n).reshape(-1, 2).astype(np.float16) for n in (6, 10))

        def slightly_off(q, k):
            return (q @ k.T) * np.float16(1.001)

        assert report_of_call(slightly_off, q, k) == "ok"
        assert report_of_call(lambda q, k: np.zeros((3, 5)), q, k) != "ok"
        told = report_of_call(slightly_off, *(a.astype(np.float32) for a in (q, k)))
        assert "expected" in told
        assert "expected" in report_of_call(lambda q, k: (q @ k.T).round(1), q, k)

    def test_whole_numbers_are_exact_but_for_float32(self):
        q, k = np.array([[3, 1], [700, 2]]), np.array([[5, 7], [1000, 3], [4, 0]])
        assert report_of_call(lambda q, k: np.float32(q @ k.T), q, k) == "ok"
        assert "expected 22, got 22.001" in report_of_call(lambda q, k: q @ k.T + 1e-3, q, k)
        told = report_of_call(lambda q, k: (q @ k.T) // 10 * 10, q * 10 + 1, k)
        assert "entry [0, 0]: expected 232, got 230" in told

    def test_within_is_the_room_of_numbers_near_0(self):
        given = {"expected": np.array([0.0, 2000.0]), "target": None}
        assert "entry [0]" in verdict("call", lambda: [1e-3, 2000.1], **given, within=1e-4)
        assert verdict("call", lambda: [1e-3, 2000.1], **given, within=1e-2) == "ok"
        assert "entry [1]" in verdict("call", lambda: [0.0, 2000.3], **given, within=1e-2)

    def test_zeros_that_have_to_be_exact(self):
        scores, mask = np.array([[1.0, 5.0, 2.0]]), np.array([[True, False, True]])

        def nearly(scores, mask):
            return [[0.268941, 1e-9, 0.731059]]

        asked = {"target": "masked_softmax"}
        assert verdict("call", nearly, scores, mask, **asked) == "ok"
        told = verdict("call", nearly, scores, mask, **asked, zeros=True)
        assert "entry [0, 1]: expected exactly 0, got 1e-09 (1 of 1 such entries)." in told

    def test_too_few_digits_are_named(self):
        told = report_of_call(lambda q, k: (q @ k.T).astype(np.float16), Q * 1.23, K)
        assert "It is in float16, which has three digits" in " ".join(told.split())

    def test_the_given_arrays_stay_as_they_are(self):
        q, k = Q.copy(), K.copy()

        def spoil(q, k):
            result = q @ k.T
            k[:] = 0
            return result

        assert "it changed its argument number 2." in report_of_call(spoil, q, k)
        assert np.array_equal(k, K)

    def test_an_unchanged_nan_does_not_count_as_changed(self):
        scores = np.array([[np.nan, 1.0]])
        said = report_of_call(np.nan_to_num, scores, target=None, expected=np.array([[0.0, 1.0]]))
        assert said == "ok"

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda q, k: None, "expected an array of shape (1, 3), got None. Is there a `return`"),
            (lambda q, k: ..., "got the placeholder `...`. Fill it in."),
            (
                lambda q, k: "5, 2, -1",
                "expected an array of shape (1, 3), got the text '5, 2, -1'.",
            ),
            (lambda q, k: {5: 2}, "expected an array of shape (1, 3), got a dict."),
            (
                lambda q, k: [[1, 2], [3]],
                "expected an array of shape (1, 3), got a list whose entries have different",
            ),
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
    def test_wrong_results_are_reported_in_this_order(self, function, told):
        assert told in report_of_call(function)

    def test_a_single_number_has_no_position(self):
        said = report_of_call(lambda x: 3.0, 1.0, target=None, expected=2.0)
        assert said == "it: not yet - f for 1.0: expected 2, got 3."

    def test_an_error_is_reported_with_the_line_of_the_answer(self):
        def f(q, k):
            return np.stack([q, k])  # the learner's line

        said = report_of_call(f)
        assert "it raised ValueError: all input arrays must have the same shape (line " in said
        assert ": return np.stack([q, k]) # the learner's line)" in said

    def test_a_transpose_of_all_axes_is_recognised(self):
        def reverses_all_axes(q, k):
            return q @ k.T

        q, k = np.ones((2, 3, 4)), np.ones((2, 5, 4))
        hint = ".swapaxes(-1, -2) swaps the last two."
        assert hint in report_of_call(reverses_all_axes, q, k)
        assert hint not in report_of_call(reverses_all_axes, q[0], k[0].T)

    def test_an_error_of_the_call_itself_has_no_line(self):
        said = report_of_call(lambda q: q)
        assert "it raised TypeError:" in said
        assert "takes 1 positional argument but 2 were given" in said
        assert "(line" not in said

    def test_system_exit_is_reported_like_other_errors(self):
        assert "it raised SystemExit: 3" in report_of_call(lambda q, k: sys.exit(3))

    def test_an_interrupted_call_ends_the_cell_with_earlier_findings(self):
        def endless(q, k):
            raise KeyboardInterrupt

        check = Checks({"f": endless, "g": right})
        check.part("first", points=1)
        check.call("g", Q, K, target="score_matrix")
        check.part("second", points=1)
        with pytest.raises(ChecksFailed, match="it was stopped before it returned") as stopped:
            check.call("f", Q, K, target="score_matrix")
        assert str(stopped.value).startswith("first: ok, worth 1 point\nsecond: not yet")
        assert stopped.value.__context__ is None

    def test_the_stub_counts_as_not_written_yet(self):
        def stub(q, k):
            raise NotImplementedError

        assert report_of_call(stub) == "it: not yet - f: not written yet."

    def test_a_stub_is_called_once(self):
        called = []

        def stub(q, k):
            """Return the scores."""
            raise NotImplementedError(called.append(q))

        def unfinished(q, k):
            called.append(q)
            raise NotImplementedError

        check = Checks({"stub": stub, "unfinished": unfinished})
        for title in ("one", "two"):
            check.part(title, points=1)
            check.call("stub", Q, K, target="score_matrix")
            check.call("unfinished", Q, K, target="score_matrix")
        said = report_of(check)
        assert said.count("stub: not written yet.") == 2
        assert said.count("it still raises NotImplementedError") == 2
        assert len(called) == 3

    def test_a_function_that_cannot_be_read_is_called_each_time(self):
        """Whether such a function does anything but raise is not known."""
        made = {}
        exec("def f(q):\n    if q.shape == (2,): raise NotImplementedError\n    return 2 * q", made)
        check = Checks({"f": made["f"]})
        for size in (2, 3):
            check.part(f"{size}", points=1)
            check.call("f", np.ones(size), expected=2 * np.ones(size))
        assert report_of(check) == "2: not yet - f: not written yet. 3: ok, worth 1 point"

    def test_no_function(self):
        assert report_of_call(3.0) == "it: not yet - f: expected a function, got float."

    def test_no_such_name(self):
        check = Checks({})
        check.part("it", points=1)
        check.call("softmax", Q, target="softmax")
        assert "softmax: not there yet. Fill in its cell above and run it." in report_of(check)

    def test_warnings_and_stderr_are_dropped_and_prints_are_kept(self, capsys):
        def noisy(q, k):
            warnings.warn("look out", stacklevel=1)
            print("aside", file=sys.stderr)
            print("q is", q)
            np.log(np.zeros(1))
            return q @ k.T

        assert report_of_call(noisy) == "ok"
        captured = capsys.readouterr()
        assert captured.err == ""
        assert "q is [[2. 1.]]" in captured.out

    @pytest.mark.parametrize("profile", [None, lambda *_: None])
    def test_the_profiler_is_put_back(self, profile):
        before = sys.getprofile(), threading.getprofile()
        sys.setprofile(profile)
        threading.setprofile(profile)
        try:
            report_of_call(right)
            after = sys.getprofile(), threading.getprofile()
        finally:
            sys.setprofile(before[0])
            threading.setprofile(before[1])
        assert after == (profile, profile)

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
        assert report_of_call(single, q, k, v, target=None, expected=expected) == "ok"

    def test_a_call_of_attn_lib_is_seen_behind_other_functions(self):
        def f(q, k):
            return helper(q, k)

        def helper(q, k):
            return scaled_dot_product_attention(q, k, np.eye(3), return_trace=True).raw

        said = report_of_call(f)
        assert "f: it calls attn_lib's own scaled_dot_product_attention. Write it yourself." in said

    def test_a_call_of_attn_lib_is_seen_in_a_thread(self):
        def f(q, k):
            found = []
            thread = threading.Thread(target=lambda: found.append(score_matrix(q, k)))
            thread.start()
            thread.join()
            return found[0]

        def in_a_pool(q, k):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(score_matrix, q, k).result()

        score_matrix = TARGETS["score_matrix"]
        for function in (f, in_a_pool):
            said = report_of_call(function)
            assert "f: it calls attn_lib's own score_matrix. Write it yourself." in said

    def test_threads_are_allowed_in_answers(self):
        def f(q, k):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(right, q, k).result()

        assert report_of_call(f) == "ok"


class TestDiagnosis:
    @pytest.mark.parametrize("mistake", catalogue("softmax"), ids=lambda m: m.id)
    def test_a_catalogued_mistake_is_named(self, mistake):
        scores = np.array([[900.0, 901.0, 902.0], [1.0, 0.0, -1.0]])
        if mistake.id == "softmax-over-each-matrix":  # for one matrix it is the one before
            scores = np.stack([scores, scores])
        with np.errstate(all="ignore"):
            wrong = mistake.wrong(scores)
        check = Checks({"f": lambda _: wrong})
        check.part("it", points=1)
        check.call("f", scores, target="softmax")
        with pytest.raises(ChecksFailed) as failed:
            check.finish()
        assert check.parts[0].mistakes == [mistake.id]
        assert str(failed.value).count("Likely cause: ") == 1
        told = f"{mistake.sentence} ({mistake.id}; see the book, {mistake.section})"
        assert told in " ".join(str(failed.value).split())

    def test_another_wrong_answer_has_no_cause(self):
        assert "Likely cause" not in report_of_call(lambda q, k: q @ k.T + 1)

    def test_a_right_answer_is_never_a_mistake(self):
        """Even if a mistake gives the right numbers for these inputs, none is named."""
        one_row = np.array([[1.0, 2.0, 3.0]])
        assert (
            report_of_call(lambda s: np.exp(s) / np.exp(s).sum(), one_row, target="softmax") == "ok"
        )


def test_a_stand_in_replaces_the_function():
    class Elsewhere(StandIn):
        def call(self, args, *, own_work=True):
            return Observation(args[0] * 2, "" if own_work else "it was asked differently")

    assert observe(Elsewhere(), [3]).returned == 6
    assert verdict("call", Elsewhere(), 3, expected=6) == "ok"
    assert "it was asked differently" in verdict("drawing", Elsewhere(), 3, labelled=True)


def test_a_changed_list_is_seen():
    def change(pairs):
        pairs[0][0] = 9
        return 1

    assert "it changed its argument number 1." in verdict("call", change, [[1, 2]], expected=1)
    assert verdict("call", len, [np.ones(2), 3], expected=2) == "ok"
