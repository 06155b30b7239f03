"""What the tests found in one submission, as data: parts of test cells and their findings.

The report, the statistics and the journal use these objects. The text for the learner is made
from the same findings, and no program parses that text: it may quote what the learner wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

#: Length of one text. `grader.judging.listening` cuts messages, which may quote a learner, well
#: below it.
MAX_CHARACTERS = 4000
#: Parts of one test cell; honest cells have far fewer.
MAX_PARTS = 1000
#: Points of one part.
MAX_POINTS = 1e6
#: Findings of one part; honest parts have far fewer. Any beyond this are dropped.
MAX_FINDINGS = 1000


@dataclass(frozen=True)
class JudgedFinding:
    """One failed check."""

    check: str  #: what was checked
    message: str  #: what is wrong; it may quote what a learner wrote
    mistake: str | None = None  #: id of the catalogued mistake that explains it


@dataclass(frozen=True)
class Choice:
    """A letter that a learner chose."""

    name: str  #: of the answer
    letter: str
    is_right: bool


@dataclass(frozen=True)
class JudgedPart:
    """One part of a test cell, with its failed checks."""

    title: str
    points: float
    passed: bool
    findings: tuple[JudgedFinding, ...] = ()
    choices: tuple[Choice, ...] = ()


#: The parts of each test cell, by its name.
PartsByCell = Mapping[str, tuple[JudgedPart, ...]]


def mistakes_in(parts: PartsByCell) -> tuple[str, ...]:
    """Return the ids of the catalogued mistakes in the findings, each once, in order."""
    findings = (f for of_cell in parts.values() for part in of_cell for f in part.findings)
    return tuple(dict.fromkeys(finding.mistake for finding in findings if finding.mistake))


def parts_from_json(value: object) -> dict[str, tuple[JudgedPart, ...]]:
    """Return the parts by cell from what `dataclasses.asdict` and JSON made of them.

    Raises
    ------
    ValueError
        If a value has another type or exceeds the limits of this module.

    Examples
    --------
    >>> parts_from_json({"softmax-tests": [{"title": "rows", "points": 1.0}]})
    Traceback (most recent call last):
        ...
    ValueError: part: expected title, points, passed, findings, choices, got title, points, choices.
    """
    if not isinstance(value, dict):
        raise ValueError(f"parts: expected an object of lists by cell, got {type(value).__name__}.")
    return {_text(cell): tuple(map(_part, _listed(of, MAX_PARTS))) for cell, of in value.items()}


def _part(value: object) -> JudgedPart:
    if isinstance(value, dict) and "choices" not in value:
        value = {**value, "choices": []}  # a journal of an earlier version
    title, points, passed, findings, choices = _fields(value, "part", JudgedPart)
    if type(points) not in (int, float) or not 0 <= points <= MAX_POINTS:
        raise ValueError(f"part: expected from 0 to {MAX_POINTS:g} points, got {points!r:.40}.")
    if not isinstance(passed, bool):
        raise ValueError(f"part: expected passed to be true or false, got {passed!r:.40}.")
    found = tuple(map(_finding, _listed(findings, MAX_FINDINGS)))
    chosen = tuple(map(_choice, _listed(choices, MAX_FINDINGS)))
    return JudgedPart(_text(title), float(points), passed, found, chosen)


def _choice(value: object) -> Choice:
    name, letter, is_right = _fields(value, "choice", Choice)
    if not isinstance(is_right, bool):
        raise ValueError(f"choice: expected is_right to be true or false, got {is_right!r:.40}.")
    return Choice(_text(name), _text(letter), is_right)


def _finding(value: object) -> JudgedFinding:
    check, message, mistake = _fields(value, "finding", JudgedFinding)
    return JudgedFinding(_text(check), _text(message), None if mistake is None else _text(mistake))


def _fields(value: object, what: str, of: type[JudgedFinding | JudgedPart | Choice]) -> list[Any]:
    names = [field.name for field in fields(of)]
    if not isinstance(value, dict) or value.keys() != set(names):
        got = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
        raise ValueError(f"{what}: expected {', '.join(names)}, got {got:.80}.")
    return [value[name] for name in names]


def _listed(value: object, most: int) -> list[object]:
    if not isinstance(value, list) or len(value) > most:
        got = len(value) if isinstance(value, list) else type(value).__name__
        raise ValueError(f"parts: expected a list of at most {most}, got {got}.")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        got = f"{len(value)} characters" if isinstance(value, str) else type(value).__name__
        raise ValueError(f"parts: expected a text of at most {MAX_CHARACTERS}, got {got}.")
    return value
