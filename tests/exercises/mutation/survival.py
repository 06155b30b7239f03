"""Find small changes of the reference answers that no check of an assignment detects.

A mutant is killed if its first run loses a point. Another one is equivalent if it always gives the
reference's results: on the examples of the targets it is compared with, on the inputs of the cell's
checks with other seeds, and for other learners' numbers. If it does not, it is killed if any other
run of the notebook loses a point. The rest are survivors: wrong answers with full marks.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from nbgrader.utils import is_solution

from attn_lib.course.checks.comparison import difference, tolerance_for
from attn_lib.course.checks.core import STANDARD_ERRORS
from attn_lib.course.checks.diagnosis import Diagnosis
from attn_lib.course.checks.drawings import Drawing
from attn_lib.course.checks.events import Asked, Event, Found
from attn_lib.course.checks.observation import observe
from attn_lib.course.targets import TARGETS
from attn_lib.course.targets.examples import EXAMPLES
from tests.exercises.mutation.mutants import Mutant, mutants
from tests.exercises.mutation.names import Names, names_made
from tests.exercises.proof.drawn_once import numbers_drawn_once
from tests.exercises.proof.notebook import execute, points, run

ID_CELL = "learner-id"
#: The seeds of the further inputs that distinguish survivors from equivalent mutants.
SEEDS = range(10)
#: A mutant is run with the numbers of each; it is killed if it loses a point with any of them.
LEARNERS = ("ada", *(f"learner {seed}" for seed in SEEDS))
#: Factor by which inputs are enlarged to reveal overflow.
LARGE = 400.0
#: Seconds of CPU time after which a mutant counts as endless. Answers take less than a tenth.
PATIENCE = 4.0

FUNCTIONS = ("call", "estimate", "drawing")


@dataclass(frozen=True)
class Look:
    """One inspection of an answer by a check."""

    cell: str  #: the test cell
    name: str
    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """The results of the mutants of one assignment, by the names of cell and mutant."""

    killed: list[str] = field(default_factory=list)
    equivalent: list[str] = field(default_factory=list)
    survivors: dict[str, Mutant] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of survivors among the mutants that are not equivalent."""
        wrong = len(self.killed) + len(self.survivors)
        return len(self.survivors) / wrong if wrong else 0.0


class Endless(BaseException):
    """Raised in a mutant that computes too long; `except Exception` does not catch it."""


class PointLost(BaseException):
    """Raised at the first failing check: its part is lost, whatever the other checks report."""


def judge(cells: list[Any], first_run: Callable[[Answer, Mutant], bool] | None = None) -> Outcome:
    """Classify every mutant of every answer of a notebook.

    Parameters
    ----------
    cells : list
        The instructor's notebook.
    first_run : callable, optional
        Runs a mutant in the answer's first trial and returns whether it loses a point there. It
        may record more about that run. No mutant is run in that trial again.
    """
    outcome = Outcome()
    with _quietly(), numbers_drawn_once():
        looks = looks_at(cells)
        for cell in cells:
            if cell.cell_type != "code" or not is_solution(cell) or cell.id == ID_CELL:
                continue
            answer = Answer(cells, cell, looks)
            for mutant in mutants(cell.source):
                name = f"{cell.id}: {mutant.name}"
                if first_run is not None and first_run(answer, mutant):
                    outcome.killed.append(name)
                # Comparing results takes less than running the notebook for every learner.
                elif answer.is_equivalent(mutant.source):
                    outcome.equivalent.append(name)
                elif answer.kills(mutant.source, after=int(first_run is not None)):
                    outcome.killed.append(name)
                else:
                    outcome.survivors[name] = mutant
    return outcome


class Answer:
    """One answer cell, with the data needed to classify its mutants.

    Parameters
    ----------
    cells : list
        The notebook.
    cell
        The answer cell in it.
    looks : list of Look
        All inspections of answers by checks, with several seeds and for several learners.
    """

    def __init__(self, cells: list[Any], cell: Any, looks: list[Look]) -> None:
        self.cell = cell
        looked_at: dict[str, set[str]] = {}
        for look in looks:
            looked_at.setdefault(look.cell, set()).add(look.name)
        names = Names(cells, looked_at)
        self.before = names.needed_by(cell)
        self.trials = names.trials_of(cell)
        self.points = points(cells)
        is_personal = any(other.id == ID_CELL for trial in self.trials for other in trial)
        self.learners = LEARNERS if is_personal else LEARNERS[:1]
        self.looks = [look for look in looks if look.name in names_made(cell)]
        if not self.looks:
            raise ValueError(f"{cell.id}: expected a check of one of its names, found none.")
        self._inputs = list(_inputs(self.looks))
        self._right: dict[str, list[Any]] = {}

    def runs_of(self, source: str) -> Iterator[tuple[list[Any], dict[str, str]]]:
        """Yield each small notebook and the answers to run in it, for each learner."""
        for learner in self.learners:
            answers = {ID_CELL: f"learner_id = {learner!r}", self.cell.id: source}
            for trial in self.trials:
                yield trial, answers

    def kills(self, source: str, *, after: int = 0) -> bool:
        """Tell whether any test cell loses a point if this source replaces the answer.

        Parameters
        ----------
        source : str
            The changed answer.
        after : int
            Number of runs that it is already known to survive.
        """
        for trial, answers in itertools.islice(self.runs_of(source), after, None):
            try:
                with patience(), _without_diagnoses():
                    result = run(trial, answers, listener=_stop_at_a_failure)
            except (Endless, PointLost):
                return True
            if result.lost(self.points):
                return True
        return False

    def is_equivalent(self, source: str) -> bool:
        """Tell whether this source gives the reference's results for all inputs."""
        for learner in self.learners:
            right = self._results(learner, self.cell.source)
            try:
                with patience():
                    got = self._results(learner, source)
            except Endless:
                return False
            if len(got) != len(right) or not all(map(_same, got, right)):
                return False
        return True

    def _results(self, learner: str, source: str) -> list[Any]:
        """Return all inspected values, and the functions' results for all inputs."""
        key = f"{learner}: {source}"
        if key in self._right:
            return self._right[key]
        names: dict[str, Any] = {"__name__": "__main__"}
        sources = {ID_CELL: f"learner_id = {learner!r}", self.cell.id: source}
        for cell in [*self.before, self.cell]:
            execute(cell, sources.get(cell.id, cell.source), names)
        # What a function gives for an input does not depend on the learner.
        results = list(self._asked(names)) if learner == LEARNERS[0] else []
        values = {look.name for look in self.looks if look.method not in FUNCTIONS}
        results += [names.get(name) for name in sorted(values)]
        if source == self.cell.source:
            self._right[key] = results
        return results

    def _asked(self, names: dict[str, Any]) -> Iterator[Any]:
        """Yield the functions' results for all known inputs."""
        for name, args in self._inputs:
            observation = observe(names.get(name), args, own_work=False)
            # An input for which even the right function fails is not informative.
            yield observation.problem or observation.returned
        experiments = [look for look in self.looks if look.method == "estimate"]
        for look in {repr((look.name, look.args)): look for look in experiments}.values():
            yield Estimated.by(names.get(look.name), look)


