"""Errors for users have one base class, and the command line prints them as a sentence."""

from __future__ import annotations

import importlib
import inspect

import pytest

from grader.command_line import actions, commands
from grader.errors import GraderError

#: Errors that users never see, because the named module catches them.
INTERNAL = {
    *("HungUp", "TooSlow"),  # by the session
    *("OutOfTime", "NobodyToAsk"),  # inside the sandbox, raised while the learner's code runs
    *("WireError", "TooLarge"),  # by the channel and the session
    "SessionDied",  # by the code that runs a submission's session
    "TookTooMuch",  # by the judge
    "Uncountable",  # by the watchdog
    "Stopped",  # by the judge of plain test cells
    "TooDeep",  # by the page of feedback
    "LeftOut",  # by the unpacking of archives
    "NobodyReads",  # by the command line, if its output is piped into head
}


def test_each_error_is_a_grader_error_or_internal(root):
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
        *(
            "NoPage",
            "NotAFile",
            "NoGradebook",
            "ImpossibleId",
            "CannotWork",
            "Busy",
            "CellsChanged",
            "LateRuleFailed",
            "NothingGraded",
            "NoFolder",
            "BadRoster",
            "ConfigurationFailed",
            "NothingToReturn",
            "NoDownload",
            "PointsDiffer",
            "WritesTests",
            "Unusable",
            "NoSource",
            "NoCourse",
            "NotCopied",
            "UnknownStudent",
        ),
        *("NothingSubmitted", "BundleFailed", "WorkInTheWay", "ModelAnswersFail"),
    }


def test_the_command_line_prints_a_grader_error_as_a_sentence(monkeypatch, capsys):
    class Missing(GraderError):
        """An example of a GraderError."""

    def examine(options):
        raise Missing("expected a machine, found none.")

    monkeypatch.setattr(actions, "examine_machine", examine)
    assert commands.main(["doctor"]) == 2
    assert capsys.readouterr() == ("", "expected a machine, found none.\n")


def test_a_bug_in_the_grader_keeps_its_traceback(monkeypatch):
    def examine(options):
        raise KeyError("a slip")

    monkeypatch.setattr(actions, "examine_machine", examine)
    with pytest.raises(KeyError, match="a slip"):
        commands.main(["doctor"])
