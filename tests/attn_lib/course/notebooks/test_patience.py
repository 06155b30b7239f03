"""Code that runs for long is told how to be stopped; where that cannot be, nothing goes wrong."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from attn_lib.course.checks import Checks, ledger
from attn_lib.course.notebooks import execution, patience
from attn_lib.course.notebooks.cells import Cell
from attn_lib.course.notebooks.patience import patient

HOW = "If it does not end, stop it:\nKernel, Interrupt, or the square in the toolbar; in a terminal"


class Told(io.TextIOBase):
    """A standard output that says when something was printed; it collects nothing for later."""

    def __init__(self):
        self.text, self.event = "", threading.Event()

    def write(self, text):
        self.text += text
        if self.text.endswith("Ctrl+C.\n"):
            self.event.set()
        return len(text)


@pytest.fixture
def impatient(monkeypatch):
    """Say it at once."""

    def at_once(name, seconds=0.0, to=None):
        return patient(name, seconds, to)

    monkeypatch.setattr(ledger, "patient", at_once)
    monkeypatch.setattr(execution, "patient", at_once)


def test_a_function_that_runs_for_long_is_named(impatient, monkeypatch):
    out = Told()
    monkeypatch.setattr(sys, "stdout", out)
    check = Checks({"half": lambda x: out.event.wait(60) and x / 2})
    check.part("half", points=1)
    check.call("half", 3.0, expected=1.5)
    assert out.text.startswith(f"half has been running for 0 seconds. {HOW}")
    assert check.parts[0].passed


def test_so_is_a_cell_in_the_terminal(impatient, monkeypatch, tmp_path):
    out = Told()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setitem(sys.modules, "told", out)
    code = "import sys\nassert sys.modules['told'].event.wait(60)"
    wait = Cell("loop", code, is_code=True, is_answer=True)
    outcome = execution.execute([wait], tmp_path)
    assert out.text.startswith(f"loop has been running for 0 seconds. {HOW}")
    assert outcome.tasks[0].lines == []


def test_nothing_is_said_of_what_ends(monkeypatch):
    timers = []
    timer = threading.Timer
    monkeypatch.setattr(
        patience.threading, "Timer", lambda *about: timers.append(timer(*about)) or timers[-1]
    )
    with patient("half", 3600, Told()):
        assert timers[0].is_alive()
    assert timers[0].finished.is_set()  # it has been cancelled


def test_a_browser_without_threads_goes_on(monkeypatch):
    def cannot(timer):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(patience.threading.Timer, "start", cannot)
    with patient("half", 0, Told()):
        done = True
    assert done
