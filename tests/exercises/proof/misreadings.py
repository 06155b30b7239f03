"""Measure for how many learners a wrong reading of their numbers gives an accepted answer.

    python -m tests.exercises.proof.misreadings               # 1000 ids, all assignments; a minute
    python -m tests.exercises.proof.misreadings quiz --ids 50

A row for each reading that is accepted for some id, with the share of ids; then the number of
readings that were tried, and of those that are never accepted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from attn_lib.course.checks import ChecksFailed, listening
from attn_lib.course.checks.comparison import difference
from attn_lib.course.checks.diagnosis import Question
from attn_lib.course.checks.events import Asked as Inspected
from attn_lib.course.checks.events import Compared
from attn_lib.course.personal import (
    complexity,
    dot_products,
    from_text_to_next_word,
    masking,
    misreadings,
    putting_it_together,
    quiz,
    softmax_saturation,
    variance_growth,
)
from attn_lib.course.personal.misreadings import Asked
from tests.exercises.proof.matrix import ROOT
from tests.exercises.proof.notebook import read

IDS = 1000


@dataclass(frozen=True)
class Task:
    """Numbers that are drawn for a task, and the test cell that asks for the answers."""

    assignment: str
    cell: str
    draw: Callable[[str], Any]
    misread: Callable[[Any], Mapping[str, Asked]]


def _parts(learner_id: str) -> tuple[Any, int]:
    texts = from_text_to_next_word.disguise(learner_id)
    own = int(from_text_to_next_word.role_scores(texts)["induction"].argmax())
    return from_text_to_next_word.parts_of_logits(texts), (
        from_text_to_next_word.PARTS_BEFORE_HEADS + own
    )


TASKS = [
    Task("dot-products", "shapes", dot_products.sizes, misreadings.dot_products.of_sizes),
    Task(
        "dot-products",
        "reading",
        dot_products.weights_to_read,
        misreadings.dot_products.of_weights,
    ),
    Task("dot-products", "by-hand", dot_products.two_keys, misreadings.dot_products.of_two_keys),
    Task(
        "variance-growth",
        "predict",
        variance_growth.entries,
        misreadings.variance_growth.of_entries,
    ),
    Task(
        "variance-growth",
        "scale",
        variance_growth.head_sizes,
        misreadings.variance_growth.of_head_sizes,
    ),
    Task(
        "variance-growth",
        "chance",
        variance_growth.measurement,
        misreadings.variance_growth.of_measurement,
    ),
    Task(
        "softmax-saturation",
        "gaps",
        softmax_saturation.two_scores,
        misreadings.softmax_saturation.of_two_scores,
    ),
    Task(
        "softmax-saturation",
        "alive",
        softmax_saturation.weights_and_jacobians,
        misreadings.softmax_saturation.of_weights_and_jacobians,
    ),
    Task(
        "softmax-saturation",
        "sharp",
        softmax_saturation.random_scores,
        misreadings.softmax_saturation.of_random_scores,
    ),
    Task("masking", "empty-row", masking.empty_row, misreadings.masking.of_empty_row),
    Task("masking", "reading", masking.reading, misreadings.masking.of_reading),
    Task("masking", "outside", masking.mask_from_outside, misreadings.masking.of_mask_from_outside),
    Task("complexity", "layer", complexity.layer, misreadings.complexity.of_layer),
    Task("complexity", "by-hand", complexity.two_blocks, misreadings.complexity.of_two_blocks),
    Task(
        "complexity",
        "streaming",
        complexity.running_scores,
        misreadings.complexity.of_running_scores,
    ),
    Task("complexity", "drawing", complexity.layer, misreadings.complexity.of_crossing),
    Task(
        "putting-it-together",
        "sizes",
        putting_it_together.layer_sizes,
        misreadings.putting_it_together.of_layer_sizes,
    ),
    Task(
        "putting-it-together",
        "by-hand",
        putting_it_together.gradients_by_hand,
        misreadings.putting_it_together.of_gradients_by_hand,
    ),
    Task(
        "putting-it-together",
        "differences",
        putting_it_together.suspects,
        misreadings.putting_it_together.of_suspects,
    ),
    Task("quiz", "why", quiz.wide_scores, misreadings.quiz.of_wide_scores),
    Task("quiz", "variance", quiz.spread, misreadings.quiz.of_spread),
    Task("quiz", "output", quiz.batch_sizes, misreadings.quiz.of_batch_sizes),
    Task("quiz", "row", quiz.found_matrix, misreadings.quiz.of_found_matrix),
    Task("quiz", "cost", quiz.cost, misreadings.quiz.of_cost),
    Task("quiz", "future", quiz.causal_scores, misreadings.quiz.of_causal_scores),
    Task(
        "from-text-to-next-word",
        "note",
        from_text_to_next_word.shuffled_note,
        misreadings.from_text_to_next_word.of_shuffled_note,
    ),
    Task(
        "from-text-to-next-word",
        "note",
        from_text_to_next_word.rotary_pairs,
        misreadings.from_text_to_next_word.of_rotary_pairs,
    ),
    Task(
        "from-text-to-next-word",
        "leaving",
        _parts,
        lambda drawn: misreadings.from_text_to_next_word.of_parts_of_logits(*drawn),
    ),
]


def learner(number: int) -> str:
    return f"student {number}"


class Gate:
    """What the test cell of a task accepts from one learner.

    Parameters
    ----------
    task : Task
    learner_id : str
    answers : mapping of str to Asked
        Their right numbers are put in as the learner's answers.
    """

    def __init__(self, task: Task, learner_id: str, answers: Mapping[str, Asked]) -> None:
        self._questions: dict[str, Question] = {}
        self._letters: dict[str, str] = {}
        names: dict[str, Any] = {"learner_id": learner_id}
        for name, asked in answers.items():
            names |= _by_name(name, asked.right)
        with (
            listening(self._note),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(ChecksFailed),
        ):
            exec(_test_cells(task.assignment)[f"{task.cell}-tests"], names)

    def accepts(self, name: str, answer: Any) -> bool:
        """Say whether the cell accepts an answer, in full and rounded as far as is asked."""
        return any(
            all(self._accepts(one, value) for one, value in _by_name(name, given).items())
            for given in self._spellings(name, answer)
        )

    def _accepts(self, name: str, answer: Any) -> bool:
        if name in self._letters:
            return bool(answer == self._letters[name])
        question = self._questions[name]
        return not difference(np.asarray(answer), question.expected, question.tolerance)

    def _spellings(self, name: str, answer: Any) -> Iterator[Any]:
        yield answer
        question = self._questions.get(name)
        if question is not None:
            relative, absolute = question.tolerance
            if not relative and absolute < 0.5:
                yield np.round(answer, round(-np.log10(absolute)))

    def _note(self, event: Any) -> None:
        if isinstance(event, Inspected):
            self._last = event
            if event.options.get("right"):
                self._letters[event.name] = event.options["right"]
        elif isinstance(event, Compared) and self._last.method == "value":
            self._questions[self._last.name] = event.question


def shares(task: Task, ids: int) -> dict[tuple[str, str], float]:
    """Return the share of ids for which each wrong reading is accepted, by answer and reading.

    Raises
    ------
    AssertionError
        If a cell does not accept an answer that is taken for right.
    """
    tried: dict[tuple[str, str], int] = {}
    with np.errstate(all="ignore"):
        for number in range(ids):
            drawn = task.draw(learner(number))
            answers = task.misread(drawn)
            gate = Gate(task, learner(number), answers)
            for name, asked in answers.items():
                assert gate.accepts(name, asked.right), (task.cell, name, learner(number))
                for reading, wrong in asked.wrong.items():
                    tried.setdefault((name, reading), 0)
                    tried[name, reading] += gate.accepts(name, wrong)
    return {where: count / ids for where, count in tried.items()}


def _by_name(name: str, answer: Any) -> dict[str, Any]:
    """Return single answers; some earn their point only together and are listed together."""
    names = name.split(" and ")
    return dict(zip(names, answer, strict=True)) if len(names) > 1 else {name: answer}


@cache
def _test_cells(assignment: str) -> dict[str, CodeType]:
    source = read(ROOT / "solutions" / assignment / f"{assignment}.ipynb")
    return {
        cell.id: compile(cell.source, f"<{cell.id}>", "exec")
        for cell in source
        if cell.cell_type == "code" and cell.id.endswith("-tests")
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*", default=[])
    parser.add_argument("--ids", type=int, default=IDS)
    chosen = parser.parse_args()
    tried, never = 0, 0
    for task in TASKS:
        if chosen.assignments and task.assignment not in chosen.assignments:
            continue
        found = shares(task, chosen.ids)
        tried, never = tried + len(found), never + sum(share == 0 for share in found.values())
        for (name, reading), share in found.items():
            if share:
                print(f"{task.assignment:23} {name:18} {reading:45} {share:7.1%}", flush=True)
    print(f"{tried} wrong readings, {never} of them accepted for none of {chosen.ids} ids")
    return int(never < tried)


if __name__ == "__main__":
    sys.exit(main())
