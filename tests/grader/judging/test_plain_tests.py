"""Plain test cells are executed outside where the model answers pass there, else inside.

Outside, an answer gets what it deserves, and no trick of a learner's code earns a point.
"""

from __future__ import annotations

import sys

import nbformat
import pytest
from nbgrader.utils import determine_grade, is_grade

from grader.judging.assignment_source import WritesTests, read_source
from grader.judging.judge import Judged, judge_notebook
from grader.judging.plain.placement import FAILS_OUTSIDE, placement_of
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.submission import repair
from tests.grader.judging.plain_notebooks import answer, filled, given, graded, notebook

LIMITS = Limits(call_seconds=2.0, cell_seconds=4.0, submission_seconds=60.0)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


@pytest.fixture(scope="module")
def placed(sandbox):
    """A function that returns where the test cells of a notebook are executed."""

    def placement(*cells, files=None):
        return placement_of(read_source(notebook(*cells)), files or {}, LIMITS, sandbox)

    return placement


def judged(sandbox, cells, answers, **files) -> Judged:
    source = notebook(*cells)
    known = read_source(source)
    submitted = repair(filled(source, answers), known.stub).notebook
    return judge_notebook(known, submitted, limits=LIMITS, sandbox=sandbox, **files)


def scores(sandbox, cells, answers, **files) -> dict[str, float]:
    cells = judged(sandbox, cells, answers, **files).notebook.cells
    return {c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in cells if is_grade(c)}


SQUARES = answer("squares", "def squares(n): return [i * i for i in range(1, n + 1)]")
SORTED = answer("sort", "def sort(x): x.sort()")
STACK = answer("stack", "class Stack(list):\n    def push(self, x): self.append(x)")

BUILT_IN = type(abs).__name__
#: A model answer, a test cell and why it has to be inside ("" if it is outside).
PLACES = {
    "values": (SQUARES, "assert squares(3) == [1, 4, 9]", ""),
    "keywords": (SQUARES, "assert squares(n=2) == [1, 4]", ""),
    "names that have another meaning": (
        SQUARES,
        "for _ in range(2):\n    id = squares(1)\nassert id == [1]",
        "",
    ),
    "a mark": (SQUARES, "len(squares(3)) / 3", ""),
    "an argument that is changed": (SORTED, "x = [2, 1]\nsort(x)\nassert x == [1, 2]", ""),
    "a set and a dict": (
        answer("count", "def count(x): return {c: x.count(c) for c in set(x)}"),
        "assert count('aab') == {'a': 2, 'b': 1}\nassert count([1]) == {1: 1}",
        "",
    ),
    "an error": (
        answer(
            "root", "def root(x):\n    if x < 0: raise ValueError('negative')\n    return x**.5"
        ),
        "try:\n    assert not root(-1)\nexcept ValueError as e:\n    assert str(e) == 'negative'",
        "",
    ),
    "printed text": (
        answer("greet", "def greet(name): print('hello', name)"),
        """import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as out:
    greet("ada")
assert out.getvalue().split() == ["hello", "ada"]""",
        "",
    ),
    "a variable": (answer("x", "x = (3, 4.5)"), "assert x == (3, 4.5)", ""),
    "a module that the notebook imports": (
        answer("zeros", "def zeros(n): return np.zeros(n)"),
        "np.testing.assert_array_equal(zeros(2), [0, 0])",
        "",
    ),
    "a function named as a built-in one": (
        answer("max", "def max(x): return sorted(x)[-1]"),
        "assert max([1, 3, 2]) == 3",
        "",
    ),
    "an instance": (
        STACK,
        "s = Stack()\ns.push(1)\nassert s == [1]",
        f"{FAILS_OUTSIDE}: it uses the class Stack, which cannot leave the sandbox",
    ),
    "an error of their own": (
        answer("e", "class Low(Exception): pass\ndef f(): raise Low"),
        "try:\n    f()\nexcept Low:\n    pass",
        f"{FAILS_OUTSIDE}: it uses the class Low, which cannot leave the sandbox",
    ),
    "a name deleted": (
        answer("g", "def g(): return h()\ndef h(): return 1"),
        "del h\ntry:\n    g()\nexcept NameError:\n    pass\nelse:\n    raise AssertionError",
        "it changes h, which other cells use",
    ),
    "a name replaced": (
        answer("g", "def g(): return h()\ndef h(): return 1"),
        "def h(): return 5\nassert g() == 5",
        "it changes h, which other cells use",
    ),
    "a name that only earlier cells use": (
        answer("n", "n = 3\ndef f(x): return x + 1\nprint(n)"),
        "n = 5\nassert f(n) == 6",
        "",
    ),
    "a look at the names": (SQUARES, "assert 'numpy' not in globals()", "it uses globals"),
    "a look at the text": (SQUARES, "assert squares.__doc__ is None", "it uses __doc__"),
    "a type": (
        answer("pair", "import numpy as np\ndef pair(): return [1], np.eye(2)"),
        "a, b = pair()\nassert type(a) is list and type(b) is np.ndarray is not type(a)",
        "",
    ),
    "the same object": (
        answer("same", "def same(x): return x"),
        "x = []\nassert same(x) is x",
        "it asks whether two objects are the same one",
    ),
    "another object": (
        answer("copy", "def copy(x): return list(x)"),
        "x = []\nassert copy(x) is not x",
        "it asks whether two objects are the same one",
    ),
    "a test case with attributes, beside a class of the notebook": (
        answer("area", "class Shape:\n    kind = 'any'\ndef area(r): return 3 * r * r"),
        """import unittest, io
class T(unittest.TestCase):
    kind = 3
    both = kind + 1
    def test_it(self): self.assertEqual(area(1), self.kind)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
assert unittest.TextTestRunner(io.StringIO()).run(suite).wasSuccessful()""",
        "",
    ),
    "a function as an argument": (
        answer("apply", "def apply(f, x): return f(x)"),
        "assert apply(abs, -3) == 3",
        f"{FAILS_OUTSIDE}: apply was not called: an argument of type {BUILT_IN} has no exact copy",
    ),
    "a generator": (
        answer("gen", "def gen(n): yield from range(n)"),
        "assert list(gen(2)) == [0, 1]",
        f"{FAILS_OUTSIDE}: an object of type generator cannot leave the sandbox",
    ),
    "a command": (SQUARES, "%time squares(2)", "it has commands of Jupyter"),
    "a model answer that is wrong": (
        answer("w", "def w(): return 1"),
        "assert w() == 2",
        "the model answers do not pass it: AssertionError",
    ),
}


