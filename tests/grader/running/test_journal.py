"""The record of graded submissions survives any end of a run."""

from __future__ import annotations

import json

import pytest

from grader.judging.findings import JudgedFinding, JudgedPart
from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.running.journal import Busy, Journal, Line, path_in, read

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
