"""A term: 30 students, seven assignments, four platforms, from their archives to their imports.

The judge judges four students in `dot-products`, in the sandbox. The other hand-ins are texts with
a share of the points, which a fake judge takes; everything else is what the commands do. Each
score, penalty and total is computed here once more, from the plan of the term.
"""

from __future__ import annotations

import csv
import logging
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import BaseCell, Grade, Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from grader import course
from grader.command_line import commands
from grader.gradebook.copying import copy_gradebook
from grader.gradebook.reading import sqlite_url
from grader.releasing.answer_files import fill, read_answers
from grader.running.local_workers import JUDGE_JOB
from grader.running.pipeline import Run, autograde
from grader.sandbox.warm_sandboxes import close_sandbox
from tests.grader.gradebook.rows import rows
from tests.grader.gradebook.server import new_database, programs, with_tables
from tests.grader.nbgrader_hooks.archives import zipped
from tests.grader.running.classroom import JUDGE, InThisProcess

PLATFORMS = {
    "dot-products": "moodle",
    "masking": "moodle",
    "variance-growth": "canvas",
    "softmax-saturation": "canvas",
    "complexity": "blackboard",
    "putting-it-together": "brightspace",
    "quiz": "brightspace",
}
POINTS = 20
DUE = datetime(2026, 3, 2, 22)  # in UTC
ZONE, AHEAD = "Europe/Berlin", timedelta(hours=1)  # of the platforms that write times
#: Names as a class list has them; the platforms write some of them in another way.
STUDENTS = {f"s{n:02}": (f"Ada{chr(64 + n)}", f"Yu{chr(64 + n)}") for n in range(1, 27)} | {
    "s27": ("Sinéad", "O'Brien"),
    "s28": ("Jan", "van 't Hoff"),
    "s29": ("Søren", "Ødegård"),
    "s30": ("José María", "Núñez"),
}
#: Who is judged, with answers of the sample class.
JUDGED = {"s01": "full-marks-loops", "s02": "divides-by-d-k", "s03": "half-done", "s04": "blank"}
WORDS = "in-words"  # the answer that a person reads, in the assignments that have one
BY_HAND = 1.5  # what the person gives to everybody
GROUP = ("s05", "s06", "s07")  # one hand-in in dot-products for three
MISSING = {("s08", "masking"), *(("s09", name) for name in PLATFORMS)}
FAILED = ("s10", "variance-growth")
LATE = {
    ("s11", "complexity"): 3,
    ("s18", "quiz"): 2,
    ("s13", "quiz"): 5,
}  # hours after the deadline
EXTRA = ("s13", "quiz", 4)  # hours, given before the hand-in
TWICE = ("s14", "complexity")  # two attempts in one archive
AGAIN = ("s15", "putting-it-together")  # handed in anew after grading
LEFT = "s30"  # leaves the class in the middle of the term
WEIGHTS = dict.fromkeys(PLATFORMS, 1.0) | {"dot-products": 2.0, "quiz": 0.5}
EXCUSED = {"softmax-saturation": ["s16"], "quiz": ["s16", "s17"]}


def share(student: str, assignment: str) -> float:
    """Return the share of the points that the plan gives to a hand-in."""
    number, place = int(student[1:]), list(PLATFORMS).index(assignment)
    return (3 * number + 5 * place) % 11 / 10


@pytest.fixture(scope="module")
def notebooks(root) -> dict[str, bytes]:
    found = {}
    for student, answers in JUDGED.items():
        notebook = nbformat.read(root / "exercises/dot-products/dot-products.ipynb", as_version=4)
        fill(notebook, read_answers(root / f"tests/sample_class/answers/{answers}.py"))
        found[student] = nbformat.writes(notebook).encode("utf-8")
    return found


def judge_of(content: bytes) -> str:
    """Return the judge for a notebook, and the fake one for a text."""
    return JUDGE_JOB if content.startswith(b"{") else JUDGE


