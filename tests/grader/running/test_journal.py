"""The record of graded submissions survives any end of a run."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from grader.judging.findings import JudgedFinding, JudgedPart
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.running.journal import Busy, Journal, Line, NotAFile, path_in, read

WRONG = JudgedFinding("softmax", "expected 1, got 2.", "no-scale")
PARTS = {
    "softmax-tests": (JudgedPart("one row", 2.0, True), JudgedPart("rows", 1, False, (WRONG,)))
}
ADA = Line("ada", "1", GRADED, parts=PARTS, provenance={"seed": 7})
BO = Line("bo", "2", REMARKS, remarks=("Found 'a.ipynb'.",), missing=("in-words",))
CY = Line("cy", "", FAILED, reason="nothing submitted")


@pytest.fixture
def path(tmp_path):
    with Journal(path_in(tmp_path, "masking")) as journal:
        journal.add([ADA, BO, CY])
    return tmp_path / "graded-masking.jsonl"


def test_lines_survive_a_round_trip(path):
    assert list(read(path)) == [ADA, BO, CY]


def test_failures_do_not_count_as_graded(path):
    with Journal(path) as journal:
        assert journal.graded == {"ada": "1", "bo": "2"}
        journal.add([Line("ada", "", FAILED, reason="empty"), Line("cy", "5", GRADED)])
        assert journal.graded == {"bo": "2", "cy": "5"}
    with Journal(path) as journal:
        assert journal.graded == {"bo": "2", "cy": "5"}


def test_an_unfinished_line_of_a_killed_run_is_ignored(path):
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"student": "dee", "digest": "9", "sta')
    with Journal(path) as journal:
        assert journal.graded == {"ada": "1", "bo": "2"}
        journal.add([Line("dee", "9", GRADED)])
    assert [line.student for line in read(path)] == ["ada", "bo", "cy", "dee"]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.pop("parts"),
        lambda line: line.update(parts=[]),
        lambda line: line["parts"]["softmax-tests"][1].update(passed="no"),
        lambda line: line["parts"]["softmax-tests"][1]["findings"][0].pop("mistake"),
    ],
)
def test_a_malformed_line_is_ignored(path, change):
    first, *others = path.read_text("utf-8").splitlines()
    line = json.loads(first)
    change(line)
    path.write_text("\n".join([json.dumps(line), *others]) + "\n", "utf-8")
    assert list(read(path)) == [BO, CY]
    with Journal(path) as journal:
        assert journal.graded == {"bo": "2"}


NO_LINES = {
    "a number": "5",
    "a text": '"ada"',
    "a list": "[1]",
    "nothing": "null",
    "an empty object": "{}",
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"student":' * 100_000 + "1" + "}" * 100_000,
    "many digits": "1" * 10_000,
    "bytes": "\x00\x07",
    **{
        f"{name} is {value!r}": json.dumps(asdict(ADA) | {name: value})
        for name, value in (
            ("student", 5),
            ("student", None),
            ("digest", ["1"]),
            ("status", "splendid"),
            ("status", {}),
            ("reason", None),
            ("remarks", "abc"),
            ("remarks", [1]),
            ("remarks", {"a": 1}),
            ("missing", 3),
            ("missing", [None]),
            ("parts", {"a": {}}),
            ("parts", {"a": [[]]}),
            ("provenance", "x"),
            ("not_judged", 1),
        )
    },
}


@pytest.mark.parametrize("name", NO_LINES)
def test_a_line_of_wrong_types_is_reported_and_ignored(path, caplog, name):
    path.write_bytes(NO_LINES[name].encode() + b"\n" + path.read_bytes())
    assert list(read(path)) == [ADA, BO, CY]
    told = f"{path}: 1 of its lines are not valid, so they do not count."
    assert [record.getMessage()[: len(told)] for record in caplog.records] == [told]
    with Journal(path) as journal:
        assert (journal.graded, journal.failed) == ({"ada": "1", "bo": "2"}, {"cy"})
    caplog.clear()
    assert list(read(path)) == [ADA, BO, CY]
    assert caplog.records == []


def test_something_else_than_a_file_is_reported(tmp_path):
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path)):
        path = tmp_path / "graded-masking.jsonl"
        make(path)
        with pytest.raises(NotAFile, match="expected the file"):
            list(read(path))
        for _ in range(2):  # the first one has let go of the lock
            with pytest.raises(NotAFile, match="expected the file"):
                Journal(path)
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_line_written_before_grades_could_be_kept_is_valid(path):
    old = {name: value for name, value in asdict(ADA).items() if name != "not_judged"}
    path.write_text(json.dumps(old) + "\n")
    assert list(read(path)) == [ADA]


def test_a_kept_grade_is_judged_again_by_the_next_run(path):
    with Journal(path) as journal:
        journal.add([journal.kept("bo", "no memory"), journal.kept("eve", "no memory")])
        assert journal.graded == {"ada": "1", "bo": "", "eve": ""}
    *_, bo, eve = read(path)
    assert bo == replace(BO, digest="", not_judged="no memory")
    assert eve == Line("eve", "", GRADED, not_judged="no memory")


def test_opening_removes_lines_that_do_not_count(path):
    with Journal(path) as journal:
        for _ in range(5):
            journal.add([ADA])
    assert len(path.read_text().splitlines()) == 8
    with Journal(path):
        assert len(path.read_text().splitlines()) == 3


def test_two_runs_cannot_write_to_one_journal(path):
    with Journal(path), pytest.raises(Busy, match="expected no other run"):
        Journal(path)
    with Journal(path) as journal:
        assert journal.graded["ada"] == "1"


def test_a_text_that_cannot_be_encoded(path):
    odd = Line("e\udc80", "1", GRADED, remarks=("a\ud800\n b",))
    with Journal(path) as journal:
        journal.add([odd])
    assert list(read(path))[-1] == odd


def test_a_line_has_everything_of_a_verdict_except_its_notebook():
    verdict = Verdict("masking", "ada", GRADED, parts=PARTS, provenance={"seed": 7})
    assert Line.of(verdict, "1") == ADA
