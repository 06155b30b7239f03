"""The judge gives honest work its points, and explains what went wrong."""

from __future__ import annotations

import csv
import json
import re

import nbformat
import pytest
from nbgrader.utils import determine_grade, is_grade, is_solution

from attn_lib.course.notebooks.libraries import AT_GRADING
from grader.judging import judge as judge_module
from grader.judging.course_tests import CourseError, checked_mark
from grader.judging.findings import JudgedPart
from grader.judging.judge import judge_submission, seed_of
from grader.judging.open_feedback import KEY, leave_out_expected
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.releasing.answer_files import fill, read_answers
from grader.releasing.release import generate
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox

ASSIGNMENT = "dot-products"
LIMITS = Limits(call_seconds=1.0, cell_seconds=2.0, submission_seconds=20.0)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as warm:
        yield warm


@pytest.fixture(scope="module")
def source(root) -> bytes:
    return (root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return nbformat.read(generate(ASSIGNMENT, tmp_path_factory.mktemp("released")), as_version=4)


@pytest.fixture
def judged(sandbox, source, released):
    """A function that returns the verdict on answers given by cell."""

    def verdict(answers, student="ada", change=lambda notebook: None) -> Verdict:
        notebook = nbformat.from_dict(json.loads(json.dumps(released)))
        fill(notebook, {"learner-id": 'learner_id = "ada"'} | dict(answers))
        change(notebook)
        return judge_submission(
            source,
            nbformat.writes(notebook).encode(),
            assignment=ASSIGNMENT,
            student=student,
            limits=LIMITS,
            sandbox=sandbox,
        )

    return verdict


@pytest.fixture(scope="module")
def right(source):
    """The reference answers by cell."""
    cells = nbformat.reads(source.decode(), as_version=4).cells
    return {cell.id: cell.source for cell in cells if is_solution(cell)}


def sample(root):
    with (root / "tests/sample_class/expected.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


class TestHonest:
    def test_right_answers_get_full_marks(self, judged, right):
        verdict = judged(right)
        assert verdict.status == GRADED
        assert verdict.remarks == ()
        assert verdict.score == 18
        assert verdict.to_read == ("in-words",)
        assert sum(verdict.points.values()) == 20
        assert verdict.mistakes == ()

    def test_the_stub_gets_no_points(self, judged):
        verdict = judged({})
        assert verdict.scores == dict.fromkeys(verdict.points, 0.0)
        assert verdict.status == GRADED

    def test_the_sample_class_has_the_scores_of_stock_nbgrader(self, judged, root):
        for student, row in sample(root).items():
            answers = read_answers(root / f"tests/sample_class/answers/{student}.py")
            verdict = judged(answers, student=student)
            wanted = {cell: float(row[cell]) for cell in verdict.points if row[cell]}
            assert dict(verdict.scores) == wanted, (student, verdict)
            assert list(verdict.mistakes) == row["mistakes"].split(), student

    def test_nbgrader_reads_the_same_scores_from_the_notebook(self, judged, root):
        answers = read_answers(root / "tests/sample_class/answers/divides-by-d-k.py")
        verdict = judged(answers, student="divides-by-d-k")
        notebook = nbformat.reads(verdict.notebook, as_version=4)
        nbformat.validate(notebook)
        read = {
            c.metadata.nbgrader.grade_id: determine_grade(c)[0]
            for c in notebook.cells
            if is_grade(c)
        }
        assert {cell: score for cell, score in read.items() if score is not None} == verdict.scores

    def test_hidden_inputs_depend_on_the_answers(self, judged):
        wrong = "def softmax(scores):\n    return scores"
        one, again, other = (judged({"softmax": f"{wrong}{end}"}) for end in ("", "", "  # !"))
        assert one.notebook == again.notebook
        assert one.parts["softmax-tests"] != other.parts["softmax-tests"]
        assert one.scores == other.scores

    def test_the_provenance_lists_what_the_verdict_depends_on(self, judged):
        verdict = judged({})
        provenance = verdict.provenance
        assert provenance["seed"] == seed_of(nbformat.reads(verdict.notebook, as_version=4))
        assert len(provenance["source"]) == len(provenance["submission"]) == 64
        assert set(provenance["versions"]) == {"python", "attn_lib", "numpy", "nbgrader"}
        assert provenance["isolation"] == "bubblewrap"
        assert 0 < provenance["seconds"] < 20

    def test_a_verdict_survives_conversion_to_bytes(self, judged):
        verdict = judged({})
        assert Verdict.from_bytes(verdict.to_bytes()) == verdict


class TestStopped:
    def test_a_function_that_hangs_loses_only_its_points(self, judged, right):
        verdict = judged(right | {"softmax": "def softmax(scores):\n    while True: pass"})
        assert verdict.scores["score-matrix-tests"] == 2
        assert verdict.scores["softmax-tests"] == 0
        assert verdict.scores["attention-tests"] == 0
        assert verdict.scores["shapes-tests"] == 2
        assert "did not return within 1 s" in verdict.notebook
        assert verdict.remarks == (
            "softmax was stopped: it did not return within 1 s.",
            "attention was stopped: it did not return within 1 s.",  # attention calls softmax
        )
        assert verdict.status == REMARKS

    def test_a_cell_that_hangs_is_reported_with_its_limit(self, judged, right):
        verdict = judged(right | {"softmax": right["softmax"] + "\nimport time\ntime.sleep(60)"})
        assert verdict.remarks == ("The cell softmax was stopped: it did not return within 2 s.",)
        assert verdict.score == 18

    def test_a_cell_that_ends_the_process_is_skipped_and_later_cells_run(self, judged, right):
        answer = right["softmax"] + "\nimport os\nos._exit(3)"
        verdict = judged(right | {"softmax": answer})
        assert verdict.status == REMARKS
        assert any("The cell softmax was stopped" in remark for remark in verdict.remarks)
        assert verdict.scores["score-matrix-tests"] == 2
        assert verdict.scores["softmax-tests"] == verdict.scores["attention-tests"] == 0
        assert verdict.scores["by-hand-tests"] == 4

    def test_when_the_time_is_used_up_later_cells_are_not_run(self, source, released, right):
        limits = Limits(cell_seconds=9.0, submission_seconds=5.0)
        notebook = nbformat.from_dict(json.loads(json.dumps(released)))
        slow = {"softmax": right["softmax"] + "\nimport time\ntime.sleep(5.1)"}
        fill(notebook, {cell: (right | slow)[cell] for cell in right if cell != "in-words"})
        with Sandbox(limits) as sandbox:
            verdict = judge_submission(
                source,
                nbformat.writes(notebook).encode(),
                assignment=ASSIGNMENT,
                student="ada",
                limits=limits,
                sandbox=sandbox,
            )
        assert any("Nothing more was executed" in remark for remark in verdict.remarks)
        assert verdict.scores["score-matrix-tests"] == 2
        assert verdict.scores["by-hand-tests"] == 0
        assert verdict.provenance["seconds"] < 10


class TestRemarks:
    def test_a_learner_id_of_someone_else_is_reported(self, judged, right):
        verdict = judged(right, student="grace")
        assert verdict.remarks == ("The notebook's learner_id is 'ada', the student's id 'grace'.",)
        assert verdict.score == 18

    def test_an_unreadable_notebook_fails_with_a_reason(self, sandbox, source):
        verdict = judge_submission(
            source,
            b'{"cells": [',
            assignment=ASSIGNMENT,
            student="ada",
            limits=LIMITS,
            sandbox=sandbox,
        )
        assert verdict.status == FAILED
        assert "notebook" in verdict.reason
        assert verdict.scores == {}
        assert sum(verdict.points.values()) == 20


class TestParts:
    def test_each_part_has_points_and_findings(self, judged, right):
        wrong = (
            "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum(-1, keepdims=True)"
        )
        verdict = judged(right | {"softmax": wrong})
        assert verdict.mistakes == ("softmax-that-overflows",)
        rows, axes, large = verdict.parts["softmax-tests"]
        assert rows == JudgedPart("softmax of the rows of a matrix", 1.0, True)
        assert axes == JudgedPart("softmax with any number of axes", 1.0, True)
        assert (large.title, large.points, large.passed) == ("softmax of large scores", 1.0, False)
        assert {finding.check for finding in large.findings} == {"softmax"}
        assert {finding.mistake for finding in large.findings} == {"softmax-that-overflows"}
        assert "got nan" in large.findings[0].message
        earned = {
            cell: sum(part.points for part in parts if part.passed)
            for cell, parts in verdict.parts.items()
        }
        assert earned == verdict.scores

    def test_a_cell_with_several_reports_has_the_parts_of_all(self, sandbox, source):
        """If a part is reported twice, its last report counts."""
        twice = (
            "check.finish()\nother = Checks({'x': 1})\nother.part('other', points=0)\n"
            "other.value('x', expected=1)\nother.finish()\ncheck.finish()"
        )
        changed = with_first_test(source, lambda test: test.replace("check.finish()", twice))
        verdict = grade_with(sandbox, changed, changed)
        parts = verdict.parts["score-matrix-tests"]
        own = ["score matrix of two matrices", "score matrix with leading axes"]
        assert [part.title for part in parts] == [*own, "other", *own]
        assert verdict.scores["score-matrix-tests"] == 2

    def test_a_cell_without_checks_has_no_parts(self, sandbox, source):
        changed = with_first_test(source, lambda test: "1.5")
        verdict = grade_with(sandbox, changed, changed)
        assert "score-matrix-tests" not in verdict.parts
        assert verdict.scores["score-matrix-tests"] == 1.5


class TestMarks:
    @pytest.mark.parametrize(
        "mark", [float("nan"), float("inf"), -0.5, 2.5, True, "2.0", None, 2, [2.0]]
    )
    def test_only_a_number_between_zero_and_the_points_is_a_mark(self, mark):
        with pytest.raises(CourseError, match="expected a number from 0 to its 2 points"):
            checked_mark(mark, 2.0, "softmax-tests")

    @pytest.mark.parametrize("mark", [0.0, 0.5, 2.0])
    def test_a_mark(self, mark):
        assert checked_mark(mark, 2.0, "softmax-tests") == mark

    @pytest.mark.parametrize(
        ("last", "told"),
        [
            ("float('nan')", "gave nan; expected a number from 0 to its 2 points"),
            ("1 / 0", "raised ZeroDivisionError"),
            ("x = 2.0", "expected check.finish(), which gives the mark, in its last line"),
            ("None", "gave None"),
        ],
    )
    def test_an_error_in_a_test_cell_is_reported_to_the_instructor(
        self, last, told, sandbox, source
    ):
        changed = with_first_test(source, lambda test: test.replace("check.finish()", last))
        with pytest.raises(CourseError, match=re.escape(told)) as fault:
            grade_with(sandbox, changed, changed)
        assert str(fault.value).startswith("the test cell score-matrix-tests ")

    def test_an_error_for_one_answer_costs_that_cell_alone(self, sandbox, source):
        trap = "assert globals().get('learner_id') != 'eve', 'no eve' * 1000\n"
        changed = with_first_test(source, lambda test: trap + test)
        before = grade_with(sandbox, changed, changed)
        assert before.status == GRADED

        def by_eve(notebook):
            cell_of(notebook, "learner-id").source = "learner_id = 'eve'"

        verdict = grade_with(sandbox, changed, with_change(changed, by_eve))
        assert verdict.status == REMARKS
        assert verdict.scores == before.scores | {"score-matrix-tests": 0} | {
            name: verdict.scores[name] for name in ("reading-tests", "by-hand-tests")
        }
        assert verdict.scores["softmax-tests"] == 3
        (remark,) = (text for text in verdict.remarks if "score-matrix-tests" in text)
        assert remark.startswith(
            "The cell score-matrix-tests has no points: the test cell score-matrix-tests raised "
            "AssertionError: no eveno eve"
        )
        assert remark.endswith("tell whoever maintains the course.")
        assert len(remark) < 700
        assert "eve" not in findings(verdict, "score-matrix-tests")


def cell_of(notebook, name: str):
    """Return a notebook's cell by its id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def findings(verdict: Verdict, name: str) -> str:
    """Return the report of a test cell."""
    (output,) = cell_of(nbformat.reads(verdict.notebook, as_version=4), name).outputs
    return output.evalue


def with_change(source: bytes, change) -> bytes:
    """Return a notebook after `change` was applied to it."""
    notebook = nbformat.reads(source.decode(), as_version=4)
    change(notebook)
    return nbformat.writes(notebook).encode()


def with_first_test(source: bytes, change) -> bytes:
    """Return an instructor's notebook after `change` was applied to its first test's source."""

    def change_cell(notebook):
        cell = next(cell for cell in notebook.cells if cell.id == "score-matrix-tests")
        cell.source = change(cell.source)

    return with_change(source, change_cell)


def grade_with(sandbox: Sandbox, source: bytes, submitted: bytes) -> Verdict:
    return judge_submission(
        source,
        submitted,
        assignment=ASSIGNMENT,
        student="ada",
        limits=LIMITS,
        sandbox=sandbox,
    )


class TestSeed:
    def of(self, source: bytes, change=lambda notebook: None) -> int:
        return seed_of(nbformat.reads(with_change(source, change), as_version=4))

    def test_it_differs_between_answers(self, source):
        def another(number):
            return lambda notebook: cell_of(notebook, "softmax").update(source=f"x = {number}")

        assert len({self.of(source, another(number)) for number in range(300)}) == 300

    def test_it_depends_on_added_cells_and_written_answers(self, source):
        def own(notebook):
            notebook.cells.insert(3, nbformat.v4.new_code_cell("from math import exp"))

        def written(notebook):
            cell_of(notebook, "in-words").source += "."

        assert len({self.of(source), self.of(source, own), self.of(source, written)}) == 3

    def test_it_depends_on_which_answer_is_in_which_cell(self, source):
        def exchanged(notebook):
            one, two = cell_of(notebook, "softmax"), cell_of(notebook, "score-matrix")
            one.source, two.source = two.source, one.source

        assert self.of(source) != self.of(source, exchanged)

    def test_it_does_not_depend_on_anything_else(self, source):
        def change(notebook):
            notebook.metadata["kernelspec"] = {"name": "conda", "display_name": "Conda"}
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell("A note."))
            for cell in notebook.cells:
                cell.metadata["scrolled"] = True
                if cell.cell_type == "code":
                    cell.execution_count = 5
                    cell.outputs = [nbformat.v4.new_output("stream", text="seen")]
            cell_of(notebook, "softmax-tests").source += "\n# another test"

        assert self.of(source) == self.of(source, change)


def test_versions_are_the_installed_ones():
    assert judge_module.versions()["nbgrader"] == "0.9.6"


MAGICS = {
    "score-matrix": "%matplotlib widget\n%load_ext nb_black\n%unheard_of 3\n",
    "softmax": "%conda install -y scipy\n%pip install scipy\n%config A.b = 3\n",
    "attention": "%%memit_of_an_extension -r 1\n%unheard_of\n",
    "shapes": "# mine\nlast = %unheard_of\n",
}


def test_a_magic_that_fails_costs_nothing(judged, right):
    answers = right | {cell: magic + right[cell] for cell, magic in MAGICS.items()}
    verdict = judged(answers)
    assert (verdict.score, verdict.status, verdict.remarks) == (18, GRADED, ())
    shown = verdict.notebook
    for told in (
        "%load_ext was left out: it does not work in grading (ModuleNotFoundError: ",
        "%unheard_of was left out: it does not work in grading (UsageError: ",
        "%pip was left out: nothing can be installed in grading.",
        "%%memit_of_an_extension was left out: it is not there in grading.",
    ):
        assert told in shown


def test_a_library_that_is_not_there_is_named_with_those_that_are(judged, right):
    answers = right | {"softmax": "from a_library.of_theirs import special\n" + right["softmax"]}
    verdict = judged(answers)
    assert verdict.scores["softmax-tests"] == verdict.scores["attention-tests"] == 0
    (remark,) = verdict.remarks
    assert remark == (
        "The cell softmax was stopped: a_library cannot be used. When graded there are Python's "
        "own modules, NumPy and matplotlib."
    )


def test_what_is_said_to_be_there_when_graded_is_there(judged):
    imports = "\n".join(f"import {name}" for name in ("math", *AT_GRADING))
    verdict = judged({"score-matrix": f"{imports}\nscore_matrix = 'imported'"})
    assert "got str" in verdict.notebook


def test_the_graded_notebook_has_a_text_without_right_numbers(judged, right):
    """For feedback while the assignment can be handed in again."""
    answers = {"by-hand": "raw_scores = [1, 2]\nscaled_scores = [3.5, 1.25]"}
    verdict = judged({"softmax": "def softmax(scores):\n    return scores"} | answers)
    notebook = nbformat.reads(verdict.notebook, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    said = cells["by-hand-tests"].outputs[0].evalue
    assert "raw_scores: entry [0]: expected " in said
    without = cells["by-hand-tests"].metadata[KEY]
    assert "raw_scores: entry [0]: 1 is not right (2 of 2 entries differ)." in without
    assert "output: not there yet." in without
    assert "expected" not in without
    assert KEY not in cells["softmax-tests"].metadata  # its inputs differ in the next attempt
    assert leave_out_expected(notebook)
    assert cells["by-hand-tests"].outputs[0].evalue == without
    assert cells["by-hand-tests"].outputs[0].traceback == without.splitlines()
    assert "expected 0.0" in cells["softmax-tests"].outputs[0].evalue
    assert not leave_out_expected(notebook)


def test_what_answers_mention_is_remarked_and_takes_no_points(judged, right):
    above = "import inspect\nfrom attn_lib.course import targets\n"
    verdict = judged(right | {"softmax": above + right["softmax"]})
    assert verdict.score == 18
    (remark,) = verdict.remarks
    assert remark == ("The cell softmax mentions attn_lib.course and inspect. That took no points.")


def test_a_failure_that_follows_says_what_to_mend_first(judged, right):
    wrong = right["softmax"].replace("- scores.max(axis=-1, keepdims=True)", "")
    assert wrong != right["softmax"]
    first, second = (
        judged(right | answer).notebook for answer in ({"softmax": wrong}, {"attention": NO_SCALE})
    )
    told = "It uses your softmax, which is not right yet (softmax of large scores): mend that"
    assert told in " ".join(first.replace('\\n",', "").replace('"', "").split())
    assert "It uses your" not in second


NO_SCALE = "def attention(q, k, v):\n    return softmax(score_matrix(q, k)) @ v"