class Term:
    """The course's folder during the term."""

    def __init__(self, folder: Path, notebooks: Mapping[str, bytes]) -> None:
        self.folder, self.notebooks = folder, notebooks
        self.url = with_tables(sqlite_url(folder))
        (folder / "submitted").mkdir()
        (folder / "groups.csv").write_text(
            "group,id\n" + "".join(f"Group A,{student}\n" for student in GROUP), encoding="utf-8"
        )
        with self.gradebook() as gradebook:
            for number, (student, (first, last)) in enumerate(STUDENTS.items(), start=1001):
                gradebook.add_student(
                    student, first_name=first, last_name=last, lms_user_id=str(number)
                )
            for name in PLATFORMS:
                gradebook.update_or_create_assignment(name, duedate=DUE)

        student, name, hours = EXTRA
        where = ("--into", str(folder), "--db", self.url)
        assert commands.main(["extend", name, student, "--hours", str(hours), *where]) == 0

    def gradebook(self) -> Gradebook:
        return Gradebook(self.url, course.configuration().CourseDirectory.course_id)

    def archive(self, assignment: str, students: Iterable[str]) -> list[tuple[str, bytes]]:
        """Return the members of the archive that the assignment's platform makes."""
        members = []
        for student in students:
            if (student, assignment) in MISSING:
                continue
            content = f"{share(student, assignment)}".encode()
            if (student, assignment) == FAILED:
                content = b"no"
            if assignment == "dot-products" and student in self.notebooks:
                content = self.notebooks[student]
            if assignment == "dot-products" and student in GROUP[1:]:
                continue  # the first member handed in for all
            at = DUE + timedelta(hours=LATE.get((student, assignment), -1))
            if (student, assignment) == TWICE:
                early = named(student, assignment, at - timedelta(hours=12))
                members.append((early, b"1.0"))
            members.append((named(student, assignment, at), content))
        return members

    def collect(self, assignment: str, members: list[tuple[str, bytes]]) -> None:
        """Do what `nbgrader zip_collect ASSIGNMENT --force` does with an archive."""
        place = self.folder / "downloaded" / assignment
        shutil.rmtree(place, ignore_errors=True)
        (place / "archive").mkdir(parents=True)
        (place / "archive" / "all.zip").write_bytes(zipped(members))
        config = course.configuration()
        config.CourseDirectory.update({"root": str(self.folder), "assignment_id": assignment})
        config.CourseDirectory.db_url = self.url
        app = ZipCollectApp(config=config, log=logging.getLogger("zip_collect"), force=True)
        app.coursedir = CourseDirectory(config=config, parent=app)
        app.init_plugins()
        app.extract_archive_files()
        app.process_extracted_files()

    def autograde(self, assignment: str) -> list[str]:
        """Autograde, and return whose submissions were judged."""
        judged: list[str] = []
        run = Run(assignment, self.folder / "submitted", self.folder, db_url=self.url)
        autograde(run, InThisProcess(judge_of), lambda progress: judged.append(progress.student))
        return sorted(judged)

    def grade_again(self) -> None:
        """Autograde all assignments; the failed hand-in alone is judged in each run."""
        again = {name: found for name in PLATFORMS if (found := self.autograde(name))}
        assert again == {FAILED[1]: [FAILED[0]]}

    def table(self, *command: str, heading: str, skip: int = 0) -> dict[str, dict[str, str]]:
        """Give a command that writes CSV, and return the rows by the student's id."""
        path = self.folder / "written.csv"
        where = ("--into", str(self.folder), "--db", self.url, "--output", str(path))
        assert commands.main([*command, *where]) == 0
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {row[heading]: row for row in [*csv.DictReader(file)][skip:]}


