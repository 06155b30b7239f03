"""What is meant for people has one base, and the command line prints it as a sentence."""

from __future__ import annotations

import importlib
import inspect

import pytest

from grader.command_line import actions, commands
from grader.errors import GraderError

#: Errors that no person sees: who raises them has a caller that catches them.
INTERNAL = {
    *("HungUp", "TooSlow"),  # by the session
    *("OutOfTime", "NobodyToAsk"),  # inside the sandbox, where the learner's code raises them
    *("WireError", "TooLarge"),  # by the channel and the session
    "SessionDied",  # by the one who keeps a submission alive
    "TookTooMuch",  # by the judge
    "TooDeep",  # by the page of feedback
}


def test_each_error_is_meant_for_people_or_caught_inside(root):
    found = {}
    for path in (root / "grader").rglob("*.py"):
        if path.name == "__main__.py":
            continue
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        for error, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, BaseException) and kind.__module__ == name:
                found[error] = kind
    assert {name for name, kind in found.items() if not issubclass(kind, GraderError)} == INTERNAL
    assert {name for name, kind in found.items() if issubclass(kind, GraderError)} == {
        *("GraderError", "NbGraderFailed", "CourseError", "Unreadable", "SandboxUnavailable"),
        *("CannotWork", "Busy", "CellsChanged", "LateRuleFailed", "NothingGraded"),
        *("NothingSubmitted", "BundleFailed", "WorkInTheWay"),
    }


def test_the_command_line_prints_it_as_a_sentence(monkeypatch, capsys):
    class Missing(GraderError):
        """As any of them."""

    def examine(options):
        raise Missing("expected a machine, found none.")

    monkeypatch.setattr(actions, "examine_machine", examine)
    assert commands.main(["doctor"]) == 2
    assert capsys.readouterr() == ("", "expected a machine, found none.\n")


def test_a_fault_of_the_grader_keeps_its_traceback(monkeypatch):
    def examine(options):
        raise KeyError("a slip")

    monkeypatch.setattr(actions, "examine_machine", examine)
    with pytest.raises(KeyError, match="a slip"):
        commands.main(["doctor"])
