"""The writer enters the same rows as nbgrader's own steps."""

from __future__ import annotations

import copy
import datetime
import os
import shutil
import sqlite3

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution
from sqlalchemy.exc import OperationalError

from grader.course import SOLUTIONS, configuration
from grader.gradebook import reading
from grader.gradebook.writing import (
    CellsChanged,
    Entered,
    GradebookWriter,
    ImpossibleId,
    LateRuleFailed,
    UnknownStudent,
)
from grader.judging.assignment_source import is_unanswered, read_source
from grader.judging.verdict import FAILED, GRADED, Verdict
from grader.releasing.release import generate
from grader.reporting.results import Result, results
from grader.reporting.summary import above_maximum
from grader.reporting.totals.term import Totals, term
from tests.grader.gradebook.rows import rows
from tests.grader.gradebook.server import with_tables

# nbgrader's own code adds rows in an order about which SQLAlchemy 2.1 warns.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ASSIGNMENT = "dot-products"
SOURCE = (SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()
TESTS = [cell for cell in read_source(SOURCE).points if cell != "in-words"]
DUE = datetime.datetime(2026, 3, 2, 12, 0)
#: A penalty of one point per hour, for `c.AssignLatePenalties.plugin_class`.
PENALTY = "tests.grader.running.late.PointAnHour"


def verdict(student: str, answered: bool = True, share: float | None = 0.5) -> Verdict:
    """Return a verdict with all answers or none and a share of the points, or with errors."""
    notebook = copy.deepcopy(read_source(SOURCE).stub)
    for cell in notebook.cells:
        if is_solution(cell) and answered:
            cell.source += "\nanswer"
        elif cell.cell_type == "code" and is_grade(cell):
            if share is None:
                output = nbformat.v4.new_output("error", ename="E", evalue="e", traceback=[])
            else:
                mark = repr(cell.metadata.nbgrader.points * share)
                data = {"text/plain": mark}
                output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
            cell.outputs = [output]
    scores = {
        c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in notebook.cells if is_grade(c)
    }
    return Verdict(
        ASSIGNMENT,
        student,
        GRADED,
        scores={cell: float(score) for cell, score in scores.items() if score is not None},
        points=read_source(SOURCE).points,
        to_read=tuple(cell for cell, score in scores.items() if score is None),
        unanswered=tuple(
            cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_unanswered(cell)
        ),
        notebook=nbformat.writes(notebook),
    )


def config(late: bool = False):
    found = configuration()
    if late:
        found.AssignLatePenalties.plugin_class = PENALTY
    return found


def write(url: str, *batches: list[Entered], late: bool = False, source: bytes = SOURCE) -> None:
    with GradebookWriter(url, ASSIGNMENT, source, config(late)) as writer:
        for batch in batches:
            writer.enter(batch)


def stock(url: str, entered: Entered, late: bool = False) -> None:
    """Enter a verdict with nbgrader's own steps."""
    student = entered.verdict.student
    with Gradebook(url, "attention") as book:
        book.update_or_create_student(student)
        when = {"timestamp": entered.timestamp} if entered.timestamp else {}
        book.update_or_create_submission(ASSIGNMENT, student, **when)
    names = {"notebook": ASSIGNMENT, "assignment": ASSIGNMENT, "student": student, "db_url": url}
    graded = nbformat.reads(entered.verdict.notebook, as_version=4)
    for step in (SaveAutoGrades, AssignLatePenalties):
        step(config=config(late)).preprocess(graded, {"nbgrader": names})


@pytest.fixture(scope="module")
def empty_gradebooks(tmp_path_factory):
    """Two files: gradebooks of the assignment made by us and by nbgrader."""
    folder = tmp_path_factory.mktemp("gradebooks")
    ours, theirs = folder / "ours.db", folder / "stock.db"
    write(f"sqlite:///{ours}")
    generate(ASSIGNMENT, folder / "released", db_url=f"sqlite:///{theirs}")
    return ours, theirs


@pytest.fixture
def both(empty_gradebooks, tmp_path):
    """The addresses of copies of both gradebooks."""
    return [f"sqlite:///{shutil.copy(path, tmp_path)}" for path in empty_gradebooks]


CLASS = [
    Entered(verdict("ada")),
    Entered(verdict("bo", share=None), DUE + datetime.timedelta(hours=3)),
    Entered(verdict("cy", share=1.0), DUE - datetime.timedelta(hours=3)),
    Entered(verdict("dee", answered=False, share=None)),
    Entered(verdict("ed", share=1.0), DUE + datetime.timedelta(hours=3)),
    Entered(verdict("flo", share=0.1), DUE + datetime.timedelta(hours=100)),
]


@pytest.mark.parametrize("late", [False, True])
def test_same_rows_as_nbgrader(both, late):
    ours, theirs = both
    assert rows(ours) == rows(theirs)
    for url in both:
        with Gradebook(url, "attention") as book:
            book.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    write(ours, CLASS[:2], CLASS[2:], late=late)
    for entered in CLASS:
        stock(theirs, entered, late)
    found = rows(ours)
    assert found == rows(theirs)
    assert len(found["grade"]) == len(CLASS) * (len(TESTS) + 1)
    penalties = [row for row in found["submitted notebook"] if not row.endswith("None)")]
    assert len(penalties) == (3 if late else 0)


def test_penalties_follow_the_deadline_extensions_and_the_rule(both):
    ours, _ = both

    def penalties(late: bool = True) -> dict[str, float]:
        with GradebookWriter(ours, ASSIGNMENT, SOURCE, config(late)) as writer:
            writer.renew_penalties()
        found = reading.entries(ours, ASSIGNMENT)
        return {s: entry.late_penalty for s, entry in found.items() if entry.late_penalty}

    with Gradebook(ours, "attention") as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    write(ours, CLASS, late=True)
    before = {"ed": 3.0, "flo": pytest.approx(1.8)}  # a penalty is at most the score
    assert penalties() == before
    with Gradebook(ours, "attention") as book:
        book.grant_extension(ASSIGNMENT, "ed", hours=2)
    assert penalties() == before | {"ed": 1.0}
    assert reading.entries(ours, ASSIGNMENT)["ed"].seconds_late == 3600
    assert penalties(late=False) == {}
    with Gradebook(ours, "attention") as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=DUE - datetime.timedelta(hours=5))
    assert penalties() == before | {"cy": 2.0, "ed": 6.0}
    with Gradebook(ours, "attention") as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=None)
    assert penalties() == {}
    assert reading.due(ours, ASSIGNMENT) is None


