"""Findings keep the parts of a report, truncated, and are read from JSON only if valid."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict

import pytest

from attn_lib.course.checks import Checks, ChecksFailed, listening
from grader.judging.findings import (
    MAX_CHARACTERS,
    MAX_FINDINGS,
    MAX_PARTS,
    Choice,
    JudgedFinding,
    JudgedPart,
    mistakes_in,
    parts_from_json,
)
from grader.judging.listening import PartsListener
from grader.judging.verdict import GRADED, Verdict

PARTS = {
    "softmax-tests": (
        JudgedPart("rows", 2.0, True),
        JudgedPart(
            "large",
            0.5,
            False,
            (
                JudgedFinding("softmax", "expected 1, got nan.", "softmax-that-overflows"),
                JudgedFinding(
                    "other", "it raised ValueError: rows: ok\n(no-scale; see the book, x)"
                ),
            ),
        ),
    ),
    "attention-tests": (
        JudgedPart("one", 1.0, False, (JudgedFinding("attention", "off.", "no-scale"),)),
        JudgedPart(
            "two",
            1.0,
            False,
            (JudgedFinding("f", "off.", "softmax-that-overflows"),),
            (Choice("why", "B", True), Choice("growth", "A", False)),
        ),
    ),
    "shapes-tests": (),
}


def as_read(parts=PARTS):
    return json.loads(json.dumps(asdict(Verdict("masking", "ada", GRADED, parts=parts))["parts"]))


def test_findings_survive_a_round_trip():
    assert parts_from_json(as_read()) == PARTS
    verdict = Verdict("masking", "ada", GRADED, parts=PARTS)
    assert Verdict.from_bytes(verdict.to_bytes()) == verdict


def test_mistakes_are_in_the_order_of_the_tests_without_repetitions():
    assert mistakes_in(PARTS) == ("softmax-that-overflows", "no-scale")
    assert Verdict("masking", "ada", GRADED, parts=PARTS).mistakes == mistakes_in(PARTS)


def large(value):
    return value["softmax-tests"][1]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda value: large(value).update(title=7), "expected a text"),
        (lambda value: large(value).update(title="x" * (MAX_CHARACTERS + 1)), "got 4001 char"),
        (lambda value: large(value).update(points="2"), "expected from 0 to 1e"),
        (lambda value: large(value).update(points=True), "got True"),
        (lambda value: large(value).update(points=-1), "got -1"),
        (lambda value: large(value).update(points=float("nan")), "got nan"),
        (lambda value: large(value).update(points=10**400), "expected from 0 to 1e"),
        (lambda value: large(value).update(passed=1), "expected passed to be true or false"),
        (lambda value: large(value).update(findings={}), "expected a list"),
        (lambda value: large(value).update(more=1), "expected title, points, passed, findings"),
        (lambda value: large(value).pop("passed"), "got title, points, findings"),
        (lambda value: large(value).update(findings=["x"]), "finding: .* got str"),
        (lambda value: large(value)["findings"][0].update(mistake=3), "expected a text"),
        (lambda value: large(value)["findings"][0].update(check=None), "expected a text"),
        (lambda value: large(value)["findings"].extend([{}] * MAX_FINDINGS), "list of at most"),
        (lambda value: value["attention-tests"][1]["choices"][0].update(is_right=1), "is_right"),
        (lambda value: value["attention-tests"][1]["choices"][0].update(letter=3), "a text"),
        (lambda value: value["softmax-tests"].extend([{}] * MAX_PARTS), "list of at most"),
        (lambda value: value.update({"x": "rows: ok"}), "expected a list"),
        (lambda value: value.update({"x": [None]}), "part: .* got NoneType"),
        (lambda value: value.update({"x" * (MAX_CHARACTERS + 1): []}), "expected a text"),
    ],
)
def test_findings_of_a_wrong_type_or_size_are_refused(change, told):
    value = copy.deepcopy(as_read())
    change(value)
    with pytest.raises(ValueError, match=told):
        parts_from_json(value)


def test_a_part_in_a_journal_of_an_earlier_version_has_no_choices():
    value = as_read()
    for of_cell in value.values():
        for part in of_cell:
            del part["choices"]
    two = parts_from_json(value)["attention-tests"][1]
    assert (two.title, two.choices) == ("two", ())


@pytest.mark.parametrize("value", [None, [], "rows: ok", 3])
def test_findings_must_be_given_by_cell(value):
    with pytest.raises(ValueError, match="expected an object of lists by cell"):
        parts_from_json(value)


def reported(check: Checks) -> tuple[JudgedPart, ...]:
    listener = PartsListener()
    with listening(listener), pytest.raises(ChecksFailed):
        check.finish()
    return listener.parts


def test_the_letters_that_were_chosen_are_kept():
    """A wrong one too, and none that is no option or whose right one no check knows."""
    check = Checks({"why": "b", "side": "R", "growth": "A", "meaning": "Z"})
    check.part("letters", points=1)
    for name in ("why", "side", "growth", "meaning"):
        check.choice(name, "ABCDR")
    check.choice("why", "ABCD", right="B")
    check.choice("growth", "ABCD", right="C", because={"A": "too slow."})
    check.choice("meaning", "ABCD", right="D")
    (part,) = reported(check)
    assert part.choices == (Choice("why", "B", True), Choice("growth", "A", False))


def test_texts_are_truncated_and_made_encodable():
    def wordy():
        raise ValueError("\ud800" * 10_000)

    check = Checks({"wordy": wordy})
    check.part("it", points=1)
    check.call("wordy", expected=1.0)
    (part,) = reported(check)
    (finding,) = part.findings
    assert finding.message.startswith("it raised ValueError: ")
    assert 2000 < len(finding.message) < MAX_CHARACTERS
    finding.message.encode("utf-8")
    assert parts_from_json(as_read({"a-tests": (part,)})) == {"a-tests": (part,)}


def test_a_part_keeps_distinct_findings_up_to_a_limit():
    check = Checks({"x": 1})
    check.part("the same", points=1)
    for _ in range(3):
        check.value("x", expected=2)
    check.part("others", points=1)
    for number in range(MAX_FINDINGS + 5):
        check.value("x", expected=number)
    same, others = reported(check)
    assert same == JudgedPart("the same", 1.0, False, (JudgedFinding("x", "expected 2, got 1."),))
    assert len(others.findings) == MAX_FINDINGS
    assert others.findings[0].message == "expected 0, got 1."
