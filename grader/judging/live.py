"""One submission's code, kept alive: a session that dies is begun again without its killer."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from attn_lib.course.checks.observation import Observation, StandIn
from grader.judging.outputs import Room, stopped_output
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import Opaque
from grader.sandbox.warm_process import Sandbox, Session, SessionDied

#: Of the values that a test cell sees, in all: so many times the largest single result. The one
#: that goes beyond is still seen.
MOST_VALUES = 2


@dataclass
class Live:
    """A context in which a submission's cells run and its functions can be called."""

    sandbox: Sandbox
    limits: Limits
    remarks: list[str] = field(default_factory=list)  #: what was stopped, in words
    _session: Session | None = None
    _done: list[tuple[str, str]] = field(default_factory=list)  # cells that ran, to run again
    _stopped: dict[str, str] = field(default_factory=dict)  # functions not called again, and why
    _over: str = ""  # why nothing runs any more
    _deadline: float = 0.0

    def __post_init__(self) -> None:
        self._room = Room(self.limits.output_kib)

    def __enter__(self) -> Live:
        self._deadline = time.monotonic() + self.limits.submission_seconds
        self._session = self.sandbox.session()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def execute(self, name: str, source: str) -> list[NotebookNode]:
        """Run a cell and return its outputs."""
        session = self._ready()
        if session is None:
            return [stopped_output(self._over)]
        begun = time.monotonic()
        try:
            ran = session.execute(name, source)
        except SessionDied as died:
            self.remarks.append(f"The cell {name} was stopped: {died.reason}.")
            self._begin_again()
            return [stopped_output(died.reason)]
        self._done.append((name, source))
        if late := _late(begun, self.limits.cell_seconds):
            self.remarks.append(f"The cell {name} was stopped: {late}.")
        return self._room.fit(ran.outputs)

    def stand_ins(self, names: Collection[str]) -> dict[str, Any]:
        """Return what a test cell sees of these names: stand-ins for functions, copies of values.

        A name that the submission does not define is left out.
        """
        found: dict[str, Any] = {}
        left = MOST_VALUES * self.limits.result_mib * 2**20
        session = self._ready()
        if session is None:
            return found
        try:
            kinds = session.kinds(sorted(names))
        except SessionDied as died:
            self._lost(f"Looking at the answers was stopped: {died.reason}.")
            return found
        for name, kind in sorted(kinds.items()):
            if kind == "function":
                found[name] = _Elsewhere(self, name)
            elif kind == "value":
                session = self._ready()
                if session is None:
                    break
                if left > 0:
                    found[name] = self._value(session, name)
                    left -= session.weight
                else:
                    found[name] = _not_looked_at("the others are too large")
        return found

    def _value(self, session: Session, name: str) -> Any:
        """Return a copy of a value. One that could not be read is not read a second time."""
        if name in self._stopped:
            return _not_looked_at(self._stopped[name])
        begun = time.monotonic()
        try:
            value = session.value(name)
        except SessionDied as died:
            self._stopped[name] = died.reason
            self._lost(f"The value {name} could not be read: {died.reason}.")
            return _not_looked_at(died.reason)
        if late := _late(begun, self.limits.call_seconds):
            self._stopped[name] = late
            self.remarks.append(f"The value {name} could not be read: {late}.")
        return value

    def call(self, name: str, args: Sequence[Any], *, own_work: bool) -> Observation:
        """Call one of the submission's functions.

        One that did not come back is not called a second time.
        """
        if name in self._stopped:
            return Observation(problem=self._stopped[name])
        session = self._ready()
        if session is None:
            return Observation(problem=f"it was not called: {self._over}.")
        begun = time.monotonic()
        try:
            observation = session.call(name, args, own_work=own_work)
        except SessionDied as died:
            self._stopped[name] = f"it was stopped: {died.reason}."
            self._lost(f"{name} was stopped: {died.reason}.")
            return Observation(problem=self._stopped[name], on_these_arguments=True)
        late = _late(begun, self.limits.call_seconds)
        if late and observation.problem:
            self._stopped[name] = observation.problem
            self.remarks.append(f"{name} was stopped: {late}.")
        return observation

    def _ready(self) -> Session | None:
        """Return the session while there is one and the submission has time left."""
        if not self._over and time.monotonic() > self._deadline:
            self._give_up(
                f"the {self.limits.submission_seconds:g} s that a submission may take are used up"
            )
        return self._session

    def _lost(self, remark: str) -> None:
        self.remarks.append(remark)
        self._begin_again()

    def _begin_again(self) -> None:
        """Open a new session and run there what has run before."""
        self._end()
        self._session = self.sandbox.session()
        for name, source in self._done:
            if self._ready() is None:
                return
            try:
                self._session.execute(name, source)
            except SessionDied as died:
                self._give_up(f"the cell {name}, run again, was stopped: {died.reason}")
                return

    def _give_up(self, reason: str) -> None:
        self._over = reason
        self.remarks.append(f"Nothing more was run: {reason}.")
        self._end()

    def _end(self) -> None:
        if self._session is not None:
            self._session.kill()
            self._session = None


def _not_looked_at(reason: str) -> Opaque:
    return Opaque(f"object not looked at: {reason}")


def _late(begun: float, seconds: float) -> str:
    """Say so if that was too long ago, by this clock: a learner's process could hide it."""
    late = time.monotonic() - begun >= seconds
    return f"it did not return within {seconds:g} s" if late else ""


@dataclass(frozen=True, repr=False)
class _Elsewhere(StandIn):
    """A learner's function, called where it lives."""

    live: Live
    name: str

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    def call(self, args: Sequence[Any], *, own_work: bool = True) -> Observation:
        return self.live.call(self.name, args, own_work=own_work)
