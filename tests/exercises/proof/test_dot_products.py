"""Tests that only the assignment `dot-products` needs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

import numpy as np
import pytest

from attn_lib.course.mistakes import catalogue
from attn_lib.course.personal import two_keys
from attn_lib.course.targets import TARGETS
from tests.exercises.proof.notebook import run

pytestmark = pytest.mark.parametrize("proof", ["dot-products"], indirect=True)

FUNCTION_CELLS = {
    "score_matrix": "score-matrix",
    "softmax": "softmax",
    "attention": "attention",
}

#: Right functions outside attn_lib that wrong answers may call.
OWN_FUNCTIONS = """
def score_matrix(q, k):
    return q @ np.swapaxes(k, -1, -2)

def scaled_scores(q, k):
    return score_matrix(q, k) / np.sqrt(q.shape[-1])

def softmax(scores, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def as_answer(mistake) -> str:
    """Return the source of a mistake as a learner would write it into the answer cell."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(mistake.wrong))).body[0]
    definition.decorator_list = []
    inner = textwrap.indent(OWN_FUNCTIONS + "\n" + ast.unparse(definition), "    ")
    return f"def make():\n{inner}\n    return {definition.name}\n\n{mistake.target} = make()"


def test_the_model_sentence_has_the_right_numbers(source):
    text = next(cell.source for cell in source if cell.id == "in-words")
    q, k, v = two_keys("ada")
    raw = TARGETS["score_matrix"](q[None], k)[0]
    weights = TARGETS["attention"](q[None], k, np.eye(2))[0]
    output = TARGETS["attention"](q[None], k, v)[0]
    best = int(weights.argmax())
    assert f"value {best}, {v[best].tolist()}, has the larger weight" in text
    assert f"({raw[best]} against {raw[1 - best]})".replace("-", "−") in text
    assert f"the weight {weights[best]:.3f}" in text
    assert f"the output [{output[0]:.3f}, {output[1]:.3f}]" in text
    assert f"{weights[1 - best]:.3f} of value {1 - best}" in text


def test_half_precision_gives_too_few_digits(source, points):
    names = {"score_matrix": "q, k", "softmax": "scores", "attention": "q, k, v"}
    answers = {}
    for name, cell in FUNCTION_CELLS.items():
        reference = next(c.source for c in source if c.id == cell)
        halves = ", ".join(f"{a}.astype(np.float16)" for a in names[name].split(", "))
        answers[cell] = (
            f"{reference}\n\ndef {name}({names[name]}, exact={name}):\n    return exact({halves})"
        )
    result = run(source, answers)
    lost = {f"{cell}-tests" for cell in FUNCTION_CELLS.values()}
    assert result.lost(points).keys() == lost
    for cell in lost:
        assert "It is in float16" in " ".join(result.reports[cell].split())


def test_numbers_typed_to_three_decimals_are_accepted(source, points):
    for learner in ("ada", "grace", "alan", "emmy", "katherine"):
        q, k, v = two_keys(learner)
        typed = {
            "raw_scores": TARGETS["score_matrix"](q[None], k)[0],
            "scaled_scores": TARGETS["scaled_scores"](q[None], k)[0],
            "weights": TARGETS["attention"](q[None], k, np.eye(2))[0],
            "output": TARGETS["attention"](q[None], k, v)[0],
        }
        answer = "\n".join(f"{name} = {a.round(3).tolist()}" for name, a in typed.items())
        answers = {"learner-id": f"learner_id = {learner!r}", "by-hand": answer}
        assert run(source, answers).scores == points


@pytest.mark.parametrize("letter", "ABCD")
def test_only_the_letter_earns_nothing(letter, source):
    guess = f"favourites = [0, 0, 0]\nshare = -1\nrest = 0.0\nmeaning = {letter!r}"
    for learner in range(20):
        answers = {"learner-id": f'learner_id = "{learner}"', "reading": guess}
        assert run(source, answers).scores["reading-tests"] == 0


def test_typing_in_the_example_earns_nothing(source):
    examples = {}
    for cell in ("shapes", "by-hand"):
        text = next(c.source for c in source if c.id == f"{cell}-question")
        examples[cell] = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    scores = run(source, examples).scores
    assert scores["shapes-tests"] == 0
    assert scores["by-hand-tests"] == 0


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "learner_id: not there yet."),
        ("learner_id = 12345", "learner_id: expected a string, got 12345; put it in quotes."),
        ("learner_id = ' '", "learner_id: expected your id, got '' without a letter or digit;"),
        ('learner_id = "..."', "expected your id, got '...' without a letter or digit;"),
    ],
)
def test_without_an_id_the_personal_tasks_earn_nothing(answer, told, source):
    """This holds even if the answers are right for the default id."""
    for task in ("shapes", "reading", "by-hand"):
        reference = next(cell.source for cell in source if cell.id == task)
        answers = {
            "learner-id": 'learner_id = "nobody"',
            task: f"{reference}\ndel learner_id\n{answer}",
        }
        result = run(source, answers)
        assert result.scores[f"{task}-tests"] == 0
        assert told in " ".join(result.reports[f"{task}-tests"].split())


@pytest.mark.parametrize(
    ("cell", "answer", "name"),
    [
        ("score-matrix", "from attn_lib.course.targets import score_matrix", "score_matrix"),
        ("softmax", "from attn_lib import softmax", "softmax"),
        ("softmax", "import attn_lib\nsoftmax = lambda s: 1 * attn_lib.softmax(s)", "softmax"),
        (
            "softmax",
            "from attn_lib.softmax import _shift\nsoftmax = lambda s: _shift(s, -1)",
            "_shift",
        ),
        (
            "attention",
            "from attn_lib import scaled_dot_product_attention as attention",
            "scaled_dot_product_attention",
        ),
        (
            "attention",
            (
                "import attn_lib\n\ndef attention(q, k, v):\n"
                "    sdpa = attn_lib.scaled_dot_product_attention\n"
                "    return sdpa(q, k, v, return_trace=True).output"
            ),
            "scaled_dot_product_attention",
        ),
    ],
)
def test_calling_attn_lib_earns_nothing(cell, answer, name, source):
    result = run(source, {cell: answer})
    assert result.scores[f"{cell}-tests"] == 0
    assert f"it calls attn_lib's own {name}." in result.reports[f"{cell}-tests"]


@pytest.mark.parametrize("mistake", catalogue("attention"), ids=lambda m: m.id)
def test_half_precision_does_not_hide_a_mistake(mistake, source):
    answer = as_answer(mistake) + (
        "\n\ndef attention(q, k, v, wrong=attention):\n    return wrong(q, k, v).astype(np.float16)"
    )
    assert run(source, {"attention": answer}).scores["attention-tests"] == 0
