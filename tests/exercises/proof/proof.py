"""The data that the proof of an assignment needs in addition to its notebook."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answers = Mapping[str, str]  # source by the id of the answer cell


@dataclass(frozen=True)
class Slip:
    """A wrong answer that is not in the catalogue, its cost and a piece of its report."""

    cell: str
    answer: str
    cost: Mapping[str, float]  #: points lost by test cell
    told: str  #: a piece of the report of the cell's tests
    adds: bool = False  #: whether the answer is appended to the right one instead of replacing it


@dataclass(frozen=True)
class Proof:
    """The proof data of one assignment."""

    assignment: str
    tasks: int
    points: float  #: including those that are graded by hand
    right: Mapping[str, Answers]  #: by style; cells that are not listed keep the reference answer
    slips: Mapping[str, Slip]
    #: The names that the Python block in a text cell must define, with their values.
    value_examples: Mapping[str, Callable[[], Mapping[str, Any]]] = field(default_factory=dict)
    #: Every number with a decimal point in a model answer.
    model_numbers: Mapping[str, Callable[[], list[str]]] = field(default_factory=dict)
    #: By test cell, the other answer cells whose functions its answers call.
    builds_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Mistakes that cannot show, with reasons: by id, or by test cell and id, as in "a-tests/id".
    unseen: Mapping[str, str] = field(default_factory=dict)
    #: Changes of a reference answer that no check detects, with the reason why that is right.
    survivors: Mapping[str, str] = field(default_factory=dict)

    def tests_of(self, answer: str) -> set[str]:
        """Return the test cells that may lose points when this answer cell is wrong."""
        others = {cell for cell, homes in self.builds_on.items() if answer in homes}
        return {f"{answer}-tests"} | others


def proofs() -> dict[str, Proof]:
    """Return the proofs of all assignments by name."""
    package = importlib.import_module("tests.exercises.assignments")
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return {module.PROOF.assignment: module.PROOF for module in modules}
