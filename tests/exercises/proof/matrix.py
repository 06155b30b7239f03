"""The proof matrix: every catalogued mistake inserted into every answer that can contain it.

python -m tests.exercises.proof.matrix            # print it
python -m tests.exercises.proof.matrix --write    # and write it to book/assets/proof-matrix.csv
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np

from attn_lib.course.checks import observation
from attn_lib.course.mistakes import Mistake, appearances
from tests.exercises.proof.notebook import Run, Wrap, read, run
from tests.exercises.proof.proof import Proof, proofs
from tests.exercises.proof.recording import Comparison, Recording, record

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "book" / "assets" / "proof-matrix.csv"
LEARNER = "ada"


@dataclass(frozen=True)
class Row:
    """The result of one mistake in one answer."""

    assignment: str
    task: str
    answer: str
    mistake: str
    lost: float  #: points lost in the tests of the task itself
    of: float
    named: str  #: the mistake that the report names


@dataclass(frozen=True)
class Trial:
    """A mistake, the answer that it replaces, and the checks of that answer."""

    mistake: Mistake
    wrong: Callable[..., Any]
    looks: list[Comparison]

    @property
    def cell(self) -> str:
        return self.looks[0].cell

    @property
    def name(self) -> str:
        return self.looks[0].name

    @property
    def parts(self) -> set[int]:
        """The parts that must be lost."""
        return {look.part for look in self.looks if look.tells_apart(self.wrong)}

    def is_like(self, other: Callable[..., Any]) -> bool:
        """Tell whether another function gives the same results in all comparisons."""
        for look in self.looks:
            mine, theirs = look.answer(self.wrong), look.answer(other)
            if mine is None or theirs is None or mine.shape != theirs.shape:
                return mine is theirs
            relative, absolute = look.tolerance
            if not np.allclose(mine, theirs, rtol=relative, atol=absolute, equal_nan=True):
                return False
        return True

    def replacement(self) -> Any:
        """Return the object that replaces the answer under its name."""
        kind = self.looks[0].kind
        if kind == "value":
            return self._typed()
        if kind == "estimate":
            return self._estimated()
        if kind == "drawing":
            return Wrap(self._drawn)
        return self.wrong

    def _typed(self) -> Any:
        look = next(look for look in self.looks if look.tells_apart(self.wrong))
        answer = look.answer(self.wrong)
        relative, absolute = look.tolerance
        if relative == 0 and absolute and answer.dtype.kind != "b":
            decimals = max(0, round(-np.log10(absolute)))
            answer = answer.round(decimals)
        return answer.tolist()

    def _estimated(self) -> Callable[..., float]:
        looks = {look.args: look for look in self.looks}

        def estimate(*args: Any) -> float:
            *given, seed = args
            look = looks[tuple(given)]
            wrong, (relative, absolute) = float(look.answer(self.wrong)), look.tolerance
            noise = 0.1 * (relative * abs(wrong) + absolute)
            return wrong + noise * np.random.default_rng(seed).uniform()

        return estimate

    def _drawn(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any) -> Any:
            axes = reference(*args)
            for line in axes.get_lines():
                for look in self.looks:
                    if line.get_label() == look.label:
                        x, _ = line.get_data()
                        if len(x) == len(look.expected):
                            line.set_ydata(look.answer(self.wrong))
            for image in axes.get_images():
                drawn = np.asarray(image.get_array())
                for look in self.looks:
                    is_shown = not look.label and drawn.shape == look.expected.shape
                    if is_shown and np.allclose(drawn, look.expected):
                        image.set_data(look.answer(self.wrong))
                        break
            axes.relim()
            axes.autoscale_view()  # as if these data had been plotted
            return axes

        return draw


def trials(recording: Recording) -> Iterator[Trial]:
    """Yield every mistake that an answer can contain, with the checks of that answer."""
    groups: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for look in recording.comparisons:
        groups.setdefault((look.cell, look.name, look.label, look.target), []).append(look)
    for looks in groups.values():
        for mistake, wrong in appearances(looks[0].target):
            if any(look.can_hold(wrong) for look in looks):
                yield Trial(mistake, wrong, looks)


def try_out(
    trial: Trial,
    proof: Proof,
    cells: list[Any],
    recording: Recording,
    answers: dict[str, str],
    *,
    everywhere: bool = False,
) -> Run:
    """Run the notebook with the mistake in it, as if the learner had written it.

    Test cells that do not depend on the answer are skipped. With `everywhere` only those that check
    drawings are, because drawing is slow; so one can see that no other cell depends on it.
    """
    home = recording.homes[trial.name]
    affected = {trial.cell, *proof.tests_of(home)}
    skipped = set(recording.result.scores)
    if everywhere:
        skipped = {look.cell for look in recording.comparisons if look.kind == "drawing"}
    # The code of a mistake is in attn_lib, unlike a learner's code.
    with mock.patch.object(observation, "holds_answers", return_value=False):
        # How a mistake reads its keys, or draws its numbers, is not what makes it wrong.
        measured = recording.measured.get(trial.cell, ())
        put = {home: {name: Wrap(with_names_of_its_own) for name in measured}}
        put[home][trial.name] = trial.replacement()
        return run(cells, answers, put=put, without=skipped - affected)


def with_names_of_its_own(function: FunctionType) -> FunctionType:
    """Return the function as it is now: it calls what other names stand for at this moment."""
    return FunctionType(function.__code__, {**function.__globals__})


def row_of(proof: Proof, trial: Trial, recording: Recording, result: Run) -> Row:
    """Return the row of a mistake that was tried out."""
    full = recording.result.scores[trial.cell]
    return Row(
        proof.assignment,
        trial.cell.removesuffix("-tests"),
        trial.name,
        trial.mistake.id,
        full - result.scores[trial.cell],
        full,
        " ".join(result.mistakes(trial.cell)),
    )


def rows(proof: Proof) -> list[Row]:
    """Return the rows of all mistakes that show in one assignment."""
    cells = read(ROOT / "solutions" / proof.assignment / f"{proof.assignment}.ipynb")
    answers = {"learner-id": f"learner_id = {LEARNER!r}"}
    recording = record(cells, answers)
    return [
        row_of(proof, trial, recording, try_out(trial, proof, cells, recording, answers))
        for trial in trials(recording)
        if trial.parts  # for the others, the proof gives a reason
    ]


def as_csv(found: list[Row]) -> str:
    """Return rows in the format of the table in the book."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    writer.writerows(astuple(row) for row in found)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    matrix = as_csv([row for proof in proofs().values() for row in rows(proof)])
    if parser.parse_args().write:
        TABLE.write_text(matrix, encoding="utf-8")
    print(matrix, end="")


if __name__ == "__main__":
    main()
