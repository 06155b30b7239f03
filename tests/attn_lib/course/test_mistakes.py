"""Each entry of the catalogue gives wrong values and describes the error in a sentence."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import warnings
from itertools import combinations, groupby

import numpy as np
import pytest

from attn_lib.course import mistakes
from attn_lib.course.mistakes import appearances, catalogue, spellings
from attn_lib.course.mistakes.composition import STEPS
from attn_lib.course.mistakes.core import mistake as register
from attn_lib.course.mistakes.core import put_in_order
from attn_lib.course.museum import wing
from attn_lib.course.targets import TARGETS
from attn_lib.course.targets.examples import EXAMPLES
from attn_lib.masks import causal_mask, combine_masks, padding_mask
from tests.in_one_test import in_one_test

Q, K, V = EXAMPLES["attention"][1]

#: The modules of the catalogue, by name.
CHAPTERS = {
    name: importlib.import_module(f"{mistakes.__name__}.{name}")
    for _, name, _ in pkgutil.iter_modules(mistakes.__path__)
    if name not in ("composition", "core")
}

#: Entries about numbers out of range, for which NumPy must warn.
WARN = {
    "empty-rows-become-nan",
    "exponentials-not-normalised",
    "log-sum-exp-that-overflows",
    "logarithm-of-a-lost-weight",
    "maximum-of-the-new-block",
    "minus-infinity-times-zero",
    "norm-without-epsilon",
    "renormalised-after-the-mask",
    "rescaled-the-wrong-way",
    "shares-without-the-sums",
    "softmax-shifted-by-overall-maximum",
    "softmax-that-overflows",
}

#: Mistakes in an intermediate step that cannot show in a later result, by target, with reasons.
INVISIBLE = {
    # With as many queries as keys, both alignments give the same mask.
    "combined_mask": {"causal-mask-aligned-at-the-end"},
    "causal_attention": {
        "causal-mask-aligned-at-the-end",
        # A causal mask allows the diagonal, so no row is empty.
        "large-negative-added",
        "large-negative-fill",
        "empty-rows-become-nan",
    },
    # The scores are a single row.
    "cross_entropy_gradient": {
        "softmax-over-queries",
        "softmax-over-everything",
        "softmax-over-each-matrix",
        "softmax-shifted-by-overall-maximum",
    },
    # A sum of heads, or keys of another width, do not fit the shape of w_o, which raises an error.
    "multi_head_attention": {"heads-added", "keys-for-values"},
    # A norm has no sign.
    "softmax_jacobian_norm": {"jacobian-with-the-wrong-sign"},
}


def answers(function, target) -> list[np.ndarray | None]:
    """Return the function's results for all examples, None if the shapes do not fit it."""
    given = []
    for case in EXAMPLES[target]:
        with np.errstate(all="ignore"):
            try:
                given.append(np.asarray(function(*case)))
            except (ValueError, IndexError):  # attn_lib.course.checks ignores these too
                given.append(None)
    return given


def differs(one, other) -> bool:
    return one.shape != other.shape or not np.allclose(
        one, other, rtol=1e-3, atol=1e-3, equal_nan=True
    )


def shows(wrong, target) -> bool:
    pairs = zip(answers(wrong, target), answers(TARGETS[target], target), strict=True)
    return any(given is not None and differs(given, right) for given, right in pairs)


@in_one_test("mistake", catalogue(), ids=lambda mistake: mistake.id)
class TestEntry:
    def test_it_differs_from_the_right_answer(self, mistake):
        assert shows(mistake.wrong, mistake.target)

    def test_it_has_a_valid_sentence_id_and_section(self, mistake):
        assert re.fullmatch(r"It(s| |').*[^.]\.", mistake.sentence)
        assert len(mistake.sentence) <= 120
        assert re.fullmatch(r"[a-z_]+(-[a-z_]+)*", mistake.id)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*#[a-z]+(-[a-z]+)*", mistake.section)

    def test_it_takes_the_arguments_of_its_target(self, mistake):
        own = inspect.signature(mistake.wrong).parameters.values()
        of_target = inspect.signature(TARGETS[mistake.target]).parameters.values()
        assert [(p.name, p.default) for p in own] == [
            (p.name, p.default) for p in list(of_target)[: len(own)]
        ]

    def test_it_returns_the_same_kind_of_numbers_as_its_target(self, mistake):
        """Otherwise the check of the dtype would fail before the values are compared."""
        pairs = zip(
            answers(mistake.wrong, mistake.target),
            answers(TARGETS[mistake.target], mistake.target),
            strict=True,
        )
        for given, right in pairs:
            assert given is None or (given.dtype == bool) == (right.dtype == bool)

    def test_it_does_not_change_its_arguments(self, mistake):
        before = [[np.copy(arg) for arg in case] for case in EXAMPLES[mistake.target]]
        answers(mistake.wrong, mistake.target)
        for case, copies in zip(EXAMPLES[mistake.target], before, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(case, copies, strict=True))

    def test_it_warns_only_if_its_topic_is_overflow(self, mistake):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for case in EXAMPLES[mistake.target]:
                try:
                    mistake.wrong(*case)
                except ValueError:
                    continue
        assert bool(caught) == (mistake.id in WARN)