def named(student: str, assignment: str, at: datetime) -> str:
    """Return the name of a file as the assignment's platform writes it."""
    first, last = STUDENTS[student]
    number = int(student[1:])
    name, file = f"{first} {last}", f"{assignment}.ipynb"
    if PLATFORMS[assignment] == "moodle":
        if assignment == "dot-products" and student == GROUP[0]:
            name = "Group A"
        name = name.replace("'", "")
        folder = f"{name}_{7000 + number}_assignsubmission_file"
        return f"{folder}/{file}" if assignment == "dot-products" else f"{folder}_{file}"
    if PLATFORMS[assignment] == "canvas":
        plain = f"{last}{first}".lower().replace(" ", "").replace("'", "")
        late = "LATE_" if number % 10 == 0 else ""
        return f"{plain}_{late}{1000 + number}_{50 + number}_{file}"
    at += AHEAD
    if PLATFORMS[assignment] == "blackboard":
        return f"Week 5_{student}_attempt_{at:%Y-%m-%d-%H-%M-%S}_{file}"
    hour = at.hour % 12 or 12
    return f"{number}-77 - {name} - {at:%b} {at.day}, {at.year} {hour}{at:%M %p}/{file}"


#: How to find a student in the file for each platform: the heading, and rows before the first.
KEYS = {
    "moodle": ("username", 0),
    "canvas": ("SIS Login ID", 1),
    "blackboard": ("Username", 0),
    "brightspace": ("Username", 0),
}


