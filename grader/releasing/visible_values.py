"""What visible tests compare with: results of targets and of mistakes, for their inputs alone."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attn_lib.course import targets
from attn_lib.course.checks import listening
from attn_lib.course.checks.events import Compared, Event
from attn_lib.course.mistakes import spellings
from attn_lib.course.notebooks.cells import read, without_hidden_tests
from attn_lib.course.notebooks.execution import execute
from attn_lib.course.stored import StoredCalls
from grader.course import SOLUTIONS
from grader.errors import GraderError


class ModelAnswersFail(GraderError):
    """Raised when a model answer fails a visible test, so that its inputs cannot be seen."""


def visible_values(assignments: Sequence[str]) -> dict[str, Any]:
    """Return what `attn_lib.course.targets.stored` reads: results for the visible tests' inputs.

    The visible tests are executed with the model answers, here. What they ask the targets is stored
    with the results, and with what each catalogued mistake gives for the same.

    Parameters
    ----------
    assignments : sequence of str
        Names of folders in solutions/.

    Raises
    ------
    ModelAnswersFail
        If a model answer fails a visible test.
    """
    recorded = {name: StoredCalls(name, {}) for name in targets.TARGETS}
    wrong: dict[str, list[tuple[str, StoredCalls]]] = {}

    def listen(event: Event) -> None:
        if isinstance(event, Compared) and event.target is not None:
            target = event.target
            known = list(spellings(target))
            if target not in wrong:
                wrong[target] = [(each.id, StoredCalls(each.id, {})) for each, _ in known]
            for (_, function), (_, calls) in zip(known, wrong[target], strict=True):
                event.question.answer(functools.partial(_call, calls, function))

    with _recorded(recorded), listening(listen), tempfile.TemporaryDirectory() as folder:
        for assignment in assignments:
            cells = [
                dataclasses.replace(cell, source=without_hidden_tests(cell.source), checksum="")
                for cell in read(SOLUTIONS / assignment / f"{assignment}.ipynb")
            ]
            outcome = execute(cells, Path(folder))
            if not outcome.all_pass:
                told = "\n".join(line for task in outcome.tasks for line in task.lines)
                raise ModelAnswersFail(
                    f"{assignment}: expected the model answers to pass all visible tests, got:\n"
                    f"{told}"
                )
    named = {each for found in wrong.values() for each, _ in found}
    about = {mistake.id: mistake for target in wrong for mistake, _ in spellings(target)}
    return {
        "targets": {name: calls.results for name, calls in recorded.items() if calls.results},
        "mistakes": {
            name: [about[name].target, about[name].sentence, about[name].section]
            for name in about
            if name in named
        },
        "spellings": {
            target: [[each, calls.results] for each, calls in found]
            for target, found in wrong.items()
        },
    }


def _call(calls: StoredCalls, function: Callable[..., Any], *args: object) -> object:
    return calls.record(function, args)


@contextlib.contextmanager
def _recorded(calls: dict[str, StoredCalls]) -> Iterator[None]:
    """Let every call of a target be recorded, however a test cell reaches it."""
    before = dict(targets.TARGETS)
    attributes = {name: getattr(targets, name) for name in before if hasattr(targets, name)}
    try:
        for name, function in before.items():
            recorder = functools.partial(_call, calls[name], function)
            targets.TARGETS[name] = recorder
            if name in attributes:
                setattr(targets, name, recorder)
        yield
    finally:
        targets.TARGETS.update(before)
        for name, function in attributes.items():
            setattr(targets, name, function)
