"""Find causes that a report names although another call contradicts them.

python -m tests.exercises.mutation.naming               # every mutant of every assignment, a minute
python -m tests.exercises.mutation.naming masking quiz  # those of two
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import sys
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from attn_lib.course.checks import Checks
from attn_lib.course.checks.diagnosis import Question
from attn_lib.course.checks.events import Compared, Event, Found
from attn_lib.course.mistakes import spellings
from tests.exercises.mutation.mutants import Mutant
from tests.exercises.mutation.survival import Answer, Endless, Outcome, judge, patience
from tests.exercises.proof.matrix import ROOT
from tests.exercises.proof.notebook import Run, read, run
from tests.exercises.proof.proof import proofs


@dataclass(frozen=True)
class Asked:
    """A question to an answer, the result, and the mistake that the report named."""

    name: str
    target: str
    question: Question
    got: Any
    named: str | None  #: the mistake

    def is_given_by(self, function: Any) -> bool:
        """Tell whether a wrong function gives this result."""
        wrong, got = self.question.answer(function), np.asarray(self.got)
        if wrong is None or wrong.shape != got.shape or got.dtype.kind not in "iufb":
            return False
        # The tolerance is doubled, because the answer and the mistake's result may deviate from
        # the expected value in opposite directions.
        relative, absolute = (2 * allowed for allowed in self.question.tolerance)
        return bool(np.allclose(got, wrong, rtol=relative, atol=absolute, equal_nan=True))


def asked(
    cells: list[Any], answers: dict[str, str], *, is_killed: bool = False
) -> tuple[list[Asked], Run]:
    """Run cells and return all comparisons with a target, and the results of the test cells.

    `Checks.returns` compares with no target and takes long. It is skipped once a check has failed,
    or from the start if the mutant is known to be killed.
    """
    found: list[tuple[str, Compared, Any]] = []

    def note(cell: str, event: Event) -> None:
        nonlocal is_killed
        if isinstance(event, Found):
            is_killed = is_killed or not event.finding.passed
        elif isinstance(event, Compared) and event.target is not None:
            found.append((cell, event, copy.deepcopy(event.got)))

    def returns(*args: Any, check: Any = Checks.returns, **options: Any) -> None:
        if not is_killed:
            check(*args, **options)

    with mock.patch.object(Checks, "returns", returns):
        said = run(cells, answers, listener=note)
    results = [said.parts[cell][event.part].findings[event.place] for cell, event, _ in found]
    comparisons = [
        Asked(result.name, str(event.target), event.question, got, result.mistake)
        for result, (_, event, got) in zip(results, found, strict=True)
    ]
    return comparisons, said


def contradicted(graded: list[Asked], at_home: list[Asked]) -> set[tuple[str, str]]:
    """Return pairs of a name and a mistake reported for it that does not explain all its results.

    Parameters
    ----------
    graded, at_home : list of Asked
        Comparisons with and without the hidden checks. Reports at home use fewer calls.
    """
    everything = graded + at_home
    found = set()
    for name, target, mistake in {(a.name, a.target, a.named) for a in everything if a.named}:
        about_it = [a for a in everything if (a.name, a.target) == (name, target)]
        functions = [function for other, function in spellings(target) if other.id == mistake]
        if not any(all(a.is_given_by(function) for a in about_it) for function in functions):
            found.add((name, mistake))
    return found


class Causes:
    """Collects the causes that reports name for mutants, at home and when they are graded.

    Parameters
    ----------
    released : list
        The cells of the learners' notebook.

    Attributes
    ----------
    misnamed : list of str
        The mutants for which a report names a cause that another call contradicts.
    """

    def __init__(self, released: list[Any]) -> None:
        self.visible = {cell.id: cell for cell in released}
        self.misnamed: list[str] = []

    def __call__(self, answer: Answer, mutant: Mutant) -> bool:
        """Run a mutant and return whether it loses a point."""
        trial, answers = next(answer.runs_of(mutant.source))
        *before, tests = trial
        try:
            with patience():
                graded, said = asked(trial, answers)
        except Endless:
            return True
        with contextlib.suppress(Endless), patience():
            at_home, _ = asked([*before, self.visible[tests.id]], answers, is_killed=True)
            self.misnamed += [
                f"{answer.cell.id}: {mutant}: {mistake} is named for {name}"
                for name, mistake in sorted(contradicted(graded, at_home))
            ]
        return bool(said.lost(answer.points))


def try_out(cells: list[Any], released: list[Any]) -> tuple[Outcome, list[str]]:
    """Run every mutant; return the outcome, and the mutants whose report names a wrong cause.

    Parameters
    ----------
    cells, released : list
        The cells of the instructor's and of the learners' notebook.
    """
    causes = Causes(released)
    return judge(cells, causes), causes.misnamed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*", default=list(proofs()))
    total = 0
    for name in parser.parse_args().assignments:
        cells, released = (
            read(ROOT / room / name / f"{name}.ipynb") for room in ("solutions", "exercises")
        )
        _, found = try_out(cells, released)
        print(f"{name}: {len(found)} mutants are told a cause that another call contradicts")
        print("".join(f"  {line}\n" for line in found), end="", flush=True)
        total += len(found)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
