"""Write the sample class into a folder, grade it and report on it there."""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from grader.command_line.grading import Graded, grade
from grader.course import ROOT, read_solution_notebook
from grader.releasing.answer_files import write_class
from grader.releasing.release import generate
from grader.reporting.export import path_of
from grader.reporting.report.lecture import write_report
from grader.reporting.report.standing import read_standing
from grader.reporting.report.student_pages import write_student_pages
from grader.reporting.summary import figures
from grader.running.digests import course_digest
from grader.running.pipeline import Run

ASSIGNMENT = "dot-products"
SAMPLE = ROOT / "tests" / "sample_class"
CLASSROOM = ROOT / "_class"

#: What grading writes into the folder of the class, next to the submissions.
GRADED = ("autograded", "feedback", "gradebook.db", f"graded-{ASSIGNMENT}.jsonl")


def read_roster(path: Path) -> dict[str, tuple[str, str]]:
    """Return the first and last name of each student, by id, from a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: (row["first_name"], row["last_name"]) for row in csv.DictReader(file)}


def grade_sample_class(
    sample: Path = SAMPLE,
    into: Path = CLASSROOM,
    isolation: str = "",
    progress: Callable[[object], None] = lambda line: None,
) -> Graded:
    """Write the submissions of the class, grade them, and write a report and summary.json.

    Calling it again grades only submissions that have changed. If the assignment or the roster has
    changed, it removes everything and grades anew: unlike the gradebook of a real class, this one
    holds nothing that was entered by hand.

    Raises
    ------
    GraderError
        If the class cannot be graded: see `grader.running.pipeline.autograde`.
    """
    into.mkdir(parents=True, exist_ok=True)
    names = read_roster(sample / "roster.csv")
    settings = Run(ASSIGNMENT, into / "submitted", into, isolation=isolation, names=names, salt="")
    source = read_solution_notebook(ASSIGNMENT)
    course = course_digest(source, settings.limits, settings.isolation)
    state = {"course": course, "roster": names}
    state_path = into / "state.json"
    if not _equals(state_path, state):
        for name in (*GRADED, "submitted"):
            _remove(into / name)
    with tempfile.TemporaryDirectory() as folder:
        write_class(generate(ASSIGNMENT, Path(folder)), sample / "answers", into / "submitted")
    state_path.write_text(_json(state), encoding="utf-8")
    graded = grade(settings, progress=progress)
    standing = read_standing(settings.db_url, into)
    write_report(
        ASSIGNMENT, graded.results, into / f"report-{ASSIGNMENT}.html", standing, settings.into
    )
    write_student_pages(standing, into)
    facts = figures(graded.results) | {
        "feedback": str(into / "feedback"),
        "grades": str(path_of(into, ASSIGNMENT)),
    }
    (into / "summary.json").write_text(_json(facts), encoding="utf-8")
    return graded


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _equals(path: Path, value: object) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == _json(value)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
