"""A class is graded by real worker processes with a fake judge."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.gradebook import reading
from grader.judging.verdict import GRADED, Verdict
from grader.running import digests, journal
from grader.running.digests import ENVIRONMENT, SETTINGS, course_digest, course_parts
from grader.running.local_workers import CannotWork
from grader.running.pipeline import Outdated, Progress, _check, autograde
from grader.sandbox.inside.limits import Limits
from tests.grader.gradebook.rows import rows
from tests.grader.running.classroom import (
    ASSIGNMENT,
    JUDGE,
    NOTEBOOK,
    POINTS,
    Class,
    InThisProcess,
)


def test_a_class_is_graded(room):
    for number in range(7):
        room.hand_in(f"s{number}", str(number / 6))
    assert room.grade() == [f"s{number}" for number in range(7)]
    assert room.scores() == {f"s{n}": pytest.approx(POINTS * n / 6) for n in range(7)}
    result = room.results()["s3"]
    assert (result.status, result.points, result.entry.to_read) == ("to read", 20, ["in-words"])
    notebook = json.loads(room.graded("s3").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert room.graded("s3").stat().st_mode & 0o777 == 0o444
    lines = list(journal.read(journal.path_in(room.folder, ASSIGNMENT)))
    assert len({line.provenance["worker"] for line in lines}) == 2


@pytest.mark.parametrize(
    ("done", "total", "seconds", "line"),
    [
        (4, 90, 8.0, "graded 4 of 90, 1 failed: ada"),  # too few to tell
        (5, 95, 10.0, "graded 5 of 95, 1 failed, about 3 min left: ada"),
        (60, 3660, 60.0, "graded 60 of 3660, 1 failed, about 1 h left: ada"),
        (90, 90, 9.0, "graded 90 of 90, 1 failed: ada"),
    ],
)
def test_the_time_left_is_estimated(done, total, seconds, line):
    assert str(Progress(done, total, 1, "ada", seconds)) == line


def test_only_changed_submissions_are_graded_again(room):
    for student in ("ada", "bo", "cy"):
        room.hand_in(student, "0.5")
    room.grade()
    assert room.grade() == []
    room.hand_in("bo", "1.0")
    assert room.grade() == ["bo"]
    assert room.scores() == {"ada": 9, "bo": 18, "cy": 9}
    assert room.grade(force=True) == ["ada", "bo", "cy"]
    assert room.grade(limits=replace(room.run.limits, memory_mib=512)) == ["ada", "bo", "cy"]


def test_grades_are_kept_although_the_course_has_changed(room):
    """What would be judged again is told before; with an option only new hand-ins are judged."""
    for student, share in (("ada", "0.5"), ("bo", "0.5"), ("cy", "no"), ("dee", "1.0")):
        room.hand_in(student, share)
    told: list[Outdated] = []

    def grade(**changes) -> list[str]:
        judged: list[str] = []

        def before(outdated: Outdated) -> None:
            assert judged == []
            told.append(outdated)

        run = replace(room.run, **changes)
        autograde(run, InThisProcess(), lambda done: judged.append(done.student), before)
        return sorted(judged)

    assert grade() == ["ada", "bo", "cy", "dee"]
    assert grade() == ["cy"]  # a failure is no grade
    assert told == []
    other = {"limits": replace(room.run.limits, memory_mib=512)}
    before = room.results()
    room.hand_in("bo", "1.0")
    assert grade(keep_grades=True, **other) == ["bo", "cy"]
    assert told == [Outdated(3, ("settings",))]
    assert room.scores() == {"ada": 9, "bo": 18, "cy": None, "dee": 18}
    assert room.results()["ada"] == before["ada"]
    # They are kept for good: the next run has nothing to judge, with or without the option.
    assert grade(**other) == ["cy"]
    assert len(told) == 1
    # With the first limits again, all are judged, unless the run is told to keep them.
    assert grade() == ["ada", "bo", "cy", "dee"]
    assert told[1:] == [Outdated(3, ("settings",))]
    assert grade(force=True) == ["ada", "bo", "cy", "dee"]
    assert len(told) == 2


def test_grades_in_a_journal_of_an_earlier_version_are_kept(room):
    """It says of which file a grade is, but not of which course."""
    room.hand_in("ada", "0.5")
    room.hand_in("bo", "0.5")
    room.grade(0)
    path = journal.path_in(room.folder, ASSIGNMENT)
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        del line["made_from"]
        line["digest"] = "of an earlier version"
        line["provenance"]["submission"] = hashlib.sha256(b"0.5").hexdigest()
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    room.hand_in("bo", "1.0")
    told = []
    run = replace(room.run, keep_grades=True)
    autograde(run, InThisProcess(), before=told.append)
    assert told == [Outdated(2, ("code",))]
    assert room.scores() == {"ada": 9, "bo": 18}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"source": b"other"}, digests.ASSIGNMENT),
        ({"limits": Limits(memory_mib=512)}, SETTINGS),
        ({"isolation": "none"}, SETTINGS),
        ({"salt": "secret"}, SETTINGS),
    ],
)
def test_the_digest_says_what_has_changed(change, part, monkeypatch):
    usual = {"source": b"notebook", "limits": Limits(), "isolation": "bubblewrap", "salt": ""}
    before = course_parts(**usual)
    after = course_parts(**{**usual, **change})
    assert {name for name in before if before[name] != after[name]} == {part}
    assert course_digest(**usual) != course_digest(**{**usual, **change})
    monkeypatch.setattr("sys.version", "4")
    after = course_parts(**usual)
    assert {name for name in before if before[name] != after[name]} == {ENVIRONMENT}


def test_trained_weights_are_part_of_the_digest(tmp_path, monkeypatch):
    weights = tmp_path / "model" / "trained.npz"
    weights.parent.mkdir()
    monkeypatch.setattr("attn_lib.__file__", str(tmp_path / "__init__.py"))
    found = []
    for content in (b"weights", b"other weights"):
        weights.write_bytes(content)
        found.append(course_parts(b"notebook", Limits(), "bubblewrap"))
    before, after = found
    assert {name for name in before if before[name] != after[name]} == {digests.CODE}


def test_a_forced_run_that_was_stopped_is_continued(room):
    for student in ("ada", "bo", "cy", "dee"):
        room.hand_in(student, "0.5")
    room.grade(0)

    class Stopped(InThisProcess):
        def do(self, jobs):
            yield from itertools.islice(super().do(jobs), 2)
            raise KeyboardInterrupt

    def force(workers: InThisProcess, student: str = "*") -> list[str]:
        judged = []
        run = replace(room.run, force=True, student=student)
        with contextlib.suppress(KeyboardInterrupt):
            autograde(run, workers, lambda progress: judged.append(progress.student))
        return judged

    assert force(Stopped()) == ["ada", "bo"]
    assert room.scores() == dict.fromkeys(["ada", "bo", "cy", "dee"], 9)
    assert force(InThisProcess()) == ["cy", "dee"]
    assert force(InThisProcess()) == ["ada", "bo", "cy", "dee"]
    assert force(Stopped(), "[b-d]*") == ["bo", "cy"]
    assert room.grade(0) == ["dee"]  # without the option it is continued too, and has then ended
    assert force(InThisProcess(), "[b-d]*") == ["bo", "cy", "dee"]
    assert [*room.folder.glob("*.again")] == []


def test_submissions_to_other_assignments_do_not_count(room):
    room.hand_in("ada", "0.5")
    (room.submitted / "bo" / "another").mkdir(parents=True)
    (room.submitted / "cy" / ASSIGNMENT).mkdir(parents=True)
    room.grade()
    assert room.results().keys() == {"ada", "cy"}
    assert room.results()["cy"].status == f"failed: nothing submitted: expected {NOTEBOOK}"


def test_submissions_with_removed_results_are_graded_again(room):
    for student in ("ada", "bo"):
        room.hand_in(student, "0.5")
    room.grade()
    room.graded("ada").unlink()
    assert room.grade() == ["ada"]
    (room.folder / "gradebook.db").unlink()
    assert room.grade() == ["ada", "bo"]
    assert room.scores() == {"ada": 9, "bo": 9}


def test_students_by_pattern(room):
    for student in ("ada", "adele", "bo", "c[1]"):
        room.hand_in(student, "0.5")
    (room.submitted / ".hidden").mkdir()
    assert room.grade(student="ad*") == ["ada", "adele"]
    assert room.grade(student="c[1]") == ["c[1]"]
    assert room.grade() == ["bo"]


def test_failing_submissions_do_not_affect_others(room, tmp_path):
    room.hand_in("ada", "0.5")
    room.hand_in("bo", "0.5 die")
    room.hand_in("cy", "no")
    room.hand_in("dee", "0.5 raise=7")
    room.hand_in("ed", f"0.5 die-once={tmp_path / 'mark'}")
    (room.submitted / "flo").mkdir()
    room.grade()
    assert {student: result.status for student, result in room.results().items()} == {
        "ada": "to read",
        "bo": "failed: it could not be judged: its worker was killed by SIGKILL, tried 2 times",
        "cy": "failed: no notebook",
        "dee": "failed: it could not be judged: ValueError: 7, tried 2 times",
        "ed": "to read",
        "flo": f"failed: nothing submitted: expected {NOTEBOOK}",
    }
    assert room.scores()["ed"] == 9


def test_a_re_grade_that_fails_leaves_no_score(room):
    for student in ("ada", "bo", "cy"):
        room.hand_in(student, "0.5")
    room.grade()
    page = room.folder / "feedback" / "ada" / ASSIGNMENT / "x.html"
    other = room.folder / "feedback" / "bo" / "another" / "x.html"
    for path in (page, other):
        path.parent.mkdir(parents=True)
        path.write_text("old")
    room.hand_in("ada", "no")
    room.hand_in("bo", "0.5 raise=7")
    room.grade()
    assert room.scores() == {"ada": None, "bo": None, "cy": 9}
    assert set(reading.entries(room.run.db_url, ASSIGNMENT)) == {"cy"}
    assert not room.graded("ada").exists()
    assert not (room.folder / "autograded" / "ada").exists()
    assert not page.exists()
    assert other.exists()
    # A failed submission is tried again, and is graded once it is corrected.
    room.hand_in("bo", "1.0")
    assert room.grade() == ["ada", "bo"]
    assert room.scores() == {"ada": None, "bo": 18, "cy": 9}


@pytest.mark.parametrize("failing", ["no", "1.0 raise=7"])
def test_manual_grades_survive_a_failure(room, failing):
    for student in ("ada", "bo"):
        room.hand_in(student, "0.5")
    room.grade()
    with Gradebook(room.run.db_url, "attention") as book:
        for student in ("ada", "bo"):
            grade = book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, student)
            grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.find_comment("in-words", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Good."
        book.db.commit()
        book.grant_extension(ASSIGNMENT, "ada", days=2)
    before = rows(room.run.db_url)
    assert room.scores() == {"ada": 10.5, "bo": 10.5}
    room.hand_in("ada", failing)
    for _ in range(2):  # a failure is tried again
        assert room.grade() == ["ada"]
        result = room.results()["ada"]
        assert (result.score, result.entry) == (None, None)
        assert result.status.startswith("failed: ")
        assert result.reason
        assert not room.graded("ada").exists()
    assert room.scores()["bo"] == 10.5
    room.hand_in("ada", "1.0")
    assert room.grade() == ["ada"]
    result = room.results()["ada"]
    assert (result.score, result.status) == (19.5, "to read")  # to read again, as in nbgrader
    assert result.entry.comments["in-words"] == "Good."
    room.hand_in("ada", "0.5")
    room.grade()
    with Gradebook(room.run.db_url, "attention") as book:
        book.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada").needs_manual_grade = False
        book.db.commit()
    assert rows(room.run.db_url) == before


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_grades_of_nbgrader_autograde_after_a_failure_count(room):
    room.hand_in("ada", "no")
    room.grade()
    assert room.results()["ada"].status == "failed: no notebook"
    with Gradebook(room.run.db_url, "attention") as book:
        book.update_or_create_student("ada")
        book.update_or_create_submission(ASSIGNMENT, "ada")
        grade = book.find_grade("softmax-tests", ASSIGNMENT, ASSIGNMENT, "ada")
        grade.auto_score, grade.needs_manual_grade = 3.0, False
        book.db.commit()
    assert room.scores() == {"ada": 3}
    assert room.results()["ada"].status == "to read"


def test_without_a_sandbox_nothing_changes(room):
    room.hand_in("ada", "0.5")
    room.grade()
    before = rows(room.run.db_url)
    room.hand_in("ada", "1.0 no-sandbox")
    with pytest.raises(CannotWork, match="expected bubblewrap"):
        room.grade()
    assert rows(room.run.db_url) == before
    assert room.scores() == {"ada": 9}


def test_a_renamed_notebook_is_found_and_reported(room):
    room.hand_in("ada", "0.5", "Dot Products (1).ipynb")
    room.grade()
    result = room.results()["ada"]
    assert result.score == 9
    assert result.remarks == (f"'Dot Products (1).ipynb' was used in place of {NOTEBOOK}.",)


def test_timestamps_of_nbgrader_are_entered(room):
    path = room.hand_in("ada", "0.5").with_name("timestamp.txt")
    path.write_text("2026-03-01 10:00:00 UTC")
    room.hand_in("bo", "0.5").with_name("timestamp.txt").write_text("yesterday")
    room.hand_in("cy", "0.5").with_name("timestamp.txt").symlink_to("/etc/hostname")
    room.grade()
    times = [row for row in rows(room.run.db_url)["submission"] if "None, None" not in row]
    assert len(times) == 1
    assert "2026-03-01 10:00:00" in times[0]
    assert room.graded("ada").with_name("timestamp.txt").read_text() == path.read_text()
    assert room.results()["bo"].remarks == (
        "timestamp.txt says 'yesterday', which is not a time, so it was ignored.",
    )
    assert room.results()["cy"].remarks == (
        "timestamp.txt is not an ordinary small file, so it was ignored.",
    )
    path.write_text("2026-03-01 11:00:00 UTC")
    assert room.grade() == ["ada"]


def test_a_killed_run_resumes_with_the_same_result(room, tmp_path, empty_gradebook):
    other = Class(tmp_path / "uninterrupted", empty_gradebook)
    students = [f"s{number:03}" for number in range(130)]
    for number, student in enumerate(students):
        for each in (room, other):
            each.hand_in(student, f"{number / 200} sleep=0.02")
    code = (
        "from pathlib import Path\n"
        "from grader.running.pipeline import Run, autograde, local_workers\n"
        f"folder = Path({str(room.folder)!r})\n"
        f"run = Run({ASSIGNMENT!r}, folder / 'submitted', folder)\n"
        f"autograde(run, local_workers(run, 2, {JUDGE!r}))\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    record = journal.path_in(room.folder, ASSIGNMENT)
    deadline = time.monotonic() + 120
    while not (record.exists() and record.stat().st_size):
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    done = len(list(journal.read(record)))
    assert 0 < done < len(students)
    judged = room.grade()
    assert len(judged) == len(students) - done
    assert other.grade() == students
    assert rows(room.run.db_url) == rows(other.run.db_url)
    assert room.scores() == other.scores()
    for student in students:
        assert room.graded(student).read_bytes() == other.graded(student).read_bytes()


def test_workers_of_a_killed_run_end(room):
    room.hand_in("ada", "0.5")
    code = (
        "import os, signal\n"
        "from grader.running.local_workers import LocalWorkers\n"
        "with LocalWorkers('tests.grader.running.odd_jobs:process', 2) as workers:\n"
        "    pids = [d.returned.decode() for d in workers.do((str(n), {}) for n in range(8))]\n"
        "    print(*sorted(set(pids)), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    pids = killed.stdout.split()
    assert killed.returncode == -signal.SIGKILL
    assert pids
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline, f"still there: {pids}"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"student": "bo"}, "got the one on bo's"),
        ({"status": "splendid"}, "expected a known status, got 'splendid'"),
        ({"scores": {"a": 3.0}}, "expected from 0 to 2.0 points for a, got 3.0"),
        ({"scores": {"a": float("nan")}}, "expected from 0 to 2.0 points for a, got nan"),
        ({"scores": {"b": 1.0}}, "expected scores of graded cells, got one of b"),
    ],
)
def test_a_verdict_with_invalid_values_is_rejected(change, told):
    verdict = Verdict(ASSIGNMENT, "ada", GRADED, scores={"a": 2.0}, points={"a": 2.0})
    _check(verdict, ASSIGNMENT, "ada")
    with pytest.raises(ValueError, match=re.escape(told)):
        _check(replace(verdict, **change), ASSIGNMENT, "ada")


def test_the_digest_covers_every_module_that_judges():
    """A change of any grader module that the judge imports makes graded work outdated."""
    from grader.running.digests import JUDGING

    code = (
        "import sys, grader.judging.judge\n"
        "print(*sorted(n.split('.')[1] for n in sys.modules if n.startswith('grader.')))"
    )
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert set(modules.stdout.split()) == set(JUDGING)
