"""Mutants of the reference answers lose points, and the tests of mutants can fail."""

from __future__ import annotations

import nbformat
import pytest

from tests.exercises.mutation.mutants import mutants
from tests.exercises.mutation.survival import judge

#: Maximum share of wrong mutants that may keep full marks, each with a reason.
ACCEPTED = 0.02


class TestAssignments:
    def test_no_mutant_survives_without_a_reason(self, proof, tried):
        outcome, _ = tried
        found = "\n".join(f"{name} (line {m.line})" for name, m in outcome.survivors.items())
        assert outcome.survivors.keys() == proof.survivors.keys(), (
            f"survivors: expected those in PROOF.survivors, found these:\n{found}\n"
            "Add a hidden check that sees the change, or say in PROOF.survivors why it is right."
        )
        assert outcome.share <= ACCEPTED, f"{outcome.share:.1%} of the wrong mutants survive."
        assert len(outcome.killed) > 10 * proof.tasks

    def test_reasons_are_sentences(self, proof):
        assert all(len(reason.split()) > 3 for reason in proof.survivors.values())


SMALL = '''
def weights(s, axis=-1):
    """Return -1 * softmax."""
    s = s - s.max(axis)
    if axis < 2:
        s *= 0.5
    return np.sqrt(s).T
'''

SMALL_CHANGED = [
    "def weights(s, axis=1)",
    "def weights(s, axis=-0)",
    "def weights(s, axis=-2)",
    "s -= s.max(axis)",
    "without s = s - s.max(axis)",
    "s = -(s - s.max(axis))",
    "s = s.max(axis) - s",
    "s = s",
    "s = s.max(axis)",
    "s = axis - s.max(axis)",
    "s = s + s.max(axis)",
    "s = s - s.min(axis)",
    "s = s - axis.max(axis)",
    "s = s - s.max(s)",
    "if True:",
    "if False:",
    "without if axis < 2:",
    "if s < 2:",
    "if axis <= 2:",
    "if axis > 2:",
    "if axis < 0:",
    "if axis < 1:",
    "if axis < 3:",
    "if axis < -2:",
    "without s *= 0.5",
    "s /= 0.5",
    "s += 0.5",
    "s *= 0",
    "s *= 1",
    "s *= 1.5",
    "s *= -0.5",
    "return np.sqrt(s)",
    "return s.T",
    "return np.sqrt(axis).T",
]


class TestMutants:
    def test_of_a_small_function(self):
        found = [mutant.name for mutant in mutants(SMALL)]
        assert found == SMALL_CHANGED

    @pytest.mark.parametrize(
        ("source", "changed"),
        [
            ("a = k.swapaxes(-1, -2)", {"a = k", "a = k.T", "a = k.swapaxes(0, 1)"}),
            ("a = x.sum(axis=1)", {f"a = x.sum(axis={axis})" for axis in (0, -1, -2, None)}),
            ("a = x.sum(1, keepdims=True)", {"a = x.sum(1, keepdims=False)", "a = x.sum(1)"}),
            ("a = q @ k", {"a = q * k", "a = k @ q", "a = q", "a = k", "a = q @ q"}),
            ("a = x / np.sqrt(d)", {"a = x / d", "a = x", "a = x * np.sqrt(d)"}),
            ("a = np.tril(x, 1)", {"a = np.triu(x, 1)", "a = np.tril(x)", "a = np.tril(x, 2)"}),
            ("a = f(x, y, 2)", {"a = f(y, x, 2)", "a = f(x, 2, y)", "a = f(x, y)"}),
            ("a = x[1:n]", {"a = x", "a = x[1:n + 1]", "a = x[1:]", "a = x[2:n]"}),
            ("a = q.shape[-1]", {"a = q.shape[-2]", "a = q.shape[1]"}),
            ("a = (n_q, n_k)", {"a = (n_k, n_q)", "a = (n_q, n_q)"}),
            ("a = not x", {"a = x"}),
            ("def f(x):\n    y = x * 2\n    return y", {"x *= 2; y = x"}),
            ("for i in range(n):\n    a[i] = i", {"for i in range(1, n):", "without a[i] = i"}),
        ],
    )
    def test_contains_the_slip(self, source, changed):
        assert changed <= {mutant.name for mutant in mutants(source)}

    def test_mutants_are_distinct_programs(self):
        sources = [mutant.source for mutant in mutants(SMALL)]
        assert len({SMALL, *sources}) == len(sources) + 1
        for source in sources:
            compile(source, "mutant", "exec")
        assert mutants(SMALL) == mutants(SMALL)

    def test_docstrings_and_comments_are_ignored(self):
        assert mutants('"""Half of 1 + 1."""\n# 1 + 1') == []


