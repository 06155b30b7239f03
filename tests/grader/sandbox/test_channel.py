"""A process that nobody trusts cannot keep the judge waiting, nor tell it what it did not ask."""

from __future__ import annotations

import socket
import time

import pytest

from grader.sandbox.channel import Channel, HungUp, TooSlow
from grader.sandbox.inside.wire import BYTES_A_BYTE, HEADER, WireError, pack

MOST = 2**20


@pytest.fixture
def ends():
    """A channel, and the other end of its connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours, MOST), theirs


def soon() -> float:
    return time.monotonic() + 0.2


def test_a_value_is_received_with_the_memory_that_it_may_take(ends):
    channel, theirs = ends
    frame = pack(["x"], max_bytes=0)
    theirs.sendall(frame)
    assert channel.receive(soon()) == ["x"]
    assert channel.weight == BYTES_A_BYTE * (len(frame) - HEADER.size)


def test_one_who_always_has_a_byte_ready_is_too_slow_all_the_same(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(1000, 0) + b" " * 900)
    with pytest.raises(TooSlow):
        channel.receive(time.monotonic() - 0.001)


def test_one_who_stops_in_the_middle_is_too_slow(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(1000, 0) + b" " * 900)
    with pytest.raises(TooSlow):
        channel.receive(soon())


def test_an_urgent_byte_is_no_reply(ends):
    channel, theirs = ends
    theirs.send(b"!", socket.MSG_OOB)
    with pytest.raises((TooSlow, WireError)):
        channel.receive(soon())


def test_one_who_takes_nothing_is_too_slow(ends):
    channel, _ = ends
    with pytest.raises(TooSlow):
        channel.send("x" * MOST, soon())


def test_one_who_hangs_up_is_gone(ends):
    channel, theirs = ends
    theirs.close()
    with pytest.raises(HungUp):
        channel.receive(soon())


def test_more_than_a_frame_may_have_is_refused_before_it_comes(ends):
    channel, theirs = ends
    theirs.sendall(HEADER.pack(0, MOST + 1))
    with pytest.raises(WireError, match="too large"):
        channel.receive(soon())


def test_what_nobody_asked_for_is_refused(ends):
    channel, theirs = ends
    theirs.sendall(b"x")
    with pytest.raises(WireError, match="without a request"):
        channel.send(1, soon())