@pytest.mark.parametrize("cells_are_known", [True, False])
def test_extra_time_may_be_given_before_hand_in(both, tmp_path, cells_are_known):
    """An assignment has a deadline, but no cells, before the first grading."""
    url = both[0] if cells_are_known else with_tables(f"sqlite:///{tmp_path}/without-cells.db")
    with Gradebook(url, "attention") as book:
        book.update_or_create_student("ada")
        book.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        if not cells_are_known:
            book.add_submission(ASSIGNMENT, "ada")  # by hand; it has no rows for a notebook
    with GradebookWriter(url, ASSIGNMENT, SOURCE, config()) as writer:
        writer.extend("ada", datetime.timedelta(days=9))
        writer.extend("ada", datetime.timedelta(days=2))
        with pytest.raises(UnknownStudent, match=r"got 'adda'\. Did you mean ada\?"):
            writer.extend("adda", datetime.timedelta(days=2))
    assert reading.due_for(url, ASSIGNMENT, "ada") == DUE + datetime.timedelta(days=2)
    assert set(reading.learners(url)) == {"ada"}
    assert results(url, tmp_path, ASSIGNMENT) == []
    assert term(url, tmp_path, Totals()).max_scores == {}  # nobody has been graded in it
    with GradebookWriter(url, ASSIGNMENT, SOURCE, config(late=True)) as writer:
        assert writer.students() == set()
        writer.enter([Entered(verdict("ada", share=1.0), DUE + datetime.timedelta(hours=51))])
        assert writer.students() == {"ada"}
    entry = reading.entries(url, ASSIGNMENT)["ada"]
    assert (entry.seconds_late, entry.late_penalty) == (3 * 3600, 3)
    (result,) = results(url, tmp_path, ASSIGNMENT)
    stock(url, Entered(verdict("ada", share=1.0)))  # nbgrader's own steps find all rows
    assert result.score == sum(read_source(SOURCE).points.values()) - entry.points["in-words"] - 3


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "tests.grader.running.late.Broken",
            "Broken, raised ZeroDivisionError: no days, for bo, who was",
        ),
        (
            "tests.grader.running.late.Nowhere",
            "late.Nowhere' in c.AssignLatePenalties.plugin_class, but it cannot be imported. Put",
        ),
    ],
)
def test_a_broken_late_penalty_plugin_is_reported(both, rule, told):
    ours, _ = both
    with Gradebook(ours, "attention") as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    before = rows(ours)
    broken = config()
    broken.AssignLatePenalties.plugin_class = rule
    with (
        pytest.raises(LateRuleFailed, match=told),
        GradebookWriter(ours, ASSIGNMENT, SOURCE, broken) as writer,
    ):
        writer.enter(CLASS[:2])
    assert rows(ours) == before


