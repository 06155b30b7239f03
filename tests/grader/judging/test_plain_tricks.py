"""Outside, a copy is not taken for the object itself, nor an error for a right answer.

Each case has test cells, an answer that nbgrader itself would give other points than a judge that
does so, and the points that both deserve.
"""

from __future__ import annotations

import os
import random
import sys
import threading

import nbformat
import numpy as np
import pytest
from nbgrader.utils import determine_grade, is_grade

from grader.judging.assignment_source import read_source
from grader.judging.judge import Judged, judge_notebook
from grader.judging.plain.placement import Placement, placement_of
from grader.judging.plain.state import own_state
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.submission import repair
from tests.grader.judging.plain_notebooks import answer, filled, given, graded, notebook

LIMITS = Limits(call_seconds=3.0, cell_seconds=6.0, submission_seconds=60.0)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


def judged(sandbox, cells, answers, files=None) -> Judged:
    known = read_source(notebook(*cells))
    submitted = repair(filled(known.file, answers), known.stub).notebook
    return judge_notebook(known, submitted, limits=LIMITS, sandbox=sandbox, files=files or {})


def marks(sandbox, cells, answers, files=None) -> list[float]:
    found = judged(sandbox, cells, answers, files).notebook.cells
    return [determine_grade(cell)[0] for cell in found if is_grade(cell)]


def placed(sandbox, cells, files=None) -> Placement:
    return placement_of(read_source(notebook(*cells)), files or {}, LIMITS, sandbox)


NUMPY = given("import numpy as np", "numpy")
SQUARE = answer("square", "def square(n): return n * n")
COPIED = answer("copied", "def copied(x): return x.copy()")
NUMBERS = answer("check", "def check(x):\n    if not isinstance(x, int): raise TypeError('x')")
ROOT = answer("root", "def root(x):\n    if x < 0: raise ValueError\n    return x ** .5")
MEAN = answer("mean", "def mean(x): return sum(x) / len(x)")
CHANGED = "given numbers changed for a later test, at the price of this one"

