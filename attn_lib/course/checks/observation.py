"""Calling a learner's function and watching what it does."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import linecache
import sys
import textwrap
import threading
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.borrowing import (
    GIVEN,
    answer_used_by,
    functions_used_by,
    holds_answers,
)
from attn_lib.course.checks.comparison import shape_text
from attn_lib.course.checks.drawings import as_drawing
from attn_lib.course.checks.hints import error_hint
from attn_lib.course.checks.remote import Remote

#: Entries of a list among the arguments of a call that a message shows.
MAX_SHOWN_ENTRIES = 12

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Observation:
    """What one call of a function gave."""

    returned: Any = None  #: the value it returned; an Axes or a Figure as a `Drawing`
    problem: str = ""  #: why the returned value does not count; empty if it does
    on_these_arguments: bool = False  #: whether the problem may depend on the arguments
    stopped: bool = False  #: whether the user interrupted the call
    #: Whether it raised NotImplementedError, and the function has no other statement than that.
    is_stub: bool = False
    arose: str = ""  #: the line in which the first NaN or infinity of the call arose
    uses: str = ""  #: the other functions of the notebook that it uses, separated by blanks


class StandIn(Remote, ABC):
    """A learner's function in another process, which checks call like any other function.

    In the judge, these stand in for the learner's functions.
    """

    type_name = "function"

    @abstractmethod
    def call(self, args: Sequence[Any], *, own_work: bool = True) -> Observation:
        """Call the function with these arguments and return what it did; see `observe`."""


def observe(
    function: Callable[..., Any], args: Sequence[Any], *, own_work: bool = True
) -> Observation:
    """Call a function with copies of `args` and return what it did.

    What it prints on stderr, warnings included, is dropped: a warning is not a failure.

    Parameters
    ----------
    function : callable
    args : sequence
    own_work : bool
        Whether to watch all calls for one of an answer from attn_lib. If not, as for drawings,
        only the function's own code and that of its helpers are searched for one.

    Examples
    --------
    >>> observe(lambda x: x + 1, [2]).returned
    3
    >>> observe(print, []).returned is None
    <BLANKLINE>
    True
    """
    if isinstance(function, StandIn):
        return function.call(args, own_work=own_work)
    observation = _observe(function, args, own_work)
    return replace(observation, uses=" ".join(functions_used_by(function)))


def _observe(function: Callable[..., Any], args: Sequence[Any], own_work: bool) -> Observation:
    if not own_work and (named := answer_used_by(function)):
        return Observation(problem=_borrowed(named))
    given, arose = copy.deepcopy(args), _Arose()
    try:
        with np.errstate(over="call", invalid="call", call=arose):
            result, borrowed = _call_and_watch(function, given, own_work)
    except NotImplementedError as error:
        return Observation(problem=_not_written(function, error), is_stub=_is_stub(function))
    except KeyboardInterrupt:
        return Observation(
            problem="it was stopped before it returned. Is there a loop that does not end?",
            on_these_arguments=True,
            stopped=True,
        )
    except (Exception, SystemExit) as error:  # whatever the learner's code raises is a result
        return Observation(problem=_describe_error(error, args), on_these_arguments=True)
    if borrowed:
        return Observation(problem=_borrowed(borrowed))
    changed = [i for i, (a, b) in enumerate(zip(args, given, strict=True)) if not same_values(a, b)]
    if changed:
        return Observation(
            problem=f"it changed its argument number {changed[0] + 1}. Compute a new array "
            "(x = x - 1) in place of changing the one given (x -= 1)."
        )
    return Observation(as_drawing(result), arose=arose.line)


def shapes_of(args: Sequence[Any]) -> str:
    """Describe the arguments of a call for a message about it: " on shapes …", " for …".

    Examples
    --------
    >>> shapes_of([np.ones((2, 3)), 8.0]), shapes_of([512, 8])
    (' on shape (2, 3), with 8.0', ' for 512, 8')
    >>> shapes_of([4000, list(range(1, 701))])
    ' for 4000, [1, 2, …, 700]'
    """
    shapes = [shape_text(arg) for arg in args if _has_shape(arg)]
    plain = ", ".join(_plain(arg) for arg in args if not _has_shape(arg))
    if not shapes:
        return f" for {plain}" if plain else ""
    shown = f" on {'shapes' if len(shapes) > 1 else 'shape'} {', '.join(shapes)}"
    return f"{shown}, with {plain}" if plain else shown


def _plain(arg: object) -> str:
    """Return an argument without a shape as messages show it: of a long list, the ends."""
    if not isinstance(arg, (list, tuple)) or len(arg) <= MAX_SHOWN_ENTRIES:
        return repr(arg)
    return f"[{arg[0]!r}, {arg[1]!r}, …, {arg[-1]!r}]"


def _has_shape(arg: object) -> TypeGuard[NDArray[Any]]:
    return isinstance(arg, np.ndarray) and arg.ndim > 0


def _call_and_watch(
    function: Callable[..., Any], args: Sequence[Any], own_work: bool
) -> tuple[Any, str | None]:
    """Call the function; return its result and, for own work, the answer in attn_lib it called."""
    called: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and holds_answers(_module(frame)) and not _is_inside_given(frame):
            called.append(frame.f_code.co_name)

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if own_work:  # profiling makes a drawing three times as slow
            sys.setprofile(watch)
            threading.setprofile(watch)  # for threads that the function starts
        try:
            result = function(*args)
        finally:
            sys.setprofile(before)
            threading.setprofile(before_in_threads)
    return result, called[0] if called else None


def _borrowed(name: str) -> str:
    return f"it calls attn_lib's own {name}. Write it yourself."


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _is_inside_given(frame: FrameType) -> bool:
    """Say whether a function that exercises give is among the callers of this frame."""
    caller = frame.f_back
    while caller is not None and _module(caller) != GIVEN:
        caller = caller.f_back
    return caller is not None


class _Arose:
    """Notes the line of the learner's code in which the first NaN or infinity arises."""

    def __init__(self) -> None:
        self.line = ""

    def __call__(self, *_: object) -> None:
        """Note the line; NumPy calls this."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _module(frame).partition(".")[0] == "numpy":
            frame = frame.f_back
        if self.line or frame is None or _module(frame).startswith("attn_lib."):
            return
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        self.line = f"line {frame.f_lineno}: {text}" if text else f"line {frame.f_lineno}"


def _not_written(function: Callable[..., Any], error: NotImplementedError) -> str:
    """Say which function is not written, or that a written one still raises the stub's error."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or innermost.tb_frame.f_code.co_filename == __file__:
        return "not written yet."
    code = innermost.tb_frame.f_code
    if is_written(code):
        line = linecache.getline(code.co_filename, innermost.tb_lineno).strip()
        here = f"line {innermost.tb_lineno}: {line}"
        where = "it" if code is getattr(function, "__code__", None) else code.co_name
        return f"{where} still raises NotImplementedError ({here}). Delete that line."
    if code is getattr(function, "__code__", None):
        return "not written yet."
    return f"it calls {code.co_name}, which is not written yet."


