"""`python -m attn_lib.course.checks --grade NOTEBOOK` gives the judge's points and words."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.validator import Validator

from attn_lib.course.checks.__main__ import main
from attn_lib.course.checks.core import SEED
from attn_lib.course.notebooks.cells import read, without_hidden_tests
from attn_lib.course.notebooks.execution import execute, grade
from grader.course import assignments
from grader.judging.judge import judge_submission
from grader.releasing.answer_files import fill, read_answers
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox

ASSIGNMENT = "dot-products"
RIGHT = "tests/sample_class/answers/full-marks-loops.py"

#: Answers of one learner, each wrong or odd in its way.
ANSWERS = {
    "score-matrix": "def score_matrix(q, k):\n    return q @ k.T",
    "softmax": (
        "def softmax(scores):\n"
        "    shares = np.exp(scores)\n"
        "    return np.round(shares / shares.sum(axis=-1, keepdims=True), 2)"
    ),
    "attention": (
        "def attention(q, k, v):\n"
        "    # YOUR CODE HERE\n"
        "    raise NotImplementedError()\n"
        "    return softmax(q @ k.T) @ v"
    ),
    "shapes": "weights_shape = (B, H, n_q, '5')\noutput_shape = np.ma.array([B, H, 3, 5], mask=1)",
    "reading": (
        "from fractions import Fraction\n"
        "favourites = W.argmax(axis=1).tolist()\n"
        "share = 0,25\n"
        "rest = Fraction(1) - Fraction(W[1].max())\n"
        'meaning = "D"'
    ),
    "by-hand": "import a_library_of_theirs\nraw_scores = [1, 2]",
}


@pytest.fixture
def work(root, tmp_path):
    """A function that writes a notebook with these answers, as a learner has it."""

    def write(answers: dict[str, str], name: str = "dot-products.ipynb") -> Path:
        released = root / f"exercises/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
        notebook = nbformat.read(released, as_version=4)
        fill(notebook, dict(answers))
        nbformat.write(notebook, tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def source(root) -> Path:
    return root / f"solutions/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"


def graded(path: Path, source: Path, capsys) -> tuple[int, str]:
    status = main(["--grade", "--source", str(source), str(path)])
    out = capsys.readouterr()
    assert out.err == ""
    return status, out.out


def test_right_answers_have_all_points(work, source, root, capsys):
    status, told = graded(work(read_answers(root / RIGHT)), source, capsys)
    assert status == 0
    assert told.startswith(f"Graded with the hidden tests of {source}. Whoever has that file can")
    assert "  reading-tests: 3 of 3 points\n" in told
    assert told.endswith(
        "18 of 18 points. 2 more are for answers in words: compare them yourself.\n"
    )


@pytest.mark.parametrize("assignment", assignments())
def test_model_answers_have_all_points_and_stubs_none(assignment, root):
    model = read(root / f"solutions/{assignment}/{assignment}.ipynb")
    stub = read(root / f"exercises/{assignment}/{assignment}.ipynb")
    of_tests = sum(cell.points for cell in model if cell.is_test)
    outcome = grade(model, model, root)
    assert (outcome.earned, outcome.points) == (of_tests, of_tests)
    outcome = grade(stub, model, root)
    assert (outcome.earned, outcome.points) == (0, of_tests)


def report_of(cell) -> str:
    """Return what a test cell printed or raised, without the marks for colours."""
    said = "".join(
        output.get("text", "") or "\n".join(output.get("traceback", ""))
        for output in cell.outputs
        if output.output_type in ("stream", "error")
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", said).strip()


def graded_cells(notebook) -> dict:
    return {
        cell.metadata.nbgrader.grade_id: cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }


class TestTheSameEverywhere:
    """The points and words for wrong and odd answers: at home, in a kernel, and by the judge."""

    @pytest.fixture
    def odd(self, work, root) -> Path:
        path = work(read_answers(root / RIGHT) | ANSWERS)
        changed = nbformat.read(path, as_version=4)
        imports = next(cell for cell in changed.cells if cell.id == "imports")
        imports.source += "\nimport math"
        nbformat.write(changed, path)
        return path

    @pytest.fixture
    def verdict(self, odd, source):
        limits = Limits()
        with Sandbox(limits) as sandbox:
            return judge_submission(
                source.read_bytes(),
                odd.read_bytes(),
                assignment=ASSIGNMENT,
                student="full-marks-loops",
                limits=limits,
                sandbox=sandbox,
            )

    def test_graded(self, odd, source, verdict, monkeypatch):
        reports = {
            name: report_of(cell)
            for name, cell in graded_cells(nbformat.reads(verdict.notebook, as_version=4)).items()
        }
        assert len(reports) == 6
        judged = " ".join(" ".join(reports.values()).split())
        for words in (
            "With leading axes, .T reverses them all",
            "This is the right result, rounded to 2 decimals.",
            ": shares = np.exp(scores). np.exp of a number above 709 is too large for a float.",
            "attention: it still raises NotImplementedError (line 3: raise NotImplementedError()).",
            "weights_shape: expected 4 numbers, but entry [3] is the text '5'. Write it without",
            "output_shape: expected 4 numbers, got a masked array.",
            "with a comma, 0,25 is the two numbers 0 and 25.",
        ):
            assert words in judged
        missing = "a_library_of_theirs cannot be used. When graded there are Python's own modules,"
        assert missing in " ".join(verdict.remarks)

        outcome = grade(read(odd), read(source), odd.parent)
        assert outcome.earned == verdict.score == 3
        at_home = "\n".join(line for task in outcome.tasks for line in task.lines)
        assert "by-hand: it imports a_library_of_theirs. When graded there are" in at_home
        for report in reports.values():
            assert report in at_home

        # Stock autograding executes the instructor's tests in the learner's kernel.
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
        monkeypatch.setenv(SEED, str(verdict.provenance["seed"]))
        stock = nbformat.read(odd, as_version=4)
        hidden = graded_cells(nbformat.read(source, as_version=4))
        for name, cell in graded_cells(stock).items():
            cell.source = hidden[name].source
        NotebookClient(stock, allow_errors=True).execute()
        assert {name: report_of(cell) for name, cell in graded_cells(stock).items()} == reports

    def test_validated(self, work, root):
        path = work(read_answers(root / RIGHT) | ANSWERS)
        outcome = execute(read(path), path.parent)
        at_home = " ".join(" ".join(line for task in outcome.tasks for line in task.lines).split())
        failed = Validator().validate(str(path))["failed"]
        reports = [" ".join(html.unescape(each["error"]).split()) for each in failed]
        assert len(reports) == 6
        for report in reports:
            assert report in at_home


def test_cells_that_learners_may_not_edit_are_the_instructors(work, source, root, capsys):
    path = work(read_answers(root / RIGHT))
    notebook = nbformat.read(path, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    cells["softmax-tests"].source = "softmax = None"  # it deletes the learner's own answer
    cells["reading-given"].source = "W = 0"
    deleted = ("imports", "by-hand-given", "shapes-tests")
    notebook.cells = [cell for cell in notebook.cells if cell.id not in deleted]
    nbformat.write(notebook, path)
    status, told = graded(path, source, capsys)
    assert status == 1
    assert "  softmax-tests: this cell was changed. When it is graded, your version is ex" in told
    assert "  softmax-tests: 0 of 3 points\n" in told
    assert "  shapes-tests: 2 of 2 points\n" in told
    assert "  reading-tests: 3 of 3 points\n" in told
    assert "  by-hand-tests: 4 of 4 points\n" in told


def test_hidden_tests_are_found_whatever_the_notebooks_name(work, source, tmp_path, capsys):
    path = work({}, "dot-products (1)-Copy2.ipynb")
    for name in ("dot-products", "masking"):
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        shutil.copy(source.parents[1] / name / f"{name}.ipynb", folder)
    assert main(["--grade", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"Graded with the hidden tests of {tmp_path / 'solutions/dot-products/dot-'}" in told


def test_without_hidden_tests_it_says_where_they_are(work, monkeypatch, tmp_path, capsys):
    path = work({})
    monkeypatch.chdir(tmp_path)
    assert main(["--grade", str(path)]) == 2
    told = capsys.readouterr().err
    assert "expected the instructor's notebook, which has the hidden tests, in a folder" in told
    assert "It is in the course's repository, not in the archive." in told


def test_it_needs_neither_grader_nor_what_only_linux_has(work, source):
    """As on Windows and macOS: no sandbox, no module of Unix alone, no nbgrader."""
    path = work({"learner-id": 'learner_id = "ada"'})
    hidden = ("grader", "nbgrader", "nbformat", "IPython", "resource", "fcntl", "pwd", "grp")
    code = (
        f"import sys\nsys.modules.update(dict.fromkeys({hidden}))\n"
        "from attn_lib.course.checks.__main__ import main\n"
        f"sys.exit(main(['--grade', '--source', {str(source)!r}, {str(path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "0 of 18 points." in done.stdout


def test_the_hidden_lines_are_those_of_nbgrader():
    begin = ClearHiddenTests.begin_test_delimeter.default_value
    end = ClearHiddenTests.end_test_delimeter.default_value
    assert without_hidden_tests(f"a\n{begin}\nb\n{end}\nc") == "a\nc"
