"""One submission's process: run its cells, read its values, call its functions.

Defends against: whatever that process does. It has until a deadline; what it sends is read as
hostile; and it can be ended at any time with all that it started. A learner may forge answers
about his own functions and values, which is as good as writing other functions.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attn_lib.course.checks.observation import Observation
from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import TooLarge, WireError
from grader.sandbox.watchdog import Family, Watchdog

_GRACE = 2.0  # seconds after which a process that does not stop itself is stopped
_KINDS = frozenset({"function", "value", "missing"})
_WORDS = 10_000  # characters of a message that are kept


class SessionDied(Exception):
    """Raised when a session is over before its time; `reason` says why, in words."""

    @property
    def reason(self) -> str:
        """Why, as the end of a sentence."""
        return str(self)


@dataclass(frozen=True)
class Executed:
    """What running a cell gave."""

    outputs: list[dict[str, Any]]  #: in nbformat's form, unchecked: a learner's process wrote them
    status: str  #: "ok" or "error"


class Session:
    """A submission's process. Made by `grader.sandbox.warm_process.Sandbox.session`."""

    def __init__(self, channel: Channel, family: Family, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self._watchdog = Watchdog(family, limits)
        self._died = ""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def execute(self, cell_id: str, source: str) -> Executed:
        """Run a cell's code.

        Raises
        ------
        SessionDied
            As all requests do. After that a session answers nothing.
        """
        seconds = self._limits.cell_seconds
        status, outputs = self._ask(_is_run, seconds, "execute", cell_id, source)
        return Executed(outputs, status)

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return for each name whether it is a "function", a "value" or "missing"."""

        def fits(body: Any) -> bool:
            return (
                type(body) is dict
                and body.keys() == set(names)
                and all(type(kind) is str and kind in _KINDS for kind in body.values())
            )

        return self._ask(fits, self._limits.call_seconds, "kinds", list(names))

    def value(self, name: str) -> Any:
        """Return a copy of a value.

        What cannot cross is a `grader.sandbox.inside.wire.Opaque` with the name of its type.
        """
        return self._ask(lambda _: True, self._limits.call_seconds, "value", name)

    def call(self, name: str, args: Sequence[Any], *, own_work: bool) -> Observation:
        """Call a function with copies of `args`, as the `observe` of attn_lib's checks does."""
        seconds = self._limits.call_seconds
        body = self._ask(_is_observation, seconds, "call", name, list(args), own_work)
        return Observation(
            None if body.problem else body.returned,
            body.problem[:_WORDS],
            body.on_these_arguments,
        )

    @property
    def weight(self) -> int:
        """How many bytes of memory the last reply may take here."""
        return self._channel.weight

    def kill(self) -> None:
        """End the process and all that it started."""
        self._died = self._died or "it was over"
        self._watchdog.stop()  # first: one that is hung up on ends, and its children scatter
        self._channel.close()

    def _ask(self, fits: Callable[[Any], bool], seconds: float, kind: str, *body: Any) -> Any:
        """Send a request and return the body of its reply, which has to fit."""
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
            raise self._dead("it sent something that is no reply") from None
        if type(reply) is not list or len(reply) != 2 or reply[0] != token or not fits(reply[1]):
            raise self._dead("it sent something that is no reply")
        return reply[1]

    def _dead(self, reason: str) -> SessionDied:
        self.kill()
        self._died = self._watchdog.reason or reason
        return SessionDied(self._died)


def _is_run(body: Any) -> bool:
    return (
        type(body) is tuple
        and len(body) == 2
        and body[0] in ("ok", "error")
        and type(body[1]) is list
        and all(type(output) is dict for output in body[1])
    )


def _is_observation(body: Any) -> bool:
    return type(body) is Observation
