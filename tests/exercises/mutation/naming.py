"""Find causes that a report names although another call contradicts them.

python -m tests.exercises.mutation.naming                # every mutant of every assignment; a minute
python -m tests.exercises.mutation.naming masking quiz   # those of two
"""

from __future__ import annotations

import argparse
import copy
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from nbgrader.utils import is_solution

from attn_lib.course.checks.diagnosis import Question
from attn_lib.course.checks.events import Compared, Event
from attn_lib.course.mistakes import spellings
from tests.exercises.proof.matrix import LEARNER, ROOT
from tests.exercises.mutation.mutants import mutants
from tests.exercises.mutation.names import Names
from tests.exercises.proof.notebook import read, run
from tests.exercises.proof.proof import proofs
from tests.exercises.mutation.survival import ID_CELL, Endless, looks_at, numbers_drawn_once, patience


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


def asked(cells: list[Any], answers: dict[str, str]) -> list[Asked]:
    """Run cells and return all comparisons with a target."""
    found: list[tuple[str, Compared, Any]] = []

    def note(cell: str, event: Event) -> None:
        if isinstance(event, Compared) and event.target is not None:
            found.append((cell, event, copy.deepcopy(event.got)))

    parts = run(cells, answers, listener=note).parts
    results = [parts[cell][event.part].findings[event.place] for cell, event, _ in found]
    return [
        Asked(result.name, str(event.target), event.question, got, result.mistake)
        for result, (_, event, got) in zip(results, found, strict=True)
    ]


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


def misnamed(cells: list[Any], released: list[Any]) -> Iterator[str]:
    """Yield the mutants for which a report names a cause that another call contradicts.

    Parameters
    ----------
    cells, released : list
        The cells of the instructor's and of the learners' notebook.
    """
    visible = {cell.id: cell for cell in released}
    looked_at: dict[str, set[str]] = {}
    for look in looks_at(cells):
        looked_at.setdefault(look.cell, set()).add(look.name)
    names = Names(cells, looked_at)
    with numbers_drawn_once(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mutants may divide by zero or draw infinities
        for cell in cells:
            if cell.cell_type != "code" or not is_solution(cell) or cell.id == ID_CELL:
                continue
            *before, tests = names.trials_of(cell)[0]
            for mutant in mutants(cell.source):
                answers = {ID_CELL: f"learner_id = {LEARNER!r}", cell.id: mutant.source}
                try:
                    with patience():
                        graded = asked([*before, tests], answers)
                        at_home = asked([*before, visible[tests.id]], answers)
                except Endless:
                    continue
                for name, mistake in sorted(contradicted(graded, at_home)):
                    yield f"{cell.id}: {mutant}: {name} is told {mistake}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*", default=list(proofs()))
    total = 0
    for name in parser.parse_args().assignments:
        cells, released = (
            read(ROOT / room / name / f"{name}.ipynb") for room in ("solutions", "exercises")
        )
        found = list(misnamed(cells, released))
        print(f"{name}: {len(found)} mutants are told a cause that another call contradicts")
        print("".join(f"  {line}\n" for line in found), end="", flush=True)
        total += len(found)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
