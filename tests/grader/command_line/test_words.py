"""What goes wrong outside of the grader is said in words, and what others named cannot say more."""

from __future__ import annotations

import csv
import errno
import io
import logging
import os
import sqlite3
import unicodedata
from pathlib import Path

import pytest
from nbgrader.apps import ZipCollectApp

from grader.command_line import actions, commands
from grader.command_line.grading import Graded
from grader.command_line.output import Progress
from grader.course import configuration
from grader.gradebook.reading import Entry, Learner
from grader.judging.findings import JudgedFinding, JudgedPart
from grader.nbgrader_hooks.logs import PrintableFormatter
from grader.reporting import summary
from grader.reporting.export import FORMATS, write_csv
from grader.reporting.results import Result
from grader.running import pipeline
from grader.running.local_workers import CannotWork

pytestmark = pytest.mark.usefixtures("runs_share_a_sandbox")

ASSIGNMENT = "dot-products"


def text_file(path: Path) -> None:
    path.write_text("This is no database, and long enough to be read as one." * 100)


def other_database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table recipes (name)")
    database.close()


def cut_database(path: Path) -> None:
    other_database(path)
    path.write_bytes(path.read_bytes()[:1000])


NO_GRADEBOOKS = {
    "a text": (text_file, "file is not a database"),
    "another database": (other_database, "found a database with the tables recipes."),
    "a database that was cut": (cut_database, "database disk image is malformed"),
    "a folder": (Path.mkdir, "unable to open database file"),
    "a link that leads nowhere": (lambda path: path.symlink_to("no/where"), "unable to open"),
}


@pytest.mark.parametrize("name", NO_GRADEBOOKS)
@pytest.mark.parametrize("command", ["export", "report", "feedback"])
def test_a_garbage_gradebook_is_a_sentence(tmp_path, capsys, name, command):
    make, told = NO_GRADEBOOKS[name]
    path = tmp_path / "gradebook.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    assert commands.main([command, ASSIGNMENT, "--into", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert len(said.err.splitlines()) == 1
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "An address is sqlite:////home/me/gradebook.db"),
        ("oracle+nothing://host/x", "An address begins with sqlite:/// or postgresql+psycopg://."),
        ("postgresql+psycopg://nobody@127.0.0.1:1/x", "See that the server runs there"),
    ],
)
def test_an_address_of_no_gradebook_is_a_sentence(tmp_path, capsys, url, told):
    assert commands.main(["export", ASSIGNMENT, "--into", str(tmp_path), "--db", url]) == 2
    said = capsys.readouterr().err
    assert said.startswith("the gradebook could not be used: ")
    assert told in said


def test_a_locked_gradebook_is_a_sentence(tmp_path, capsys):
    path = tmp_path / "gradebook.db"
    other = sqlite3.connect(path)
    other.execute("create table student (id)")
    other.execute("begin exclusive")
    options = ["--into", str(tmp_path), "--db", f"sqlite:///{path}?timeout=0.01"]
    assert commands.main(["export", ASSIGNMENT, *options]) == 2
    assert capsys.readouterr().err == (
        "the gradebook could not be used: database is locked. Close what else uses it, such as "
        "formgrader, then give the command again.\n"
    )
    other.close()


