"""Courses of others: nbgrader's own quickstart, numerics, first programs, and a second semester.

All but the first have shapes that such courses have in public: data files, several notebooks,
helpers of the tester, marks for parts, classes, printed text, and answers that a person grades.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbgrader

from tests.grader.judging.plain_notebooks import (
    answer,
    by_hand,
    filled,
    given,
    graded,
    notebook,
    task,
    written,
)

GUIDE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"


@dataclass(frozen=True)
class Course:
    """An assignment of a course, and what its students handed in."""

    assignment: str
    notebooks: Mapping[str, bytes]
    files: Mapping[str, str] = field(default_factory=dict)
    #: By student, then by notebook and cell, what differs from the model answers.
    answers: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    #: By student, files that were handed in beside the notebooks.
    handed_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    inside: frozenset[str] = frozenset()  #: test cells that have to be inside the sandbox

    def write(self, folder: Path) -> None:
        """Write the course's folder."""
        (folder / "nbgrader_config.py").write_text(
            'c = get_config()\nc.CourseDirectory.course_id = "course"\n', encoding="utf-8"
        )
        source = folder / "source" / self.assignment
        _write(source, {f"{name}.ipynb": text for name, text in self.notebooks.items()})
        _write(source, {name: text.encode() for name, text in self.files.items()})
        for student, changed in self.answers.items():
            place = folder / "submitted" / student / self.assignment
            for name, model in self.notebooks.items():
                _write(place, {f"{name}.ipynb": filled(model, dict(changed.get(name, {})))})
            own = self.handed_in.get(student, {})
            _write(place, {name: text.encode() for name, text in own.items()})


class Quickstart(Course):
    """The course that ``nbgrader quickstart`` makes, with the submissions of nbgrader's guide."""

    def write(self, folder: Path) -> None:
        super().write(folder)
        shutil.copytree(GUIDE / "source" / "ps1", folder / "source" / "ps1")
        shutil.copytree(GUIDE / "submitted", folder / "submitted")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


NOT_WRITTEN = "raise NotImplementedError()"

NUMERICS = Course(
    "week-3",
    notebooks={
        "warm-up": notebook(
            given("%matplotlib inline\nimport numpy as np\nimport matplotlib.pyplot as plt"),
            given("SCALE = 4.0\ndef relative(a, b):\n    return abs(a - b) / abs(b)", "helpers"),
            answer("mean", "def mean(x):\n    return float(np.sum(x) / len(x))"),
            graded(
                "mean-tests",
                "def close(a, b):\n    assert relative(a, b) < 1e-9, (a, b)\n"
                "close(mean([1, 2, 6]), 3)\n### BEGIN HIDDEN TESTS\n"
                "close(mean(np.array([SCALE, 0])), 2)\n### END HIDDEN TESTS",
                2,
            ),
            answer("scaled", "def scaled(x):\n    y = SCALE * np.asarray(x)\n    return y"),
            graded(
                "scaled-tests",
                "np.testing.assert_allclose(scaled([1, 2]), [4, 8])\n"
                "assert scaled(np.eye(2)).shape == (2, 2)\nclose(scaled([3.0])[0], 12)",
            ),
            answer("in-place", "def clip(x, top):\n    x[x > top] = top"),
            graded("in-place-tests", "a = np.array([1, 9, 5])\nclip(a, 5)\nassert a.max() == 5"),
            answer("moments", "moments = {1: 0.0, 2: 1.0, (1, 2): {'odd', 'even'}}"),
            graded("moments-tests", "sum([moments[1] == 0, moments[2] == 1]) / 2"),
        ),
        "regression": notebook(
            given("import csv\nimport numpy as np"),
            answer(
                "load",
                "def load(path):\n    with open(path) as file:\n"
                "        return [tuple(map(float, row)) for row in csv.reader(file)]",
            ),
            graded("load-tests", "assert load('data/points.csv') == [(0, 1), (1, 3), (2, 5)]"),
            answer(
                "fit", "def fit(points):\n    x, y = zip(*points)\n    return np.polyfit(x, y, 1)"
            ),
            graded(
                "fit-tests",
                "slope, start = fit([(0, 1), (1, 3), (2, 5)])\nassert abs(slope - 2) < 1e-6\n"
                "round(1 - abs(start - 1), 1) if abs(start - 1) < 1 else 0.0",
            ),
            answer("residual", "residual = lambda points: [0.0 for _ in points]"),
            graded("residual-tests", "assert len(residual([(1, 2)] * 3)) == 3", 0.5),
            written("in-words", 3),
        ),
    },
    files={"data/points.csv": "0,1\n1,3\n2,5\n", "README.txt": "Read me."},
    answers={
        "right": {},
        "other": {
            "warm-up": {
                "mean": "def mean(x):\n    total = 0\n    for entry in x:\n        total += entry\n"
                "    return total / len(x)",
                "scaled": "def scaled(x):\n    return [SCALE * entry for entry in x]",
                "in-place": "def clip(x, top):\n    return np.minimum(x, top)",
                "moments": "moments = {1: 0, 2: 2}",
            },
            "regression": {
                "load": "import numpy as np\ndef load(path):\n"
                "    return [tuple(row) for row in np.loadtxt(path, delimiter=',')]",
                "fit": "def fit(points):\n    return 2.0, 0.7",
                "residual": "def residual(points):\n    return np.zeros(len(points))",
            },
        },
        "stub": {
            "warm-up": dict.fromkeys(["mean", "scaled", "in-place", "moments"], NOT_WRITTEN),
            "regression": dict.fromkeys(["load", "fit", "residual"], NOT_WRITTEN),
        },
    },
)

