"""One bad item stops only itself: odd names, files without rights, killed workers, full disks."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import socket
import tempfile
import tracemalloc
from contextlib import chdir
from pathlib import Path

import pytest
from sqlalchemy import text

from grader.gradebook.reading import entries
from grader.gradebook.writing import GradebookWriter
from grader.judging.verdict import GRADED, Verdict
from grader.reporting.results import results
from grader.running import graded_files, journal
from grader.running.local_workers import Done
from grader.running.pipeline import autograde
from tests.grader.gradebook.rows import rows
from tests.grader.running.classroom import ASSIGNMENT, NOTEBOOK, Class

#: A user without special rights.
NOBODY = 65534


@pytest.fixture
def ordinary(empty_gradebook):
    """A class of an ordinary user. The files of this thread are opened with that user's rights."""
    folder = Path(tempfile.mkdtemp())
    room = Class(folder / "class", empty_gradebook)
    libc = ctypes.CDLL(None)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        libc.setfsuid(NOBODY)
    try:
        yield room
    finally:
        libc.setfsuid(os.geteuid())
        shutil.rmtree(folder)


def statuses(room: Class) -> dict[str, str]:
    return {student: result.status for student, result in room.results().items()}


ODD_NAMES = {
    "with a line feed": "a\nb",
    "with an escape sequence": "a\x1b[2J",
    "that looks like a formula": "=1+1",
    "of 200 characters": "x" * 200,
    "that ends with a space": "ada ",
    "in capitals": "ADA",
    "in normal form C": "Jos\u00e9",
    "in normal form D": "Jose\u0301",
    "of an emoji": "\U0001f600",
    "with glob characters": "[a]*",
}


def test_odd_items_stop_only_themselves(room):
    """Each folder or file is graded, or fails with a reason, or is left out with a reason."""
    room.hand_in("ada", "0.5")
    for name in ODD_NAMES.values():
        room.hand_in(name, "0.5")
    latin = os.fsdecode(b"Jos\xe9")
    room.hand_in(latin, "0.5")
    (room.submitted / "folder" / ASSIGNMENT / NOTEBOOK).mkdir(parents=True)
    (room.submitted / "pipe" / ASSIGNMENT).mkdir(parents=True)
    os.mkfifo(room.submitted / "pipe" / ASSIGNMENT / NOTEBOOK)
    (room.submitted / "file").mkdir()
    (room.submitted / "file" / ASSIGNMENT).write_text("0.5")
    room.hand_in("socket", "0.5").unlink()
    # The whole path would be too long.
    with socket.socket(socket.AF_UNIX) as server, chdir(room.submitted / "socket" / ASSIGNMENT):
        server.bind(NOTEBOOK)
    room.hand_in("loop", "0.5").unlink()
    (room.submitted / "loop" / ASSIGNMENT / NOTEBOOK).symlink_to(NOTEBOOK)
    (room.submitted / "circle").symlink_to("circle")
    (room.submitted / "eve.ipynb").write_text("0.5")
    (room.submitted / "slip").mkdir()
    (room.submitted / "slip" / NOTEBOOK).write_text("0.5")
    room.hand_in("case", "0.5").parent.rename(room.submitted / "case" / ASSIGNMENT.upper())
    for name, note in {
        "year": b"99999-01-01 00:00:00 UTC",
        "binary": b"\x00\xff\x1b[2J",
        "zone": b"2026-03-01 10:00:00 ../../etc/passwd",
        "long": b"2026-03-01 10:00:00 " + b"a" * 900,
    }.items():
        room.hand_in(f"time-{name}", "0.5").with_name("timestamp.txt").write_bytes(note)
    room.grade(0)

    found = room.results()
    failed = {student: result.status for student, result in found.items() if result.reason}
    assert {found[name].score for name in (*ODD_NAMES.values(), "ada")} == {9}
    assert set(failed) == {latin, "folder", "pipe", "file", "socket", "loop"}
    assert failed[latin].startswith("failed: the name of the folder is not in UTF-8")
    assert failed["file"] == f"failed: nothing submitted: expected {NOTEBOOK}"
    for name in ("folder", "pipe", "socket"):
        assert failed[name].startswith(f"failed: found '{NOTEBOOK}', but no notebook")
    assert "links are not followed" in failed["loop"]
    remarks = {name: found[f"time-{name}"].remarks for name in ("year", "binary", "zone", "long")}
    assert {name: len(said) for name, said in remarks.items()} == dict.fromkeys(remarks, 1)
    assert all("is not a time, so it was ignored" in said for (said,) in remarks.values())
    assert "\x1b" not in remarks["binary"][0]
    assert room.run.left_out() == {
        "circle": "it is not a folder",
        "eve.ipynb": "it is not a folder",
        "slip": "it holds no folder of an assignment",
        "case": f"it holds '{ASSIGNMENT.upper()}', expected '{ASSIGNMENT}'",
    }
    assert room.grade(0) == sorted(failed)  # all others are done


