"""The gradebook works in a PostgreSQL server, which the tests start on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text

from grader.gradebook import reading
from grader.gradebook.copying import copy_gradebook
from grader.reporting.results import results
from grader.running.pipeline import Run, autograde, local_workers
from tests.grader.gradebook.rows import rows
from tests.grader.gradebook.server import new_database, with_tables
from tests.grader.running.classroom import Class

ASSIGNMENT = "dot-products"
JUDGE = "tests.grader.running.fake_judge:judge_job"


@pytest.fixture(scope="module")
def server(postgresql):
    """The address of an empty database on a port of this machine."""
    return postgresql


def test_a_class_has_the_same_rows_in_postgresql_and_in_sqlite(server, tmp_path):
    students = {f"s{number:02}": number / 20 for number in range(20)} | {"Zoë": 1.0}
    for student, share in students.items():
        path = tmp_path / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(str(share))
        path.with_name("timestamp.txt").write_text("2026-03-01 10:00:00 UTC")
    names = {student: (student, "Ü") for student in students}
    found = {}
    for name, url in (("postgresql", server), ("sqlite", None)):
        into = tmp_path / name
        run = Run(ASSIGNMENT, tmp_path / "submitted", into, db_url=url, names=names)
        autograde(run, local_workers(run, 2, JUDGE))
        found[name] = rows(run.db_url), results(run.db_url, into, ASSIGNMENT)
    assert found["postgresql"][0] == found["sqlite"][0]
    assert [(r.student, r.score, r.entry) for r in found["postgresql"][1]] == [
        (r.student, r.score, r.entry) for r in found["sqlite"][1]
    ]
    assert len(found["postgresql"][1]) == len(students)

    # A second run grades changed submissions, and a failed one leaves no rows.
    changed = tmp_path / "submitted" / "s03" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    changed.write_text("no")
    judged = []
    run = Run(ASSIGNMENT, tmp_path / "submitted", tmp_path / "postgresql", db_url=server)
    autograde(run, local_workers(run, 2, JUDGE), lambda progress: judged.append(progress.student))
    assert judged == ["s03"]
    entries = reading.entries(server, ASSIGNMENT)
    assert set(entries) == set(students) - {"s03"}
    assert reading.learners(server)["Zoë"].last_name == "Ü"


def test_a_row_that_cannot_be_entered_stops_only_itself(server, tmp_path, monkeypatch):
    """An id that is too long, one that is no text, and a submission that is locked elsewhere."""
    monkeypatch.setattr("grader.gradebook.writing.PATIENCE", 50)
    server = new_database(server, "slips")
    room = Class(tmp_path / "class", None)
    room.run = replace(room.run, db_url=server, student="t*")
    long, latin = "t" * 129, os.fsdecode(b"t\xe9")
    for student in ("t1", "t2", "t" * 128, long, latin):
        room.hand_in(student, "0.5")
    room.grade(0)
    found = room.results()
    assert {s: found[s].score for s in ("t1", "t2", "t" * 128, long, latin)} == {
        "t1": 9,
        "t2": 9,
        "t" * 128: 9,
        long: None,
        latin: None,
    }
    assert "has 129 characters, and an id in the gradebook has at most 128" in found[long].reason
    assert "is not in UTF-8" in found[latin].reason
    locked = text(
        "select 1 from grade g join submitted_notebook n on n.id = g.notebook_id "
        "join submitted_assignment s on s.id = n.assignment_id where s.student_id = 't1' for update"
    )
    with create_engine(server).begin() as other:
        other.execute(locked)
        for student in ("t1", "t2"):
            room.hand_in(student, "1.0")
        assert room.grade(0) == sorted([latin, "t1", "t2", long])
    found = room.results()
    assert {s: found[s].score for s in ("t1", "t2")} == {"t1": 9, "t2": 18}
    assert "canceling statement due to lock timeout" in found["t1"].not_judged
    assert room.grade(0) == sorted([latin, "t1", long])
    assert room.results()["t1"].score == 18


def test_a_gradebook_is_copied_and_grading_goes_on(server, tmp_path):
    """From SQLite to PostgreSQL and back all rows stay, and nothing is judged again."""
    room = Class(tmp_path / "class", None)
    with_tables(room.run.db_url)
    names = {"ada": ("Ada", "Lovelace"), "Zoë": ("Zoë", "Ü"), "bo": ("Bo", "")}
    for student, share in {"ada": "0.5", "Zoë": "1.0", "bo": "no"}.items():
        room.hand_in(student, share)
    assert room.grade(0, names=names) == ["Zoë", "ada", "bo"]
    with Gradebook(room.run.db_url) as gradebook:
        gradebook.grant_extension(ASSIGNMENT, "ada", days=2, minutes=5)
    new = with_tables(new_database(server, "copied"))
    counts = {"students": 3, "assignments": 1, "submissions": 2}
    assert copy_gradebook(room.run.db_url, new) == counts
    assert rows(new) == rows(room.run.db_url)
    back = with_tables(f"sqlite:///{room.folder}/back.db")
    assert copy_gradebook(new, back) == counts
    assert rows(back) == rows(new)
    before = room.scores()
    room.run = replace(room.run, db_url=new)
    assert room.grade(0) == ["bo"]  # what failed is tried in each run
    assert room.scores() == before == {"Zoë": 18, "ada": 9, "bo": None}


def test_stock_nbgrader_commands_use_it_too(server, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("id,first_name,last_name\nsoren,Søren,Ødegård\n", encoding="utf-8")
    nbgrader = Path(sys.executable).with_name("nbgrader")
    for command in (["import", roster], ["list"]):
        said = subprocess.run(
            [nbgrader, "db", "student", *command, "--db", server],
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert "soren (Ødegård, Søren)" in said
