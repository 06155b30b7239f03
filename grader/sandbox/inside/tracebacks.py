"""Tracebacks that show a learner's own lines, and not those of the grader.

To see the lines after all, when looking for a mistake in the grader, make `hide_source` do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, TracebackType
from typing import TypeVar

#: The name of the file of functions whose source is hidden. There is no such file, so no traceback
#: can quote a line of it, however a learner prints it.
HIDDEN = "<grading>"

MAX_CHAIN = 100  # exceptions that were raised while another was handled

Hidden = TypeVar("Hidden", bound=Callable[..., object])


def hide_source(function: Hidden) -> Hidden:
    """Hide the source of a function, or of all methods of a class. Used as a decorator."""
    for member in vars(function).values() if isinstance(function, type) else [function]:
        if isinstance(member, FunctionType):
            member.__code__ = _hidden(member.__code__)
    return function


def remove_hidden_frames(error: BaseException, keep: int = 0) -> None:
    """Remove the frames of hidden functions from an error and from those that led to it.

    Parameters
    ----------
    error : BaseException
        It is changed in place.
    keep : int
        How many frames at the beginning stay in any case.
    """
    for each in _chain(error):
        frames = [*_frames(each.__traceback__)]
        shown: TracebackType | None = None
        for number, frame in reversed([*enumerate(frames)]):
            if number < keep or frame.tb_frame.f_code.co_filename != HIDDEN:
                shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
        each.__traceback__ = shown


def _hidden(code: CodeType) -> CodeType:
    constants = (_hidden(x) if isinstance(x, CodeType) else x for x in code.co_consts)
    return code.replace(co_filename=HIDDEN, co_consts=tuple(constants))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen and len(seen) < MAX_CHAIN:
        seen.add(id(error))
        yield error
        error = error.__context__ if error.__cause__ is None else error.__cause__


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