def test_files_without_rights_stop_only_themselves(ordinary):
    ordinary.hand_in("ada", "0.5")
    paths = {
        "notebook": ordinary.hand_in("notebook", "0.5"),
        "inner": ordinary.hand_in("inner", "0.5").parent,
        "outer": ordinary.hand_in("outer", "0.5").parent.parent,
        "note": ordinary.hand_in("note", "0.5").with_name("timestamp.txt"),
        "secret": ordinary.hand_in("secret", "0.5").with_name("submission_secret.txt"),
        "unlisted": ordinary.hand_in("unlisted", "0.5").parent.parent,
        "unentered": ordinary.hand_in("unentered", "0.5").parent.parent,
        "other": ordinary.hand_in("other", "0.5").parent.parent,
    }
    shutil.rmtree(paths["unlisted"] / ASSIGNMENT)
    (paths["unlisted"] / "notes").mkdir()
    (paths["other"] / ASSIGNMENT).rename(paths["other"] / "masking")
    paths["note"].write_text("2026-03-01 10:00:00 UTC")
    paths["secret"].write_text("s")
    for name, path in paths.items():
        path.chmod({"unlisted": 0o300, "unentered": 0o600, "other": 0o300}.get(name, 0))
    try:
        ordinary.grade(0)
    finally:
        for path in paths.values():
            path.chmod(0o700)
    found = ordinary.results()
    failed = {student: result.status for student, result in found.items() if result.reason}
    assert set(failed) == {"notebook", "inner", "outer", "unlisted", "unentered"}
    assert failed.pop("unlisted") == f"failed: nothing submitted: expected {NOTEBOOK}"
    assert all("Permission denied" in said for said in failed.values()), failed
    assert {found[name].score for name in ("ada", "note", "secret")} == {9}
    assert found["note"].remarks == (
        "timestamp.txt cannot be read (Permission denied), so it was ignored.",
    )
    assert "other" not in found
    assert ordinary.grade(0) == sorted({*failed, "note"})  # these can be read now
    assert {r.score for r in ordinary.results().values() if not r.reason} == {9}


@pytest.mark.parametrize("order", ["die", "full"])
def test_a_submission_that_the_machine_left_unjudged_keeps_its_grade(room, order):
    for student in ("ada", "bo", "cy"):
        room.hand_in(student, "0.5")
    room.grade()
    page = room.folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    page.parent.mkdir(parents=True)
    page.write_text("earlier")
    before, notebook = rows(room.run.db_url), room.graded("ada").read_bytes()
    parts = room.results()["ada"].parts
    room.hand_in("ada", f"1.0 {order}")
    room.hand_in("dee", f"1.0 {order}")  # who has no earlier grade
    room.hand_in("cy", "1.0")
    assert room.grade() == ["ada", "cy", "dee"]
    found = room.results()
    assert {student: result.score for student, result in found.items()} == {
        "ada": 9,
        "bo": 9,
        "cy": 18,
        "dee": None,
    }
    why = "its worker was killed by SIGKILL" if order == "die" else "OSError: [Errno 28] full"
    why = f"it could not be judged: {why}, tried 2 times"
    assert found["ada"].status == f"to read before; what is there now has no grade: {why}"
    assert (found["ada"].reason, found["ada"].not_judged) == ("", why)
    assert found["ada"].parts == parts
    assert found["dee"].status == f"failed: {why}"
    assert page.read_text() == "earlier"
    assert room.graded("ada").read_bytes() == notebook
    assert [row for row in rows(room.run.db_url)["grade"] if "'cy'" not in row] == [
        row for row in before["grade"] if "'cy'" not in row
    ]
    assert not [*room.folder.rglob("*.new")]
    # It is tried again by each run, and graded once that is possible.
    assert room.grade() == ["ada", "dee"]
    room.hand_in("ada", "1.0")
    assert room.grade() == ["ada", "dee"]
    assert room.results()["ada"].status == "to read"
    assert room.scores()["ada"] == 18


