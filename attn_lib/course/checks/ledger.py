"""Looking up a learner's answers by name, and recording findings about them, part by part."""

from __future__ import annotations

import contextlib
import copy
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.course.checks import earlier
from attn_lib.course.checks.comparison import difference, result_of, tolerance_for
from attn_lib.course.checks.diagnosis import EXACT, Diagnosis, Question, half_a_digit
from attn_lib.course.checks.events import Asked, Compared, Finished, Found, tell
from attn_lib.course.checks.findings import ChecksFailed, Finding, Part, as_text, wrapped
from attn_lib.course.checks.hints import result_hint
from attn_lib.course.checks.observation import (
    Observation,
    StandIn,
    observe,
    same_values,
    shapes_of,
)
from attn_lib.course.checks.remote import type_name
from attn_lib.course.checks.surroundings import Surroundings
from attn_lib.course.checks.typed import After, OwnSteps, is_rounded_too_far, the_reading
from attn_lib.course.notebooks.libraries import WHAT_IS_THERE, library_used_by
from attn_lib.course.notebooks.patience import patient
from attn_lib.course.targets import TARGETS


@dataclass(frozen=True)
class About:
    """What else a comparison is about."""

    given: str = ""  #: the arguments of the call, as `shapes_of` shows them
    arose: str = ""  #: as in `Observation`
    label: str = ""  #: label of the line, if the answer is a line in a drawing
    is_value: bool = False  #: no result of a call: its right value stays in the next attempt
    after: After | None = None  #: of a value, what it may follow from; see `OwnSteps`


NOTHING_MORE = About()
#: Drawings that are kept for further checks; tests look at two of them in turn.
MAX_DRAWN = 2


