"""prose.py checks only the prose of a page and reports the position of each finding."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tools import prose

PAGE = """---
title: the the
---
# Weights

Each each row sums to 1, with $w w$ and `the the`.
A {term}`key <key>` and {term}`value` fit. At 10 000 pairs it holds.

```python
the_the = "the the"
```

Weights

Weights are here very positive.
"""


@pytest.fixture(scope="module")
def settings():
    return prose.settings()


def found(text, settings):
    return [line.split(": ")[:2] for line in prose.findings(Path("page.md"), text, settings)]


def test_only_prose_is_checked_and_each_finding_has_its_position(settings):
    assert found(PAGE, settings) == [
        ["page.md:6:1", "lexical_illusions"],
        ["page.md:15:18", "weasel_words.very"],
    ]


def test_words_keep_their_positions():
    blanked = prose.prose(PAGE)
    assert len(blanked) == len(PAGE)
    assert [len(line) for line in blanked.splitlines()] == [len(line) for line in PAGE.splitlines()]
    for word in ("Each", "value", "positive"):
        assert blanked.index(word) == PAGE.index(word)
    assert "the" not in blanked


def test_checks_that_are_turned_off_do_not_run(settings):
    text = 'He said "so" at 1 am.\n'
    assert found(text, settings) == []
    everything = {**settings, "checks": dict.fromkeys(settings["checks"], True)}
    kinds = {kind.partition(".")[0] for _, kind in found(text, everything)}
    assert kinds == {"typography", "dates_times"}


def test_a_finding_fails_the_command(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("All is well.\n", encoding="utf-8")
    assert prose.main([str(tmp_path)]) == 0
    page.write_text("All is is well.\n", encoding="utf-8")
    assert prose.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith(f"{page}:1:")


def test_examples():
    results = doctest.testmod(prose)
    assert results.attempted
    assert not results.failed
