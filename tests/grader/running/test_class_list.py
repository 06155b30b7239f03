"""A folder that is not on the class list makes no student; who is removed leaves all results."""

from __future__ import annotations

import csv

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from grader import course
from grader.command_line import actions
from grader.course import graded_cells
from grader.gradebook import reading
from grader.reporting import summary
from grader.reporting.export import write_csv
from grader.running import journal
from tests.grader.running.classroom import ASSIGNMENT, Class, InThisProcess


def enter(room: Class, *students: str, **facts: str) -> None:
    with Gradebook(room.run.db_url) as gradebook:
        for student in students:
            gradebook.update_or_create_student(student, **facts)


def remove(room: Class, student: str) -> None:
    with Gradebook(room.run.db_url) as gradebook:
        gradebook.remove_student(student)


def students(room: Class) -> list[str]:
    return list(reading.learners(room.run.db_url))


def in_journal(room: Class) -> list[str]:
    lines = journal.read(journal.path_in(room.folder, ASSIGNMENT))
    return sorted({line.student for line in lines})


@pytest.mark.parametrize("facts", [{}, {"first_name": "Ada"}, {"lms_user_id": "7"}, {"email": "a"}])
def test_a_folder_that_is_not_listed_is_not_graded(room, facts):
    enter(room, "s17", "s18", **facts)
    room.hand_in("S17", "0.5")
    room.hand_in("s18", "1.0")
    assert room.grade(0) == ["s18"]
    assert students(room) == ["s17", "s18"]
    assert room.results().keys() == {"s18"}
    assert in_journal(room) == ["s18"]
    assert not room.graded("S17").exists()
    assert room.grade(0, add_students=True) == ["S17"]
    assert students(room) == ["S17", "s17", "s18"]
    assert room.grade(0) == []  # whom grading was told to add is a student from now on
    room.hand_in("zoe", "no")
    assert room.grade(0, add_students=True) == ["zoe"]
    assert room.results()["zoe"].status == "failed: no notebook"


def test_without_a_class_list_each_folder_makes_a_student(room):
    room.hand_in("ada", "0.5")
    room.hand_in("bo", "0.5")
    assert room.grade(0) == ["ada", "bo"]
    # Bo's rows are removed with the failure, which leaves a student without a submission.
    room.hand_in("bo", "no")
    assert room.grade(0) == ["bo"]
    room.hand_in("cy", "0.5")
    assert room.grade(0) == ["bo", "cy"]
    assert students(room) == ["ada", "bo", "cy"]


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_a_removed_student_leaves_report_exports_and_journal(room, tmp_path, listed, failed):
    facts = {"first_name": "Ada"} if listed else {}
    if listed:
        enter(room, "ada", "bo", **facts)
    room.hand_in("ada", "0.5")
    room.hand_in("bo", "0.5")
    room.grade(0)
    if failed:
        room.hand_in("bo", "no")
        room.grade(0)
    remove(room, "bo")
    # Without a list, nobody can tell a failed student who was removed from one who never was there.
    stays = ["bo"] if failed and not listed else []
    assert sorted(room.results()) == ["ada", *stays]
    found = list(room.results().values())
    write_csv(found, graded_cells(ASSIGNMENT), tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["student"] for row in csv.DictReader(file)] == ["ada", *stays]
    if listed:
        room.grade(0)
        assert in_journal(room) == students(room) == ["ada"]


def test_the_command_names_the_folder_and_whom_it_may_mean(room, capsys, monkeypatch):
    config = Config({"Totals": {"excused": {ASSIGNMENT: ["tove"]}}})
    monkeypatch.setattr(course, "configuration", lambda: config)
    enter(room, "tove")
    enter(room, "s17", "soren", first_name="Ada", last_name="Lovelace", lms_user_id="101")
    for name in ("S17", "soern", "101", "Lovelace Ada", "zoe"):
        room.hand_in(name, "0.5")
    room.hand_in("soren", "0.5")
    assert actions._grade_run(room.run, InThisProcess(), everything=False) == actions.SOME_FAILED
    said = capsys.readouterr().out
    assert "1 submission graded" in said
    assert (
        "\nNot graded, because not on the class list: 101 (s17?), Lovelace Ada (s17?), S17 (s17?), "
        "soern (soren?), zoe.\n"
    ) in said
    assert "--add-students" in said
    assert "Nothing was handed in by 1 of the class: s17. Excused: tove.\n" in said


def test_only_some_of_many_names_are_shown():
    names = [f"x{number}" for number in range(25)]
    said = summary.not_listed(names, {"ada": reading.Learner()}).splitlines()[0]
    assert said.endswith("x18, x19, ….")
