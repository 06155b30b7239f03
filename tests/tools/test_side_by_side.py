"""Tests that share an expensive result form a group, and slow tests run first."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import side_by_side
from tests.side_by_side import group_of, rank

BUILD = "tests/book/test_build.py::test_the_book_builds_without_a_warning"


@pytest.mark.parametrize(
    ("node_id", "parameters", "group"),
    [
        ("attn_lib/softmax.py::attn_lib.softmax.softmax", {}, "attn_lib/softmax.py"),
        ("tests/book/test_quiz.py::test_a[1]", {"name": "a"}, "tests/book/test_quiz.py"),
        (BUILD, {}, None),
        (
            "tests/book/test_pages.py::test_a[x.html]",
            {"name": "x.html", "width": 375},
            "tests/book/test_pages.py x.html",
        ),
        ("tests/book/test_pages.py::test_b", {}, "tests/book/test_pages.py"),
        (
            "tests/end_to_end/test_shown_commands.py::test_it_runs[README.md:7 make]",
            {"shown": SimpleNamespace(page="README.md", line=7)},
            "tests/end_to_end/test_shown_commands.py README.md",
        ),
        (
            "tests/exercises/proof/test_right.py::test_a[quiz-3]",
            {"proof": "quiz", "seed": 3},
            "tests/exercises/proof/test_right.py quiz",
        ),
        (
            "tests/exercises/mutation/test_naming.py::TestCauses::test_a[quiz]",
            {"proof": "quiz"},
            "tests/exercises/mutation quiz",
        ),
    ],
)
def test_the_group_of_a_test(node_id, parameters, group):
    assert group_of(node_id, parameters) == group


def test_the_book_comes_first_and_fast_tests_come_last():
    node_ids = [
        "attn_lib/softmax.py::attn_lib.softmax.softmax",
        "tests/grader/submission/test_locating.py::test_a",
        "tests/grader/judging/test_hostile.py::test_a",
        BUILD,
        "tests/book/test_build.py::test_alternative_texts[x]",
    ]
    assert sorted(node_ids, key=rank) == [node_ids[at] for at in (3, 2, 1, 4, 0)]


def test_every_listed_path_exists(root):
    named = {
        *side_by_side.APART,
        *side_by_side.TOGETHER,
        *side_by_side.PARTED_BY,
        *side_by_side.PARTED_BELOW,
        *side_by_side.FIRST,
    }
    paths = {name.partition("::")[0] for name in named}
    assert [path for path in sorted(paths) if not (root / path).exists()] == []
    for name in named:
        path, _, test = name.partition("::")
        assert not test or f"def {test}(" in (root / path).read_text(encoding="utf-8")


def test_three_processes_for_two_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 4, 5}, raising=False)
    assert side_by_side.processes() == 5
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert side_by_side.processes() == 2
