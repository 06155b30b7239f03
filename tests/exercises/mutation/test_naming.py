"""A named cause explains all results of an answer, so that no learner is misled."""

from __future__ import annotations

import numpy as np
import pytest
from nbgrader.utils import is_solution

from attn_lib.course.checks.diagnosis import Question
from tests.exercises.assignments import complexity, masking
from tests.exercises.mutation.naming import Asked, contradicted
from tests.exercises.mutation.survival import ID_CELL, LEARNERS
from tests.exercises.proof.notebook import read, run

SOFTMAX = """
def attention(q, k, v):
    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt({})) @ v
"""

FORMULA = """
def attention_formula(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt({})
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ v
"""

LAYER = """
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(x.shape[-1] // n_heads))
    return merge_heads(weights @ v) @ w_o
"""

COUNTING = """
def attention_flops(n_q, n_k, d_k, d_v, heads):
    return 2 * heads * n_q * n_k * d_k * d_v

def projection_flops(n, d_model):
    return 8 * n * d_model**2
"""

SHIFTED = """
def {}:
    exponentials = np.exp({})
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
"""

#: Assignment, answer cell and a wrong answer that no catalogued mistake explains.
UNEXPLAINED = {
    "root of the number of queries": ("dot-products", "attention", SOFTMAX.format("q.shape[-2]")),
    "root of the length of q": ("dot-products", "attention", SOFTMAX.format("len(q)")),
    "shifted by the mean": (
        "dot-products",
        "softmax",
        SHIFTED.format("softmax(scores)", "scores - scores.mean(axis=-1, keepdims=True)"),
    ),
    "root of twice the width": ("quiz", "formula", FORMULA.format("2 * q.shape[-1]")),
    "heads under the root as well": (
        "variance-growth",
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return (d_model * n_heads) ** -0.5",
    ),
    "heads over the root": (
        "variance-growth",
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return n_heads / d_model**0.5",
    ),
    "widths multiplied": ("complexity", "counting", COUNTING),
    "rescaled the wrong way": (
        "complexity",
        "streaming",
        complexity.SLIPS["rescaled the wrong way"].answer,
    ),
    "model width shared by the heads": ("putting-it-together", "layer", LAYER),
    "maximum not divided": (
        "softmax-saturation",
        "tempered",
        SHIFTED.format(
            "tempered_softmax(scores, temperature)",
            "scores / temperature - scores.max(axis=-1, keepdims=True)",
        ),
    ),
}


SHARP = """
def mean_largest_weight(scores):
    return tempered_softmax(scores, 1).max(axis=-1).mean()

raw, scaled = mean_largest_weight(S), mean_largest_weight(S / width)
one_hot_rows = (tempered_softmax(S, 1).max(axis=-1) > 0.99).sum()
"""


class TestCauses:
    def test_no_named_cause_is_contradicted_by_another_call(self, tried):
        _, misnamed = tried
        assert misnamed == []

    @pytest.mark.parametrize("wrong", UNEXPLAINED)
    def test_mistakes_outside_the_catalogue_get_no_cause(self, root, wrong):
        assignment, cell, answer = UNEXPLAINED[wrong]
        source, released = (
            read(root / room / assignment / f"{assignment}.ipynb")
            for room in ("solutions", "exercises")
        )
        answers = {c.id: c.source for c in source if is_solution(c)} | {cell: answer}
        graded, at_home = run(source, answers), run(released, answers)
        tests = f"{cell}-tests"
        assert "not yet" in graded.reports[tests]
        assert graded.mistakes(tests) == at_home.mistakes(tests) == []

    def test_dividing_scores_by_the_width_gets_no_cause(self, root):
        cells = read(root / "solutions" / "softmax-saturation" / "softmax-saturation.ipynb")
        for learner in LEARNERS:
            result = run(cells, {ID_CELL: f"learner_id = {learner!r}", "sharp": SHARP})
            assert "scaled: expected 0." in result.reports["sharp-tests"]
            assert result.mistakes("sharp-tests") == []

    def test_a_mistake_in_a_function_is_named_in_tasks_that_use_it(self, root):
        cells = read(root / "solutions" / "masking" / "masking.ipynb")
        result = run(cells, {"softmax": masking.SLIPS["the mask forgotten"].answer})
        assert result.mistakes("softmax-tests") == ["mask-not-used"]
        assert result.mistakes("bug-tests") == ["mask-not-used"]


def of(got, args, named=None):
    question = Question(
        np.asarray(2 * args**0.5), lambda function: np.asarray(function(args)), (1e-4, 1e-4)
    )
    return Asked("bound", "score_range", question, got, named)


class TestContradictions:
    def test_a_mistake_that_explains_all_answers_is_not_contradicted(self):
        told = [of(8.0, 64, "range-of-one-sd"), of(5.0, 25)]
        assert contradicted(told, []) == set()

    @pytest.mark.parametrize("other", [10.0, 6.0, np.nan, "5"], ids=repr)
    def test_a_call_that_does_not_fit_contradicts_the_cause(self, other):
        """The other result may be right, wrong in another way, or not a number."""
        told, others = [of(8.0, 64, "range-of-one-sd")], [of(other, 25)]
        assert contradicted(others, told) == {("bound", "range-of-one-sd")}
