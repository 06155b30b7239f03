"""One submission's process: execute its cells, read its values, call its functions.

Defends against: anything that process does. Each reply has a deadline and is read as hostile, and
the process can be ended at any time with all processes it started.

Does not defend against: false replies about the learner's own functions and values. They gain
nothing that other functions would not.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, TypeVar

from attn_lib.course.checks.observation import Observation
from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import TooLarge, WireError
from grader.sandbox.watchdog import Watchdog

_GRACE = 2.0  # seconds past its own deadline before the process is stopped from outside
_NO_REPLY = "it sent something that is not a valid reply"
_KINDS = frozenset({"function", "value", "missing"})
_MAX_CHARACTERS = 10_000  # of a message

T = TypeVar("T")


class SessionDied(Exception):
    """Raised when a session has ended early. The message says why, as a clause."""


@dataclass(frozen=True)
class Executed:
    """What executing a cell gave."""

    outputs: list[dict[str, Any]]  #: in nbformat's form, as a learner's process sent them
    outcome: str  #: "ok" or "error"


@dataclass(frozen=True)
class Invocation:
    """What calling a function as it is gave."""

    ending: Literal["returned", "argument", "raised", "stopped"]
    #: The value, or the number of the argument that was returned itself, or the names of an error's
    #: built-in types with its arguments, or a clause.
    body: Any
    changed: list[tuple[int, Any]]  #: arguments that it changed, by number; keywords come last
    printed: list[tuple[str, str]]  #: "stdout" or "stderr", and a text


class Session:
    """A submission's process. `grader.sandbox.sandbox.Sandbox.session` makes it."""

    def __init__(self, channel: Channel, watchdog: Watchdog, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self._watchdog = watchdog
        self._died = ""

    def __enter__(self) -> Session:
        """Return the session."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.kill()

    def execute(self, cell_id: str, source: str) -> Executed:
        """Execute a cell.

        Raises
        ------
        SessionDied
            If the process died, broke a limit or sent an invalid reply. Every request can raise
            it, and all later requests then do.
        """
        seconds = self._limits.cell_seconds
        outcome, outputs = self._ask(_is_execution, seconds, "execute", cell_id, source)
        return Executed(outputs, outcome)

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return for each name whether it is a "function", a "value" or "missing"."""

        def fits(body: object) -> TypeGuard[dict[str, str]]:
            return (
                type(body) is dict
                and body.keys() == set(names)
                and all(type(kind) is str and kind in _KINDS for kind in body.values())
            )

        return self._ask(fits, self._limits.call_seconds, "kinds", list(names))

    def put(self, files: Mapping[str, bytes]) -> str:
        """Write files below the folder in which cells are executed.

        Return "", or which file could not be written and why.
        """
        return self._ask(_is_text, self._limits.cell_seconds, "put", dict(files))

    def value(self, name: str, *, exact: bool = False) -> object:
        """Return a copy of a value.

        For an object that cannot cross, it is a `grader.sandbox.inside.wire.Opaque`. `exact` is
        explained in `grader.sandbox.inside.wire.pack`.
        """
        return self._ask(_is_anything, self._limits.call_seconds, "value", name, exact)

    def invoke(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Invocation:
        """Call a function with copies of the arguments, as a cell of a notebook would.

        Raises
        ------
        TypeError
            If an argument cannot be sent.
        """
        seconds = self._limits.call_seconds
        return Invocation(
            *self._ask(_is_invocation, seconds, "invoke", name, list(args), dict(keywords))
        )

    def call(self, name: str, args: Sequence[Any], *, own_work: bool) -> Observation:
        """Call a function with copies of `args`, by `observe` of `attn_lib.course.checks`."""
        seconds = self._limits.call_seconds
        body = self._ask(_is_observation, seconds, "call", name, list(args), own_work)
        return Observation(
            None if body.problem else body.returned,
            body.problem[:_MAX_CHARACTERS],
            body.on_these_arguments,
            is_stub=body.is_stub,
            arose=body.arose[:_MAX_CHARACTERS],
            uses=body.uses[:_MAX_CHARACTERS],
        )

    @property
    def weight(self) -> int:
        """How many bytes of memory the last reply may need in this process, at most."""
        return self._channel.weight

    def kill(self) -> None:
        """End the process and all processes it started."""
        self._died = self._died or "the session has been closed"
        self._watchdog.stop()  # first: closing the channel would orphan the process's children
        self._channel.close()

    def _ask(
        self, fits: Callable[[object], TypeGuard[T]], seconds: float, kind: str, *body: object
    ) -> T:
        """Send a request and return the body of its reply, if `fits` accepts it."""
        if self._died:
            raise SessionDied(self._died)
        token = secrets.token_hex(8)
        deadline = time.monotonic() + seconds + _GRACE
        try:
            self._channel.send([token, kind, *body], deadline)
            reply = self._channel.receive(deadline)
        except TooSlow:
            raise self._dead(f"it did not return within {seconds:g} s") from None
        except HungUp:
            raise self._dead("its process ended") from None
        except TooLarge as large:
            raise self._dead(f"it is {large}") from None
        except WireError:
            raise self._dead(_NO_REPLY) from None
        if type(reply) is not list or len(reply) != 2 or reply[0] != token or not fits(reply[1]):
            raise self._dead(_NO_REPLY)
        return reply[1]

    def _dead(self, why: str) -> SessionDied:
        self.kill()
        self._died = self._watchdog.excess or why
        return SessionDied(self._died)


def _is_execution(body: object) -> TypeGuard[tuple[str, list[dict[str, Any]]]]:
    return (
        type(body) is tuple
        and len(body) == 2
        and body[0] in ("ok", "error")
        and type(body[1]) is list
        and all(type(output) is dict for output in body[1])
    )


def _is_invocation(body: object) -> TypeGuard[tuple[Any, Any, Any, Any]]:
    if type(body) is not tuple or len(body) != 4:
        return False
    ending, value, changed, printed = body
    return (
        (ending == "returned" or (ending == "raised" and _is_error(value)))
        or (ending == "argument" and type(value) is int and value >= 0)
        or (ending == "stopped" and type(value) is str)
    ) and (_are_pairs(changed, int) and _are_pairs(printed, str))


def _is_error(value: object) -> bool:
    return (
        type(value) is tuple
        and len(value) == 2
        and all(type(part) is list for part in value)
        and all(type(name) is str for name in value[0])
    )


def _are_pairs(value: object, kind: type) -> bool:
    return type(value) is list and all(
        type(pair) is tuple
        and len(pair) == 2
        and type(pair[0]) is kind
        and (kind is int or (pair[0] in ("stdout", "stderr") and type(pair[1]) is str))
        for pair in value
    )


def _is_text(body: object) -> TypeGuard[str]:
    return type(body) is str


def _is_observation(body: object) -> TypeGuard[Observation]:
    return type(body) is Observation


def _is_anything(_: object) -> TypeGuard[object]:
    return True
