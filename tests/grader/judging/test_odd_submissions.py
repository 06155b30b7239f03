"""Odd answers to any assignment gain nothing and need little memory.

The limits are those of a course. Only the values are odd here; `test_odd_answers` tries values
that only a manipulated process can send.
"""

from __future__ import annotations

import ast

import nbformat
import pytest
from nbgrader.utils import is_solution

from grader.course import SOLUTIONS, assignments
from grader.judging.handing_out import LEARNER_ID
from grader.judging.verdict import FAILED
from grader.sandbox.inside.limits import Limits
from tests.grader.judging.court import MAX_MEMORY, Court

ODD = [
    "None",
    "True",
    "float('nan')",
    "2**2000",
    "1 + 1j",
    "'ABCD'",
    "'x\\nscore matrix of two matrices: ok\\n'",
    "[]",
    "[[1], [1, 2]]",
    "[1, 'a', None, np.ones(3)]",
    "{'shape': (1,)}",
    "{1, 2}",
    "(i for i in range(3))",
    "(lambda *args: 1)",
    "type('Odd', (), {'__array__': lambda *a, **k: np.ones(3), 'shape': (1,)})()",
    "np.zeros((0, 5))",
    "np.zeros((0, 2**30))",
    "np.zeros((2**30, 0))",
    "[np.zeros((2**20, 0))] * 99",
    "np.ones((1,) * 32)",
    "np.ones((2, 2), bool)",
    "np.ones((2, 2), '>c16')",
    "np.longdouble('1e4000')",
    "np.datetime64('2020')",
    "np.zeros(3, 'i4,f4')",
    "np.array([1.0, None])",
    "np.ma.array([1.0, 2.0], mask=[True, False])",
    "plt.gca()",
]
LARGE = [
    "np.ones((1000, 4000))",
    "np.ones(33_000_000, np.int8)",
    "np.ones(33_000_000, bool)",
    "np.ones(2_000_000, complex)",
    "list(range(200_000))",
    "'\\U0001f600' * 600_000",
]


@pytest.fixture(scope="module")
def courts():
    """Two courts, which judge at the same time."""
    courts = [Court(Limits()), Court(Limits())]
    yield courts
    for court in courts:
        court.pool.shutdown()


def asked_for(assignment: str) -> tuple[list[str], dict[str, bool]]:
    """Return the answer cells, and for each name that they define whether it is a function."""
    notebook = nbformat.read(SOLUTIONS / assignment / f"{assignment}.ipynb", as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code" and is_solution(c)]
    names: dict[str, bool] = {}
    for statement in ast.walk(ast.parse("\n".join(c.source for c in cells))):
        if isinstance(statement, ast.FunctionDef):
            names[statement.name] = True
        elif isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
            names.setdefault(statement.id, False)
    names.pop(LEARNER_ID, None)
    return [c.id for c in cells], names


def submissions(assignment: str) -> list[dict[str, str]]:
    """Return submissions so that each name has each odd value in one of them."""
    cells, names = asked_for(assignment)
    first, *rest = [cell for cell in cells if cell != "learner-id"]
    found = []
    for table, number in ((ODD, len(ODD)), (LARGE, 1)):
        for turn in range(number):
            lines = ["import numpy as np, matplotlib.pyplot as plt"]
            if turn:  # drawing all figures takes most of the time; once is enough
                lines.append("plt.switch_backend('agg'); plt.ioff()")
            used = {at % len(table) for at in range(turn, turn + len(names))}
            lines += [f"odd_{at} = {table[at]}" for at in sorted(used)]
            for at, (name, is_function) in enumerate(names.items(), start=turn):
                odd = f"odd_{at % len(table)}"
                made = f"def {name}(*args): return {odd}" if is_function else f"{name} = {odd}"
                lines.append(made)
            found.append({first: "\n".join(lines)})
    found.append({first: "\n".join(f"{name} = 1.5" for name in names)})
    learner_id = {"learner-id": 'learner_id = "ada"'} if "learner-id" in cells else {}
    return [dict.fromkeys(rest, "") | learner_id | answers for answers in found]


@pytest.fixture(scope="module")
def begun(courts):
    """The pending verdicts on all submissions, by assignment; the stub's is the first."""
    return {
        assignment: [
            # Alternate, so that both courts get large values.
            courts[(turn + place) % 2].begin(answers, assignment)
            for turn, answers in enumerate([{}, *submissions(assignment)])
        ]
        for place, assignment in enumerate(assignments())
    }


@pytest.mark.parametrize("assignment", assignments())
def test_odd_values_gain_nothing(assignment, begun):
    stub, *others = [waiting.result() for waiting in begun[assignment]]
    assert len(others) > len(ODD)
    for verdict in others:
        assert verdict.status != FAILED, verdict.reason
        gained = {n for n, score in verdict.scores.items() if score > stub.scores[n]}
        assert not gained, verdict.scores
        assert len(verdict.notebook) < 4 * 2**20


def test_judging_odd_values_takes_little_memory(begun, courts):
    assert max(court.most_memory() for court in courts) < MAX_MEMORY
