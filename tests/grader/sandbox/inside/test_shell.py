"""The sandbox's shell reads cells as IPython does."""

from __future__ import annotations

import warnings

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from grader.course import SOLUTIONS
from grader.sandbox.inside.shell import Shell


@pytest.fixture(scope="module")
def shell():
    """Return a shell that was not initialised, which would replace what this process prints to."""
    return Shell.__new__(Shell)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("x = 1\ny = 2", "x = 1\ny = 2\n"),
        ("x = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("\n\nx = 1\ny = 2", "x = 1\ny = 2\n"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2\n"),
        ("In [1]: x = 1\n   ...: y = 2", "x = 1\ny = 2\n"),
        (">>> x = 1\n... y = 2", "x = 1\ny = 2\n"),
        ("x = (7\n%y)", "x = (7\n%y)\n"),
        ('s = """a\n   \nb"""\nlen(s)', 's = """a\n\nb"""\nlen(s)\n'),
        ('s = """a\n...: b"""\n', 's = """a\nb"""\n'),
        ("d = {\n    ...: 1,\n}", "d = {\n1,\n}\n"),
        ("x = 1\n# c\x0c%ls\n", "x = 1\n# c\x0cget_ipython().run_line_magic('ls', '')\n"),
        ("x = 1\ny = %time x", "x = 1\ny = get_ipython().run_line_magic('time', 'x')\n"),
        ("x = 1\nx?", "x = 1\nget_ipython().run_line_magic('pinfo', 'x')\n"),
        ("x = 1\n!ls", "x = 1\nget_ipython().system('ls')\n"),
        ("x = 1\nawait x", "x = 1\nawait x\n"),
        ("x = 1\ndef (", "x = 1\ndef (\n"),
    ],
)
def test_cells_become_the_code_that_ipython_makes_of_them(shell, cell, code):
    assert shell.transform_cell(cell) == code
    assert InteractiveShell.transform_cell(shell, cell) == code


def test_cells_of_exercises_become_the_code_that_ipython_makes_of_them(shell):
    cells = [
        cell.source
        for path in SOLUTIONS.glob("*/*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and len(cell.source.splitlines()) > 1
    ]
    assert len(cells) > 100
    made = [(shell.transform_cell(c), InteractiveShell.transform_cell(shell, c)) for c in cells]
    assert [ours for ours, theirs in made if ours != theirs] == []


def test_transformers_that_a_learner_adds_are_applied(shell, monkeypatch):
    for transformers in (shell.input_transformers_post, shell.input_transformers_cleanup):
        with monkeypatch.context() as patch:
            patch.setattr(shell.input_transformer_manager, "line_transforms", [])
            transformers.append(lambda lines: [line.replace("1", "2") for line in lines])
            assert shell.transform_cell("x = 1\ny = 1") == "x = 2\ny = 2\n"
            transformers.pop()
    assert shell.transform_cell("x = 1\ny = 1") == "x = 1\ny = 1\n"


def test_what_python_warns_of_is_left_to_the_execution(shell):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert shell.transform_cell("x = '\\d'\ny = 2") == "x = '\\d'\ny = 2\n"
    assert told == []


def test_a_single_line_may_be_a_magic(sandbox):
    with sandbox.session() as session:
        (shown,) = session.execute("a", "pwd").outputs
        assert shown["data"]["text/plain"] == "'/tmp'"
        assert session.execute("b", "pwd = 3\npwd").outputs[0]["data"]["text/plain"] == "3"