def test_what_fails_before_a_test_is_said(placed):
    answers = answer("df", "df = pd.DataFrame({'a': [1]})")
    found = placed(
        given("import no_such_pandas as pd"), answers, graded("t", "assert df.a[0] == 1")
    )
    assert found.inside == {
        "t": "the model answers do not pass it: NameError: name 'df' is not defined. Before it, a "
        "cell failed with ModuleNotFoundError: No module named 'no_such_pandas'"
    }


@pytest.mark.parametrize("name", PLACES)
def test_a_cell_is_outside_if_the_model_answers_pass_there(name, placed):
    model, source, why = PLACES[name]
    placement = placed(given("import numpy as np"), model, graded("t", source))
    assert placement.inside == ({"t": why} if why else {})
    assert placement.outside == (() if why else ("t",))


def test_what_a_cell_inside_needs_is_inside_too(placed):
    placement = placed(
        STACK,
        graded("helper", "def full(s): return len(s) == 1"),
        graded("needs it", "s = Stack()\ns.push(3)\nassert full(s)"),
        graded("uses s", "assert s == [3]"),
        graded("apart", "assert True"),
    )
    assert placement.outside == ("apart",)
    assert placement.inside == {
        "helper": "it defines full, which needs it uses",
        "needs it": f"{FAILS_OUTSIDE}: it uses the class Stack, which cannot leave the sandbox",
        "uses s": "it uses s, which a test cell inside defines",
    }


def test_a_name_that_a_later_answer_defines_too_is_not_that_of_an_earlier_test(placed):
    cells = (graded("early", "x = 3"), answer("x", "x = 4"), graded("late", "assert x == 4"))
    placement = placed(*cells)
    assert placement.outside == ("late",)
    assert placement.inside == {"early": "it changes x, which other cells use"}


def test_an_import_in_a_test_that_a_later_answer_needs_is_inside(placed):
    placement = placed(
        graded("imports", "import math"), answer("f", "def f(x): return math.floor(x)")
    )
    assert placement.inside == {"imports": "it changes math, which other cells use"}