def test_manual_scores_and_comments_are_kept_for_review(both):
    ours, theirs = both
    write(ours, CLASS)
    for entered in CLASS:
        stock(theirs, entered)
    for url in both:
        with Gradebook(url, "attention") as book:
            grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.5, False
            book.find_comment("in-words", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Good."
            grade = book.find_grade("softmax-tests", ASSIGNMENT, ASSIGNMENT, "bo")
            grade.manual_score, grade.needs_manual_grade = 3.0, False
            book.db.commit()
    again = [Entered(verdict("ada", share=1.0)), Entered(verdict("bo", share=0.0))]
    write(ours, again)
    for entered in again:
        stock(theirs, entered)
    assert rows(ours) == rows(theirs)
    entry = reading.entries(ours, ASSIGNMENT)["ada"]
    assert entry.comments["in-words"] == "Good."
    assert entry.to_read == ["in-words"]


def test_points_by_hand_meet_a_lower_maximum_and_a_better_file(both):
    """All points by hand stayed when the maximum was lowered: the sum was 21 of 20."""
    ours, _ = both
    write(ours, [Entered(verdict("ada")), Entered(verdict("bo"))])
    with Gradebook(ours, "attention") as book:
        grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
        full = grade.manual_score = grade.max_score
        grade.needs_manual_grade = False
        book.find_grade("softmax-tests", ASSIGNMENT, ASSIGNMENT, "bo").extra_credit = 1.0
        book.db.commit()
    notebook = nbformat.reads(SOURCE.decode(), as_version=4)
    (cell,) = [
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "in-words"
    ]
    cell.metadata.nbgrader.points = full - 1
    better = [Entered(verdict(student, share=1.0)) for student in ("ada", "bo")]
    write(ours, better, source=nbformat.writes(notebook).encode())
    entries = reading.entries(ours, ASSIGNMENT)
    assert entries["ada"].points["in-words"] == entries["ada"].scores["in-words"] == full - 1
    assert entries["ada"].to_read == ["in-words"]
    assert entries["ada"].above_maximum == {}
    # Extra credit is what a person wanted above the maximum, so it stays and is told.
    points = entries["bo"].points["softmax-tests"]
    assert entries["bo"].above_maximum == {"softmax-tests": points + 1}
    assert above_maximum([Result(student, entry) for student, entry in entries.items()]) == (
        f"Above the maximum by extra credit: bo (softmax-tests: {points + 1:g} of {points:g}). "
        "If it was given for an earlier file, take it back in formgrader."
    )


def test_manual_scores_of_missing_answers_are_removed(both):
    ours, _ = both
    write(ours, [Entered(verdict("ada"))])
    with Gradebook(ours, "attention") as book:
        book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 2.0
        book.db.commit()
    gone = verdict("ada", answered=False)
    write(ours, [Entered(Verdict(**{**vars(gone), "missing": ("in-words",)}))])
    entry = reading.entries(ours, ASSIGNMENT)["ada"]
    assert entry.scores["in-words"] == 0.0
    assert entry.to_read == []


def test_a_failed_verdict_removes_rows_of_an_earlier_one(both):
    ours, theirs = both
    write(ours, CLASS[:3])
    write(ours, [Entered(Verdict(ASSIGNMENT, "bo", FAILED, reason="empty"))])
    for entered in CLASS[:3:2]:
        stock(theirs, entered)
    with Gradebook(theirs, "attention") as book:
        book.add_student("bo")
    assert rows(ours) == rows(theirs)


def test_manual_grades_survive_a_failed_verdict(both):
    ours, theirs = both
    for url in both:
        with Gradebook(url, "attention") as book:
            book.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    write(ours, CLASS, late=True)
    for entered in CLASS:
        stock(theirs, entered, late=True)
    for url in both:
        with Gradebook(url, "attention") as book:
            grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.5, False
            book.find_comment("softmax", ASSIGNMENT, ASSIGNMENT, "bo").manual_comment = "Good."
            book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "cy").flagged = True
            book.db.commit()
            book.grant_extension(ASSIGNMENT, "ed", days=2)
    by_hand = ["ada", "bo", "cy", "ed"]
    failed = [Entered(Verdict(ASSIGNMENT, student, FAILED)) for student in (*by_hand, "dee")]
    write(ours, failed[:2], failed[2:], late=True)

    found = reading.entries(ours, ASSIGNMENT)
    assert set(found) == {*by_hand, "flo"}
    assert found["flo"].judged
    for student in by_hand:
        entry = found[student]
        assert not entry.judged
        assert sorted(entry.to_read) == sorted(entry.points)  # all cells need grading
        assert entry.scores == ({"in-words": 2.0} if student == "ada" else {})
        assert entry.comments == ({"softmax": "Good."} if student == "bo" else {})

    # nbgrader's gradebook, which has no failed verdicts, kept everything.
    again = [Entered(verdict(entered.verdict.student, share=0.25)) for entered in CLASS]
    write(ours, again, late=True)
    for entered in again:
        stock(theirs, entered, late=True)
    assert rows(ours) == rows(theirs)