class Ledger:
    """The learner's answers by name, and the parts that hold the findings about them.

    Parameters
    ----------
    names : mapping
        The learner's work by name.
    surroundings : Surroundings
        The names of the test cell.
    """

    def __init__(self, names: Mapping[str, Any], surroundings: Surroundings) -> None:
        self.names = names
        self._surroundings = surroundings
        self.parts: list[Part] = []
        self.steps = OwnSteps()
        self._diagnoses: dict[tuple[str, str], Diagnosis] = {}  # by name and target
        self._libraries: dict[str, None] = {}  # sentences on libraries that answers use, in order
        self._wrong: list[tuple[Part, int, Diagnosis]] = []  # part, position of the finding in it
        self._called: dict[str, str] = {}  # functions that were called, and what they use
        self._stubs: dict[str, str] = {}  # functions without statements, and what is said of them
        # Name, arguments and drawing.
        self._drawn: deque[tuple[str, Sequence[Any], Observation]] = deque(maxlen=MAX_DRAWN)

    def find(self, name: str) -> tuple[Any, bool]:
        """Return the answer called `name` and True; if there is none, record that."""
        if name in self.names:
            return self.names[name], True
        self.note(
            name,
            "not there yet. Fill in its cell above and run it. "
            "If that cell shows an error, put it right first.",
        )
        return None, False

    def note(
        self,
        name: str,
        message: str = "",
        *,
        given: str = "",
        hint: str = "",
        without_expected: str = "",
        only_form: bool = False,
        remark: str = "",
        chosen: str = "",
    ) -> None:
        """Add a finding to the current part; see `Finding`."""
        if not self.parts:
            raise ValueError("Checks: expected part(...) before the first check.")
        finding = Finding(
            name,
            message,
            given,
            hint=hint,
            without_expected=without_expected,
            only_form=only_form,
            remark=remark,
            chosen=chosen,
        )
        self.parts[-1].findings.append(finding)
        tell(Found(self._part, finding))

    def ask(self, method: str, name: str, args: Sequence[Any] = (), **options: object) -> None:
        """Tell listeners that a check is about to look at an answer; see `Asked`."""
        tell(Asked(self._part, method, name, tuple(args), options))

    @property
    def _part(self) -> int:
        return len(self.parts) - 1

    def call(self, name: str, args: Sequence[Any], *, own_work: bool = True) -> Observation | None:
        """Call the learner's function; return None and record why if that gave no value."""
        function, found = self.find(name)
        if not found:
            return None
        if not isinstance(function, StandIn) and not callable(function):
            self.note(name, f"expected a function, got {type_name(function)}.")
            return None
        if library := library_used_by(function):
            self._libraries.setdefault(f"{name} uses {library}. {WHAT_IS_THERE}")
        if name in self._stubs:  # it would raise again
            self.note(name, self._stubs[name])
            return None
        at_home = not isinstance(function, StandIn)
        with (
            patient(name) if at_home else contextlib.nullcontext(),
            self._surroundings.hidden_from(function),
        ):
            observation = observe(function, args, own_work=own_work)
        self._called[name] = observation.uses
        if not observation.problem:
            return observation
        given = shapes_of(args) if observation.on_these_arguments else ""
        self.note(name, observation.problem, given=given)
        if observation.is_stub:
            self._stubs[name] = observation.problem
        if observation.stopped:
            self.conclude()
            raise ChecksFailed(self.as_text())
        return None

    def draw(self, name: str, args: Sequence[Any]) -> Observation | None:
        """Call a function that draws, as `call` does, but not anew for arguments of just before.

        Several checks look at one drawing, and drawing takes longer than all of them. Earlier
        drawings are forgotten, since what is drawn may be as large as a result may be.
        """
        for drawn, given, observation in self._drawn:
            if drawn == name and same_values(given, args) and _same_types(given, args):
                return observation
        drawing = self.call(name, args, own_work=False)
        if drawing is not None:
            self._drawn.append((name, copy.deepcopy(args), drawing))
        return drawing

    def compare(
        self,
        name: str,
        got: object,
        target: str | None = None,
        args: Sequence[Any] = (),
        expected: ArrayLike | None = None,
        *,
        row: int | None = None,
        tolerance: tuple[float, float] | None = None,
        absolute: float | None = None,
        about: About = NOTHING_MORE,
    ) -> None:
        """Record how `got` differs from `expected`; by default, from the target's result.

        The tolerance is by default that of `tolerance_for`, or only its relative part beside
        `absolute`.
        """
        if expected is None and target is None:
            raise ValueError(f"{name}: expected `target` or `expected`, got neither.")

        def compute(function: Callable[..., Any]) -> NDArray[Any]:
            return result_of(function, args, row)

        right = compute(TARGETS[str(target)]) if expected is None else np.asarray(expected)
        usual = tolerance_for(right, args)
        if absolute is not None:
            usual = (usual[0], absolute)
        question = Question(right, compute, tolerance or usual)
        self.record(name, got, question, target, about)

    def record(
        self,
        name: str,
        got: object,
        question: Question,
        target: str | None,
        about: About = NOTHING_MORE,
    ) -> None:
        """Record how `got` differs from the right answer; `name_causes` adds the cause later."""
        expected, tolerance = question.expected, question.tolerance
        problem = difference(got, expected, tolerance)
        if problem and about.after is not None:
            return self._record_typed(name, got, question, target, about.after, problem)
        hint = without = ""
        if problem:
            hint = result_hint(
                got,
                expected,
                tolerance,
                about.arose,
                is_value=about.is_value,
                is_variance=_is_variance(name, target),
            )
            if about.is_value:
                without = difference(got, expected, tolerance, tells_expected=False)
        self.note(name, problem, given=about.given, hint=hint, without_expected=without)
        self._tell_compared(about.label, target, question, got)
        if target is None:
            return
        diagnosis = self._diagnosis(name, target)
        if not problem:
            return diagnosis.passed(question)
        diagnosis.failed(question, got)
        self._name_later(diagnosis)

    def _record_typed(
        self,
        name: str,
        got: object,
        question: Question,
        target: str | None,
        after: After,
        problem: str,
    ) -> None:
        """Record a typed answer that is not the right one: it may follow from an earlier one."""
        source = self.steps.source(name, got, question, after)
        self.steps.note_numbers(name, got, question, target, source)
        expected, tolerance = question.expected, question.tolerance
        without = difference(got, expected, tolerance, tells_expected=False)
        spread = _is_variance(name, target)
        hint = result_hint(got, expected, tolerance, is_value=True, is_variance=spread)
        remark = ""
        readings: dict[str, NDArray[Any]] = {}
        rounded = is_rounded_too_far(got, expected, tolerance)
        if source and source.counts:
            problem = without = hint = ""
            remark = f"it follows from your own {source.name}, so it counts."
        elif source:
            hint = f"It follows from your own {source.name}: put that right first."
        elif not rounded:
            readings = self.steps.readings_of(name, got, question)
            reading = the_reading(readings)
            hint = hint or (f"Likely cause: {reading}." if reading else "")
        self.note(name, problem, hint=hint, without_expected=without, remark=remark)
        self._tell_compared("", target, question, got)
        if target is not None and not source:  # else the cause lies in the source
            diagnosis = self._diagnosis(name, target)
            near = EXACT if rounded else half_a_digit(question.tolerance)
            diagnosis.failed(question, got, list(readings.values()), near)
            self._name_later(diagnosis)

    @property
    def _place(self) -> int:
        """The position of the last finding in the current part."""
        return len(self.parts[-1].findings) - 1

    def _tell_compared(
        self, label: str, target: str | None, question: Question, got: object
    ) -> None:
        """Tell listeners that the last finding comes from a comparison."""
        tell(Compared(self._part, self._place, label, target, question, got))

    def _diagnosis(self, name: str, target: str) -> Diagnosis:
        return self._diagnoses.setdefault((name, target), Diagnosis(target))

    def _name_later(self, diagnosis: Diagnosis) -> None:
        """Remember that the last finding is about a wrong answer; see `name_causes`."""
        self._wrong.append((self.parts[-1], self._place, diagnosis))

    def name_causes(self) -> None:
        """Add to each wrong answer's finding the mistake that explains all answers so far."""
        mistakes = {id(diagnosis): diagnosis.mistake() for diagnosis in self._diagnoses.values()}
        for part, place, diagnosis in self._wrong:
            mistake = mistakes[id(diagnosis)]
            part.findings[place] = replace(
                part.findings[place], mistake=mistake.id if mistake else None
            )

    def conclude(self) -> None:
        """Complete the findings in all parts, and tell listeners that all checks have run."""
        self.name_causes()
        self._name_what_comes_first()
        tell(Finished(tuple(replace(part, findings=[*part.findings]) for part in self.parts)))

    def as_text(self, grading: bool = False) -> str:
        """Return the text that shows the findings in all parts; see `findings.as_text`."""
        return "\n".join([as_text(self.parts, grading), *self.further_lines])

    @property
    def further_lines(self) -> list[str]:
        """What is to be said below the findings."""
        return [*map(wrapped, self._libraries)]

    def _name_what_comes_first(self) -> None:
        """Note which functions failed, and add to findings about those that build on them."""
        for name in self._called:
            failed = (
                part.title
                for part in self.parts
                for finding in part.findings
                if not finding.passed and _is_about(finding, name)
            )
            earlier.note(name, self.names[name], next(failed, ""))
        for part in self.parts:
            for place, finding in enumerate(part.findings):
                if not finding.passed:
                    part.findings[place] = replace(finding, first=self._comes_first(finding))

    def _comes_first(self, finding: Finding) -> str:
        for name, uses in self._called.items():
            for used in uses.split() if _is_about(finding, name) else ():
                if failed := earlier.failed_part(used, self.names.get(used)):
                    return (
                        f"It uses your {used}, which is not right yet ({failed}): mend that first."
                    )
        return ""


def _same_types(one: object, other: object) -> bool:
    """Say whether equal arguments are also of the same types: 2 and 2.0 may draw differently."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return type(one) is type(other) and all(map(_same_types, one, other))
    return type(one) is type(other)


def _is_variance(name: str, target: str | None) -> bool:
    """Say whether an answer is a variance or a standard deviation, by what it is called."""
    return any("varia" in text or text.endswith("sd") for text in (name, target or ""))


def _is_about(finding: Finding, name: str) -> bool:
    return finding.name.partition(",")[0] == name