RIGHT = {"squares": "def squares(n):\n    return [i**2 for i in range(1, n + 1)]"}
TESTS = (
    given(
        "import numpy as np\nTOLERANCE = 1e-9\ndef near(a, b): return abs(a - b) < TOLERANCE", "g"
    ),
    SQUARES,
    graded("values", "assert squares(3) == [1, 4, 9]\nassert near(squares(2)[1], 4)", 2),
    graded("mark", "sum(squares(3)[i] == (i + 1) ** 2 for i in range(3)) / 2", 1.5),
)


@pytest.mark.parametrize(
    ("source", "values", "mark"),
    [
        (RIGHT["squares"], 2, 1.5),
        ("def squares(n): return [i**2 for i in range(n)]", 0, 0),
        ("def squares(n): return [1, 5, 9][:n]", 0, 1.0),
        ("def squares(n): return range(1, 9)", 0, 0.5),
        ("def squares(n): raise NotImplementedError", 0, 0),
        ("def squares(", 0, 0),
        ("squares = [1, 4, 9]", 0, 0),
        ("def squares(n):\n    while True: pass", 0, 0),
        ("def squares(n):\n    raise SystemExit", 0, 0),
        ("def squares(n):\n    import os; os._exit(0)", 0, 0),
        ("import sys\ndef squares(n):\n    sys.stderr.write('oh')\n    return [1, 4, 9][:n]", 0, 0),
    ],
)
def test_an_answer_gets_what_it_deserves(source, values, mark, sandbox):
    found = scores(sandbox, TESTS, {"squares": source})
    assert found == {"values": values, "mark": mark}


TRICKS = {
    "equal to everything": """
class Equal(list):
    def __eq__(self, other): return True
    def __getitem__(self, key): return self
    def __len__(self): return 3
    def __sub__(self, other): return 0
def squares(n): return Equal()""",
    "numbers that are equal to everything": """
class Number(float):
    def __eq__(self, other): return True
    __hash__ = None
    def __sub__(self, other): return 0
def squares(n): return [Number()] * n""",
    "the tester's names replaced": """
TOLERANCE = float("inf")
def near(a, b): return True
import numpy.testing, builtins
builtins.abs = lambda x: 0
def squares(n): return []""",
    "the test cell's own error swallowed": """
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
def squares(n): return []""",
    "a result displayed": """
def squares(n):
    from IPython.display import display
    display(1.5)
    print(1.5)
    return []""",
    "a look at the caller": """
import sys
def squares(n):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, str) and "assert" in value: return [1, 4, 9][:n]
        frame = frame.f_back
    return []""",
    "an error that ends the test": """
def squares(n): raise StopIteration""",
    "a forged reply": """
def squares(n): return ("returned", [1, 4, 9], [], [])""",
}


@pytest.mark.parametrize("name", TRICKS)
def test_no_trick_earns_a_point_outside(name, sandbox):
    found = scores(sandbox, TESTS, {"squares": TRICKS[name]})
    assert found == {"values": 0, "mark": 0}


#: A test that computes what it expects from the arguments, and one that they are as before.
SHIFT = (
    given("import numpy as np", "g"),
    answer("shift", "def shift(x): return x - x.max()"),
    graded("value", "x = np.array([1.0, 3.0])\nassert np.array_equal(shift(x), x - x.max())", 1),
    graded("kept", "x = np.array([1.0, 3.0])\nshift(x)\nassert x.tolist() == [1.0, 3.0]", 2),
)


@pytest.mark.parametrize(
    ("source", "value", "kept"),
    [
        ("def shift(x): return x - np.max(x)", 1, 2),
        ("def shift(x):\n    x -= x.max()\n    return x", 1, 0),
        ("def shift(x):\n    x[:] = 0\n    return x", 0, 0),
    ],
)
def test_changing_the_arguments_does_not_make_a_wrong_answer_right(source, value, kept, sandbox):
    assert scores(sandbox, SHIFT, {"shift": source}) == {"value": value, "kept": kept}


def test_an_answer_that_has_to_change_its_argument_passes_when_it_does(sandbox):
    cells = (SORTED, graded("t", "x = [3, 1, 2]\nsort(x)\nassert x == [1, 2, 3]"))
    assert scores(sandbox, cells, {"sort": "def sort(x): x[:] = sorted(x)"}) == {"t": 1}
    assert scores(sandbox, cells, {"sort": "def sort(x): return sorted(x)"}) == {"t": 0}


