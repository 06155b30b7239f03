"""Hides from an answer what only test cells define.

In a learner's kernel, test cells define their names among the learner's. When graded they do not,
so a function that reads ``k`` or ``rng`` of a test cell would pass in one of the two only.
"""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

from attn_lib.course.notebooks.cells import names_defined

#: The value that a test cell gave each name last.
_given_by_tests: dict[str, object] = {}


class Surroundings:
    """The names of a test cell, which are those of the learner's kernel.

    Parameters
    ----------
    names : mapping
        The names as `Checks` gets them.
    frame : FrameType
        The frame that makes the `Checks`.
    """

    def __init__(self, names: Mapping[str, Any], frame: FrameType) -> None:
        self._names = names
        self._own = _names_of_cell(frame) if frame.f_globals is names else set()
        self._before = {
            name: names[name]
            for name in self._own & names.keys()
            if not _is_of_tests(name, names[name])
        }

    @contextlib.contextmanager
    def hidden_from(self, function: Callable[..., Any]) -> Iterator[None]:
        """Take the values of test cells from a function's global names, within this context.

        Modules, functions and classes stay: test cells import what the given cells do.
        """
        names = getattr(function, "__globals__", None)
        if names is not self._names or not isinstance(names, dict):
            yield
            return
        for name in self._own & names.keys():
            value = names[name]
            if self._before.get(name, _MISSING) is not value and not _stays(value):
                _given_by_tests[name] = value
        hidden = {name: names[name] for name in names if _is_of_tests(name, names[name])}
        for name in hidden:
            if name in self._before:
                names[name] = self._before[name]
            else:
                del names[name]
        try:
            yield
        finally:
            names.update(hidden)


_MISSING = object()


def _is_of_tests(name: str, value: object) -> bool:
    return _given_by_tests.get(name, _MISSING) is value


def _stays(value: object) -> bool:
    return isinstance(value, ModuleType) or callable(value)


def _names_of_cell(frame: FrameType) -> set[str]:
    """Return the names that the cell of a frame defines; none if its source is not known.

    IPython compiles each statement of a cell on its own, so the frame's code has only one.
    """
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        return names_defined(source)
    except (SyntaxError, ValueError):
        return set()