def is_written(code: CodeType) -> bool:
    """Return whether a function has more statements than its docstring and a ``raise``."""
    body = _body_of(code)
    return body is not None and has_statements(body)


def _is_stub(function: Callable[..., Any]) -> bool:
    """Return whether a function is known to have no such statement: its source can be read."""
    code = getattr(function, "__code__", None)
    body = None if code is None else _body_of(code)
    return body is not None and not has_statements(body)


def _body_of(code: CodeType) -> list[ast.stmt] | None:
    """Return the statements of a function, or None if its source cannot be read."""
    # inspect.getsourcelines would first look for the file in each of a thousand loaded modules.
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        (tree,) = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except (SyntaxError, ValueError):
        return None
    return tree.body if isinstance(tree, ast.FunctionDef) else None


def has_statements(body: Sequence[ast.stmt]) -> bool:
    """Return whether there is a statement that is no text, no ``pass`` and no ``raise``."""
    return any(
        not isinstance(statement, (ast.Raise, ast.Pass))
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


def _describe_error(error: BaseException, args: Sequence[Any]) -> str:
    """Say what was raised and where in the learner's own code."""
    line = where = ""
    for frame, number in reversed([*traceback.walk_tb(error.__traceback__)]):
        filename = frame.f_code.co_filename
        if Path(filename).parent != _HERE and "site-packages" not in filename:
            linecache.checkcache(filename)
            line = linecache.getline(filename, number, frame.f_globals).strip()
            if line:
                where = f" (line {number}: {line})"
                break
    hint = error_hint(error, line, args)
    told = f"it raised {type(error).__name__}: {error}{where}"
    return f"{told}\n{hint}" if hint else told


def same_values(a: object, b: object) -> bool:
    """Say whether two arguments are equal: numbers, texts, arrays, or nested lists of these."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same_values, a, b))
    return bool(a == b)
