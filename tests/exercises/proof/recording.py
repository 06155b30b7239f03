"""Watch which checks an assignment runs, to know what each wrong answer should cost."""

from __future__ import annotations

import copy
import dis
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from nbgrader.utils import is_grade, is_solution

from attn_lib.course.checks import Checks
from attn_lib.course.checks.comparison import difference, tolerance_for
from attn_lib.course.checks.ledger import Ledger
from tests.exercises.proof.notebook import Run, run


@dataclass(frozen=True)
class Comparison:
    """One answer that a check compared with a target."""

    cell: str  #: the test cell
    part: int
    kind: str  #: the method of Checks
    name: str  #: what the learner calls it
    target: str
    args: tuple[Any, ...]  #: what a function was called with, before a seed
    label: str  #: of the line, in a drawing
    row: int | None
    expected: Any
    compute: Callable[[Callable[..., Any]], Any]
    tolerance: tuple[float, float]

    def answer(self, function: Callable[..., Any]) -> Any:
        """Return what another function in place of the target gives, or None if it raises."""
        with np.errstate(all="ignore"):
            try:
                return np.asarray(self.compute(function))
            except (ValueError, IndexError):
                return None

    def can_hold(self, function: Callable[..., Any]) -> bool:
        """Say whether a learner may give this answer: nobody types in NaN and nothing else."""
        answer = self.answer(function)
        return answer is not None and (self.kind != "value" or bool(np.isfinite(answer).any()))

    def tells_apart(self, function: Callable[..., Any]) -> bool:
        """Say whether this check sees the difference."""
        answer = self.answer(function)
        if answer is None:  # a value that cannot be computed cannot be typed in either
            return self.kind != "value"
        return bool(difference(answer, self.expected, self.tolerance))


@dataclass(frozen=True)
class Choice:
    """One question with letters."""

    cell: str
    part: int
    name: str
    options: str
    right: str
    because: dict[str, str]


@dataclass(frozen=True)
class Recording:
    """What the test cells of a notebook looked at."""

    result: Run
    comparisons: list[Comparison]
    choices: list[Choice]
    homes: dict[str, str]  #: the answer cell that defines a name


def record(cells: list[Any], answers: dict[str, str] | None = None, **options: Any) -> Recording:
    """Run a notebook and note every comparison with a target and every choice."""
    comparisons: list[Comparison] = []
    choices: list[Choice] = []
    now: dict[str, Any] = {}

    def watched(method: str) -> Callable[..., None]:
        original = getattr(Checks, method)

        def call(check: Checks, name: str, *args: Any, **keywords: Any) -> None:
            now.update(check=check, kind=method, name=name, args=args, row=keywords.get("row"))
            if method == "choice" and keywords.get("right"):
                options_given = args[0] if args else keywords["options"]
                because = dict(keywords.get("because") or {})
                place = (id(check), len(check.parts) - 1)
                choices.append(Choice(*place, name, options_given, keywords["right"], because))
            original(check, name, *args, **keywords)

        return call

    original_judge = Ledger.judge

    def judge(ledger, name, got, expected, target, compute, tolerance=None, given=""):
        before = len(ledger.parts[-1].results)
        original_judge(ledger, name, got, expected, target, compute, tolerance, given)
        assert len(ledger.parts[-1].results) == before + 1
        if target is not None:
            comparisons.append(
                Comparison(
                    cell=id(now["check"]),
                    part=len(ledger.parts) - 1,
                    kind=now["kind"],
                    name=now["name"],
                    target=target,
                    args=now["args"],
                    label=name.partition("line '")[2].rpartition("', y")[0],
                    row=now["row"],
                    expected=copy.deepcopy(expected),
                    compute=compute,
                    tolerance=tolerance or tolerance_for(expected, expected),
                )
            )

    patches = {name: watched(name) for name in ("call", "value", "estimate", "drawing", "choice")}
    cell_of: dict[int, str] = {}
    finish = Checks.finish

    def finished(check: Checks) -> float | None:
        alive.append(check)
        return finish(check)

    alive: list[Checks] = []  # so that no id is given away twice
    with (
        mock.patch.object(Ledger, "judge", judge),
        mock.patch.multiple(Checks, finish=finished, **patches),
    ):
        result = run(cells, answers, **options)
    for cell, parts in result.parts.items():
        (check,) = (check for check in alive if check.parts is parts)
        cell_of[id(check)] = cell
    return Recording(
        result,
        [_at(item, cell_of) for item in comparisons],
        [_at(item, cell_of) for item in choices],
        _homes(cells, answers or {}),
    )


def _at(item: Any, cell_of: dict[int, str]) -> Any:
    return type(item)(**{**vars(item), "cell": cell_of[item.cell]})


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