def test_every_target_has_cases_and_mistakes():
    assert list(EXAMPLES.keys() ^ TARGETS.keys()) == []
    few = {target for target in TARGETS if len(list(appearances(target))) < 2}
    # The only plausible mistake in reading an entry of a matrix is to swap its indices.
    assert few == {"weight_at"}


class TestOrder:
    """If two mistakes explain an answer, the first is named, so the order must not change."""

    def test_chapters_are_in_the_order_of_the_book(self):
        assert list(dict.fromkeys(wing(mistake.target) for mistake in catalogue())) == [
            "dot-products",
            "variance-growth",
            "softmax-saturation",
            "masking",
            "complexity",
            "putting-it-together",
            "from-text-to-next-word",
        ]

    def test_entries_of_a_module_stay_together_in_source_order(self):
        modules = [mistake.wrong.__module__ for mistake in catalogue()]
        assert len(list(groupby(modules))) == len(set(modules)) == len(CHAPTERS)
        lines = {module: [] for module in modules}
        for mistake in catalogue():
            lines[mistake.wrong.__module__].append(mistake.wrong.__code__.co_firstlineno)
        assert all(numbers == sorted(numbers) for numbers in lines.values())

    def test_the_order_of_imports_changes_nothing(self):
        code = f"""if True:
            import importlib, sys, types
            import attn_lib.course

            package = types.ModuleType("attn_lib.course.mistakes")
            package.__path__ = {mistakes.__path__!r}
            sys.modules[package.__name__] = package
            for name in {[*reversed(CHAPTERS)]!r}:
                importlib.import_module(f"{{package.__name__}}.{{name}}")
            entered = [*importlib.import_module("attn_lib.course.mistakes.core")._CATALOGUE]
            del sys.modules[package.__name__]  # the modules stay

            from attn_lib.course.mistakes import catalogue, spellings
            from attn_lib.course.targets import TARGETS

            print(entered)
            print([mistake.id for mistake in catalogue()])
            print([mistake.id for target in TARGETS for mistake, _ in spellings(target)])
        """
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        entered, ids, suspects = map(ast.literal_eval, run.stdout.splitlines())
        assert ids == [mistake.id for mistake in catalogue()]
        assert suspects == [mistake.id for target in TARGETS for mistake, _ in spellings(target)]
        assert entered != ids
        assert sorted(entered) == sorted(ids)

    def test_a_module_missing_from_the_order_is_reported(self):
        with pytest.raises(ValueError, match=r"every module with mistakes, .*\.masks is missing"):
            put_in_order([module for name, module in CHAPTERS.items() if name != "masks"])


def test_no_two_entries_of_a_target_give_the_same_numbers():
    """Otherwise the named cause would depend on the order of the catalogue."""
    for target in TARGETS:
        given = {mistake.id: answers(mistake.wrong, target) for mistake in catalogue(target)}
        for one, other in combinations(given, 2):
            apart = [
                (a is None) != (b is None) or (a is not None and differs(a, b))
                for a, b in zip(given[one], given[other], strict=True)
            ]
            assert any(apart), (one, other)


def test_catalogue_by_target_is_complete():
    by_target = [mistake for target in TARGETS for mistake in catalogue(target)]
    assert {m.id for m in by_target} == {m.id for m in catalogue()}
    assert len(by_target) == len(catalogue())
    with pytest.raises(ValueError, match=r"expected one of .*, score_matrix, .*, got 'soft'"):
        catalogue("soft")


def test_an_entry_needs_a_target_and_a_unique_id():
    with pytest.raises(ValueError, match=r"mistake: expected one of .*, got 'soft'"):
        register("new", "soft", "It is new.", "page#heading")
    with pytest.raises(ValueError, match="expected an id of its own, got 'no-scale' again"):
        register("no-scale", "softmax", "It is old.", "page#heading")


@in_one_test("target", TARGETS)
class TestAppearances:
    def test_they_give_wrong_numbers(self, target):
        hidden = {mistake.id for mistake, wrong in appearances(target) if not shows(wrong, target)}
        assert hidden == INVISIBLE.get(target, set())

    def test_each_mistake_appears_once_preferring_its_direct_form(self, target):
        forms = [(mistake.id, wrong) for mistake, wrong in appearances(target)]
        own = [(mistake.id, mistake.wrong) for mistake in catalogue(target)]
        assert len(dict(forms)) == len(forms)
        assert forms[: len(own)] == own

    def test_a_right_step_gives_the_right_numbers(self, target):
        """So an appearance is wrong only because of its mistake."""
        for step, with_step in STEPS.get(target, ()):
            pairs = zip(
                answers(with_step(TARGETS[step]), target),
                answers(TARGETS[target], target),
                strict=True,
            )
            for given, right in pairs:
                assert not differs(given, right), step


