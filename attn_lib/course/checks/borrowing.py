"""Which functions a learner's function uses: answers of attn_lib, and others of the notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

#: What exercises give to learners. Its functions may call any others of attn_lib.
GIVEN = "attn_lib.course.given"
#: The packages of attn_lib whose functions a learner may call. All others contain answers.
HELPER_PACKAGES = (
    *("attn_lib.course.checks", "attn_lib.course.personal", "attn_lib.course.stored"),
    "attn_lib.figures",
    GIVEN,
)


@cache
def holds_answers(module: str) -> bool:
    """Say whether the functions of this module give answers away: learners must write their own.

    Parameters
    ----------
    module : str
        A module's full name.

    Examples
    --------
    >>> holds_answers("attn_lib.softmax"), holds_answers("attn_lib.course.targets.masking")
    (True, True)
    >>> holds_answers("attn_lib.figures.style"), holds_answers("numpy.linalg")
    (False, False)
    """
    return f"{module}.".startswith("attn_lib.") and not f"{module}.".startswith(
        tuple(f"{package}." for package in HELPER_PACKAGES)
    )


def answer_used_by(function: Callable[..., Any]) -> str:
    """Return the name of an answer in attn_lib that a function or its helpers use, or "".

    A watch over all calls sees more, but makes a drawing three times as slow.

    Parameters
    ----------
    function : callable

    Examples
    --------
    >>> from attn_lib.softmax import softmax
    >>> names = {"softmax": softmax}
    >>> answer_used_by(eval("lambda x: softmax(x)", names))
    'softmax'
    >>> answer_used_by(eval("lambda softmax: softmax", names))
    ''
    """
    for each in _reached(function):
        for code in _codes(each.__code__):
            for name in code.co_names:
                found = _answer_in(_named(each, name), code.co_names)
                if found:
                    return found
    return ""


def functions_used_by(function: Callable[..., Any]) -> list[str]:
    r"""Return the names of the functions of a notebook that a function of it uses.

    They are found in its code and in theirs, without calling it. Its own name is not among them.

    Parameters
    ----------
    function : callable

    Examples
    --------
    >>> names = {}
    >>> exec("def half(x): return x / 2\ndef quarter(x): return half(half(x))", names)
    >>> functions_used_by(names["quarter"]), functions_used_by(names["half"])
    (['half'], [])
    """
    names = getattr(function, "__globals__", {})
    return [
        each.__name__
        for each in _reached(function)
        if each is not function and names.get(each.__name__) is each
    ]


def _reached(function: Callable[..., Any]) -> Iterator[FunctionType]:
    """Yield a function and those that its code names, directly or through others."""
    seen: set[int] = set()
    waiting: list[object] = [function]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, FunctionType) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [_named(each, name) for code in _codes(each.__code__) for name in code.co_names]


def _named(function: FunctionType, name: str) -> object:
    return function.__globals__.get(name, sys.modules.get(name))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _answer_in(value: object, names: tuple[str, ...]) -> str:
    """Return the name of the answer that a value is, or that one of these names is in it."""
    if isinstance(value, ModuleType):
        inside = (value.__dict__.get(name) for name in names)
        return next((found for part in inside if (found := _answer_in(part, ()))), "")
    if isinstance(value, dict):
        return "TARGETS" if any(_answer_in(part, ()) for part in value.values()) else ""
    if isinstance(value, FunctionType) and holds_answers(value.__module__ or ""):
        return value.__name__
    return ""
