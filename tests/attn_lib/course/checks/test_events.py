"""Listeners get an event for each question, each finding and each report."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.checks import Checks, ChecksFailed, Line, Part, listening
from attn_lib.course.checks.events import Asked, Compared, Finished, Found
from attn_lib.course.checks.findings import Finding

Q, K = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
NAMES = {
    "bad": lambda q, k: k @ q.T,
    "range_of": 16,
    "letter": "b",
    "mean": lambda n, seed: float(np.random.default_rng(seed).normal(3.0, 0.1)),
}


def heard(check: Checks, act) -> list:
    """Return the events that a listener gets while `act` runs on `check`."""
    events: list = []
    with listening(events.append):
        act(check)
    return events


def only(kind: type, events: list) -> list:
    return [event for event in events if isinstance(event, kind)]


def test_a_call_is_announced_observed_and_compared():
    def act(check):
        check.part("first", points=1)
        check.value("range_of", expected=16)
        check.part("second", points=2)
        check.value("range_of", expected=16)
        check.call("bad", Q, K, target="score_matrix")

    asked, found, compared = heard(Checks(NAMES), act)[-3:]
    assert (asked.part, asked.method, asked.name) == (1, "call", "bad")
    assert asked.args == (Q, K)
    assert asked.options == {"target": "score_matrix"}
    assert found.part == 1
    assert (found.finding.name, found.finding.passed, found.finding.mistake) == ("bad", False, None)
    assert found.finding.message == "expected shape (1, 3), got (3, 1)."
    assert (compared.part, compared.place, compared.label) == (1, 1, "")
    assert compared.target == "score_matrix"
    np.testing.assert_array_equal(compared.question.expected, [[5.0, 2.0, -1.0]])
    np.testing.assert_array_equal(compared.got, [[5.0], [2.0], [-1.0]])


def test_every_check_announces_its_question():
    def act(check):
        check.part("it", points=1)
        check.value("range_of", target="score_range", args=(64,))
        check.form("range_of")
        check.holds("range_of", lambda value: value > 0, "it is positive.")
        check.choice("letter", "ABC", right="A", because={"B": "no."})
        check.estimate(
            "mean", 7, seeds=(1, 2), target="score_range", target_args=(4,), standard_error=0.1
        )
        check.drawing("gone", 5, lines={"line": Line((1,), "score_range", ((1,),))})

    asked = only(Asked, heard(Checks(NAMES), act))
    assert [(event.method, event.name, event.args) for event in asked] == [
        ("value", "range_of", ()),
        ("form", "range_of", ()),
        ("holds", "range_of", ()),
        ("choice", "letter", ()),
        ("estimate", "mean", (7,)),
        ("drawing", "gone", (5,)),
    ]
    assert asked[0].options == {"target": "score_range", "row": None}
    assert asked[3].options == {"options": "ABC", "right": "A", "because": {"B": "no."}}
    assert asked[4].options == {
        "target": "score_range",
        "target_args": (4,),
        "standard_error": 0.1,
    }


def test_a_line_of_a_drawing_is_compared_by_its_label():
    from matplotlib.figure import Figure

    def draw():
        axes = Figure().subplots()
        axes.plot([4, 9, 16], [4.0, 6.0, 8.0], label="2 √d_k")
        return axes

    def act(check):
        check.part("it", points=1)
        line = Line((4, 9, 16), "score_range", ((4,), (9,), (16,)))
        check.drawing("draw", lines={"2 √d_k": line})

    (compared,) = only(Compared, heard(Checks({"draw": draw}), act))
    assert compared.label == "2 √d_k"
    assert compared.question.expected.tolist() == [4.0, 6.0, 8.0]


def finish(check: Checks) -> None:
    with pytest.raises(ChecksFailed):
        check.finish()


def interrupted():
    raise KeyboardInterrupt


class TestReports:
    def begun(self) -> Checks:
        check = Checks({"range_of": 8, "other": 1, "slow": interrupted})
        check.part("ranges", points=2)
        check.value("range_of", target="score_range", args=(64,))
        check.part("more", points=1)
        check.value("other", expected=1)
        return check

    def test_it_has_all_parts_with_their_causes(self):
        (reported,) = heard(self.begun(), finish)
        ranges, more = reported.parts
        assert [(part.title, part.points, part.passed) for part in reported.parts] == [
            ("ranges", 2, False),
            ("more", 1, True),
        ]
        assert ranges.findings == [
            Finding(
                "range_of",
                "expected 16, got 8.",
                mistake="range-of-one-sd",
                without_expected="8 is not right.",
            )
        ]
        assert ranges.mistakes == ["range-of-one-sd"]
        assert more.mistakes == []

    def test_a_part_that_passes_is_reported_too(self, capsys):
        check = Checks({"x": 1})
        check.part("it", points=1)
        check.value("x", expected=1)
        (reported,) = heard(check, Checks.finish)
        assert reported.parts == (Part("it", 1, [Finding("x")]),)
        assert capsys.readouterr().out == "it: ok, worth 1 point\n"

    def test_later_checks_do_not_change_a_report(self):
        check = self.begun()
        (first,) = heard(check, finish)
        check.part("ranges again", points=1)
        check.value("range_of", target="score_range", args=(16,))  # 8 is right here
        (second,) = heard(check, finish)
        assert first.parts[0].mistakes == ["range-of-one-sd"]
        assert second.parts[0].mistakes == []
        assert [len(event.parts) for event in (first, second)] == [2, 3]

    def test_an_interrupted_call_reports_earlier_findings(self):
        def act(check):
            with pytest.raises(ChecksFailed, match="ranges: not yet"):
                check.call("slow", expected=1)

        check = self.begun()
        check.part("last", points=1)
        (reported,) = only(Finished, heard(check, act))
        assert [part.title for part in reported.parts] == ["ranges", "more", "last"]


class TestListening:
    def test_only_events_inside_the_block_are_heard(self):
        check, events = Checks({"x": 1}), []
        check.part("it", points=1)
        with pytest.raises(RuntimeError, match="the block"), listening(events.append):
            raise RuntimeError("the block")
        check.value("x", expected=1)
        assert events == []

    def test_several_listeners_hear_the_same(self):
        check, outer, inner = Checks({"x": 1}), [], []
        check.part("it", points=1)
        with listening(outer.append):
            with listening(inner.append):
                check.value("x", expected=1)
            check.value("x", expected=2)
        assert outer[: len(inner)] == inner
        assert (len(inner), len(outer)) == (3, 6)

    def test_an_exception_in_a_listener_ends_the_check(self):
        class Enough(Exception):
            pass

        def stop(event):
            if isinstance(event, Found):
                raise Enough

        check = Checks({"x": 1})
        check.part("it", points=1)
        with listening(stop), pytest.raises(Enough):
            check.value("x", expected=1)
