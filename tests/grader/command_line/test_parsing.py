"""Misspelt words are told with what may have been meant, and --version says what is installed."""

from __future__ import annotations

import importlib.metadata
import platform

import pytest

from grader.command_line import commands


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["grdae", "masking"], "got 'grdae'. Did you mean grade?"),
        (["grade", "maskin"], "got 'maskin'. Did you mean masking?"),
        (["grade", "masking", "--forse"], "arguments: --forse. Did you mean --force?"),
        (["export", "quiz", "--formt=moodle"], "--formt=moodle. Did you mean --format?"),
        (["release", "--qqq"], "unrecognized arguments: --qqq\n"),
        (["export", "quiz", "--format", "mooodle"], "moodle, got 'mooodle'. Did you mean moodle?"),
        (["extend", "quiz", "ada", "--days", "x"], "a whole number of at least 0, got x\n"),
        (["grade", "quiz", "--workers", "0"], "a whole number of at least 1, got 0\n"),
        (["extend", "quiz", "ada"], "expected --days, --hours or --minutes; --days 0 takes back"),
        (["xyzzy"], "sample-class, doctor, got 'xyzzy'\n"),
        ([], "the following arguments are required: COMMAND\n"),
    ],
)
def test_a_misspelt_word_is_told_with_the_right_one(words, told, capsys):
    with pytest.raises(SystemExit) as stop:
        commands.main(words)
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


def test_the_usage_is_that_of_the_command(capsys):
    with pytest.raises(SystemExit):
        commands.main(["report", "quiz", "--ouput", "x"])
    assert capsys.readouterr().err.startswith("usage: python -m grader report ")


def test_the_version_names_what_decides_on_scores(capsys):
    with pytest.raises(SystemExit) as stop:
        commands.main(["--version"])
    assert stop.value.code == 0
    versions = {name: importlib.metadata.version(name) for name in ("attn_lib", "nbgrader")}
    said = capsys.readouterr().out
    assert said.startswith(f"attn_lib {versions['attn_lib']}, nbgrader {versions['nbgrader']}, ")
    assert said.endswith(f", Python {platform.python_version()}\n")
