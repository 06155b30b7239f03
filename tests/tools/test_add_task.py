"""add_task inserts an empty task with the cells that nbgrader and the proof need."""

from __future__ import annotations

import doctest
import shutil

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import is_grade, is_locked, is_solution

from tools import add_task


@pytest.fixture
def course(root, tmp_path, monkeypatch):
    """A course folder with one assignment."""
    shutil.copytree(root / "solutions" / "masking", tmp_path / "solutions" / "masking")
    monkeypatch.setattr(add_task, "ROOT", tmp_path)
    return tmp_path


def read(course):
    return nbformat.read(course / "solutions" / "masking" / "masking.ipynb", as_version=4)


def test_three_cells_are_inserted_after_the_given_one(course, capsys):
    before = read(course)
    task = ["masking", "log-weights", "log_weights", "--after", "causal-tests"]
    assert add_task.main([*task, "--points", "3"]) == 0
    after = read(course)
    place = [cell.id for cell in before.cells].index("causal-tests") + 1
    text, answer, tests = after.cells[place : place + 3]
    assert after.cells[:place] + after.cells[place + 3 :] == before.cells
    assert [text.id, answer.id, tests.id] == [
        "log-weights-task", "log-weights", "log-weights-tests",
    ]  # fmt: skip
    assert text.source.startswith("## NUMBER. TITLE\n\n10 minutes, 3 points\n\nWrite `log_weights(")
    assert (is_solution(answer), is_grade(answer), is_locked(answer)) == (True, False, False)
    assert (is_solution(tests), is_grade(tests), is_locked(tests)) == (False, True, True)
    assert tests.metadata.nbgrader.points == 3
    assert answer.source.startswith("def log_weights(")
    assert 'check.call("log_weights", OTHER, target="log_weights")' in tests.source
    nbformat.validate(after)
    MetadataValidator().validate_nb(after)
    assert "solutions/masking/masking.ipynb: replace what stands in capitals" in (
        capsys.readouterr().out
    )


def test_the_rest_of_the_file_stays_the_same(course):
    path = course / "solutions" / "masking" / "masking.ipynb"
    before = path.read_text(encoding="utf-8").splitlines()
    add_task.main(["masking", "log-weights", "log_weights", "--after", "causal-tests"])
    after = path.read_text(encoding="utf-8").splitlines()
    added = len(after) - len(before)
    assert any(after[:line] + after[line + added :] == before for line in range(len(before)))


def test_hidden_inputs_get_an_unused_seed(course):
    taken = [int(s) for c in read(course).cells for s in add_task.HIDDEN_SEED.findall(c.source)]
    add_task.main(["masking", "log-weights", "log_weights", "--after", "causal-tests"])
    found = [int(s) for c in read(course).cells for s in add_task.HIDDEN_SEED.findall(c.source)]
    assert len(set(found)) == len(found) == len(taken) + 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({1: "Log_weights"}, "expected an id of words in lower case with hyphens"),
        ({1: "causal"}, "expected an id of its own, got 'causal'; there is 'causal"),
        ({2: "log weights"}, "expected the name of a function, got 'log weights'"),
        ({4: "nowhere"}, "expected the id of a cell to follow, got 'nowhere'"),
        ({0: "none"}, "expected an assignment, found no solutions/none/none.ipynb"),
    ],
)
def test_bad_arguments_are_reported_and_change_nothing(course, capsys, changed, told):
    before = read(course)
    arguments = ["masking", "log-weights", "log_weights", "--after", "causal-tests"]
    for place, argument in changed.items():
        arguments[place] = argument
    with pytest.raises(SystemExit, match="2"):
        add_task.main(arguments)
    assert told in capsys.readouterr().err
    assert read(course) == before


def test_examples():
    results = doctest.testmod(add_task)
    assert results.attempted
    assert not results.failed
