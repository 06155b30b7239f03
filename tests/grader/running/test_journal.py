"""The record of what is graded survives whatever ends a run."""

from __future__ import annotations

import pytest

from grader.judging.verdict import FAILED, GRADED, REMARKS, Verdict
from grader.running.journal import Busy, Journal, Line, path_in, read

ADA = Line("ada", "1", GRADED, mistakes=("no-scale",), record={"seed": 7})
BO = Line("bo", "2", REMARKS, remarks=("Found 'a.ipynb'.",), missing=("in-words",))
CY = Line("cy", "", FAILED, reason="nothing submitted")


@pytest.fixture
def path(tmp_path):
    with Journal(path_in(tmp_path, "masking")) as journal:
        journal.add([ADA, BO, CY])
    return tmp_path / "graded-masking.jsonl"


def test_lines_come_back_as_they_were(path):
    assert list(read(path)) == [ADA, BO, CY]


def test_failures_do_not_count_as_graded(path):
    with Journal(path) as journal:
        assert journal.graded == {"ada": "1", "bo": "2"}
        journal.add([Line("ada", "", FAILED, reason="empty"), Line("cy", "5", GRADED)])
        assert journal.graded == {"bo": "2", "cy": "5"}
    with Journal(path) as journal:
        assert journal.graded == {"bo": "2", "cy": "5"}


def test_a_line_that_a_killed_run_left_unfinished_is_passed_over(path):
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"student": "dee", "digest": "9", "sta')
    with Journal(path) as journal:
        assert journal.graded == {"ada": "1", "bo": "2"}
        journal.add([Line("dee", "9", GRADED)])
    assert [line.student for line in read(path)] == ["ada", "bo", "cy", "dee"]


def test_lines_that_do_not_count_go_when_it_is_opened(path):
    with Journal(path) as journal:
        for _ in range(5):
            journal.add([ADA])
    assert len(path.read_text().splitlines()) == 8
    with Journal(path):
        assert len(path.read_text().splitlines()) == 3


def test_two_runs_cannot_write_into_one_record(path):
    with Journal(path), pytest.raises(Busy, match="found another run"):
        Journal(path)
    with Journal(path) as journal:
        assert journal.graded["ada"] == "1"


def test_a_text_that_no_encoding_can_write(path):
    odd = Line("e\udc80", "1", GRADED, remarks=("a\ud800\n b",))
    with Journal(path) as journal:
        journal.add([odd])
    assert list(read(path))[-1] == odd


def test_a_verdict_leaves_all_but_its_notebook():
    verdict = Verdict("masking", "ada", GRADED, mistakes=("no-scale",), record={"seed": 7})
    assert Line.of(verdict, "1") == ADA