def test_files_beside_the_notebook_are_there_for_answers_and_tests(sandbox):
    cells = (
        answer("total", "def total(): return sum(map(int, open('data/n.txt')))"),
        graded("t", "assert total() == sum(map(int, open('data/n.txt'))) == 6"),
    )
    files = {"data/n.txt": b"1\n2\n3\n"}
    theirs = {"data/n.txt": b"60", "helper.py": b"def six(): return 6"}
    submitted = {"total": "def total():\n    import helper\n    return helper.six()"}
    assert scores(sandbox, cells, {}, files=files, own_files=theirs) == {"t": 1}
    assert scores(sandbox, cells, submitted, files=files, own_files=theirs) == {"t": 1}


def test_an_object_that_cannot_cross_is_said(sandbox):
    cells = (SQUARES, graded("t", "assert list(squares(2)) == [1, 4]"))
    found = judged(sandbox, cells, {"squares": "def squares(n): return iter([1, 4])"})
    (remark,) = found.remarks
    assert "could not look at an object of type list_iterator" in remark


def test_a_mark_above_the_points_is_an_error_and_not_a_stop(sandbox):
    cells = (SQUARES, graded("t", "float(len(squares(1)))"))
    assert scores(sandbox, cells, {"squares": "def squares(n): return [1, 2]"}) == {"t": 0}


def test_printed_text_has_a_budget(sandbox):
    flood = "def squares(n):\n    print('x' * 10**6)\n    return [1, 4]"
    cells = (SQUARES, graded("t", "for _ in range(5):\n    assert squares(2) == [1, 4]"))
    assert scores(sandbox, cells, {"squares": flood}) == {"t": 1}
    (output,) = judged(sandbox, cells, {"squares": flood}).notebook.cells[-1].outputs
    assert len(output.text) < 2**19


def test_a_warning_costs_each_submission_the_points_as_in_nbgrader(sandbox, monkeypatch):
    show = lambda message, *_, **__: sys.stderr.write(str(message))  # noqa: E731
    monkeypatch.setattr("warnings.showwarning", show)  # pytest would record it instead
    warned = graded("t", "import numpy as np\nassert squares(1) == [1]\nnp.float64(1) / 0;")
    for _ in range(2):
        assert scores(sandbox, (SQUARES, warned), RIGHT) == {"t": 0}


def test_given_functions_that_call_themselves_are_the_instructors(sandbox):
    fact = "def fact(n):\n    return n * fact(n - 1) if n else 1"
    cells = (given(fact, "g"), SQUARES, graded("t", "assert squares(3)[-1] == fact(3) + 3"))
    hostile = "def fact(n): return 0\ndef squares(n): return [3]"
    assert scores(sandbox, cells, RIGHT) == {"t": 1}
    assert scores(sandbox, cells, {"squares": hostile}) == {"t": 0}


def test_a_hidden_line_is_not_quoted(sandbox):
    hidden = "### BEGIN HIDDEN TESTS\nassert squares(2) == [1, 4]\n### END HIDDEN TESTS"
    cells = (SQUARES, graded("t", f"assert squares(1) == [1]\n{hidden}"))
    for source, quoted in (
        ("def squares(n): return []", ["line 1: assert squares(1) == [1]", "AssertionError"]),
        ("def squares(n): return [1]", ["AssertionError"]),
    ):
        found = judged(sandbox, cells, {"squares": source}).notebook.cells[-1].outputs
        assert found[0].traceback == quoted


def test_a_notebook_of_an_old_format_gets_ids_and_other_marks_are_understood():
    old = nbformat.reads(notebook(SQUARES).decode(), as_version=4)
    old.nbformat_minor = 0
    del old.cells[0]["id"]
    old.cells[0].source = "#< x\nsquares = 1\n### END SOLUTION"
    config = nbformat.from_dict(
        {"ClearSolutions": dict.fromkeys(["begin_solution_delimeter"], "#< x")}
    )
    known = read_source(nbformat.writes(old).encode(), config)
    assert known.model.cells[0].id == "cell-1"
    assert known.stub.cells[0].source == "# YOUR CODE HERE\nraise NotImplementedError()"


def test_tests_that_nbgrader_would_write_are_refused():
    source = notebook(SQUARES, graded("t", "### AUTOTEST squares(2)"))
    with pytest.raises(WritesTests, match="The test cell t has a line '### AUTOTEST'"):
        read_source(source)
