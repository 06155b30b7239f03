"""A learner's function as a plain test cell sees it: what goes into it and comes out of it.

Defends against: an answer that is not what it claims to be. Whatever cannot be told from the copy
that crosses ends the test or is equal to nothing but itself.

Does not defend against: two results that are one object, or an object in a result that is also in
an argument. The test sees two.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NoReturn

import numpy as np

from attn_lib.course.checks.remote import type_name
from grader.judging.live import Live
from grader.judging.outputs import writable
from grader.sandbox.inside.wire import NUMBER_KINDS, Opaque

_ATOMS = (NoneType, bool, int, float, complex, str, bytes, range, type(...))
_CONTAINERS = (list, tuple, set, frozenset)
_MAX_DEPTH = 40  # deeper than what can cross


class Stopped(BaseException):
    """Raised in a test cell when a call had to be stopped.

    A BaseException, so that a test's ``except Exception`` cannot catch it.
    """


class Unread(Opaque):
    """Stands for an object of a learner that cannot cross. It is equal to itself only."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Return whether the other is this very object."""
        return self is other

    def __hash__(self) -> int:
        """Return a hash of this very object."""
        return id(self)


@dataclass
class Calls:
    """What happened in the calls of one test cell, and whether they change its arguments."""

    change: bool = True
    have_changed: bool = False  #: whether any function changed its copies
    ends_loops: bool = False  #: whether the test expects that a function raises StopIteration
    stopped: str = ""  #: why a call was stopped, if one was
    unread: list[str] = field(default_factory=list)  #: types of results that could not cross

    def stop(self, why: str) -> NoReturn:
        """End the test cell. A test that catches even this does not pass, see `stopped`.

        Raises
        ------
        Stopped
            Always.
        """
        self.stopped = self.stopped or why
        raise Stopped(why)

    def read(self, value: object) -> object:
        """Return a value of a learner with an `Unread` for each object that could not cross."""
        if isinstance(value, Opaque):
            self.unread.append(type_name(value))
            return Unread(type_name(value))
        if isinstance(value, dict):
            return {self.read(key): self.read(part) for key, part in value.items()}
        if isinstance(value, _CONTAINERS):
            return type(value)(map(self.read, value))
        return value


@dataclass(frozen=True, repr=False, eq=False)
class RemoteFunction:
    """A learner's function in the sandbox. It can be called as if it were here."""

    live: Live
    name: str
    calls: Calls

    def __repr__(self) -> str:
        """Return what Python shows of a function, without its address."""
        return f"<function {self.name}>"

    def __call__(self, *args: object, **keywords: object) -> object:
        """Call the function with copies of the arguments, and return a copy of its result.

        A result that is one of the arguments is that argument itself.
        """
        given = [*args, *keywords.values()]
        if inexact := next(filter(None, map(inexact_type, given)), ""):
            self.calls.stop(
                f"{self.name} was not called: an argument of type {inexact} has no exact copy"
            )
        try:
            invocation = self.live.invoke(self.name, args, keywords)
        except TypeError as error:
            self.calls.stop(f"{self.name} was not called: {error}")
        for stream, text in invocation.printed:
            (sys.stderr if stream == "stderr" else sys.stdout).write(writable(text))
        changed = {n: self.calls.read(value) for n, value in invocation.changed if n >= 0}
        for number, value in changed.items():
            self.calls.have_changed = True
            if self.calls.change and number < len(given) and not _change(given[number], value):
                self.calls.stop("an argument was changed in a way that the test cannot see")
        if invocation.ending == "stopped":
            self.calls.stop(f"{self.name} was stopped: {invocation.body}")
        if invocation.ending == "raised":
            self._raise(*invocation.body)
        if invocation.ending == "argument":
            if not invocation.body < len(given):
                self.calls.stop(f"{self.name} returned an argument that it was not given")
            if self.calls.change or invocation.body not in changed:
                return given[invocation.body]
            return changed[invocation.body]
        return self.calls.read(invocation.body)

    def _raise(self, kinds: list[str], args: list[Any]) -> NoReturn:
        """Raise the error of the function: the most special built-in type that can be made."""
        if "StopIteration" in kinds and not self.calls.ends_loops:
            # It would end a loop of the test, as over `map(f, inputs)`, without an error.
            raise RuntimeError(f"{self.name} raised StopIteration")
        for name in kinds:
            kind = getattr(builtins, name, None)
            if not (isinstance(kind, type) and issubclass(kind, (Exception, SystemExit))):
                continue
            if _can_be_shown(kind, args):
                with contextlib.suppress(TypeError):
                    error = kind(*args)
                    break
        else:
            error = Exception(*args)
        raise error


def inexact_type(value: object, depth: int = 0) -> str:
    """Return the type that a function in the sandbox would not receive as it is, or "".

    Examples
    --------
    >>> from collections import Counter
    >>> inexact_type([1, "a", {2.5: None}]), inexact_type([Counter("aab")])
    ('', 'Counter')
    """
    kind = type(value)
    if kind in _ATOMS:
        return ""
    if depth > _MAX_DEPTH:
        return f"{type_name(value)} in {_MAX_DEPTH} others"
    if kind is dict or kind in _CONTAINERS:
        parts = [*value, *value.values()] if isinstance(value, dict) else [*value]  # type: ignore[misc]
        return next(filter(None, (inexact_type(part, depth + 1) for part in parts)), "")
    is_own = kind is np.ndarray or kind.__module__ == "numpy"
    if isinstance(value, (np.generic, np.ndarray)) and is_own:
        return "" if value.dtype.kind in NUMBER_KINDS else f"{type_name(value)} of {value.dtype}"
    return type_name(value)


def _can_be_shown(kind: type, args: list[Any]) -> bool:
    """Return False for the arguments with which Python itself fails at the text of an error.

    In a UnicodeEncodeError and its like, a range that does not lie in the text makes `str` fail
    in a way that cannot be caught (CPython issue 123378).
    """
    if not issubclass(kind, UnicodeError) or kind is UnicodeError:
        return True
    match args[-4:]:
        case [str() | bytes() as text, int() as start, int() as end, _]:
            return 0 <= start < end <= len(text)
    return False


def _change(value: object, new: object) -> bool:
    """Change an argument in place as the learner's function did; say whether Python can."""
    if isinstance(value, list) and isinstance(new, list):
        value[:] = new
    elif isinstance(value, (dict, set)) and type(new) is type(value):
        value.clear()
        value.update(new)
    elif (
        isinstance(value, np.ndarray)
        and isinstance(new, np.ndarray)
        and (value.shape, value.dtype) == (new.shape, new.dtype)
    ):
        value[...] = new
    else:
        return False
    return True
