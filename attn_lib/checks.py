"""Checks that an exercise's test cell runs on a learner's work.

A test cell makes one `Checks` of the names it can see, opens a part for each thing that earns
points, runs checks in it and ends with `Checks.finish`. Every check runs, whatever happened to
those before, so the learner sees all that is left to do. A part earns its points when all its
checks pass.

Checks are given the *name* of what they look at, so that an answer that is not there yet is
told in words. The same cell works in the learner's kernel, under ``nbgrader validate`` and
under ``nbgrader autograde``.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attn_lib._comparison import (
    diagnose,
    difference,
    form_problem,
    row_of,
    shape_text,
    tolerance_for,
)
from attn_lib.mistakes import Mistake
from attn_lib.personal import checked_id
from attn_lib.targets import TARGETS

#: Modules of attn_lib that hold answers. Calling one of them is not a learner's own work.
ANSWER_MODULES = frozenset(
    {
        *("additive", "attention", "backward", "complexity", "estimates"),
        *("experiments", "masks", "mistakes", "multihead", "softmax", "streaming", "targets"),
    }
)

#: Columns of a report. ``nbgrader validate`` cuts off what stands beyond 83.
WIDTH = 80

_CAUSE = "Likely cause: "


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    name: str  #: what was looked at
    message: str = ""  #: what is wrong; empty when the check passed
    given: str = ""  #: the shapes it was called with
    mistake: str | None = None  #: id of the catalogued mistake that gives this very answer
    only_form: bool = False  #: the check looked at how the answer is written, not at what it says

    @property
    def passed(self) -> bool:
        """Whether there is nothing wrong."""
        return not self.message


@dataclass
class Part:
    """One thing that earns points: all its checks have to pass."""

    title: str
    points: float
    results: list[CheckResult] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(result.passed for result in self.results)


class ChecksFailed(AssertionError):
    """Raised at the end of a test cell whose checks did not all pass.

    IPython shows the list of what failed in place of a traceback: the traceback would run
    through this module and tell the learner nothing.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class Checks:
    """The checks of one test cell.

    Parameters
    ----------
    names : mapping
        Where the learner's work is looked up: ``globals()`` in a test cell.

    Examples
    --------
    >>> check = Checks({"score_matrix": lambda q, k: q @ k.T})
    >>> check.part("raw scores", points=2)
    >>> check.call("score_matrix", np.eye(2), np.ones((3, 2)), target="score_matrix")
    >>> check.finish()
    raw scores: ok
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self.parts: list[Part] = []
        self._obstacle: CheckResult | None = None

    def learner_id(self) -> str:
        """Return the learner's id from the name ``learner_id``.

        Where it is missing or no id, every part of the cell fails with a message that says
        so, and the id of nobody is returned for the cell to go on with.
        """
        if "learner_id" not in self.names:
            problem = (
                "not there yet. Put your id into its cell near the top, in quotes, "
                "and run the cell."
            )
        else:
            try:
                return checked_id(self.names["learner_id"])
            except (TypeError, ValueError) as error:
                problem = str(error).removeprefix("learner_id: ")
        self._obstacle = CheckResult("learner_id", problem)
        return "nobody"

    def part(self, title: str, points: float) -> None:
        """Open a part; the checks that follow belong to it."""
        self.parts.append(Part(title, points, [self._obstacle] if self._obstacle else []))

    def call(
        self,
        name: str,
        *args: Any,
        target: str | None = None,
        expected: ArrayLike | None = None,
    ) -> None:
        """Check what the learner's function returns for `args`.

        What it prints on stderr, warnings included, is dropped: a warning is not a failure.

        Parameters
        ----------
        name : str
            The function's name.
        *args
            Its arguments. It gets copies, and changing them is a failure.
        target : str, optional
            The key in `attn_lib.targets.TARGETS` of the function this one has to equal.
            Its catalogued mistakes are named when one of them gives the answer found.
        expected : array_like, optional
            The right result. Default: what the target gives for `args`.
        """
        function, found = self._find(name)
        if not found:
            return
        if not callable(function):
            return self._record(name, f"expected a function, got {type(function).__name__}.")
        shapes = _shapes(args)
        given = copy.deepcopy(args)
        try:
            got, borrowed = _call_and_watch(function, given)
        except NotImplementedError:
            return self._record(name, "not written yet.")
        except KeyboardInterrupt:
            self._record(
                name,
                "it was stopped before it returned. Is there a loop that does not end?",
                given=shapes,
            )
            raise ChecksFailed(self._report()) from None
        except (Exception, SystemExit) as error:  # whatever the learner's code raises is a result
            return self._record(name, _describe_error(error, args), given=shapes)
        if borrowed:
            return self._record(name, f"it calls attn_lib's own {borrowed}. Write it yourself.")
        changed = [i for i, (a, b) in enumerate(zip(args, given, strict=True)) if not _same(a, b)]
        if changed:
            return self._record(
                name,
                f"it changed its argument number {changed[0] + 1}. Compute a new array "
                "(x = x - 1) in place of changing the one given (x -= 1).",
            )
        self._compare(name, got, expected, target, args, given=shapes)

    def value(
        self,
        name: str,
        *,
        target: str | None = None,
        args: Sequence[Any] = (),
        row: int | None = None,
        expected: ArrayLike | None = None,
        decimals: int | None = None,
    ) -> None:
        """Check a value the learner computed or typed in.

        Parameters
        ----------
        name : str
            The variable's name.
        target, args : optional
            The function and arguments it should be the result of; see `call`.
        row : int, optional
            The value is this row of the result. Default: the whole result.
        expected : array_like, optional
            The right value. Default: what the target gives for `args`.
        decimals : int, optional
            How many decimals were asked for. A difference of one in the last is accepted.
        """
        got, found = self._find(name)
        if not found:
            return
        self._compare(name, got, expected, target, args, row=row, decimals=decimals)

    def form(self, name: str, shape: tuple[int, ...] = ()) -> None:
        """Check that a value consists of finite real numbers in this shape.

        Parameters
        ----------
        name : str
            The variable's name.
        shape : tuple of int
            Default: a single number.
        """
        got, found = self._find(name)
        if found:
            self._record(name, form_problem(got, np.zeros(shape)), only_form=True)

    def holds(self, name: str, condition: Callable[[Any], Any], sentence: str) -> None:
        """Check that a value has a property.

        Parameters
        ----------
        name : str
            The variable's name.
        condition : callable
            Takes the value as an array, returns whether the property holds.
        sentence : str
            What is told when it does not.
        """
        got, found = self._find(name)
        if not found:
            return
        try:
            held = bool(condition(np.asarray(got)))
        except Exception:  # the value may be anything; then the property does not hold
            held = False
        self._record(name, "" if held else sentence, only_form=True)

    def choice(
        self,
        name: str,
        options: str,
        right: str | None = None,
        because: Mapping[str, str] | None = None,
    ) -> None:
        """Check the letter a learner chose.

        Parameters
        ----------
        name : str
            The variable's name.
        options : str
            The letters, such as "ABCD". A small letter counts as its capital.
        right : str, optional
            The right one. Default: any of the options passes.
        because : mapping, optional
            For each wrong letter a sentence that says why it is wrong.
        """
        got, found = self._find(name)
        if not found:
            return
        letter = got.strip().upper() if isinstance(got, str) else None
        if not letter or letter not in list(options):
            listed = ", ".join(f'"{option}"' for option in options)
            return self._record(name, f"expected one of the letters {listed}, got {got!r}.")
        if right is None or letter == right:
            return self._record(name, only_form=right is None)
        self._record(name, f'"{letter}" is not right. {(because or {}).get(letter, "")}'.strip())

    def finish(self) -> float | None:
        """Report every part, then award the points or raise.

        Returns
        -------
        float or None
            Under ``nbgrader autograde`` the points earned, which nbgrader reads from the
            cell's result. Elsewhere None: hidden checks are still to come, so no points.

        Raises
        ------
        ChecksFailed
            If anything failed; under ``nbgrader autograde`` only if nothing was earned.
        ValueError
            If a part holds no check, which would otherwise pass.
        """
        if not self.parts or not all(part.results for part in self.parts):
            raise ValueError("Checks: expected at least one check in every part, found none.")
        earned = float(sum(part.points for part in self.parts if part.passed))
        grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
        all_passed = all(part.passed for part in self.parts)
        if not all_passed and not (grading and earned):
            raise ChecksFailed(self._report())
        print(self._report())
        return earned if grading else None

    def _report(self) -> str:
        told: set[str] = set()
        return "\n".join(line for part in self.parts for line in _report(part, told))

    def _find(self, name: str) -> tuple[Any, bool]:
        """Return what the learner called `name`; record when there is no such thing."""
        if name in self.names:
            return self.names[name], True
        self._record(
            name,
            "not there yet. Fill in its cell above and run it. "
            "If that cell shows an error, put it right first.",
        )
        return None, False

    def _record(
        self,
        name: str,
        message: str = "",
        mistake: Mistake | None = None,
        *,
        given: str = "",
        only_form: bool = False,
    ) -> None:
        if not self.parts:
            raise ValueError("Checks: expected part(...) before the first check.")
        result = CheckResult(name, message, given, mistake.id if mistake else None, only_form)
        self.parts[-1].results.append(result)

    def _compare(
        self, name, got, expected, target, args, *, row=None, decimals=None, given=""
    ) -> None:
        if expected is None and target is None:
            raise ValueError(f"{name}: expected `target` or `expected`, got neither.")
        if expected is None:
            expected = row_of(TARGETS[target](*copy.deepcopy(args)), row)
        expected = np.asarray(expected)
        if decimals is None:
            tolerance = tolerance_for(got, expected)
        else:
            tolerance = (0.0, 1.001 * 10.0**-decimals)
        problem = difference(got, expected, tolerance)
        if not problem:
            return self._record(name, given=given)
        mistake = diagnose(got, expected, target, args, tolerance, row)
        if mistake:
            problem += (
                f"\n{_CAUSE}{mistake.sentence} ({mistake.id}; see the book, {mistake.section})"
            )
        self._record(name, problem, mistake, given=given)


def named_mistakes(report: str) -> list[str]:
    """Return the ids of the catalogued mistakes that a test cell's output names, each once.

    Parameters
    ----------
    report : str
        What `Checks.finish` printed or raised.

    Examples
    --------
    >>> named_mistakes("Likely cause: It forgets the scale. (no-scale; see the book, x#y)")
    ['no-scale']
    """
    found = re.findall(rf"{_CAUSE}.*?\(([\w-]+);\s+see\s+the\s+book,\s+\S+\)", report, re.DOTALL)
    return list(dict.fromkeys(found))


def _call_and_watch(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, str | None]:
    """Call the function; also return the name of an answer in attn_lib that it called."""
    called: list[str] = []

    def watch(frame, event, _):
        package, _, module = str(frame.f_globals.get("__name__")).partition(".")
        if event == "call" and package == "attn_lib" and module.split(".")[0] in ANSWER_MODULES:
            called.append(frame.f_code.co_name)

    before = sys.getprofile()
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(watch)
        try:
            result = function(*args)
        finally:
            sys.setprofile(before)
    return result, called[0] if called else None


def _describe_error(error: BaseException, args: Sequence[Any]) -> str:
    """Say what was raised and where in the learner's own code."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "site-packages" not in frame.filename and frame.line
    ]
    where = f" (line {frames[-1].lineno}: {frames[-1].line})" if frames else ""
    has_leading_axes = any(np.ndim(arg) > 2 for arg in args)
    hint = ""
    if has_leading_axes and frames and ".T" in frames[-1].line:
        hint = "\nWith leading axes, .T reverses them all; .swapaxes(-1, -2) swaps the last two."
    return f"it raised {type(error).__name__}: {error}{where}{hint}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)


def _shapes(args: Sequence[Any]) -> str:
    """Return " on shapes …" for a message about a call."""
    shapes = [shape_text(np.asarray(arg)) if np.ndim(arg) else repr(arg) for arg in args]
    return f" on {'shapes' if len(shapes) > 1 else 'shape'} {', '.join(shapes)}"


def _report(part: Part, causes_told: set[str]) -> list[str]:
    """Return the lines about a part. A finding is told once a part, a cause once a cell."""
    if part.passed:
        if all(result.only_form for result in part.results):
            return [f"{part.title}: filled in. Whether it is right is checked when it is graded."]
        return [f"{part.title}: ok"]
    lines = [f"{part.title}: not yet"]
    findings_told: set[tuple[str, str]] = set()
    for result in part.results:
        if result.passed or (result.name, result.message) in findings_told:
            continue
        findings_told.add((result.name, result.message))
        finding, *cause = result.message.splitlines()
        lines += _wrapped(f"  - {result.name}{result.given}: {finding}")
        for line in cause:
            if line not in causes_told:
                lines += _wrapped(f"    {line}")
        causes_told.update(cause)
    return lines


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
