"""The guide's recipes for a change in term: points, a dropped task, grading again, makeup."""

from __future__ import annotations

import contextlib
import copy
import re
import shutil
from collections.abc import Iterator

import nbformat
import pytest
from nbgrader.api import Gradebook

from attn_lib.course.personal.dot_products import two_keys, weights_to_read
from grader import course
from grader.command_line import commands
from grader.gradebook.reading import sqlite_url
from grader.gradebook.writing import CellsChanged
from grader.judging.assignment_source import PointsDiffer
from grader.releasing import release
from grader.releasing.answer_files import fill, read_answers
from grader.reporting.results import results
from grader.running.local_workers import JUDGE_JOB
from grader.running.pipeline import Run, autograde
from grader.sandbox.warm_sandboxes import close_sandbox
from tests.grader.gradebook.server import with_tables
from tests.grader.running.classroom import ASSIGNMENT, NOTEBOOK, InThisProcess

pytestmark = pytest.mark.usefixtures("runs_share_a_sandbox")

#: The students' answers. Cleo hands in Bo's, with the id of a makeup.
ANSWERS = {"ada": "half-done", "bo": "full-marks-loops", "cleo": "full-marks-loops"}
MAKEUP = "full-marks-loops-makeup"
DROPPED, HARDER = "shapes-tests", "softmax-tests"


class Class:
    """A class whose course is a copy, so that tests can change it."""

    def __init__(self, root, folder) -> None:
        self.folder, self.url = folder, with_tables(sqlite_url(folder))
        for student, answers in ANSWERS.items():
            notebook = nbformat.read(root / "exercises" / ASSIGNMENT / NOTEBOOK, as_version=4)
            fill(notebook, read_answers(root / f"tests/sample_class/answers/{answers}.py"))
            for cell in notebook.cells:
                if student == "cleo":
                    cell.source = cell.source.replace(f'"{answers}"', f'"{MAKEUP}"')
            path = folder / "submitted" / student / ASSIGNMENT / NOTEBOOK
            path.parent.mkdir(parents=True)
            nbformat.write(notebook, path)

    def grade(self) -> list[str]:
        judged: list[str] = []
        run = Run(ASSIGNMENT, self.folder / "submitted", self.folder, db_url=self.url)
        workers = InThisProcess(lambda _: JUDGE_JOB)
        autograde(run, workers, lambda progress: judged.append(progress.student))
        close_sandbox(run.limits, run.isolation)
        return judged

    def results(self) -> dict:
        return {one.student: one for one in results(self.url, self.folder, ASSIGNMENT)}

    def change(self, cell_id: str, old: str, new: str, points: float) -> None:
        """Change the points of a test cell's parts, and of the cell, as JupyterLab does."""
        path = course.SOLUTIONS / ASSIGNMENT / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        (cell,) = [
            cell
            for cell in notebook.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == cell_id
        ]
        assert old in cell.source
        cell.source = cell.source.replace(old, new)
        cell.metadata.nbgrader.points = points
        nbformat.write(notebook, path)


@contextlib.contextmanager
def changeable(root, folder) -> Iterator[Class]:
    """Yield a class before anybody is graded, with the assignment's notebook to be changed."""
    shutil.copytree(root / "solutions" / ASSIGNMENT, folder / "solutions" / ASSIGNMENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "SOLUTIONS", folder / "solutions")
        yield Class(root, folder)


@pytest.fixture(scope="module")
def room(root, tmp_path_factory):
    with changeable(root, tmp_path_factory.mktemp("class")) as room:
        assert room.grade() == ["ada", "bo", "cleo"]
        yield room


def test_a_task_is_deleted_before_anybody_is_graded(root, tmp_path):
    """Who worked in the notebook that was handed out before loses nothing else."""
    with changeable(root, tmp_path) as room:
        path = course.SOLUTIONS / ASSIGNMENT / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        task = DROPPED.removesuffix("-tests")
        notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith(task)]
        nbformat.write(notebook, path)
        assert room.grade() == ["ada", "bo", "cleo"]
        found = room.results()
        assert DROPPED not in found["bo"].entry.points
        assert {s: (one.score, one.points) for s, one in found.items()} == {
            "ada": (5, 18),
            "bo": (16, 18),
            "cleo": (16, 18),
        }
        # Afterwards the gradebook has grades for the cells, so another one is refused.
        notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith("softmax")]
        nbformat.write(notebook, path)
        with pytest.raises(CellsChanged, match="Cannot add or remove cells"):
            room.grade()
        assert room.results() == found


def test_a_makeup_has_numbers_of_its_own(room):
    """Who types another id gets other numbers, and right answers for them have all points."""
    found = room.results()
    assert (found["bo"].score, found["bo"].points) == (18, 20)
    assert (found["cleo"].score, found["cleo"].points) == (18, 20)
    told = f"The notebook's learner_id is '{MAKEUP}', the student's id 'cleo'."
    assert told in found["cleo"].remarks
    for draw in (two_keys, weights_to_read):
        assert repr(draw(ANSWERS["cleo"])) != repr(draw(MAKEUP)), draw


def test_points_changed_in_one_place_are_refused(room):
    before = room.results()
    room.change(HARDER, "", "", points=4)
    with pytest.raises(PointsDiffer, match=f"{HARDER} has 4 points, and its parts together have 3"):
        room.grade()
    room.change(HARDER, "", "", points=3)
    assert room.results() == before
    assert room.grade() == []