@dataclass(frozen=True)
class Estimated:
    """Whether a function's estimates agree with the target, within the experiment's error."""

    close: bool
    problem: str = ""

    @classmethod
    def by(cls, function: Callable[..., Any], look: Look) -> Estimated:
        right = TARGETS[look.options["target"]](*look.options["target_args"])
        found = []
        for seed in SEEDS:
            observation = observe(function, (*look.args, seed), own_work=False)
            if observation.problem:
                return cls(False, observation.problem)
            found.append(observation.returned)
        try:
            off = abs(float(np.mean(found)) - right)
        except (TypeError, ValueError):
            return cls(False, "no numbers")
        # The mean of several experiments is more precise than the check, which uses two.
        noise = look.options["standard_error"] / np.sqrt(len(SEEDS))
        return cls(bool(off < STANDARD_ERRORS * noise) and len(set(map(float, found))) > 1)


def looks_at(cells: list[Any]) -> list[Look]:
    """Run the notebook with other seeds and record every inspection of an answer."""
    looks: list[Look] = []

    def note(cell: str, event: Event) -> None:
        if isinstance(event, Asked):
            given = copy.deepcopy(event.args)
            looks.append(Look(cell, event.name, event.method, given, event.options))

    for seed in SEEDS:
        run(cells, {ID_CELL: f"learner_id = 'learner {seed}'"}, seed=seed, listener=note)
    return looks


def _inputs(looks: list[Look]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the distinct arguments of functions, and the examples of their targets."""
    seen = set()
    for look in looks:
        inputs = [look.args] if look.method in ("call", "drawing") else []
        if look.method == "call":
            inputs += EXAMPLES.get(look.options.get("target"), [])
            inputs += [_large(args) for args in inputs]
        for args in inputs:
            key = (look.name, repr([(np.shape(arg), np.asarray(arg).tolist()) for arg in args]))
            if key not in seen:
                seen.add(key)
                yield look.name, args


def _large(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with enlarged real numbers, for which unstable code overflows."""
    return tuple(
        LARGE * arg if isinstance(arg, np.ndarray) and arg.dtype.kind == "f" else arg
        for arg in args
    )


def _same(got: Any, right: Any) -> bool:
    """Tell whether two results are equal within the tolerance of a task in float64."""
    if isinstance(right, Drawing):
        return isinstance(got, Drawing) and _same_drawing(got, right)
    if isinstance(right, (str, Estimated)) or right is None:
        return type(got) is type(right) and got == right
    expected = np.asarray(right)
    if expected.dtype.kind not in "biuf":
        return repr(got) == repr(right)
    if expected.dtype.kind == "f" and np.isnan(expected).any():
        return True  # not informative, because the reference fails too
    return not difference(got, expected, tolerance_for(expected))


def _same_drawing(got: Drawing, right: Drawing) -> bool:
    """Compare what checks can inspect: named lines, images, scales, presence of axis labels."""

    def form(drawing: Drawing) -> tuple[Any, ...]:
        labelled = bool(drawing.x_label.strip()), bool(drawing.y_label.strip())
        return (drawing.x_scale, drawing.y_scale, labelled, len(drawing.images))

    def named(drawing: Drawing) -> dict[str, Any]:
        return {curve.label: curve for curve in drawing.curves if not curve.label.startswith("_")}

    if form(got) != form(right) or named(got).keys() != named(right).keys():
        return False
    pairs = list(zip(got.images, right.images, strict=True))
    for label, curve in named(right).items():
        pairs += [(named(got)[label].x, curve.x), (named(got)[label].y, curve.y)]
    return all(_same(one, other) for one, other in pairs)


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """Raise `Endless` in code that computes for more than `PATIENCE` seconds."""

    def stop(*_: Any) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop_at_a_failure(cell: str, event: Event) -> None:
    if isinstance(event, Found) and not event.finding.passed:
        raise PointLost


def _without_diagnoses() -> contextlib.AbstractContextManager[Any]:
    """Skip the diagnosis of mistakes, which is slow and does not affect points."""
    return mock.patch.object(Diagnosis, "failed", return_value=None)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the warnings of mutants that divide by zero or draw infinities."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
