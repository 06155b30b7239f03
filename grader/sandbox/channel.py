"""Sends frames to an untrusted process and receives its replies, each before a deadline.

Defends against: a process that sends nothing, too much, too slowly or without a request, or
that does not read what it is sent.

Does not defend against: replies that are well-formed but false.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any

import numpy as np

from grader.sandbox.inside.wire import HEADER, WireError, body_length, pack, unpack, weight

_PIECE = 2**18
_MAX_SENT = 2**31


class HungUp(Exception):
    """Raised when the other end has closed the connection."""


class TooSlow(Exception):
    """Raised when the deadline has passed."""


class Channel:
    """One end of a connection on which requests and replies alternate."""

    def __init__(self, connection: socket.socket, max_bytes: int) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._max_bytes = max_bytes
        self.weight = 0  #: bytes of memory that the last value received may need, at most

    def send(self, value: Any, deadline: float) -> None:
        """Send a value.

        Raises
        ------
        WireError
            If the other end has sent something without a request.
        TooLarge
            If the value does not fit in a frame.
        HungUp, TooSlow
            If the other end has closed the connection, or does not read before the deadline.
        """
        if self._has_input():
            raise WireError("the other end sent something without a request")
        view = memoryview(pack(value, max_bytes=_MAX_SENT, strict=True, exact=True))
        while view:
            try:
                view = view[self._connection.send(view[:_PIECE]) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except OSError as error:
                raise HungUp from error

    def receive(self, deadline: float) -> Any:
        """Return the next value.

        Raises
        ------
        WireError
            If the bytes received are not a frame.
        HungUp, TooSlow
            If the other end has closed the connection, or does not send before the deadline.
        """
        self._wait(select.POLLIN, deadline)
        header = memoryview(bytearray(HEADER.size))
        self._fill(header, deadline)
        length = body_length(header, max_bytes=self._max_bytes)
        self.weight = weight(header)
        # NumPy's memory is there only once bytes arrive in it, and in large pages, which cost less.
        frame = np.empty(HEADER.size + length, np.uint8).data
        frame[: HEADER.size] = header
        self._fill(frame[HEADER.size :], deadline)
        return unpack(frame, max_bytes=self._max_bytes)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _fill(self, room: memoryview, deadline: float) -> None:
        """Receive until the room is full."""
        while room:
            try:
                size = self._connection.recv_into(room)
            except BlockingIOError:
                self._wait(select.POLLIN, deadline)
                continue
            except OSError as error:
                raise HungUp from error
            if not size:
                raise HungUp
            room = room[size:]

    def _has_input(self) -> bool:
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _wait(self, event: int, deadline: float) -> None:
        """Wait for the event. After the deadline, raise even if the event is already there."""
        poll = select.poll()
        poll.register(self._connection, event)
        seconds = deadline - time.monotonic()
        if seconds <= 0 or not poll.poll(seconds * 1000):
            raise TooSlow