def test_a_graded_notebook_that_cannot_be_written_stops_only_itself(room):
    for student in ("ada", "bo", "cy"):
        room.hand_in(student, "0.5")
    room.grade(0)
    room.graded("ada").unlink()
    room.graded("ada").mkdir()
    (room.graded("bo").parent / f".{NOTEBOOK}.new").mkdir()
    shutil.rmtree(room.folder / "autograded" / "cy")
    (room.folder / "autograded" / "cy").write_text("a file")
    for student in ("ada", "bo", "cy", "dee"):
        room.hand_in(student, "1.0")
    assert room.grade(0) == ["ada", "bo", "cy", "dee"]
    assert room.scores() == {"ada": 9, "bo": 9, "cy": 9, "dee": 18}
    for student, why in (("ada", errno.EISDIR), ("bo", errno.EISDIR), ("cy", errno.ENOTDIR)):
        told = room.results()[student].not_judged
        assert told.startswith(f"the graded notebook could not be written: {os.strerror(why)}")


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("stage", errno.ENOSPC),
        ("stage", errno.EROFS),
        ("put_in_place", errno.EDQUOT),
        ("put_in_place", errno.EIO),
        ("fsync", errno.ENOSPC),
    ],
)
def test_a_full_disk_stops_the_run_and_loses_nothing(room, monkeypatch, place, number):
    students = [f"s{n:02}" for n in range(14)]
    for student in students:
        room.hand_in(student, "0.5")
    written = []
    module, calls = (journal.os, 1) if place == "fsync" else (graded_files, 12)
    real = getattr(module, place)

    def fill(file, *content):
        written.append(file)
        if len(written) > calls:
            raise OSError(number, os.strerror(number), str(file))
        return real(file, *content)

    monkeypatch.setattr(module, place, fill)
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        room.grade(0)
    assert raised.value.errno == number
    monkeypatch.undo()
    lines = journal.read(journal.path_in(room.folder, ASSIGNMENT))
    done = [line.student for line in lines]
    assert len(done) >= 10
    assert all(room.graded(student).is_file() for student in done)
    assert not [*room.folder.rglob("*.new")]
    assert sorted({*done, *room.grade(0)}) == students
    assert room.scores() == dict.fromkeys(students, 9)


def test_a_gradebook_that_fails_in_the_middle_of_a_run_is_not_half_written(room, monkeypatch):
    for number in range(12):
        room.hand_in(f"s{number:02}", "0.5")
    room.grade(0)
    before = rows(room.run.db_url), room.scores()
    for number in range(12):
        room.hand_in(f"s{number:02}", "1.0")
    real = GradebookWriter._enter_together

    def fail(writer, batch):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writer, "_enter_penalty", lambda _: writer._db.execute(text("select x")))
            real(writer, batch)

    monkeypatch.setattr(GradebookWriter, "_enter_together", fail)
    with pytest.raises(Exception, match="no such column: x"):
        room.grade(0)
    assert (rows(room.run.db_url), room.scores()) == before
    assert not [*room.folder.rglob("*.new")]
    monkeypatch.undo()
    assert len(room.grade(0)) == 12
    assert set(room.scores().values()) == {18}


def test_only_the_row_that_the_gradebook_refuses_is_not_entered(room, monkeypatch):
    for student in ("ada", "bo", "cy"):
        room.hand_in(student, "0.5")
    room.grade(0)
    notebook = room.graded("bo").read_bytes()
    real = GradebookWriter._enter_one

    def refuse(writer, submission, entered):
        real(writer, submission, entered)
        if submission.student_id in ("bo", "dee"):
            submission.timestamp = "noon"

    monkeypatch.setattr(GradebookWriter, "_enter_one", refuse)
    for student in ("ada", "bo", "dee"):
        room.hand_in(student, "1.0")
    assert room.grade(0) == ["ada", "bo", "dee"]
    found = {r.student: r for r in results(room.run.db_url, room.folder, ASSIGNMENT)}
    assert {student: r.score for student, r in found.items()} == {
        "ada": 18,
        "bo": 9,
        "cy": 9,
        "dee": None,
    }
    assert "the gradebook did not take it: SQLite DateTime type" in found["bo"].not_judged
    assert "the gradebook did not take it: SQLite DateTime type" in found["dee"].reason
    assert room.graded("bo").read_bytes() == notebook
    assert not room.graded("dee").exists()
    assert set(entries(room.run.db_url, ASSIGNMENT)) == {"ada", "bo", "cy"}


class LargeVerdicts:
    """Workers whose verdicts have a notebook of this many bytes."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> LargeVerdicts:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def do(self, jobs):
        tracemalloc.reset_peak()  # how the run began does not count
        for name, _ in jobs:
            verdict = Verdict(ASSIGNMENT, name, GRADED, notebook="x" * self.size)
            yield Done(name, verdict.to_bytes())


def test_neither_submissions_nor_verdicts_are_kept_in_memory(room):
    size, students = 2**20, [f"s{number:02}" for number in range(24)]
    for student in students:
        room.hand_in(student, "x" * size)
    tracemalloc.start()
    try:
        autograde(room.run, LargeVerdicts(size))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert {room.graded(student).stat().st_size for student in students} == {size}
    assert peak < 12 * size  # one submission, its verdict in a few forms, and what is small