def points_of_words(root: Path, assignment: str) -> float:
    notebook = nbformat.read(root / f"solutions/{assignment}/{assignment}.ipynb", as_version=4)
    found = (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
    return sum(cell["points"] for cell in found if cell.get("grade_id") == WORDS)


def expected_scores(root: Path, resubmitted: bool) -> dict[tuple[str, str], float | None]:
    """Return each student's score by assignment, from the plan alone; None for no grade."""
    with (root / "tests/sample_class/expected.csv").open(encoding="utf-8") as file:
        sample = {row["student"]: row for row in csv.DictReader(file)}
    words = {name: points_of_words(root, name) for name in PLATFORMS}
    scores: dict[tuple[str, str], float | None] = {}
    for assignment in PLATFORMS:
        for student in STUDENTS:
            if (student, assignment) in MISSING:
                continue
            part = share(student, assignment)
            if assignment == "dot-products" and student in GROUP:
                part = share(GROUP[0], assignment)
            if (student, assignment) == AGAIN and resubmitted:
                part = 0.9
            score = POINTS * part
            if words[assignment]:
                score = (POINTS - words[assignment]) * part + BY_HAND
            if assignment == "dot-products" and student in JUDGED:
                row = sample[JUDGED[student]]
                tests = sum(float(row[cell]) for cell in row if cell.endswith("-tests"))
                score = tests + BY_HAND
            late = LATE.get((student, assignment), 0)
            if (student, assignment) == EXTRA[:2]:
                late = max(0, late - EXTRA[2])
            scores[student, assignment] = max(0.0, score - late)
            if (student, assignment) == FAILED:
                scores[student, assignment] = None
    return scores


def expected_total(student: str, scores: Mapping[tuple[str, str], float | None]) -> float:
    """Return a total as the guide defines it, with one dropped, computed by trying each."""
    counted = [name for name in PLATFORMS if student not in EXCUSED.get(name, ())]
    shares = {name: (scores.get((student, name)) or 0.0) / POINTS for name in counted}
    lowest = min(shares.values())
    tries = []
    for dropped in [name for name in counted if shares[name] == lowest]:
        kept = [name for name in counted if name != dropped]
        weight = sum(WEIGHTS[name] for name in kept)
        tries.append(100 * sum(WEIGHTS[name] * shares[name] for name in kept) / weight)
    return max(tries)


def check_files(term: Term, scores: Mapping[tuple[str, str], float | None]) -> None:
    """Compare the file that each platform imports, and every total, with the plan."""
    there = [student for student in STUDENTS if student != LEFT]
    for assignment, platform in PLATFORMS.items():
        heading, skip = KEYS[platform]
        options = ("export", assignment, "--format", platform)
        found = term.table(*options, heading=heading, skip=skip)
        column = f"{assignment} Points Grade" if platform == "brightspace" else assignment
        written = {s: float(row[column]) if row[column] else None for s, row in found.items()}
        wanted = {s: scores[s, assignment] for s in there if (s, assignment) in scores}
        if platform != "canvas":  # the others would take an empty cell for a grade
            wanted = {student: score for student, score in wanted.items() if score is not None}
        assert written == pytest.approx(wanted), assignment
    wanted = {student: expected_total(student, scores) for student in there}
    for platform, (heading, skip) in KEYS.items():
        options = ("totals", "--format", platform)
        found = term.table(*options, heading=heading, skip=skip)
        column = "Term total Points Grade" if platform == "brightspace" else "Term total"
        written = {student: float(row[column]) for student, row in found.items()}
        assert written == pytest.approx(wanted), platform
    found = term.table("totals", heading="student")
    assert {s: float(row["total"]) for s, row in found.items()} == pytest.approx(wanted)
    assert found["s09"]["missing"].split() == sorted(PLATFORMS)
    assert found["s10"]["failed"] == "variance-growth"
    assert found["s16"]["excused"].split() == ["quiz", "softmax-saturation"]
    assert {len(row["dropped"].split()) for row in found.values()} == {1}


@pytest.fixture
def configured(monkeypatch):
    """The course's configuration, with a rule for late work and one for totals."""
    config = course.configuration()
    config.AssignLatePenalties.plugin_class = "tests.grader.running.late.PointAnHour"
    config.Totals.weights, config.Totals.excused = WEIGHTS, EXCUSED
    config.Totals.drop_lowest = 1
    config.NbGraderAPI.timezone = ZONE
    monkeypatch.setattr(course, "_executed_configuration", lambda: config)
    return config


def test_from_archives_to_the_files_that_platforms_import(
    root, tmp_path, notebooks, configured, request
):
    term = Term(tmp_path, notebooks)
    for assignment in PLATFORMS:
        term.collect(assignment, term.archive(assignment, STUDENTS))
        assert len(term.autograde(assignment)) == 30 - sum(
            name == assignment for _, name in MISSING
        )
    with term.gradebook() as gradebook:  # the answers in words are read
        for grade in gradebook.db.query(Grade).join(BaseCell).filter(BaseCell.name == WORDS):
            grade.manual_score, grade.needs_manual_grade = BY_HAND, False
        gradebook.db.commit()
        gradebook.remove_student(LEFT)
    term.grade_again()
    check_files(term, expected_scores(root, resubmitted=False))

    # In the middle of the term the gradebook moves. Then somebody hands in anew.
    address = with_tables(f"sqlite:///{tmp_path}/moved.db")
    if programs():
        server = request.getfixturevalue("postgresql")
        address = with_tables(new_database(server, "term"))
    counts = copy_gradebook(term.url, address)
    assert (counts["students"], counts["assignments"]) == (29, 7)
    assert rows(address) == rows(term.url)
    term.url = address
    student, assignment = AGAIN
    again = (named(student, assignment, DUE - timedelta(minutes=5)), b"0.9")
    there = [student for student in STUDENTS if student != LEFT]
    term.collect(assignment, [*term.archive(assignment, there), again])
    assert term.autograde(assignment) == [student]
    with term.gradebook() as gradebook:  # they are to be read once more, and the points stay
        grade = gradebook.find_grade(WORDS, assignment, assignment, student)
        assert (grade.manual_score, grade.needs_manual_grade) == (BY_HAND, True)
    term.grade_again()
    check_files(term, expected_scores(root, resubmitted=True))
    run = Run(assignment, tmp_path, tmp_path)
    close_sandbox(run.limits, run.isolation)