def test_a_task_is_dropped_and_another_has_more_points(room, capsys):
    with Gradebook(room.url, "attention") as gradebook:
        words = gradebook.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "bo")
        words.manual_score, words.needs_manual_grade = 2.0, False
        # Ada asked for another look at the numbers that she computed by hand.
        by_hand = gradebook.find_grade("by-hand-tests", ASSIGNMENT, ASSIGNMENT, "ada")
        by_hand.manual_score, by_hand.needs_manual_grade = 1.5, False
        shapes = gradebook.find_grade(DROPPED, ASSIGNMENT, ASSIGNMENT, "ada")
        shapes.manual_score, shapes.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    assert room.grade() == []
    scores = {student: one.score for student, one in room.results().items()}
    assert scores == {"ada": 2 + 3 + 1 + 1.5, "bo": 20, "cleo": 18}
    room.change(DROPPED, "points=1", "points=0", points=0)
    title = '"softmax of large scores", points='
    room.change(HARDER, f"{title}1", f"{title}2", points=4)
    assert room.grade() == ["ada", "bo", "cleo"]
    found = room.results()
    # Two points less for the dropped task, one more for the other; points by hand stay.
    assert {one.points for one in found.values()} == {19}
    assert (found["ada"].score, found["bo"].score) == (2 + 4 + 1.5, 19)
    assert set(found["ada"].entry.to_read) == {"by-hand-tests", DROPPED}
    # A task without points stops neither the report nor the pages.
    where = ("--into", str(room.folder), "--db", room.url)
    assert commands.main(["report", ASSIGNMENT, *where]) == 0
    assert commands.main(["feedback", ASSIGNMENT, *where, "--student", "bo"]) == 0
    capsys.readouterr()
    page = (room.folder / "feedback" / "bo" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert re.search(r"19(\.0)? / 19(\.0)?", page)


OWN = "week-9"
OWN_MEAN = """def mean(x):
    ### BEGIN SOLUTION
    return sum(x) / len(x)
    ### END SOLUTION"""
OWN_MEAN_TESTS = """assert mean([1, 2]) == 1.5
### BEGIN HIDDEN TESTS
assert mean([2, 3, 7]) == 4
### END HIDDEN TESTS"""
OWN_TOTAL = """# total =
### BEGIN SOLUTION
total = 6
### END SOLUTION"""
OWN_TOTAL_TESTS = """from attn_lib.course.checks import Checks

check = Checks(globals())
check.part("the total", points=2)
check.form("total")
### BEGIN HIDDEN TESTS
check.value("total", expected=6)
### END HIDDEN TESTS
check.finish()"""
#: An assignment as JupyterLab's Create Assignment makes it: the kind of each cell, and its text.
OWN_CELLS = (
    ("text", "# Week 9\n\nTwo tasks of our own."),
    ("answer", OWN_MEAN),
    ("tests", OWN_MEAN_TESTS),
    ("answer", OWN_TOTAL),
    ("tests", OWN_TOTAL_TESTS),
)


def own_notebook() -> nbformat.NotebookNode:
    cells = []
    for number, (kind, text) in enumerate(OWN_CELLS):
        if kind == "text":
            cells.append(nbformat.v4.new_markdown_cell(text))
            continue
        is_test = kind == "tests"
        cell = nbformat.v4.new_code_cell(text)
        cell.metadata.nbgrader = {
            "grade": is_test, "solution": not is_test, "locked": is_test, "task": False,
            "schema_version": 3, "grade_id": f"cell-{number}", **({"points": 2} if is_test else {}),
        }  # fmt: skip
        cells.append(cell)
    return nbformat.v4.new_notebook(cells=cells)


def test_an_assignment_of_ones_own_is_released_and_graded(tmp_path, monkeypatch, capsys):
    """Two tasks, one with plain tests and one with checks of this course."""
    for module in (course, release):
        monkeypatch.setattr(module, "SOLUTIONS", tmp_path / "solutions")
    path = tmp_path / "solutions" / OWN / f"{OWN}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(own_notebook(), path)
    assert course.assignments() == [OWN]
    told = release.release(OWN, tmp_path / "exercises")
    assert told == f"{OWN}: released"
    handed_out = nbformat.read(tmp_path / "exercises" / OWN / f"{OWN}.ipynb", as_version=4)
    text = "".join(cell.source for cell in handed_out.cells)
    assert "sum(x)" not in text
    assert "total = 6" not in text
    assert "[2, 3, 7]" not in text
    answers = {
        "ada": ("def mean(x): return sum(x) / len(x)", "total = 6"),
        "bo": ("def mean(x): return (x[0] + x[-1]) / 2", "total = 6"),
        "cy": ("def mean(x): return sum(x) / len(x)", "total = 7"),
        "dee": (),
    }
    for student, given in answers.items():
        notebook = copy.deepcopy(handed_out)
        fields = [
            cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")
        ]
        for cell, answer in zip(fields, given, strict=False):
            cell.source = answer
        place = tmp_path / "submitted" / student / OWN / f"{OWN}.ipynb"
        place.parent.mkdir(parents=True)
        nbformat.write(notebook, place)
    url = with_tables(sqlite_url(tmp_path))
    run = Run(OWN, tmp_path / "submitted", tmp_path, db_url=url)
    autograde(run, InThisProcess(lambda _: JUDGE_JOB))
    close_sandbox(run.limits, run.isolation)
    scores = {one.student: (one.score, one.points) for one in results(url, tmp_path, OWN)}
    assert scores == {"ada": (4, 4), "bo": (2, 4), "cy": (2, 4), "dee": (0, 4)}
    where = ("--into", str(tmp_path), "--db", url)
    assert commands.main(["report", OWN, *where]) == 0
    assert commands.main(["export", OWN, *where]) == 0
