"""A submission's code, kept alive: a session that died is replaced by a new one.

The new session executes again the cells that completed, but not the one that ended it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from attn_lib.course.checks.observation import Observation, StandIn
from grader.judging.outputs import OutputBudget, stopped_output
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import Opaque
from grader.sandbox.sandbox import Sandbox, Session, SessionDied
from grader.sandbox.session import Invocation

#: Total size of the values that a test cell sees, in multiples of the largest single result. The
#: value that exceeds it is still seen, later ones are not.
MAX_VALUES = 2


@dataclass
class Live:
    """A context in which a submission's cells are executed and its functions can be called."""

    sandbox: Sandbox
    limits: Limits
    #: What lies beside the notebook, by path.
    files: Mapping[str, bytes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  #: what was stopped and why
    _session: Session | None = None
    _done: list[tuple[str, str]] = field(default_factory=list)  # executed again in a new session
    _stopped: dict[str, str] = field(default_factory=dict)  # names not used again, and why
    _over: str = ""  # why nothing is executed any more
    _deadline: float = 0.0

    def __post_init__(self) -> None:
        """Set up the output budget of the submission."""
        self._budget = OutputBudget(self.limits.output_kib)

    def __enter__(self) -> Live:
        """Open a session and start the clock of the submission."""
        self._deadline = time.monotonic() + self.limits.submission_seconds
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        """End the session."""
        self._end()

    def execute(self, name: str, source: str, *, has_mark: bool = False) -> list[NotebookNode]:
        """Execute a cell and return its outputs; see `OutputBudget.fit` for `has_mark`."""
        session = self._ready()
        if session is None:
            return [stopped_output(self._over)]
        begun = time.monotonic()
        try:
            executed = session.execute(name, source)
        except SessionDied as died:
            self._lost(f"The cell {name} was stopped: {died}.")
            return [stopped_output(str(died))]
        self._done.append((name, source))
        if late := _late(begun, self.limits.cell_seconds):
            self.remarks.append(f"The cell {name} was stopped: {late}.")
        return self._budget.fit(executed.outputs, has_mark=has_mark)

    def fit(self, outputs: list[NotebookNode]) -> list[NotebookNode]:
        """Return those outputs of a test cell that fit in the budget of the submission."""
        return self._budget.fit(outputs, has_mark=True)

    def stand_ins(
        self,
        names: Collection[str],
        function: Callable[[Live, str], object] | None = None,
        *,
        exact: bool = False,
    ) -> dict[str, Any]:
        """Return what a test cell sees of these names: stand-ins for functions, copies of values.

        Names that the submission does not define are left out.

        Parameters
        ----------
        names : collection of str
        function : callable
            Makes the stand-in for a function. Default: one that `observe` calls.
        exact : bool
            How values cross; see `grader.sandbox.inside.wire.pack`.
        """
        make = function or _RemoteFunction
        found: dict[str, Any] = {}
        left = MAX_VALUES * self.limits.result_mib * 2**20
        session = self._ready()
        if session is None:
            return found
        try:
            kinds = session.kinds(sorted(names))
        except SessionDied as died:
            self._lost(f"Reading the answers was stopped: {died}.")
            return found
        for name, kind in sorted(kinds.items()):
            if kind == "function":
                found[name] = make(self, name)
            elif kind == "value":
                session = self._ready()
                if session is None:
                    break
                if left > 0:
                    found[name] = self._value(session, name, exact)
                    left -= session.weight
                else:
                    found[name] = _unread("the values before it are too large")
        return found

    def _value(self, session: Session, name: str, exact: bool) -> object:
        """Return a copy of a value. After one failure, do not try to read it again."""
        if name in self._stopped:
            return _unread(self._stopped[name])
        begun = time.monotonic()
        try:
            value = session.value(name, exact=exact)
        except SessionDied as died:
            self._stopped[name] = str(died)
            self._lost(f"The value {name} could not be read: {died}.")
            return _unread(str(died))
        if late := _late(begun, self.limits.call_seconds):
            self._stopped[name] = late
            self.remarks.append(f"The value {name} could not be read: {late}.")
        return value

    def call(self, name: str, args: Sequence[Any], *, own_work: bool) -> Observation:
        """Call one of the submission's functions.

        A function that had to be stopped is not called again.
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
            self._stopped[name] = f"it was stopped: {died}."
            self._lost(f"{name} was stopped: {died}.")
            return Observation(problem=self._stopped[name], on_these_arguments=True)
        late = _late(begun, self.limits.call_seconds)
        if late and observation.problem:
            self._stopped[name] = observation.problem
            self.remarks.append(f"{name} was stopped: {late}.")
        return observation

    def invoke(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Invocation:
        """Call one of the submission's functions as a cell would.

        A function that had to be stopped is not called again.

        Raises
        ------
        TypeError
            If an argument cannot cross to the other process.
        """
        if name in self._stopped:
            return _stopped(self._stopped[name])
        session = self._ready()
        if session is None:
            return _stopped(f"it was not called: {self._over}")
        begun = time.monotonic()
        try:
            invocation = session.invoke(name, args, keywords)
        except SessionDied as died:
            self._stopped[name] = str(died)
            self._lost(f"{name} was stopped: {died}.")
            return _stopped(self._stopped[name])
        if late := _late(begun, self.limits.call_seconds):
            self._stopped[name] = late
            self.remarks.append(f"{name} was stopped: {late}.")
            return _stopped(late)
        return invocation

    def _ready(self) -> Session | None:
        """Return the session, or None if it is over or the submission has used up its time."""
        if not self._over and time.monotonic() > self._deadline:
            self._give_up(f"the submission has used up its {self.limits.submission_seconds:g} s")
        return self._session

    def _lost(self, remark: str) -> None:
        self.remarks.append(remark)
        self._begin_again()

    def _begin_again(self) -> None:
        """Open a new session and execute there the cells that were executed before."""
        self._end()
        self._open()
        for name, source in self._done:
            session = self._ready()
            if session is None:
                return
            try:
                session.execute(name, source)
            except SessionDied as died:
                self._give_up(f"the cell {name}, executed again, was stopped: {died}")
                return

    def _open(self) -> None:
        self._session = self.sandbox.session()
        if not self.files:
            return
        try:
            problem = self._session.put(self.files)
        except SessionDied as died:
            problem = str(died)
        if problem:
            self._give_up(f"the files beside the notebook could not be written ({problem})")

    def _give_up(self, why: str) -> None:
        self._over = why
        self.remarks.append(f"Nothing more was executed: {why}.")
        self._end()

    def _end(self) -> None:
        if self._session is not None:
            self._session.kill()
            self._session = None


def _stopped(why: str) -> Invocation:
    return Invocation("stopped", why, [], [])


def _unread(why: str) -> Opaque:
    return Opaque(f"object that was not read: {why}")


def _late(begun: float, seconds: float) -> str:
    """Return a message if the time is up, else "".

    This process's clock decides, because a learner's process could misreport the time.
    """
    late = time.monotonic() - begun >= seconds
    return f"it did not return within {seconds:g} s" if late else ""


@dataclass(frozen=True, repr=False)
class _RemoteFunction(StandIn):
    """A stand-in for a learner's function: it is called in the sandbox."""

    live: Live
    name: str

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    def call(self, args: Sequence[Any], *, own_work: bool = True) -> Observation:
        return self.live.call(self.name, args, own_work=own_work)