def notebook(answer: str, checks: str):
    """Return a notebook with one answer and one test cell."""
    tests = (
        "import numpy as np\nfrom attn_lib.course.checks import Checks\ncheck = Checks(globals())\n"
        f"check.part('all', points=1)\n{checks}\ncheck.finish()"
    )
    cells = []
    for cell_id, source, grade in (("answer", answer, False), ("answer-tests", tests, True)):
        cell = nbformat.v4.new_code_cell(source, id=cell_id)
        cell.metadata["nbgrader"] = {
            "grade": grade,
            "solution": not grade,
            "points": 1,
            "grade_id": cell_id,
        }
        cells.append(cell)
    return cells


RANGE = "def score_range(d_k):\n    return 2 * d_k**0.5"


class TestJudging:
    def test_mutants_survive_a_weak_check(self):
        # At width 4 the range is 4, which is 2·√4 but also 2 + √4, 4·1 and so on.
        outcome = judge(notebook(RANGE, "check.call('score_range', 4, target='score_range')"))
        assert "answer: return 2 + d_k ** 0.5" in outcome.survivors
        assert outcome.share > 0.05

    def test_a_strong_check_kills_all_mutants(self):
        checks = "check.call('score_range', 64, target='score_range')"
        outcome = judge(notebook(RANGE, checks))
        assert outcome.survivors == {}
        assert "answer: return 2 + d_k ** 0.5" in outcome.killed

    def test_a_different_spelling_is_equivalent(self):
        answer = "def softmax(s):\n    e = np.exp(s - s.max())\n    return e / e.sum()"
        checks = "check.call('softmax', check.rng(1).normal(size=5), target='softmax')"
        with_numpy = f"import numpy as np\n{answer}"
        outcome = judge(notebook(with_numpy, checks))
        assert "answer: e = -np.exp(s - s.max())" in outcome.equivalent
        # Wrong for other axes and for large scores. The check tests neither, the examples do.
        assert "answer: e = np.exp(s)" in outcome.survivors

    def test_a_changed_argument_is_wrong(self):
        answer = "def softmax(s):\n    e = s - s.max()\n    return np.exp(e) / np.exp(e).sum()"
        # Subtracting in place changes nothing if the argument is zero, but does otherwise.
        checks = "check.call('softmax', np.zeros(3), target='softmax')"
        outcome = judge(notebook(f"import numpy as np\n{answer}", checks))
        assert "answer: s -= s.max(); e = s" in outcome.survivors

    def test_an_endless_loop_is_stopped(self, monkeypatch):
        monkeypatch.setattr("tests.exercises.mutation.survival.PATIENCE", 0.2)
        counting = "n = 0\n    while n < d_k:\n        n += 1"
        answer = f"def score_range(d_k):\n    {counting}\n    return 2 * n**0.5"
        outcome = judge(notebook(answer, "check.call('score_range', 64, target='score_range')"))
        assert "answer: without n += 1" in outcome.killed

    def test_an_answer_without_checks_is_reported(self):
        with pytest.raises(ValueError, match="answer: expected a check of one of its names"):
            judge(notebook("other = 1", "check.call('score_range', 64, target='score_range')"))
