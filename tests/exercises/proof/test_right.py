"""Right answers get full marks in any style and for any inputs."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from nbgrader.utils import is_solution

from tests.exercises.proof.notebook import Wrap, run
from tests.exercises.proof.proof import proofs
from tests.in_one_test import in_one_test

SEEDS = 50

STYLES = [(name, style) for name, proof in proofs().items() for style in proof.right]


def test_reference_has_full_marks(recording, points):
    assert recording.result.scores == points


def test_it_passes_at_home_without_a_score(source, released, points):
    answers = {cell.id: cell.source for cell in source if is_solution(cell)}
    result = run(released, answers, execution="validate")
    assert list(result.scores) == list(points)
    assert all(np.isnan(score) for score in result.scores.values())
    assert "not yet" not in "".join(result.reports.values())


def test_every_answer_has_three_styles(source, proof):
    for cell in source:
        if is_solution(cell) and cell.cell_type == "code" and "def " in cell.source:
            answers = [right[cell.id] for right in proof.right.values() if cell.id in right]
            assert len({ast.dump(ast.parse(answer)) for answer in answers}) >= 3, cell.id


class TestStyles:
    @pytest.mark.parametrize(("proof", "style"), STYLES, indirect=["proof"])
    def test_other_styles_have_full_marks(self, proof, style, source, points):
        result = run(source, proof.right[style])
        assert result.scores == points, "\n".join(result.reports.values())


@in_one_test("seed", range(SEEDS))
def test_no_false_failure_on_other_hidden_inputs(seed, source, points):
    answers = {"learner-id": f'learner_id = "learner {seed}"'}
    result = run(source, answers, seed=seed)
    assert result.scores == points, "\n".join(result.reports.values())


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def every_other(array):
    """Return the array as a strided view of a larger one."""
    spread = np.zeros(tuple(2 * size for size in array.shape), array.dtype)
    view = spread[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "not contiguous": every_other,
    "read-only": read_only,
}


def for_arrays(change, args):
    return [change(arg) if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_arrays_does_not_matter(layout, source, points, recording):
    change = LAYOUTS[layout]
    put = put_around(recording, lambda function: lambda *a: function(*for_arrays(change, a)))
    assert run(source, put=put).scores == points


def as_list(result):
    return result.tolist() if isinstance(result, (np.ndarray, np.generic)) else result


def test_lists_are_accepted_like_arrays(source, points, recording):
    put = put_around(recording, lambda function: lambda *args: as_list(function(*args)))
    assert run(source, put=put).scores == points


def put_around(recording, wrap):
    """Wrap every function that a check calls directly."""
    put: dict = {}
    for look in recording.comparisons:
        if look.kind == "call":
            put.setdefault(recording.homes[look.name], {})[look.name] = Wrap(wrap)
    return put