FIRST_PROGRAMS = Course(
    "functions",
    notebooks={
        "functions": notebook(
            answer("vowels", "def vowels(word):\n    return {c for c in word if c in 'aeiou'}"),
            graded("vowels-tests", "assert vowels('banana') == {'a'}\nassert vowels('x') == set()"),
            answer(
                "count",
                "calls = 0\ndef count(word):\n    global calls\n    calls += 1\n"
                "    return {c: word.count(c) for c in word}",
            ),
            graded("count-tests", "assert count('aab') == {'a': 2, 'b': 1}\nassert calls >= 1"),
            answer("shout", "def shout(text):\n    print(text.upper() + '!')"),
            graded(
                "shout-tests",
                "import io\nfrom contextlib import redirect_stdout\nout = io.StringIO()\n"
                "with redirect_stdout(out):\n    shout('hi')\nassert out.getvalue() == 'HI!\\n'",
            ),
            answer(
                "safe",
                "def safe(text):\n    if not text:\n        raise ValueError('empty')\n"
                "    return int(text)",
            ),
            graded(
                "safe-tests",
                "assert safe('12') == 12\nfor bad in ('', 'x'):\n    try:\n        safe(bad)\n"
                "        raise AssertionError('no error')\n    except ValueError:\n        pass",
                2,
            ),
            answer(
                "stack",
                "class Stack:\n    def __init__(self):\n        self.items = []\n"
                "    def push(self, item):\n        self.items.append(item)\n"
                "    def pop(self):\n        return self.items.pop()",
            ),
            graded(
                "stack-tests",
                "def full():\n    s = Stack()\n    for n in range(3):\n        s.push(n)\n"
                "    return s\nassert full().pop() == 2",
            ),
            graded("stack-again", "s = full()\ns.pop()\nassert s.pop() == 1"),
            answer("evens", "def evens(n):\n    for i in range(0, n, 2):\n        yield i"),
            graded("evens-tests", "assert list(evens(5)) == [0, 2, 4]"),
            answer("apply", "def twice(f, x):\n    return f(f(x))"),
            graded("apply-tests", "assert twice(lambda x: x + 3, 1) == 7"),
            given("%%time\nshout('again')"),
            graded("no-numpy", "assert 'np' not in globals()", 0.5),
            written("reflection", 2),
        )
    },
    answers={
        "right": {},
        "other": {
            "functions": {
                "vowels": "def vowels(word):\n    return [c for c in 'aeiou' if c in word]",
                "count": "from helper import count",
                "shout": "def shout(text):\n    print(text.upper(), end='!\\n')",
                "safe": "def safe(text):\n    return int(text)",
                "stack": "class Stack(list):\n    push = list.append",
                "evens": "def evens(n):\n    return [i for i in range(n) if i % 2 == 0]",
                "apply": "import numpy as np\ntwice = lambda f, x: f(x)",
            }
        },
        "broken": {
            "functions": {
                "vowels": "def vowels(word):\n    return set(",
                "safe": "def safe(text):\n    return 12 if text else 1 / 0",
                "stack": "1 / 0",
                "evens": "evens = [0, 2, 4]",
            }
        },
    },
    handed_in={
        "other": {"helper.py": "def count(word):\n    return {c: word.count(c) for c in word}\n"}
    },
    inside=frozenset(
        {
            *("count-tests", "stack-tests", "stack-again", "evens-tests", "apply-tests"),
            "no-numpy",
        }
    ),
)