@pytest.mark.parametrize(
    "problem",
    [
        OSError(errno.ENOSPC, "No space left on device", "/course/autograded/a\nb"),
        OSError(errno.EROFS, "Read-only file system", "/course/a\x1b[2J"),
        PermissionError(errno.EACCES, "Permission denied", "/course/gradebook.db"),
        IsADirectoryError(errno.EISDIR, "Is a directory", "/course/grades.csv"),
        OSError(errno.EMFILE, "Too many open files"),
        CannotWork("expected the Dask scheduler at tcp://h:1, but the connection was lost."),
    ],
)
def test_trouble_with_the_machine_is_a_sentence_and_exit_status_2(
    tmp_path, capsys, monkeypatch, problem
):
    (tmp_path / "submitted" / "ada" / ASSIGNMENT).mkdir(parents=True)

    def autograde(*_):
        raise problem

    monkeypatch.setattr(pipeline, "autograde", autograde)
    options = ["--submitted", str(tmp_path / "submitted"), "--into", str(tmp_path)]
    assert commands.main(["autograde", ASSIGNMENT, *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert (getattr(problem, "strerror", None) or str(problem)) in said.err
    assert is_plain(said.err)


@pytest.mark.parametrize("name", ["grades.csv", f"report-{ASSIGNMENT}.html"])
def test_a_folder_in_the_place_of_a_file_keeps_nothing_half_written(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError):
        write_csv(ODD, ["a"], tmp_path / name)
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208


def is_plain(text: str) -> bool:
    """Say whether only lines of text are in it, and nothing that controls a terminal."""
    letters = set(text) - {"\n"}
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in letters)


EVIL = "\x1b]0;title\x07\x1b[2J\r\n\x9b1m\u202eada\udce9"


def odd(student: str) -> Result:
    entry = Entry(student, {"a": 1.0}, {"a": 2.0}, comments={"a": EVIL})
    found = (JudgedFinding(EVIL, EVIL, "no-scale"),)
    return Result(
        student,
        entry,
        {"a": (JudgedPart(EVIL, 2.0, False, found),)},
        remarks=(EVIL, "=1+1"),
        missing=(EVIL,),
        learner=Learner(EVIL, EVIL, EVIL),
        not_judged=EVIL,
    )


ODD = [odd("ada"), odd(EVIL), odd("=di"), Result(EVIL + "2", None, reason=EVIL)]


def test_names_cannot_control_the_terminal(capsys, monkeypatch):
    texts = [
        summary.absent([EVIL], []),
        summary.absent([EVIL], [EVIL.upper()]),
        summary.left_out({EVIL: EVIL}),
        summary.not_judged(ODD),
        summary.formulas(ODD),
        summary.exported(ODD, 2, "grades.csv"),
    ]
    assert actions._print_results(Graded(ODD, {EVIL: EVIL}), texts) == 1
    said = capsys.readouterr()
    assert is_plain(said.out + said.err)
    # No name makes a line of its own: the table has its heading and a line for each student.
    lines = said.out.split("\n")
    assert lines[0].startswith("student")
    assert [line.partition(" ")[0][:4] for line in lines[1:5]] == ["ada", "\\x1b", "=di", "\\x1b"]
    assert not any(line.startswith("ada\\udce9") for line in lines)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with Progress() as progress:
        progress(f"graded 1 of 2: {EVIL}")
    shown = capsys.readouterr().err
    assert is_plain(shown.replace("\r\x1b[K", ""))


def test_an_error_cannot_control_the_terminal(capsys, tmp_path):
    options = ["--submitted", str(tmp_path), "--student", EVIL]
    assert commands.main(["autograde", ASSIGNMENT, *options]) == 2
    assert is_plain(capsys.readouterr().err)


def test_the_logs_of_nbgrader_cannot_control_the_terminal():
    app = ZipCollectApp(config=configuration())
    (handler,) = [h for h in app.log.handlers if isinstance(h.formatter, PrintableFormatter)]
    written = io.StringIO()
    previous = handler.setStream(written)
    try:
        app.log.error("Parsing file: %s", EVIL)
        try:
            raise ValueError(EVIL)
        except ValueError:
            app.log.exception("stopped at %s", "ada")
    finally:
        handler.setStream(previous)
    assert is_plain(written.getvalue())
    assert "\\x1b]0;title\\x07" in written.getvalue()
    assert "raise ValueError(EVIL)" in written.getvalue()
    assert logging.getLogger(app.log.name) is app.log


@pytest.mark.parametrize("form", FORMATS)
def test_ids_are_exported_as_they_are(tmp_path, form):
    ids = ["=di", "+49", "-1", "@ada", "\tx", "a;=1", "'q", '"', "a,b", "Ödegård", " x "]
    results = [
        Result(name, Entry(name, {"a": 1.0}, {"a": 2.0}), learner=Learner("=f()", "b;=g()", name))
        for name in ids
    ]
    write_csv(results, ["a"], tmp_path / "x.csv", column="a", file_format=form)
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))[2 if form == "canvas" else 1 :]
    column = {"csv": 0, "moodle": 0, "canvas": 3, "blackboard": 2, "brightspace": 0}[form]
    assert [row[column] for row in rows] == ids
    if form == "canvas":
        assert [row[1] for row in rows] == ids
        assert {row[0] for row in rows} == {"b;'=g(), =f()"}
    elif form != "brightspace":  # which has no names
        names = [[text for text in row[:3] if text not in ids] for row in rows]
        assert names == [["b;'=g()", "'=f()"]] * len(ids)
    told = summary.formulas(results)
    assert told.startswith("A spreadsheet takes 12 ids for a formula (=di, =di, +49, +49, -1, -1")


def test_an_id_that_is_not_text_is_exported_escaped(tmp_path):
    failed = Result(os.fsdecode(b"Jos\xe9"), None, reason="not in UTF-8")
    write_csv([failed], ["a"], tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text("utf-8-sig").splitlines()[1].startswith('"Jos\\udce9",')