def test_a_verdict_that_the_database_refuses_stops_only_itself(both):
    ours, theirs = both
    with GradebookWriter(ours, ASSIGNMENT, SOURCE, config()) as writer:
        batch = [Entered(verdict("ada")), Entered(verdict("bo"), "noon"), Entered(verdict("cy"))]
        assert writer.enter(batch) == {
            "bo": "the gradebook did not take it: SQLite DateTime type only accepts Python "
            "datetime and date objects as input."
        }
        assert writer.enter([]) == {}
    for entered in batch[::2]:
        stock(theirs, entered)
    assert rows(ours) == rows(theirs)


def test_a_database_that_cannot_be_used_stops_the_run(both, tmp_path):
    ours, _ = both
    with GradebookWriter(f"{ours}?timeout=0.01", ASSIGNMENT, SOURCE, config()) as writer:
        with sqlite3.connect(tmp_path / "ours.db") as other:
            other.execute("begin exclusive")
            with pytest.raises(OperationalError, match="database is locked"):
                writer.enter([Entered(verdict("ada")), Entered(verdict("bo"))])
        assert writer.enter([Entered(verdict("ada"))]) == {}


def test_an_id_that_no_gradebook_can_hold_is_refused(both):
    with GradebookWriter(both[0], ASSIGNMENT, SOURCE, config()) as writer:
        for possible in ("ada", "José", "x" * 200, "a b\n'c", "\U0001f600", "=1"):
            writer.check_id(possible)
        with pytest.raises(ImpossibleId, match="is not in UTF-8"):
            writer.check_id(os.fsdecode(b"Jos\xe9"))
        assert writer.enter([Entered(Verdict(ASSIGNMENT, "Jos\udce9", FAILED))]) == {}


def test_names_and_students_with_submissions(both):
    ours, _ = both
    with GradebookWriter(ours, ASSIGNMENT, SOURCE, config()) as writer:
        writer.enter_names({"ada": ("Ada", "Lovelace"), "zoe": ("Zoë", "")})
        writer.enter(CLASS[:2])
        assert writer.students() == {"ada", "bo"}
    assert reading.learners(ours)["ada"] == ("Ada", "Lovelace", "", "")


def test_changed_tests_are_entered_and_new_cells_rejected(both):
    ours, _ = both
    write(ours, CLASS[:1])
    notebook = nbformat.reads(SOURCE.decode(), as_version=4)
    cell = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade"))
    cell.source = "# harder\n" + cell.source
    write(ours, source=nbformat.writes(notebook).encode())
    assert any("# harder" in row for row in rows(ours)["source cells"])
    cell.metadata.nbgrader.grade_id = "another"
    with pytest.raises(CellsChanged, match="Cannot add or remove cells for notebook"):
        write(ours, source=nbformat.writes(notebook).encode())
