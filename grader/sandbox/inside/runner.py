"""Answers the judge's requests, one at a time, in the process that executes a learner's cells.

Once the first cell has been executed, learner code may have changed anything in this process. So
nothing here protects the judge. It reads the replies as hostile; the worst they can do is to be
wrong about the learner's own functions and values.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attn_lib.course.checks.observation import Observation, observe
from grader.sandbox.inside.deadline import OutOfTime, deadline
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.shell import Shell
from grader.sandbox.inside.wire import HEADER, Opaque, TooLarge, body_length, pack, unpack

_MAX_READ = 2**31  # bytes of arguments; the judge, who sends them, is trusted
_PIECE = 2**20

#: Makes the frame of a reply. It reads learners' objects, which can take any time, so it is called
#: within the deadline.
Reply = Callable[..., bytes]


def serve(connection: socket.socket, shell: Shell, limits: Limits) -> None:
    """Answer requests until the judge closes the connection."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    shell.begin()
    answers = _Answers(shell, limits)
    connection.sendall(pack(["ready", ""], max_bytes=0))
    while (request := _receive(connection)) is not None:
        token, kind, *arguments = request

        def reply(body: Any, *, exact: bool = False, token: str = token) -> bytes:
            return pack([token, body], max_bytes=limits.result_mib * 2**20, exact=exact)

        connection.sendall(getattr(answers, kind)(reply, *arguments))


class _Answers:
    """One method for each kind of request. Each returns a frame."""

    def __init__(self, shell: Shell, limits: Limits) -> None:
        self._shell = shell
        self._limits = limits

    def execute(self, reply: Reply, name: str, source: str) -> bytes:
        outcome, outputs = self._shell.execute(source, name, self._limits)
        try:
            return reply((outcome, outputs))
        except TooLarge as error:
            text = f"[output left out: {error}]\n"
            return reply((outcome, [{"output_type": "stream", "name": "stderr", "text": text}]))

    def kinds(self, reply: Reply, names: Sequence[str]) -> bytes:
        return reply({name: self._kind(name) for name in names})

    def put(self, reply: Reply, files: Mapping[str, bytes]) -> bytes:
        try:
            for name, content in files.items():
                path = Path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            sys.path.insert(0, "")  # as in a notebook, modules beside it can be imported
        except OSError as error:
            return reply(f"{name}: {error.strerror}")
        return reply("")

    def value(self, reply: Reply, name: str, exact: bool) -> bytes:
        try:
            with deadline(self._limits.call_seconds):
                return reply(self._shell.user_ns.get(name), exact=exact)
        except TooLarge as error:
            why = f"is too large to read: {error}"
        except OutOfTime:
            why = "takes too long to read"
        except BaseException as error:  # a learner's object may raise anything when it is read
            why = f"raises {type(error).__name__} when read"
        return reply(Opaque(f"object that {why}"))

    def call(self, reply: Reply, name: str, args: Sequence[Any], own_work: bool) -> bytes:
        self._shell.collect(self._limits)  # discards what the function prints
        try:
            with deadline(self._limits.call_seconds), self._shell.builtin_trap:
                observation = observe(self._shell.user_ns.get(name), list(args), own_work=own_work)
                return reply(observation)
        except TooLarge as error:
            return reply(Observation(problem=f"its result is too large to read: {error}."))
        except OutOfTime as late:
            problem = f"{late}. Is there a loop that does not end?"
        except BaseException as error:  # a learner's object may raise anything when it is read
            problem = f"it raised {type(error).__name__}, or its result did when it was read."
        return reply(Observation(problem=problem, on_these_arguments=True))

    def invoke(
        self, reply: Reply, name: str, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> bytes:
        outputs = self._shell.collect(self._limits)
        given = [*args, *keywords.values()]
        try:
            before = [self._frame(value) for value in given]
            with deadline(self._limits.call_seconds), self._shell.builtin_trap:
                ending = _ending_of(self._shell.user_ns.get(name), args, keywords)
                if ending[0] == "returned":
                    ending = next(
                        (("argument", n) for n, value in enumerate(given) if value is ending[1]),
                        ending,
                    )
                changed = [
                    (number, value)
                    for number, value in enumerate(given)
                    if self._frame(value) != before[number]
                ]
                printed = [
                    (output["name"], output["text"])
                    for output in outputs.finish()
                    if output["output_type"] == "stream"
                ]
                return reply((*ending, changed, printed), exact=True)
        except TooLarge as error:
            why = f"its result is too large to read: {error}"
        except OutOfTime as late:
            why = f"{late}"
        except BaseException as error:  # a learner's object may raise anything when it is read
            why = f"it raised {type(error).__name__}, or its result did when it was read"
        return reply(("stopped", why, [], []))

    def _frame(self, value: object) -> bytes:
        return pack(value, max_bytes=self._limits.result_mib * 2**20, exact=True)

    def _kind(self, name: str) -> str:
        if not self._shell.defined(name):
            return "missing"
        return "function" if callable(self._shell.user_ns[name]) else "value"


def _ending_of(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[str, Any]:
    """Call a function; return "returned" and its value, or "raised" and the error as data.

    An error is the names of its built-in types, the most special one first, and its arguments.
    """
    try:
        return "returned", function(*args, **keywords)
    except (Exception, SystemExit) as error:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        return "raised", (kinds, list(error.args))


def _receive(connection: socket.socket) -> Any:
    """Return the next request; None if the judge has closed the connection."""
    frame = bytearray()
    if not _fill(frame, HEADER.size, connection):
        return None
    length = HEADER.size + body_length(frame, max_bytes=_MAX_READ)
    return unpack(frame, max_bytes=_MAX_READ) if _fill(frame, length, connection) else None


def _fill(frame: bytearray, length: int, connection: socket.socket) -> bool:
    while len(frame) < length:
        piece = connection.recv(min(length - len(frame), _PIECE))
        if not piece:
            return False
        frame += piece
    return True
