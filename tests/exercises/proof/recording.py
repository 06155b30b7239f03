"""Record the checks that an assignment runs, to know what each wrong answer must cost."""

from __future__ import annotations

import copy
import dis
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from nbgrader.utils import is_grade, is_solution

from attn_lib.course.checks.comparison import difference
from attn_lib.course.checks.events import Asked, Compared, Event
from tests.exercises.proof.notebook import Run, run


@dataclass(frozen=True)
class Comparison:
    """One answer that a check compared with a target."""

    cell: str  #: the test cell
    part: int
    kind: str  #: the name of the method of Checks
    name: str  #: the answer's name in the notebook
    target: str
    args: tuple[Any, ...]  #: arguments of the call, without a seed
    label: str  #: label of the line, for a drawing
    row: int | None
    expected: Any
    compute: Callable[[Callable[..., Any]], Any]
    tolerance: tuple[float, float]

    def answer(self, function: Callable[..., Any]) -> Any:
        """Return the result of a function called like the target, or None if it raises."""
        with np.errstate(all="ignore"):
            try:
                return np.asarray(self.compute(function))
            except (ValueError, IndexError):
                return None

    def can_hold(self, function: Callable[..., Any]) -> bool:
        """Tell whether a learner could give this answer; nobody types in only NaN."""
        answer = self.answer(function)
        return answer is not None and (self.kind != "value" or bool(np.isfinite(answer).any()))

    def tells_apart(self, function: Callable[..., Any]) -> bool:
        """Tell whether this check detects the difference from the target."""
        answer = self.answer(function)
        if answer is None:  # a value that cannot be computed cannot be typed in either
            return self.kind != "value"
        return bool(difference(answer, self.expected, self.tolerance))


@dataclass(frozen=True)
class Choice:
    """One multiple-choice question."""

    cell: str
    part: int
    name: str
    options: str
    right: str
    because: dict[str, str]


@dataclass(frozen=True)
class Recording:
    """The comparisons and choices in the test cells of a notebook."""

    result: Run
    comparisons: list[Comparison]
    choices: list[Choice]
    homes: dict[str, str]  #: the answer cell that defines each name
    measured: dict[str, set[str]]  #: by test cell, names whose results only have a property


def record(cells: list[Any], answers: dict[str, str] | None = None, **options: Any) -> Recording:
    """Run a notebook and record every comparison with a target and every choice."""
    comparisons: list[Comparison] = []
    choices: list[Choice] = []
    asked: list[Asked] = []
    measured: dict[str, set[str]] = {}

    def note(cell: str, event: Event) -> None:
        if isinstance(event, Asked):
            asked.append(event)
            if event.method == "returns":
                measured.setdefault(cell, set()).add(event.name)
            if event.options.get("right"):
                choices.append(_choice(cell, event))
        elif isinstance(event, Compared) and event.target is not None:
            comparisons.append(_comparison(cell, asked[-1], event))

    result = run(cells, answers, listener=note, **options)
    return Recording(result, comparisons, choices, _homes(cells, answers or {}), measured)


def _choice(cell: str, asked: Asked) -> Choice:
    options = asked.options
    because = dict(options["because"] or {})
    return Choice(cell, asked.part, asked.name, options["options"], options["right"], because)


def _comparison(cell: str, asked: Asked, compared: Compared) -> Comparison:
    return Comparison(
        cell=cell,
        part=compared.part,
        kind=asked.method,
        name=asked.name,
        target=str(compared.target),
        args=asked.args,
        label=compared.label,
        row=asked.options.get("row"),
        expected=copy.deepcopy(compared.question.expected),
        compute=compared.question.compute,
        tolerance=compared.question.tolerance,
    )


def _homes(cells: list[Any], answers: dict[str, str]) -> dict[str, str]:
    """Return the answer cell in which each name is assigned or defined."""
    homes: dict[str, str] = {}
    for cell in cells:
        if cell.cell_type == "code" and is_solution(cell) and not is_grade(cell):
            code = compile(answers.get(cell.id, cell.source), cell.id, "exec")
            for instruction in dis.get_instructions(code):
                if instruction.opname == "STORE_NAME":
                    homes.setdefault(instruction.argval, cell.id)
    return homes
