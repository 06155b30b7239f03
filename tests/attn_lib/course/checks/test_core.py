"""The points and the report of a test cell, and the learner id that it draws numbers for."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks, ChecksFailed
from attn_lib.course.checks.core import SEED
from attn_lib.course.checks.findings import WIDTH
from tests.attn_lib.course.checks.telling import report_of

Q, K = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])


def right(q, k):
    return q @ k.T


@pytest.fixture
def grading(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")


class TestPoints:
    def test_parts_are_earned_one_by_one(self, grading, capsys):
        check = Checks({"good": right, "bad": lambda q, k: k @ q.T})
        check.part("first", points=2)
        check.call("good", Q, K, target="score_matrix")
        check.part("second", points=3)
        check.call("good", Q, K, target="score_matrix")
        check.call("bad", Q, K, target="score_matrix")
        check.part("third", points=0.5)
        check.call("good", Q, K, target="score_matrix")
        assert check.finish() == 2.5
        out = capsys.readouterr().out
        assert "first: ok\nsecond: not yet\n" in out
        assert out.endswith("third: ok\n")

    @pytest.mark.parametrize("points", [1, 2.0, np.float64(3)])
    def test_the_score_is_a_plain_float(self, points, grading):
        check = Checks({"good": right})
        check.part("it", points=points)
        check.call("good", Q, K, target="score_matrix")
        score = check.finish()
        assert type(score) is float
        assert score == points

    def test_nothing_earned_raises(self, grading):
        check = Checks({"bad": lambda q, k: q})
        check.part("it", points=2)
        check.call("bad", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed, match="it: not yet"):
            check.finish()

    @pytest.mark.parametrize("execution", [None, "validate"])
    def test_at_home_there_is_no_score(self, execution, monkeypatch, capsys):
        monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
        if execution:
            monkeypatch.setenv("NBGRADER_EXECUTION", execution)
        check = Checks({"good": right, "bad": lambda q, k: k})
        check.part("first", points=2)
        check.call("good", Q, K, target="score_matrix")
        assert check.finish() is None
        assert capsys.readouterr().out == "first: ok, worth 2 points\n"
        check.part("second", points=2)
        check.call("bad", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed, match="first: ok, worth 2 points\nsecond: not yet"):
            check.finish()

    def test_a_cell_without_checks_is_an_authoring_error(self):
        with pytest.raises(ValueError, match="expected at least one check"):
            Checks({}).finish()
        check = Checks({"good": right})
        check.part("first", points=1)
        check.call("good", Q, K, target="score_matrix")
        check.part("second", points=1)
        with pytest.raises(ValueError, match="expected at least one check"):
            check.finish()

    def test_a_check_before_the_first_part_is_an_authoring_error(self):
        with pytest.raises(ValueError, match="expected part"):
            Checks({"good": right}).call("good", Q, K, target="score_matrix")

    def test_a_check_without_a_right_answer_is_an_authoring_error(self):
        check = Checks({"x": 1.0})
        check.part("it", points=1)
        with pytest.raises(ValueError, match="expected `target` or `expected`"):
            check.value("x")


class TestLearnerId:
    def test_numbers_are_drawn_from_the_learner_id(self):
        assert Checks({"learner_id": " Ada"}).learner_id() == "ada"

    @pytest.mark.parametrize(
        ("names", "told"),
        [
            ({}, "learner_id: not there yet. Put your id into its cell near the top, in quotes,"),
            ({"learner_id": 7}, "learner_id: expected a string, got 7; put it in quotes."),
            ({"learner_id": " "}, "learner_id: expected your id, got '' without a letter or digit"),
        ],
    )
    def test_without_one_every_part_fails(self, names, told):
        check = Checks({**names, "x": 1})
        assert check.learner_id() == "nobody"
        for title in ("first", "second"):
            check.part(title, points=1)
            check.value("x", expected=1)
        said = report_of(check)
        assert said.count(told) == 2
        assert "ok" not in said


class TestReport:
    def test_lines_stay_within_the_report_width(self):
        check = Checks({"f": lambda q, k: k @ q.T})
        check.part("it", points=1)
        check.call("f", Q, K, target="score_matrix")
        with pytest.raises(ChecksFailed) as failed:
            check.finish()
        lines = str(failed.value).splitlines()
        assert len(lines) > 3
        assert max(map(len, lines)) <= WIDTH

    def test_the_first_failed_call_is_shown_in_each_part_and_a_cause_once_per_cell(self):
        check = Checks({"f": lambda q, k: k @ q.T, "g": None})
        for title in ("first", "second"):
            check.part(title, points=1)
            check.call("f", Q, K, target="score_matrix")
            check.call("f", Q, K, target="score_matrix")
            check.call("f", Q, K[:2], target="score_matrix")
            check.call("g", Q, K, target="score_matrix")
            check.call("g", Q, K, target="score_matrix")
        said = report_of(check)
        assert said.count("Likely cause") == 1
        assert said.count("expected shape (1, 3), got (3, 1)") == 2
        assert said.count("And 2 more of its checks failed.") == 2
        assert said.count("g: expected a function") == 2

    def test_ipython_shows_it_without_a_traceback(self):
        failed = ChecksFailed("first: ok\nsecond: not yet")
        assert failed._render_traceback_() == ["first: ok", "second: not yet"]


def test_the_judge_adds_a_seed(monkeypatch):
    monkeypatch.delenv(SEED, raising=False)
    alone = Checks({}).rng(101).integers(2**31)
    assert alone == np.random.default_rng(101).integers(2**31)
    monkeypatch.setenv(SEED, "7")
    assert Checks({}).rng(101).integers(2**31) == Checks({}).rng(101).integers(2**31) != alone
