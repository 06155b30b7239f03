"""A gradebook is copied whole, and only into an empty one."""

from __future__ import annotations

import pytest

from grader.command_line import commands
from grader.gradebook import reading
from grader.gradebook.copying import NotCopied, copy_gradebook
from tests.grader.gradebook.rows import rows
from tests.grader.gradebook.server import with_tables


def enter(folder, *students: str) -> str:
    """Enter students in a new gradebook in a folder, and return its address."""
    folder.mkdir()
    url = with_tables(reading.sqlite_url(folder))
    with reading.open_gradebook(url, "attention") as gradebook:
        for student in students:
            gradebook.add_student(student, first_name="Zoë", last_name="D'Arcy")
        gradebook.update_or_create_assignment("quiz", duedate="2026-03-02 22:59:00 UTC")
    return url


def test_the_command_copies_and_says_what_to_do(tmp_path, capsys):
    old = enter(tmp_path / "old", "ada", "bo")
    new = with_tables(f"sqlite:///{tmp_path}/new.db")
    assert commands.main(["copy-gradebook", new, "--into", str(tmp_path / "old")]) == 0
    assert capsys.readouterr().out.startswith(
        f"2 students, 1 assignment, 0 submissions copied to {new}. The old gradebook is as it was."
    )
    assert rows(new) == rows(old)
    assert len(rows(new)["student"]) == 2


def test_a_gradebook_in_use_is_not_replaced(tmp_path):
    old, new = enter(tmp_path / "old", "ada", "bo"), enter(tmp_path / "new", "cy")
    before = rows(new)
    with pytest.raises(NotCopied, match="found one with 1 students and 1 assignments"):
        copy_gradebook(old, new)
    assert rows(new) == before


def test_nothing_is_not_copied(tmp_path):
    old, new = enter(tmp_path / "old"), with_tables(f"sqlite:///{tmp_path}/new.db")
    with pytest.raises(NotCopied, match="expected students in the gradebook sqlite:"):
        copy_gradebook(old, new)
    assert rows(new)["assignment"] == []
