"""Frames to and from a process that nobody trusts, each before a deadline.

Defends against: a process that sends nothing, too much, too slowly, more than it was asked
for, or does not take what it is sent. It cannot know whether what comes is true.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any

from grader.sandbox.inside.wire import HEADER, WireError, body_length, pack, unpack, weight

_PIECE = 2**18
_MOST_SENT = 2**31


class HungUp(Exception):
    """Raised when the other end is closed."""


class TooSlow(Exception):
    """Raised when the deadline has passed."""


class Channel:
    """One end of a connection on which questions and answers take turns."""

    def __init__(self, connection: socket.socket, most_bytes: int) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._most_bytes = most_bytes
        self.weight = 0  #: bytes of memory that the last value received may take

    def send(self, value: Any, deadline: float) -> None:
        """Send a value.

        Raises
        ------
        WireError
            If something came in that was not asked for.
        TooLarge
            If it does not fit in a frame.
        HungUp, TooSlow
        """
        if self._has_input():
            raise WireError("something came in that was not asked for")
        view = memoryview(pack(value, most_bytes=_MOST_SENT, strict=True))
        while view:
            self._wait(select.POLLOUT, deadline)
            try:
                view = view[self._connection.send(view[:_PIECE]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise HungUp from error

    def receive(self, deadline: float) -> Any:
        """Return the next value.

        Raises
        ------
        WireError
            If what came is no frame.
        HungUp, TooSlow
        """
        frame = bytearray()
        self._fill(frame, HEADER.size, deadline)
        length = body_length(frame, most_bytes=self._most_bytes)
        self.weight = weight(frame)
        self._fill(frame, HEADER.size + length, deadline)
        return unpack(frame, most_bytes=self._most_bytes)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _fill(self, frame: bytearray, length: int, deadline: float) -> None:
        """Receive until the frame has this length. It grows with what has really come."""
        while len(frame) < length:
            self._wait(select.POLLIN, deadline)
            try:
                piece = self._connection.recv(min(length - len(frame), _PIECE))
            except BlockingIOError:
                continue
            except OSError as error:
                raise HungUp from error
            if not piece:
                raise HungUp
            frame += piece

    def _has_input(self) -> bool:
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if not any(event & select.POLLIN for _, event in poll.poll(0)):
            return False
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _wait(self, event: int, deadline: float) -> None:
        """Wait until the event; past the deadline also one that is there comes too late."""
        poll = select.poll()
        poll.register(self._connection, event)
        seconds = deadline - time.monotonic()
        if seconds <= 0 or not poll.poll(seconds * 1000):
            raise TooSlow
