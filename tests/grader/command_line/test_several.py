"""Commands for several assignments, for all of them, and with JSON in place of text."""

from __future__ import annotations

import json

import pytest
from nbgrader.api import Gradebook

from grader import course
from grader.command_line import actions, commands, several
from grader.gradebook import reading
from grader.gradebook.writing import Entered, GradebookWriter
from grader.judging.verdict import GRADED, Verdict
from grader.running import journal
from tests.grader.running.classroom import Class, InThisProcess

WORK = {"masking": ["bo"], "quiz": ["ada", "bo"]}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class in which two assignments were graded, without a judge."""
    folder = tmp_path_factory.mktemp("class")
    for assignment, students in WORK.items():
        source = course.read_solution_notebook(assignment)
        cells = course.graded_cells(assignment)
        with GradebookWriter(
            reading.sqlite_url(folder), assignment, source, course.configuration()
        ) as writer:
            verdicts = [
                Verdict(assignment, student, GRADED, scores={cells[0]: 1.0}) for student in students
            ]
            writer.enter([Entered(verdict) for verdict in verdicts])
        with journal.Journal(journal.path_in(folder, assignment)) as lines:
            lines.add([journal.Line.of(verdict, "x") for verdict in verdicts])
    return folder


@pytest.fixture
def run(graded, capsys):
    def main(*arguments: str) -> tuple[int, str, str]:
        status = commands.main([*arguments, "--into", str(graded)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return main


def test_several_assignments_are_exported_each_into_its_file(run, graded):
    status, out, err = run("export", "quiz", "masking", "quiz")
    assert (status, err) == (0, "")
    texts = {
        name: f"{len(WORK[name])} student{'s' * (name == 'quiz')} in {graded}/grades-{name}.csv.\n"
        for name in WORK
    }
    waits = " an answer that waits to be read, so the points are not final."
    heads = [line for line in out.splitlines() if line in WORK]
    assert heads == ["quiz", "masking"]
    for name, text in texts.items():
        assert f"{name}\n{'=' * len(name)}\n{text}" in out
    assert out.count(waits) == 2


def test_all_are_those_with_work_in_them(run, graded):
    status, out, err = run("export", "--all", "--format", "moodle", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["exit_status"] == 0
    assert [(each["assignment"], each["file"], each["lines"]) for each in found["assignments"]] == [
        (name, f"{graded}/grades-{name}-moodle.csv", len(WORK[name])) for name in WORK
    ]


def test_extra_time_before_the_hand_in_is_no_work(run):
    status, _, err = run("extend", "complexity", "ada", "--days", "2")
    assert (status, err) == (0, "")
    status, out, err = run("export", "--all")
    assert (status, err) == (0, "")
    assert [line for line in out.splitlines() if line in course.assignments()] == [*WORK]


def test_one_without_work_does_not_keep_the_others(run):
    status, out, err = run("export", "complexity", "quiz")
    assert status == 2
    assert err.startswith("expected graded work on complexity in ")
    assert "2 students in " in out
    status, out, err = run("export", "complexity", "--json")
    assert (status, out) == (2, "")
    assert err.startswith("expected graded work on complexity in ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["report"], "expected names of assignments, or else --all"),
        (["report", "quiz", "--all"], "expected names of assignments, or else --all"),
        (["export", "--all", "--output", "x"], "--output names one file, so it goes with one"),
        (["grade", "quiz", "--force", "--keep-grades"], "one of --force and --keep-grades, got"),
    ],
)
def test_words_that_contradict_each_other_are_told(run, capsys, words, told):
    with pytest.raises(SystemExit) as stop:
        run(*words)
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


def test_nothing_at_all_is_a_sentence(tmp_path, capsys):
    for name in ("submitted", "into"):
        (tmp_path / name).mkdir()
    with Gradebook(reading.sqlite_url(tmp_path / "into")):
        pass
    where = ["--into", str(tmp_path / "into")]
    assert commands.main(["feedback", "--all", *where]) == 2
    assert capsys.readouterr().err == f"expected graded work in {tmp_path}/into, found none.\n"
    submitted = ["--submitted", str(tmp_path / "submitted")]
    assert commands.main(["grade", "--all", *where, *submitted]) == 2
    assert capsys.readouterr().err == (
        f"expected folders STUDENT/ASSIGNMENT in {tmp_path}/submitted, found none.\n"
    )


def test_all_that_was_submitted_is_graded(tmp_path, monkeypatch):
    for place in ("ada/quiz", "bo/masking", "cy/other", "dee"):
        (tmp_path / place).mkdir(parents=True)
    seen = []

    def grade(options):
        seen.append(options.assignment)
        return {"masking": 1, "quiz": 0}[options.assignment]

    where = ["--submitted", str(tmp_path), "--into", str(tmp_path)]
    options = commands.parsed(["autograde", "--all", *where])
    assert several.each(grade)(options) == 1
    assert seen == ["masking", "quiz"]


def test_results_as_json_have_the_scores_and_the_reasons(tmp_path, capsys):
    room = Class(tmp_path / "class", None)
    room.hand_in("ada", "0.5")
    room.hand_in("bo", "no")
    data = []
    assert actions._grade_run(room.run, InThisProcess(), everything=False, data=data) == 1
    assert capsys.readouterr().out == ""
    (found,) = json.loads(json.dumps(data))
    ada, bo = found["students"]
    assert (found["graded"], found["failed"], found["mean"]) == (1, 1, 9.0)
    assert (ada["student"], ada["state"], ada["score"], ada["points"]) == ("ada", "to read", 9, 20)
    assert ada["to_read"] == ["in-words"]
    assert sum(ada["scores"].values()) == 9
    assert (bo["state"], bo["reason"], bo["score"]) == ("failed", "no notebook", None)
    assert found["messages"] == []


def test_what_a_machine_can_do_as_json(capsys, monkeypatch):
    checks = [("system", True, "Linux."), ("network", False, "It is\x1b open.")]
    monkeypatch.setattr("grader.sandbox.doctor.checks", lambda: checks)
    assert commands.main(["doctor", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "exit_status": 1,
        "checks": [
            {"name": "system", "ok": True, "sentence": "Linux."},
            {"name": "network", "ok": False, "sentence": "It is\x1b open."},
        ],
    }
