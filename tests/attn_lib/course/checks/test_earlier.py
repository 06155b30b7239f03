"""A failure that comes after another one says what to mend first."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks, ChecksFailed, Line, earlier

CODE = """
import numpy as np

def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=0)

def attention(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1])) @ v

def draw_weights(lengths):
    import matplotlib.pyplot as plt
    _, ax = plt.subplots()
    ax.plot(lengths, [softmax(np.ones((1, n)))[0, 0] for n in lengths], label="weight")
    return ax
"""
MENDED = CODE.replace("sum(axis=0)", "sum(axis=-1, keepdims=True)")
FIRST = "It uses your softmax, which is not right yet (rows): mend that first."


@pytest.fixture(autouse=True)
def notebook():
    with earlier.notebook():
        yield


def defined(code):
    names = {}
    exec(code, names)
    return names


def told(check) -> str:
    try:
        check.finish()
    except ChecksFailed as failed:
        return " ".join(str(failed).split())
    return ""


def softmax_told(names) -> str:
    check = Checks(names)
    check.part("rows", points=1)
    check.call("softmax", np.array([[1.0, 5.0, 2.0], [0.5, -1.0, 0.0]]), target="softmax")
    return told(check)


def attention_told(names) -> str:
    check = Checks(names)
    check.part("attention", points=1)
    q, k, v = np.random.default_rng(1).normal(size=(3, 4, 4))
    check.call("attention", q[:3], k, 10 * v, target="attention")
    return told(check)


def test_a_later_function_says_which_earlier_one_to_mend(capsys):
    names = defined(CODE)
    assert FIRST not in softmax_told(names)
    assert FIRST in attention_told(names)


def test_so_does_a_drawing(capsys):
    names = defined(CODE)
    softmax_told(names)
    check = Checks(names)
    check.part("weights", points=1)
    line = Line([2, 4], target="score_sd", args=[(2,), (4,)])
    check.drawing("draw_weights", [2, 4], lines={"weight": line})
    assert FIRST in told(check)


def test_nothing_is_said_of_a_function_that_passes_or_was_never_tested(capsys):
    assert FIRST not in attention_told(defined(CODE))
    wrong = MENDED.replace(" / np.sqrt(q.shape[1])", "")
    names = defined(wrong)
    assert softmax_told(names) == ""
    told_now = attention_told(names)
    assert "no-scale" in told_now
    assert "It uses your" not in told_now


def test_a_function_defined_anew_counts_as_not_tested(capsys):
    names = defined(CODE)
    softmax_told(names)
    exec(MENDED.partition("def attention")[0], names)
    assert attention_told(names) == ""
    names["attention"] = defined(CODE.replace("@ v", "@ v[::-1]"))["attention"]
    assert FIRST not in attention_told(names)


def test_another_notebook_knows_nothing_of_it(capsys):
    names = defined(CODE)
    softmax_told(names)
    with earlier.notebook():
        assert FIRST not in attention_told(names)
    assert FIRST in attention_told(names)
