"""`python -m attn_lib.course.checks NOTEBOOK` runs the test cells without Jupyter."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attn_lib.course.checks import Checks
from attn_lib.course.checks.__main__ import main
from attn_lib.course.checks.terminal import written_in
from attn_lib.course.mistakes import catalogue
from attn_lib.course.notebooks.cells import read

TESTS = """from attn_lib.course.checks import Checks
check = Checks(globals())
check.part("range of scores", points=1)
check.call("score_range", 64, target="score_range")
check.finish()"""
RIGHT = "def score_range(d_k):\n    return 2 * d_k**0.5"


def graded(cell_id: str, source: str, *, test=False, answer=False, kind="code") -> dict:
    marks = {"grade_id": cell_id, "grade": test, "solution": answer}
    return {"cell_type": kind, "id": cell_id, "source": source, "metadata": {"nbgrader": marks}}


def text(source: str) -> dict:
    return {"cell_type": "markdown", "id": "text", "source": source, "metadata": {}}


def answer(source: str) -> dict:
    return graded("width", source, answer=True)


TEST_CELL = graded("width-tests", TESTS, test=True)


@pytest.fixture
def check(tmp_path, capsys):
    """A function that checks a notebook of the given cells and returns status and output."""

    def run(*cells: dict) -> tuple[int, str]:
        path = tmp_path / "work.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")
        status = main([str(path)])
        out = capsys.readouterr()
        return status, out.out + out.err

    return run


def run_command(path: Path, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "attn_lib.course.checks", path],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


class TestExercises:
    def test_the_released_notebook_does_not_pass(self, root, tmp_path):
        shutil.copy(root / "exercises/dot-products/dot-products.ipynb", tmp_path)
        result = run_command(Path("dot-products.ipynb"), tmp_path)
        assert result.returncode == 1, result.stderr
        assert result.stderr == ""
        assert "  score matrix of two matrices: not yet\n    - score_matrix: not written" in (
            result.stdout
        )
        assert "  in-words: a person will read it: not written yet.\n" in result.stdout
        assert result.stdout.endswith("\n\n0 of 6 test cells pass.\n")
        assert [file.name for file in tmp_path.iterdir()] == ["dot-products.ipynb"]

    def test_the_reference_passes(self, root, tmp_path):
        result = run_command(root / "solutions/dot-products/dot-products.ipynb", tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        first = "1. Score matrix\n  score matrix of two matrices: ok, worth 1 point\n"
        assert result.stdout.startswith(first)
        assert "  in-words: a person will read it: written.\n" in result.stdout
        assert result.stdout.endswith("\n\n6 of 6 test cells pass.\n")

    def test_without_a_notebook_the_usage_is_printed(self, tmp_path):
        command = [sys.executable, "-m", "attn_lib.course.checks"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        usage = (
            "usage: python -m attn_lib.course.checks [-h] [--grade] [--source NOTEBOOK] notebook"
        )
        assert usage in " ".join(result.stderr.split())


class TestReport:
    def test_tasks_have_headings_and_a_total(self, check):
        status, told = check(text("## 1. Width\n\nText"), answer(RIGHT), TEST_CELL)
        assert status == 0
        assert told == "1. Width\n  range of scores: ok, worth 1 point\n\n1 of 1 test cells pass.\n"

    def test_a_wrong_answer_is_explained(self, check):
        status, told = check(answer("def score_range(d_k):\n    return d_k**0.5"), TEST_CELL)
        assert status == 1
        assert "score_range for 64: expected 16, got 8." in told
        assert told.endswith("0 of 1 test cells pass.\n")

    def test_an_error_is_reported_with_its_line_and_later_cells_run(self, check):
        broken = graded("other", "x = 1\ny = x / 0", answer=True)
        status, told = check(broken, answer(RIGHT), TEST_CELL)
        assert status == 0
        assert "other: it raised ZeroDivisionError: division by zero (line 2: y = x / 0)" in told
        assert "range of scores: ok" in told

    def test_an_error_in_a_function_shows_the_line(self, check):
        _, told = check(answer("def score_range(d_k):\n    return d_k.T"), TEST_CELL)
        assert "(line 2:\n        return d_k.T)" in told or "(line 2: return d_k.T)" in told

    def test_a_syntax_error(self, check):
        status, told = check(answer("a = 1\ndef score_range(d_k:\n    return 1"), TEST_CELL)
        assert status == 1
        assert "width: it raised SyntaxError: '(' was never closed (line 2: def score" in told
        assert "score_range: not there yet." in " ".join(told.split())

    @pytest.mark.parametrize(
        ("source", "told"),
        [
            ("raise SystemExit", "width: it raised SystemExit (line 1: raise SystemExit)"),
            ("raise KeyboardInterrupt", "width: it was stopped. Is there a loop"),
            ("# YOUR CODE HERE\nraise NotImplementedError()", "width: not written yet."),
            ("input()", "width: it raised EOFError"),
        ],
    )
    def test_any_exception_of_an_answer_is_reported(self, source, told, check):
        status, out = check(answer(source), TEST_CELL)
        assert status == 1
        assert told in out

    def test_what_answers_print_is_not_shown(self, check):
        _, told = check(answer(f"print('hello')\ndisplay(1)\n{RIGHT}"), TEST_CELL)
        assert told == "  range of scores: ok, worth 1 point\n\n1 of 1 test cells pass.\n"

    def test_a_test_cell_that_was_changed(self, check):
        status, told = check(answer(RIGHT), graded("width-tests", "1 / 0", test=True))
        assert status == 1
        assert "width-tests: it raised ZeroDivisionError: division by zero (line 1: 1 / 0)" in told

    @pytest.mark.parametrize(
        ("source", "told"),
        [
            ("YOUR ANSWER HERE", "not written yet."),
            (" \n", "not written yet."),
            ("Because it is.", "written."),
        ],
    )
    def test_written_answers(self, source, told, check):
        words = graded("words", source, test=True, answer=True, kind="markdown")
        status, out = check(answer(RIGHT), TEST_CELL, words)
        assert status == 0
        assert f"words: a person will read it: {told}\n" in out

    def test_a_duplicated_cell_is_reported(self, check):
        status, told = check(answer(RIGHT), TEST_CELL, TEST_CELL)
        assert status == 1
        assert told.count("width-tests: expected one cell with this id, found several.") == 1
        assert told.endswith("2 of 2 test cells pass.\n")

    def test_source_as_lines_and_missing_cell_ids(self, check):
        lines = {"cell_type": "code", "source": ["x = 1\n", "y"]}
        _, told = check(lines, answer(RIGHT), TEST_CELL)
        assert "cell 1: it raised NameError: name 'y' is not defined (line 2: y)" in told


class TestMagics:
    @pytest.mark.parametrize("line", ["%matplotlib inline", "!pip list", "x = !ls", "len?"])
    def test_a_line_is_skipped(self, line, check):
        status, told = check(answer(f"{line}\n{RIGHT}"), TEST_CELL)
        assert status == 0
        assert f"width, line 1: skipped `{line}`, which only Jupyter understands." in told

    def test_a_timed_cell_runs(self, check):
        status, told = check(answer(f"%%time\n{RIGHT}"), TEST_CELL)
        assert status == 0
        assert "width, line 1: skipped `%%time`" in told

    def test_a_magic_of_an_extension_costs_nothing(self, check):
        status, told = check(answer(f"%%memit -r 1\n{RIGHT}"), TEST_CELL)
        assert status == 0
        assert "width, line 1: skipped `%%memit -r 1`" in told

    def test_a_cell_that_is_timed_many_times_keeps_no_names(self, check):
        status, told = check(answer(f"%%timeit\n{RIGHT}"), TEST_CELL)
        assert status == 1
        assert "width, line 1: skipped the cell, which begins with %%timeit" in told

    def test_an_error_below_a_magic_is_told(self, check):
        _, told = check(answer("%%time\ndef score_range(d_k:\n    return 1"), TEST_CELL)
        assert "width: it raised SyntaxError: '(' was never closed (line 2: def score" in told

    def test_a_cell_in_another_language_does_not_run(self, check):
        status, told = check(answer(f"%%bash\n{RIGHT}"), TEST_CELL)
        assert status == 1
        assert "width, line 1: skipped the cell, which begins with %%bash, which only" in told

    def test_in_a_block_line_numbers_are_kept(self, check):
        status, told = check(answer(f"if True:\n    !ls\n{RIGHT}\n1 / 0"), TEST_CELL)
        assert status == 0
        assert "(line 5: 1 / 0)" in told

    def test_python_that_looks_like_a_magic_is_kept(self, check):
        status, told = check(answer(f"x = (7\n% 4)\ns = '''\n!ls'''\n{RIGHT}"), TEST_CELL)
        assert status == 0
        assert "skipped" not in told


class TestAsGraded:
    """What a grade would say later is said at home."""

    def test_a_locked_cell_that_was_changed(self, check, root):
        notebook = root / "exercises/dot-products/dot-products.ipynb"
        cells = {cell.id: cell for cell in read(notebook)}
        locked = [cell for cell in cells.values() if cell.is_locked]
        assert len(locked) == 10
        assert not any(cell.was_changed for cell in cells.values())
        for cell in locked:
            assert not replace(cell, source=f"{cell.source}  \n").was_changed
            assert replace(cell, source=f"import math\n{cell.source}").was_changed
        marks = {"grade_id": "imports", "locked": True, "checksum": cells["imports"].checksum}
        changed = graded("imports", "import math") | {"metadata": {"nbgrader": marks}}
        status, told = check(
            changed, answer("def score_range(d):\n    return 2*math.sqrt(d)"), TEST_CELL
        )
        assert status == 0
        assert "imports: this cell was changed. When it is graded, your version is executed" in told

    def test_a_library_that_is_not_there_when_graded(self, check):
        source = f"import json\nimport a_library.of_theirs\nimport numpy.linalg\n{RIGHT}"
        _, told = check(answer(source), TEST_CELL)
        assert "width: it imports a_library. When graded there are Python's own modules, " in told
        assert told.count("it imports") == 1

    def test_a_library_that_a_function_uses(self, monkeypatch, capsys):
        module = types.ModuleType("a_library.special")
        checks = Checks({"f": eval("lambda x: special.abs(x)", {"special": module})})
        module.abs = abs
        checks.part("it", points=1)
        checks.call("f", -3, expected=3)
        monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
        checks.finish()
        assert capsys.readouterr().out == (
            "it: ok, worth 1 point\n"
            "f uses a_library. When graded there are Python's own modules, NumPy and\n"
            "    matplotlib.\n"
        )

    def test_names_of_a_test_cell_are_not_there_for_answers(self, check):
        status, told = check(answer(RIGHT), TEST_CELL, graded("later", "check", answer=True))
        assert status == 0
        assert "later: it raised NameError: name 'check' is not defined" in told

    def test_a_stub_above_an_answer(self, check):
        _, told = check(answer("# YOUR CODE HERE\nraise NotImplementedError()\nx = 1"), TEST_CELL)
        assert (
            "width: it raised NotImplementedError (line 2: raise NotImplementedError()). "
            "Delete that line." in told
        )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestColours:
    @pytest.fixture
    def told(self, tmp_path, monkeypatch):
        """What is said in a terminal, about an id without quotes and a part that fails."""
        for name in ("NO_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        more = 'check.part("more", points=1)\ncheck.value("x", expected=1)\ncheck.finish()'
        tests = graded("tests", TESTS.replace("check.finish()", more), test=True)
        cells = [graded("learner-id", "learner_id = ada", answer=True), answer(RIGHT), tests]
        path = tmp_path / "work.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")

        def run(out) -> list[str]:
            monkeypatch.setattr(sys, "stdout", out)
            main([str(path)])
            return out.getvalue().splitlines()

        return run

    def test_failures_alone_are_red_in_a_terminal(self, told):
        red = [line for line in told(Terminal()) if "\x1b" in line]
        assert red == [
            (
                "  \x1b[31mlearner-id: it raised NameError: name 'ada' is not defined "
                "(line 1: learner_id = ada)\x1b[0m"
            ),
            "  \x1b[31mmore: not yet\x1b[0m",
        ]

    def test_what_to_type_is_said(self, told):
        assert '  Put your id in quotes: learner_id = "ada"' in told(io.StringIO())

    def test_a_file_has_none(self, told):
        assert "\x1b" not in "".join(told(io.StringIO()))

    @pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
    def test_they_can_be_declined(self, told, monkeypatch, name, value):
        monkeypatch.setenv(name, value)
        assert "\x1b" not in "".join(told(Terminal()))


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "cp437", "cp932", "ascii", "utf-8"])
def test_no_encoding_loses_what_is_told(encoding):
    sentences = [mistake.sentence for mistake in catalogue()]
    assert len(sentences) > 100
    for sentence in [*sentences, "10 ≤ √d_k − 1 ≈ σ² · ηᵀ … ∉ é 中"]:
        told = written_in(encoding, sentence)
        told.encode(encoding)  # raises an error if anything cannot be written
        plain = "".join(filter(str.isascii, sentence))
        left = iter(told)
        assert all(character in left for character in plain)  # in this order
        assert "\\u" not in told or "∉" in sentence


def test_an_output_of_another_encoding_ends_no_check(tmp_path):
    source = "def score_range(d_k):\n    raise ValueError('√ ≤ ∉')"
    path = tmp_path / "work.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": [answer(source), TEST_CELL]}), "utf-8")
    command = [sys.executable, "-m", "attn_lib.course.checks", path]
    surroundings = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, capture_output=True, check=False, env=surroundings)
    assert done.returncode == 1
    assert done.stderr == b""
    assert b"it raised ValueError: sqrt  <= \\u2209" in done.stdout


class TestSurroundings:
    def test_cells_run_in_the_notebook_folder_and_state_is_restored(self, check, tmp_path):
        (tmp_path / "helper.py").write_text("width = 64")
        (tmp_path / "data.txt").write_text("64")
        before = (Path.cwd(), list(sys.path), dict(os.environ), np.get_printoptions())
        source = (
            "import numpy as np, os, helper\nnp.set_printoptions(precision=1)\n"
            f"os.environ['X'] = open('data.txt').read()\n{RIGHT}"
        )
        status, told = check(answer(source), TEST_CELL)
        assert status == 0, told
        assert (Path.cwd(), list(sys.path), dict(os.environ), np.get_printoptions()) == before

    def test_each_run_is_in_a_fresh_namespace(self, check):
        assert check(answer(RIGHT), TEST_CELL)[0] == 0
        assert check(answer("x = 1"), TEST_CELL)[0] == 1


class TestNotANotebook:
    def refused(self, path: Path, capsys) -> str:
        assert main([str(path)]) == 2
        out = capsys.readouterr()
        assert out.out == ""
        return out.err

    def test_missing(self, tmp_path, capsys):
        told = self.refused(tmp_path / "none.ipynb", capsys)
        assert "none.ipynb: expected a notebook, found no such file. You are in " in told

    def test_a_folder(self, tmp_path, capsys):
        (tmp_path / "masking.ipynb").write_text("")
        told = self.refused(tmp_path, capsys)
        assert "expected a notebook, got a folder (notebooks in it: masking.ipynb)." in told

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"", "expected a notebook, got a file that is not JSON"),
            (b'{"cells": [', "Is the file complete, and saved by Jupyter?"),
            ("{}".encode("utf-16"), "expected text in UTF-8, got other bytes."),
            (b"[1, 2]", "expected a notebook of format 4, got other JSON."),
            (b'{"nbformat": 3, "worksheets": []}', "expected a notebook of format 4"),
            (b'{"nbformat": 4, "cells": []}', "expected test cells, found none."),
            (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "got one without"),
            (b'{"nbformat": 4, "cells": [7]}', "got one without"),
            (b"[" * 100_000, "got a file that is not JSON"),
        ],
        ids=lambda part: repr(part[:40]),
    )
    def test_other_content(self, content, told, tmp_path, capsys):
        path = tmp_path / "work.ipynb"
        path.write_bytes(content)
        assert told in self.refused(path, capsys)

    def test_a_byte_order_mark_is_accepted(self, tmp_path, capsys):
        path = tmp_path / "work.ipynb"
        notebook = {"nbformat": 4, "cells": [answer(RIGHT), TEST_CELL]}
        path.write_text(json.dumps(notebook), encoding="utf-8-sig")
        assert main([str(path)]) == 0
        assert "1 of 1 test cells pass." in capsys.readouterr().out