def test_mistakes_in_a_step_show_in_later_results():
    ids = {target: [mistake.id for mistake, _ in appearances(target)] for target in TARGETS}
    scores = [mistake.id for mistake in catalogue("score_matrix")]
    for target in ("scaled_scores", "attention", "masked_attention", "multi_head_attention"):
        assert set(scores) < set(ids[target])
        assert {"no-scale", "divide-by-d_k"} < set(ids[target])
    assert {mistake.id for mistake in catalogue("softmax")} < set(ids["attention"])
    assert ids["score_matrix"] == scores
    for target in ("causal_attention", "cached_attention", "padded_attention"):
        assert {"mask-inverted", "mask-after-softmax", "no-scale"} < set(ids[target])
    assert "causal-mask-one-too-far" in ids["causal_attention"]
    assert "causal-mask-one-too-far" not in ids["cached_attention"]
    assert "padding-mask-inverted" in ids["padded_attention"]
    assert {"row-sum-missing", "jacobian-diagonal-only"} < set(ids["query_gradient"])


@pytest.mark.parametrize("mistake", [m for m in catalogue() if m.scaled], ids=lambda m: m.id)
def test_the_scaled_form_is_the_same_mistake(mistake):
    exponentials = np.exp(mistake.scaled(Q, K[:3]))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(mistake.wrong(Q, K[:3], V[:3]), weights @ V[:3], rtol=1e-9)


class TestCourseMap:
    """Numbers that the chapters state about some mistakes."""

    SCORES = np.array([[2.0, 0.5, -1.0, 0.0]])
    NONE = np.zeros((1, 4), dtype=bool)

    def at(self, target, name):
        return next(wrong for mistake, wrong in appearances(target) if mistake.id == name)

    def test_minus_a_billion_in_an_empty_row(self):
        fill = self.at("masked_softmax", "large-negative-fill")(self.SCORES, self.NONE)
        np.testing.assert_allclose(fill, [[0.25] * 4])
        add = self.at("masked_softmax", "large-negative-added")(self.SCORES, self.NONE)
        np.testing.assert_allclose(add, [[0.710, 0.158, 0.035, 0.096]], atol=0.0005)

    def test_rows_of_weights_masked_too_late_sum_to_less(self):
        mask = np.array([[True, True, False, False]])
        late = self.at("masked_softmax", "mask-after-softmax")(self.SCORES, mask)
        exponentials = np.exp(self.SCORES[0])
        np.testing.assert_allclose(late.sum(), exponentials[:2].sum() / exponentials.sum())

    def test_a_hidden_key_with_score_zero_keeps_weight(self):
        mask = np.array([[True, True, True, False]])
        zero = self.at("masked_softmax", "zero-for-minus-infinity")(self.SCORES, mask)
        assert zero[0, 3] == pytest.approx(1 / np.exp(self.SCORES[0]).sum())

    def test_without_the_diagonal_row_zero_is_empty(self):
        mask = self.at("causal_mask", "causal-mask-without-itself")(4, 4)
        assert mask.any(axis=1).tolist() == [False, True, True, True]

    @pytest.mark.parametrize("name", ["padding-mask-on-the-queries", "query-mask-for-key-mask"])
    def test_hiding_queries_leaves_the_padded_keys_visible(self, name):
        q, k, v, lengths = EXAMPLES["padded_attention"][1]
        wrong = self.at("padded_attention", name)
        moved = v + 100 * ~combine_masks(padding_mask(lengths, 4)).swapaxes(-1, -2)
        assert np.abs(wrong(q, k, moved, lengths) - wrong(q, k, v, lengths))[:, 0].max() > 1
        right = TARGETS["padded_attention"]
        np.testing.assert_allclose(right(q, k, moved, lengths), right(q, k, v, lengths))

    @pytest.mark.parametrize(
        "name",
        [
            "causal-mask-of-ones",
            "causal-mask-transposed",
            "causal-mask-one-too-far",
            "mask-inverted",
            "mask-after-softmax",
            "scores-times-mask",
        ],
    )
    def test_mistakes_found_by_the_perturbation_test(self, name):
        """The test changes the last position, which must not change the earlier outputs."""
        q, k, v = EXAMPLES["causal_attention"][0]
        wrong = self.at("causal_attention", name)
        moved_k, moved_v = k.copy(), v.copy()
        moved_k[-1] += 3
        moved_v[-1] += 30
        assert np.abs(wrong(q, moved_k, moved_v) - wrong(q, k, v))[:-1].max() > 0.01

    def test_a_causal_mask_hides_the_padding_from_real_queries_by_itself(self):
        lengths = [2, 4, 3]
        right = TARGETS["combined_mask"](lengths, 5)
        for row, length in enumerate(lengths):
            np.testing.assert_array_equal(right[row, :length], causal_mask(5, 5)[:length])
