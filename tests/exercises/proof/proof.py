"""What an assignment has to prove of itself beside what holds for all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answers = Mapping[str, str]  # source by the id of the answer cell


@dataclass(frozen=True)
class Slip:
    """A wrong line that is not in the catalogue, what it costs and what is told."""

    cell: str
    answer: str
    cost: Mapping[str, float]  #: points lost by test cell
    told: str  #: a piece of the report of the cell's own tests
    adds: bool = False  #: the answer stands behind the right one in place of replacing it


@dataclass(frozen=True)
class Proof:
    """What is particular to one assignment."""

    assignment: str
    tasks: int
    points: float  #: with the ones a person gives
    right: Mapping[str, Answers]  #: by style; cells left out keep the reference answer
    slips: Mapping[str, Slip]
    #: What the Python block in a cell's text has to define.
    value_examples: Mapping[str, Callable[[], Mapping[str, Any]]] = field(default_factory=dict)
    #: Every number with a decimal point in a model answer.
    model_numbers: Mapping[str, Callable[[], list[str]]] = field(default_factory=dict)
    #: Answer cells whose functions the answers to a test cell call.
    builds_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Mistakes that cannot show, and why: by id, or by test cell and id, as in "a-tests/id".
    unseen: Mapping[str, str] = field(default_factory=dict)
    #: Changes of a reference answer that no check sees, and why that is right.
    survivors: Mapping[str, str] = field(default_factory=dict)


def proofs() -> dict[str, Proof]:
    """Return the proofs of all assignments by name."""
    package = importlib.import_module("tests.exercises.assignments")
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return {module.PROOF.assignment: module.PROOF for module in modules}