SECOND_SEMESTER = Course(
    "Week 2",
    notebooks={
        "Übung 1": notebook(
            given(
                "import functools, pytest, unittest\nfrom math import *\nfrom unittest import mock"
            ),
            answer(
                "memo",
                "def memo(f):\n    known = {}\n    def g(x):\n        if x not in known:\n"
                "            known[x] = f(x)\n        return known[x]\n    return g",
            ),
            graded(
                "memo-tests",
                "times = 0\n@memo\ndef slow(x):\n    global times\n    times += 1\n"
                "    return x * x\n"
                "assert slow(3) == slow(3) == 9\nassert times == 1",
                2,
            ),
            answer("fetch", "async def fetch(x):\n    return x + 1\nfetched = await fetch(1)"),
            graded("fetch-tests", "assert fetched == 2\nassert await fetch(3) == 4"),
            answer("area", "class Circle:\n    sides = 0\ndef area(r): return pi * r ** 2"),
            graded(
                "area-tests",
                """class TestArea(unittest.TestCase):
    radius = 1
    def test_one(self): self.assertAlmostEqual(area(self.radius), pi)
    def test_none(self): self.assertEqual(area(0), 0)
import io
suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestArea)
found = unittest.TextTestRunner(io.StringIO()).run(suite)
assert found.wasSuccessful()""",
                2,
            ),
            graded("area-mark", "(found.testsRun - len(found.failures) - len(found.errors)) / 2"),
            answer("ask", "def ask(): return 2 * int(input('n? '))"),
            graded(
                "ask-tests", "with mock.patch('builtins.input', lambda _: '4'): assert ask() == 8"
            ),
            answer(
                "low",
                "class TooLow(Exception): pass\ndef low(x):\n"
                "    if x < 0: raise TooLow(f'{x} is low')",
            ),
            graded("low-tests", "with pytest.raises(Exception, match='is low'): low(-3)\nlow(3)"),
            graded("low-class", "with pytest.raises(TooLow): low(-1)"),
            answer(
                "both", "def both(*a, sep=', ', **k): return sep.join(map(str, a)) + str(sorted(k))"
            ),
            graded(
                "both-tests",
                "x = both(1, 2, sep='-', z=1)\nassert type(x) is str and x == \"1-2['z']\"",
            ),
            answer("half", "from fractions import Fraction\nhalf = Fraction(1, 2)"),
            graded("half-tests", "assert half == 0.5"),
            graded("worth-nothing", "assert isclose(area(2), 4 * pi)", 0),
            task("drawing", 3),
            by_hand("own-code", "print(area(1))", 2),
            written("in-words", 1.5),
        )
    },
    answers={
        "right": {},
        "other": {
            "Übung 1": {
                "memo": "memo = functools.lru_cache",
                "fetch": "async def fetch(x): return x\nfetched = 2",
                "area": "def area(r): return 3.14 * r * r",
                "ask": "def ask(): return int(input()) + 4",
                "low": "class TooLow(ValueError): pass\ndef low(x):\n"
                "    if x < 0: raise TooLow('It is low')",
                "both": "def both(*a, sep=', ', **k): return '1-2' + repr([*k])",
                "half": "half = .5",
                "own-code": "print('mine')",
            }
        },
        "broken": {
            "Übung 1": {
                "memo": "def memo(f): return f",
                "fetch": "def fetch(x): return x + 1",
                "area": "def area(r): raise SystemExit",
                "ask": "def ask(): return 1 / 0",
                "low": "def low(x): raise KeyError('-3 is low')",
                "both": "def both(a, b, **k): return f'{a}-{b}'",
                "half": "half = 1",
            }
        },
    },
    inside=frozenset({"memo-tests", "fetch-tests", "ask-tests", "low-class"}),
)

COURSES = {
    "quickstart": Quickstart("ps1", {}, inside=frozenset({"sum_of_squares_uses_squares"})),
    "numerics": NUMERICS,
    "first programs": FIRST_PROGRAMS,
    "second semester": SECOND_SEMESTER,
}
