"""An untrusted process can neither delay the judge nor send it data that it did not request."""

from __future__ import annotations

import socket
import time

import pytest

from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.wire import BYTES_A_BYTE, HEADER, WireError, pack

MAX_BYTES = 2**20


@pytest.fixture
def ends():
    """A channel and the other end of its connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours, MAX_BYTES), theirs


def soon() -> float:
    return time.monotonic() + 0.2


def test_a_received_value_has_a_memory_estimate(ends):
    channel, theirs = ends
    frame = pack(["x"], max_bytes=0)
    theirs.sendall(frame)
    assert channel.receive(soon()) == ["x"]
    assert channel.weight == BYTES_A_BYTE * (len(frame) - HEADER.size)


def test_a_sender_with_bytes_left_at_the_deadline_is_too_slow(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(1000, 0) + b" " * 900)
    with pytest.raises(TooSlow):
        channel.receive(time.monotonic() - 0.001)


def test_a_sender_that_stops_midway_is_too_slow(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(1000, 0) + b" " * 900)
    with pytest.raises(TooSlow):
        channel.receive(soon())


def test_an_urgent_byte_is_not_a_reply(ends):
    channel, theirs = ends
    theirs.send(b"!", socket.MSG_OOB)
    with pytest.raises((TooSlow, WireError)):
        channel.receive(soon())


def test_a_receiver_that_never_reads_is_too_slow(ends):
    channel, _ = ends
    with pytest.raises(TooSlow):
        channel.send("x" * MAX_BYTES, soon())


def test_a_closed_connection_is_reported(ends):
    channel, theirs = ends
    theirs.close()
    with pytest.raises(HungUp):
        channel.receive(soon())


def test_a_frame_that_is_too_large_is_refused_before_reading_it(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(0, MAX_BYTES + 1))
    with pytest.raises(WireError, match="too large"):
        channel.receive(soon())


def test_unsolicited_data_is_refused(ends):
    channel, theirs = ends
    theirs.sendall(b"x")
    with pytest.raises(WireError, match="without a request"):
        channel.send(1, soon())
