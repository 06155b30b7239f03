"""A session runs honest work, with and without isolation, and survives misbehaving objects."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks.drawings import Drawing
from grader.sandbox.inside.wire import Opaque
from grader.sandbox.sandbox import Sandbox, SessionDied
from tests.grader.sandbox.probes import LIMITS, printed


def test_a_cell_prints_shows_a_result_and_keeps_its_names(either):
    first = either.execute("a", "import sys\nx = 2\nprint('out')\nprint('err', file=sys.stderr)\nx")
    assert first.outcome == "ok"
    assert first.outputs == [
        {"output_type": "stream", "name": "stdout", "text": "out\n"},
        {"output_type": "stream", "name": "stderr", "text": "err\n"},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "2"},
            "metadata": {},
            "execution_count": 1,
        },
    ]
    assert either.execute("b", "x + 1").outputs[0]["data"] == {"text/plain": "3"}
    assert either.execute("c", "x;").outputs == []


def test_an_error_is_reported_with_its_line(either):
    run = either.execute("a", "def f():\n    return 1 / 0\nf()")
    assert run.outcome == "error"
    (error,) = run.outputs
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert "return 1 / 0" in "\n".join(error["traceback"])
    assert either.execute("b", "def (").outputs[0]["ename"] == "SyntaxError"


def test_names_are_functions_values_or_missing(either):
    either.execute("a", "f = lambda x: x\nv = 3\nclass C: pass\nn = None")
    assert either.kinds(["f", "v", "C", "n", "g", "In", "exit"]) == {
        "f": "function",
        "v": "value",
        "C": "function",
        "n": "value",
        "g": "missing",
        "In": "missing",
        "exit": "missing",
    }


def test_a_value_is_returned(either):
    either.execute(
        "a", "import numpy as np\na = np.arange(3.0)\nb = {'x': (1, [2.5, None])}\nc = {1}"
    )
    np.testing.assert_array_equal(either.value("a"), [0, 1, 2])
    assert either.value("b") == {"x": (1, [2.5, None])}
    assert either.value("c") == Opaque("set")
    assert either.value("nothing") is None


def test_a_function_is_called_with_copies_and_its_result_is_returned(either):
    either.execute("a", "def double(x, times=2):\n    return times * x")
    given = np.arange(3.0)
    seen = either.call("double", [given, 3], own_work=True)
    np.testing.assert_array_equal(seen.returned, [0, 3, 6])
    assert seen.problem == ""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("x -= 1; return x", "it changed its argument number 1."),
        ("raise NotImplementedError()", "not written yet."),
        ("return x.nothing", "it raised AttributeError: 'numpy.ndarray' object has no"),
        ("import attn_lib; return attn_lib.softmax(x)", "it calls attn_lib's own softmax."),
        ("raise SystemExit(3)", "it raised SystemExit: 3"),
        (
            "\n    while True: pass",
            "it did not return within 1 s. Is there a loop that does not end?",
        ),
        ("import time; time.sleep(60)", "it did not return within 1 s."),
        ("import numpy; return numpy.ones(2**20)", "its result is too large to read: more than"),
        ("return ['x' * 2**20] * 9", "its result is too large to read: more than 8 MiB"),
        ("input()", "it raised NobodyToAsk: there is nobody to ask: input() does not work"),
        ("return [0] * 10**12", "it raised MemoryError"),
    ],
)
def test_an_error_in_a_call_is_described(sandbox, body, problem):
    with sandbox.session() as session:
        session.execute("a", f"kept = 5\ndef f(x): {body}")
        seen = session.call("f", [np.ones(2)], own_work=True)
        assert seen.problem.startswith(problem)
        assert seen.returned is None
        assert seen.is_stub == (problem == "not written yet.")
        assert session.value("kept") == 5


def test_a_drawing_is_returned_as_data(either):
    either.execute(
        "a",
        "import matplotlib.pyplot as plt\n"
        "def draw(y):\n    fig, ax = plt.subplots()\n    ax.plot(y, label='a')\n    return ax",
    )
    drawing = either.call("draw", [[3.0, 4.0]], own_work=False).returned
    assert isinstance(drawing, Drawing)
    np.testing.assert_array_equal(drawing.curves[0].y, [3, 4])


def test_a_figure_is_shown_as_a_picture(either):
    run = either.execute("a", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    (picture,) = [out for out in run.outputs if out["output_type"] == "display_data"]
    assert picture["data"]["image/png"].startswith("iVBORw0KGgo")


def test_magics_await_and_commands_of_the_system_work(either):
    assert printed(either, "!echo from the system") == "from the system\n"
    assert printed(either, "%%bash\necho from bash") == "from bash\n"
    assert printed(either, "import asyncio\nawait asyncio.sleep(0)\nprint(1)") == "1\n"
    assert "per loop" in printed(either, "%timeit -n1 -r1 1 + 1")


def test_input_is_not_available(either):
    run = either.execute("a", "name = input('name? ')")
    assert run.outputs[-1]["evalue"].startswith("there is nobody to ask: input() does not work")


@pytest.mark.parametrize(
    "source", ["exit()", "quit", "import sys; sys.exit(3)", "raise SystemExit"]
)
def test_a_cell_that_exits_does_not_end_the_session(session, source):
    session.execute("a", source)
    assert printed(session, "print('still there')") == "still there\n"


def test_the_same_work_gives_the_same_random_numbers_each_time(sandbox):
    source = "import numpy, random\nprint(numpy.random.rand(), random.random(), hash('a'))"
    runs = set()
    with Sandbox(LIMITS) as another:
        for one in (sandbox, sandbox, another):
            with one.session() as session:
                runs.add(printed(session, source))
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("class Text(str):\n    def __str__(self): return 3\nmade = Text('x')", "raises TypeError"),
        ("made = ['x' * 2**20] * 9", "is too large to read: more than 8 MiB"),
        (
            "class Rude(list):\n    def __iter__(self): raise KeyboardInterrupt\nmade = Rude()",
            "raises KeyboardInterrupt",
        ),
    ],
)
def test_an_unreadable_object_does_not_end_the_session(session, source, problem):
    session.execute("a", source + "\nf = lambda: made")
    assert problem in repr(session.value("made"))
    assert session.call("f", [], own_work=True).problem.startswith("it")
    assert session.value("nothing") is None


def test_a_custom_exception_is_reported(session):
    session.execute("a", "class Mine(BaseException): pass\ndef f(): raise Mine")
    assert session.call("f", [], own_work=True).problem.startswith("it raised Mine")
    assert session.execute("b", "f()").outputs[-1]["ename"] == "Mine"


def test_a_cell_that_is_too_large_to_send_is_reported(session):
    with pytest.raises(SessionDied, match="it is more than 8 MiB of text and lists"):
        session.execute("a", "#" * 9 * 2**20)


def test_a_session_that_is_over_raises_errors(sandbox):
    session = sandbox.session()
    session.kill()
    session.kill()
    with pytest.raises(SessionDied, match="the session has been closed"):
        session.value("x")
