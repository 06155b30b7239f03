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
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.mistakes import TARGETS, Mistake, appearances
from attn_lib.personal import checked_id

#: Modules of attn_lib that hold answers. Calling one of them is not a learner's own work.
ANSWER_MODULES = ("attention.py", "masks.py", "mistakes.py", "softmax.py")

_CAUSE = "Likely cause: "


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    title: str
    message: str = ""  #: what is wrong; empty when the check passed
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
            problem = "it is not filled in. Go to the first code cell, put in your id and run it."
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
            The key in `attn_lib.mistakes.TARGETS` of the function this one has to equal.
            Its catalogued mistakes are named when one of them gives the answer found.
        expected : array_like, optional
            The right result. Default: what the target gives for `args`.
        """
        function, found = self._find(name)
        if not found:
            return
        title = _call_title(name, args)
        if not callable(function):
            problem = f"expected a function, got {type(function).__name__}."
            return self._record(name, problem)
        given = copy.deepcopy(args)
        try:
            got, borrowed = _call_and_watch(function, given)
        except NotImplementedError:
            return self._record(title, "not written yet.")
        except KeyboardInterrupt:
            self._record(
                title, "it was stopped before it returned. Is there a loop that does not end?"
            )
            raise ChecksFailed(self._report()) from None
        except (Exception, SystemExit) as error:  # whatever the learner's code raises is a result
            return self._record(title, _describe_error(error))
        if borrowed:
            return self._record(title, f"it calls attn_lib's own {borrowed}. Write it yourself.")
        changed = [i for i, (a, b) in enumerate(zip(args, given, strict=True)) if not _same(a, b)]
        if changed:
            return self._record(
                title,
                f"it changed its argument number {changed[0] + 1}. Compute a new array "
                "(x = x - 1) in place of changing the one given (x -= 1).",
            )
        self._compare(title, got, expected, target, args, _tolerance(got))

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
        tolerance = _tolerance(got) if decimals is None else (0.0, 1.001 * 10.0**-decimals)
        self._compare(name, got, expected, target, args, tolerance, row)

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
            self._record(name, _form_problem(got, np.zeros(shape)), only_form=True)

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
        return "\n".join(_report(part) for part in self.parts)

    def _find(self, name: str) -> tuple[Any, bool]:
        """Return what the learner called `name`; record when there is no such thing."""
        if name in self.names:
            return self.names[name], True
        self._record(name, "there is no such name yet. Fill in its cell above and run it.")
        return None, False

    def _record(
        self,
        title: str,
        message: str = "",
        mistake: Mistake | None = None,
        only_form: bool = False,
    ) -> None:
        if not self.parts:
            raise ValueError("Checks: expected part(...) before the first check.")
        result = CheckResult(title, message, mistake.id if mistake else None, only_form)
        self.parts[-1].results.append(result)

    def _compare(self, title, got, expected, target, args, tolerance, row=None) -> None:
        if expected is None and target is None:
            raise ValueError(f"{title}: expected `target` or `expected`, got neither.")
        if expected is None:
            expected = _row(TARGETS[target](*copy.deepcopy(args)), row)
        expected = np.asarray(expected)
        problem = difference(got, expected, tolerance)
        if not problem:
            return self._record(title)
        mistake = _diagnose(got, expected, target, args, tolerance, row)
        if mistake:
            problem += f"\n{_CAUSE}{mistake.sentence} ({mistake.id}; see {mistake.section})"
        self._record(title, problem, mistake)


def named_mistakes(report: str) -> list[str]:
    """Return the ids of the catalogued mistakes that a test cell's output names, each once.

    Parameters
    ----------
    report : str
        What `Checks.finish` printed or raised.

    Examples
    --------
    >>> named_mistakes("Likely cause: It forgets the scale. (no-scale; see dot-products#x)")
    ['no-scale']
    """
    found = re.findall(rf"{_CAUSE}.*\(([\w-]+); see \S+\)$", report, re.MULTILINE)
    return list(dict.fromkeys(found))


def difference(got: Any, expected: NDArray, tolerance: tuple[float, float]) -> str:
    """Say how `got` differs from `expected`, or return "" if it does not.

    Type, shape, kind of number, finiteness and values are compared in this order, and the
    first that differs is told, since the later ones mean nothing without it.

    Parameters
    ----------
    got
        Anything.
    expected : ndarray
    tolerance : (float, float)
        Relative and absolute tolerance on the values.

    Examples
    --------
    >>> difference([[1.0, 2.0]], np.array([1.0, 2.0]), (1e-4, 1e-5))
    'shape: expected (2,), got (1, 2).'
    """
    problem = _form_problem(got, expected)
    if problem:
        return problem
    array = _as_numbers(got).astype(np.float64)
    relative, absolute = tolerance
    wrong = ~np.isclose(array, expected, rtol=relative, atol=absolute)
    if not wrong.any():
        return ""
    where = _first(wrong)
    told = f"expected {expected[where]:.6g}, got {array[where]:.6g}"
    if array.size == 1:
        return f"{told}."
    return f"entry {_position(where)}: {told} ({wrong.sum()} of {array.size} entries differ)."


def _form_problem(got: Any, expected: NDArray) -> str:
    """Say how `got` differs from `expected` in type, shape, kind of number or finiteness."""
    array = _as_numbers(got)
    if array is None:
        return _describe_type(got, expected)
    if array.shape != expected.shape:
        if array.ndim == expected.ndim == 1:
            return f"expected {expected.size} numbers, got {array.size}."
        return f"shape: expected {_shape(expected)}, got {_shape(array)}."
    if array.dtype.kind not in "iuf":
        return f"expected real numbers, got dtype {array.dtype}."
    wrong_finite = np.isfinite(array) != np.isfinite(expected)
    if wrong_finite.any():
        where = _first(wrong_finite)
        at = f" at {_position(where)}" if where else ""
        return (
            f"expected finite numbers, got {array[where]}{at} "
            f"({wrong_finite.sum()} of {array.size} entries)."
        )
    return ""


def _diagnose(got, expected, target, args, tolerance, row) -> Mistake | None:
    """Return the catalogued mistake that gives this very answer, if there is one."""
    if target is None:
        return None
    for mistake, wrong_function in appearances(target):
        with np.errstate(all="ignore"):
            try:
                wrong = _row(np.asarray(wrong_function(*copy.deepcopy(args))), row)
            except (ValueError, IndexError):  # this way of going wrong does not fit these shapes
                continue
        tells_apart = wrong.shape != expected.shape or difference(wrong, expected, tolerance)
        if tells_apart and _same_numbers(got, wrong, tolerance):
            return mistake
    return None


def _row(result: NDArray, row: int | None) -> NDArray:
    return result if row is None else result[row]


def _same_numbers(got: Any, wrong: NDArray, tolerance: tuple[float, float]) -> bool:
    array = _as_numbers(got)
    if array is None or array.shape != wrong.shape or array.dtype.kind not in "iuf":
        return False
    relative, absolute = tolerance
    return bool(np.allclose(array, wrong, rtol=relative, atol=absolute, equal_nan=True))


def _call_and_watch(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, str | None]:
    """Call the function; also return the name of an answer in attn_lib that it called."""
    home = Path(__file__).parent
    answer_files = {str(home / name) for name in ANSWER_MODULES}
    called: list[str] = []

    def watch(frame, event, _):
        if event == "call" and frame.f_code.co_filename in answer_files:
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


def _tolerance(got: Any) -> tuple[float, float]:
    """Relative and absolute tolerance for what the learner computed, by its precision.

    float64 and float32 share one, since a float64 result may come of float32 steps.
    """
    array = _as_numbers(got)
    return (1e-2, 1e-2) if array is not None and array.dtype == np.float16 else (1e-4, 1e-5)


def _as_numbers(value: Any) -> NDArray | None:
    """Return `value` as a plain array if it is a number, an array or nested lists of numbers."""
    if value is None or isinstance(value, (str, bytes, dict, set)):
        return None
    try:
        array = np.array(value, subok=False)
    except Exception:  # an object may raise anything when asked for its numbers
        return None
    return array if array.dtype.kind in "biufc" else None


def _describe_type(got: Any, expected: NDArray) -> str:
    if expected.ndim == 0:
        wanted = "a number"
    elif expected.ndim == 1:
        wanted = f"{expected.size} numbers"
    else:
        wanted = f"an array of shape {_shape(expected)}"
    if got is None:
        return f"expected {wanted}, got None. Is there a `return`, or a value still to fill in?"
    if got is Ellipsis:
        return f"expected {wanted}, got the placeholder `...`. Fill it in."
    return f"expected {wanted}, got {type(got).__name__}."


def _describe_error(error: BaseException) -> str:
    """Say what was raised and where in the learner's own code."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "site-packages" not in frame.filename and frame.line
    ]
    where = f" (line {frames[-1].lineno}: {frames[-1].line})" if frames else ""
    return f"it raised {type(error).__name__}: {error}{where}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)


def _call_title(name: str, args: Sequence[Any]) -> str:
    shapes = ", ".join(_shape(np.asarray(arg)) if np.ndim(arg) else repr(arg) for arg in args)
    return f"{name} on {'shapes' if len(args) > 1 else 'shape'} {shapes}"


def _shape(array: NDArray) -> str:
    return "() (a single number)" if array.ndim == 0 else str(array.shape)


def _first(where: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(where)[0])


def _position(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _report(part: Part) -> str:
    if part.passed:
        if all(result.only_form for result in part.results):
            return f"{part.title}: filled in. Whether it is right is checked when it is graded."
        return f"{part.title}: ok"
    lines = [f"{part.title}: not yet"]
    for result in part.results:
        if not result.passed:
            first, *rest = result.message.splitlines()
            lines.append(f"  - {result.title}: {first}")
            lines.extend(f"    {line}" for line in rest)
    return "\n".join(lines)