#: Cells, the name of the answer, what was handed in, its points, and which tests are outside.
CASES = {
    "a helper of the tests, of the same name": (
        (
            SQUARE,
            graded("t", "def near(a, b): return a == b\nassert near(1, 1)"),
            graded("u", "assert near(square(3), 9)"),
        ),
        "def near(a, b): return True\ndef square(n): return 1",
        [1, 0],
        "tu",
    ),
    "a name that the tests use too": (
        (
            SQUARE,
            graded("t", "want = 9\nassert square(3) == want"),
            graded("u", "assert square(3) == want"),
        ),
        "want = 4\ndef square(n): return n ** 2",
        [1, 1],
        "tu",
    ),
    "an error that ends the test's loop": (
        (SQUARE, graded("t", "for y, x in zip(map(square, [1, 2]), [1, 4]):\n    assert y == x")),
        "def square(n): raise StopIteration",
        [0],
        "t",
    ),
    "a loop without end in place of an error": (
        (ROOT, graded("t", "try:\n    root(-1)\nexcept:\n    pass\nelse:\n    assert False")),
        "def root(x):\n    while True: pass",
        [0],
        "t",
    ),
    "an argument that cannot be sent, in place of an error": (
        (NUMBERS, graded("t", "try:\n    check(abs)\nexcept TypeError: pass\nelse: assert False")),
        "def check(x): pass",
        [0],
        "",
    ),
    "an argument of a special type": (
        (
            given("from collections import namedtuple\nP = namedtuple('P', 'x y')", "point"),
            answer("add", "def add(p): return p[0] + p[1]"),
            graded("t", "assert add(P(1, 2)) == 3"),
        ),
        "def add(p): return p.x + p.y",
        [1],
        "",
    ),
    "an array of texts": (
        (
            NUMPY,
            answer("short", "def short(words): return [w for w in words if len(w) < 2]"),
            graded("t", "assert len(short(np.array(['a', 'bc']))) == 1"),
        ),
        "def short(words): return words[np.char.str_len(words) < 2]",
        [1],
        "",
    ),
    "a helper that is given and calls the answer": (
        (SQUARE, given("def check(n): assert square(n) == n * n", "help"), graded("t", "check(3)")),
        "class N(int):\n    def __eq__(self, other): return True\ndef square(n): return N(1)",
        [0],
        "t",
    ),
    "a value that is given in steps": (
        (
            given("DATA = []\nfor i in range(4):\n    DATA.append(i)", "data"),
            MEAN,
            graded("t", "assert mean(DATA[1:] or [0]) == sum(DATA) / max(len(DATA) - 1, 1)"),
        ),
        "def mean(x): return 0",
        [0],
        "t",
    ),
    "docstrings as tests": (
        (SQUARE, graded("t", "import doctest\nassert doctest.testmod().failed == 0")),
        "def square(n):\n    '''\n    >>> square(2)\n    4\n    '''",
        [0],
        "",
    ),
    "a search for tests": (
        (
            SQUARE,
            graded(
                "t",
                "import io, unittest as u\nclass T(u.TestCase):\n    def test_it(self):\n"
                "        self.assertEqual(square(2), 4)\n"
                "runner = u.TextTestRunner(stream=io.StringIO())\n"
                "found = u.main(argv=[''], exit=False, testRunner=runner).result\n"
                "assert found.wasSuccessful()",
            ),
        ),
        "def square(n): return 1",
        [0],
        "",
    ),
    "the argument itself in place of a copy": (
        (NUMPY, COPIED, graded("t", "x = np.eye(2)\ny = copied(x)\ny[0] = 9\nassert x[0, 0] == 1")),
        "def copied(x): return x",
        [0],
        "t",
    ),
    "the same list in place of a copy": (
        (COPIED, graded("t", "x = [1]\ncopied(x).append(2)\nassert x == [1]")),
        "def copied(x): return x",
        [0],
        "t",
    ),
    "a look at an array's memory": (
        (NUMPY, COPIED, graded("t", "x = np.eye(2)\nassert not np.shares_memory(x, copied(x))")),
        "def copied(x): return x",
        [0],
        "",
    ),
    "objects that cannot cross, compared with each other": (
        (SQUARE, graded("t", "assert square(2) == square(2)")),
        "def square(n): return object()",
        [0],
        "t",
    ),
    "objects of the model answer, compared with each other": (
        (
            answer("item", "class Item:\n    def __eq__(self, other): return True"),
            graded("t", "assert Item() == Item()"),
        ),
        "class Item: pass",
        [0],
        "",
    ),
    CHANGED: (
        (
            given("DATA = [1.0, 2.0, 6.0]", "data"),
            MEAN,
            graded("t", "assert mean(DATA) == 3"),
            graded("u", "assert mean(DATA) == sum(DATA) / len(DATA)"),
        ),
        "def mean(x):\n    x[:] = [0.0]\n    return 0.0",
        [0, 0],
        "tu",
    ),
    "a warning in the first of two executions": (
        (NUMPY, MEAN, graded("t", "x = np.array([1.0, 3.0])\nassert mean(x) == 2")),
        """import sys
done = []
def mean(x):
    if not done: sys.stderr.write('oh')
    done.append(1)
    x[:] = 2
    return 2.0""",
        [0],
        "t",
    ),
    "an integer with too many digits to be shown": (
        (
            SQUARE,
            graded("t", "x = square(2)\nassert x == 4, x ** 9"),
            graded("u", "square(2) ** 9"),
        ),
        "def square(n): return 2 ** 2040",
        [0, 0],
        "t",
    ),
    "an error whose text Python cannot make": (
        (SQUARE, graded("t", "assert square(2) == 4")),
        "def square(n): raise UnicodeEncodeError('ascii', '', -5, -4, 'no')",
        [0],
        "t",
    ),
    "an import that only the test has": (
        (
            answer("area", "import math\ndef area(r): return math.pi * r * r"),
            graded("t", "import math\nassert area(1) == math.pi"),
        ),
        "def area(r): return r * r * math.pi",
        [1],
        "t",
    ),
    "a list of the notebook that a test changes": (
        (
            answer("stack", "stack = []\ndef push(s, x): s.append(x)\ndef pop(s): return s.pop()"),
            graded("t", "push(stack, 1)\nassert stack == [1]"),
            graded("u", "assert pop(stack) == 1"),
        ),
        "stack = []\ndef push(s, x): s += [x]\ndef pop(s): return s.pop()",
        [1, 1],
        "",
    ),
    "a module that the model answer imports once more": (
        (
            NUMPY,
            answer("zeros", "import numpy as np\ndef zeros(n): return np.zeros(n)"),
            graded("t", "assert np.array_equal(zeros(2), [0, 0])"),
        ),
        "class np:\n    array_equal = lambda *_: True\ndef zeros(n): return 1",
        [0],
        "t",
    ),
    "a value that only a test inside reads": (
        (
            answer("ax", "class Axes: title = 't'\nax = Axes()\ndef one(): return 1"),
            graded("t", "assert ax.title == 't'"),
            graded("u", "assert one() == 1"),
        ),
        "class Axes: title = 't'\nax = Axes()\ndef one(): return 2",
        [1, 0],
        "u",
    ),
    "a variable that a test inside has too": (
        (
            answer("S", "class S: pass\ndef one(): return 1"),
            graded("t", "x = S()\nassert isinstance(x, S)"),
            graded("u", "x = one()\nassert [x for _ in range(2)] == [1, 1]"),
            graded("v", "s = S()\nassert s"),
            graded("w", "assert True"),
        ),
        "class S: pass\ndef one(): return 2",
        [1, 0, 1, 1],
        "uw",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_answer_has_the_points_it_deserves(name, sandbox):
    cells, handed_in, points, outside = CASES[name]
    (asked,) = [c.metadata.nbgrader.grade_id for c in cells if c.metadata.nbgrader.solution]
    assert marks(sandbox, cells, {asked: handed_in}) == points
    assert placed(sandbox, cells).outside == tuple(outside)


def test_what_cannot_be_copied_lets_nothing_else_be_changed(sandbox, monkeypatch):
    monkeypatch.setattr("builtins.uncopied", threading.Lock(), raising=False)
    cells, handed_in, points, _ = CASES[CHANGED]
    lock = given("import threading\nLOCKS = [threading.Lock()]", "locks")
    assert marks(sandbox, (lock, *cells), {"mean": handed_in}) == points


def test_a_file_that_answers_write_is_not_that_of_the_instructor(sandbox):
    cells = (
        answer("save", "def save(path):\n    with open(path, 'w') as file: file.write('3')"),
        graded("t", "save('out.txt')\nassert open('out.txt').read() == '3'"),
        graded("u", "assert open('in.txt').read() == '1'"),
    )
    files = {"in.txt": b"1", "out.txt": b"3"}
    assert placed(sandbox, cells, files).outside == ("u",)
    wrong = "def save(path):\n    with open(path, 'w') as file: file.write('4')"
    assert marks(sandbox, cells, {"save": wrong}, files) == [0, 1]


def test_a_module_of_the_instructor_is_executed_outside(sandbox):
    cells = (
        given("from near_by import near", "help"),
        SQUARE,
        graded("t", "assert near(square(3), 9)"),
    )
    trick = "import near_by\nnear = near_by.near = lambda *_: True\ndef square(n): return 1"
    for tolerance, points in ((b"1e-9", [0]), (b"9", [1])):  # each assignment has its own
        files = {"near_by.py": b"def near(a, b): return abs(a - b) < " + tolerance}
        assert marks(sandbox, cells, {"square": trick}, files) == points
    assert "near_by" not in sys.modules


def test_a_helper_that_learners_could_replace_is_said(sandbox):
    helper = "def near(a, b): return abs(a - b) < 1e-9"
    cells = (given(helper), SQUARE, graded("t", "assert near(square(3), 9)"))
    (said,) = placed(sandbox, cells).lines()[1:]
    assert said.startswith("t uses near, which learners' code could replace: define it in the test")
    assert len(placed(sandbox, (given(helper, "help"), *cells[1:])).lines()) == 1


def test_what_the_notebook_imports_with_a_star_cannot_be_replaced(sandbox):
    cells = (
        given("from math import *\nfrom numpy import *\ndef exp(x): return 1"),
        answer("root", "def root(x): return sqrt(x)"),
        graded("t", "assert isclose(root(2), sqrt(2))\nassert sum([[1, 2]], 0).shape == (2,)"),
        graded("u", "assert exp(9) == 1"),
        graded("v", "from math import *\nassert isclose(root(4), sqrt(4))"),
    )
    trick = "isclose = sqrt = lambda *_: True\ndef root(x): return 1"
    assert marks(sandbox, cells, {}) == [1, 1, 1]
    assert marks(sandbox, cells, {"root": trick}) == [0, 1, 0]
    assert placed(sandbox, cells).outside == ("t", "u", "v")
    assert placed(sandbox, cells).replaceable == {"u": ("exp",)}


def test_a_locked_cell_that_calls_an_answer_is_said(sandbox):
    cells = (SQUARE, given("nine = square(3)", "nine"), graded("t", "assert nine == 9"))
    (said,) = placed(sandbox, cells).lines()[1:]
    assert said == (
        "t uses nine, which learners' code could replace: define it in the test, or in a locked "
        "cell that uses no answer."
    )


def test_an_answer_may_wait_for_asynchronous_code(sandbox):
    model = "async def later(x): return x + 1\nfound = await later(1)"
    cells = (answer("later", model), graded("t", "assert found == await later(1)"))
    assert marks(sandbox, cells, {}) == [1]
    assert marks(sandbox, cells, {"later": "async def later(x): return x\nfound = 2"}) == [0]
    assert placed(sandbox, cells).inside == {"t": "it waits for asynchronous code"}


def test_a_faulty_test_moves_no_other_inside(sandbox):
    cells = (
        SQUARE,
        graded("t", "x = 3\nassert square(x) == 9"),
        graded("u", "assert square(2) == 4"),
        graded("v", "assert square(2) == 5"),
    )
    found = placed(sandbox, cells)
    assert found.outside == ("t", "u")
    assert found.inside == {"v": "the model answers do not pass it: AssertionError"}


def test_hidden_lines_between_other_marks_are_not_quoted(sandbox):
    cells = (SQUARE, graded("t", "assert square(1) == 1\n# secret\nassert square(2) == 4\n# end"))
    config = nbformat.from_dict(
        {"ClearHiddenTests": {"begin_test_delimeter": "# secret", "end_test_delimeter": "# end"}}
    )
    known = read_source(notebook(*cells), config)
    submitted = repair(filled(known.file, {"square": "square = abs"}), known.stub).notebook
    found = judge_notebook(known, submitted, limits=LIMITS, sandbox=sandbox)
    assert found.notebook.cells[-1].outputs[0].traceback == ["AssertionError"]


def test_settings_end_with_the_submission():
    import matplotlib.pyplot as plt

    before = (np.geterr(), np.get_printoptions(), list(sys.path), dict(os.environ))
    figures, state = plt.get_fignums(), random.getstate()
    with own_state():
        np.seterr(all="raise")
        np.set_printoptions(precision=2)
        sys.path.insert(0, "elsewhere")
        os.environ["TESTS_WERE_HERE"] = "1"
        random.random()
        plt.figure()
    assert (np.geterr(), np.get_printoptions(), sys.path, dict(os.environ)) == before
    assert (plt.get_fignums(), random.getstate()) == (figures, state)
