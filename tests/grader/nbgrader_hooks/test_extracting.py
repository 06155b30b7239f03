"""A bad archive, or a bad member of one, costs nobody else's work, and is told."""

from __future__ import annotations

import logging
import os
import re
import shutil
import unicodedata
from pathlib import Path

import pytest
from nbgrader.api import Base, Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine

from grader.course import configuration
from grader.submission import find, load
from tests.grader.nbgrader_hooks.archives import (
    GOOD,
    HANDED_IN,
    MAX_FILE_MIB,
    MAX_LEARNER_FILES,
    MAX_LEARNER_MIB,
    NOTEBOOK,
    WORK,
    long_list,
    platform_archive,
    tarred,
    zipped,
)

ASSIGNMENT = "dot-products"
LOGGER = "zip_collect"


class Course:
    """A course's folder in which `nbgrader zip_collect` is run."""

    def __init__(self, root: Path, gradebook: Path) -> None:
        self.root = root
        self.archives = root / "downloaded" / ASSIGNMENT / "archive"
        self.archives.mkdir(parents=True)
        shutil.copy(gradebook, root)

    def collect(self, regexp: str = "", **options: int) -> None:
        """Do what the command does once its arguments are parsed."""
        config = configuration()
        config.CourseDirectory.update({"root": str(self.root), "assignment_id": ASSIGNMENT})
        config.CourseDirectory.db_url = f"sqlite:///{self.root}/gradebook.db"
        config.FileNameCollectorPlugin.named_regexp = regexp
        config.ArchiveExtractor.update(options)
        app = ZipCollectApp(config=config, log=logging.getLogger(LOGGER), force=True)
        app.coursedir = CourseDirectory(config=config, parent=app)
        app.init_plugins()
        app.extract_archive_files()
        app.process_extracted_files()

    def submitted(self) -> dict[str, int]:
        """Return the number of collected files by student."""
        folders = self.root.glob(f"submitted/*/{ASSIGNMENT}")
        return {folder.parent.name: len([*folder.iterdir()]) for folder in folders}


def id_of(learner: str) -> str:
    return learner.lower().replace(" ", "-")


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory) -> Path:
    """A gradebook with the learners of `HANDED_IN` and two others."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)  # without this, alembic would be started, which takes seconds
    engine.dispose()
    with Gradebook(f"sqlite:///{path}", "attention") as gradebook:
        for learner in ("Ada Lovelace", "Bo Yu", *HANDED_IN):
            first, last = learner.split()
            gradebook.add_student(id_of(learner), first_name=first, last_name=last)
    return path


@pytest.fixture
def course(tmp_path, gradebook) -> Course:
    return Course(tmp_path / "course", gradebook)


@pytest.fixture(scope="module")
def collected(tmp_path_factory, gradebook) -> tuple[Course, list[str]]:
    """The course after everything in `HANDED_IN` was collected, and what was told."""
    course = Course(tmp_path_factory.mktemp("all") / "course", gradebook)
    (course.archives / "all.zip").write_bytes(platform_archive())
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())
    logging.getLogger(LOGGER).addHandler(handler)
    try:
        course.collect(
            max_file_mib=MAX_FILE_MIB,
            max_learner_mib=MAX_LEARNER_MIB,
            max_learner_files=MAX_LEARNER_FILES,
        )
    finally:
        logging.getLogger(LOGGER).removeHandler(handler)
    return course, told


@pytest.mark.parametrize("learner", HANDED_IN)
def test_each_learner_is_collected_or_told(collected, learner):
    course, told = collected
    handed_in = HANDED_IN[learner]
    told = [line for line in told if learner in line]
    assert sum(line.startswith("Left out") for line in told) <= 10
    for piece in handed_in.told:
        assert any(piece in line for line in told), told
    if "Honest" in learner:
        assert told == []
    folder = course.root / "submitted" / id_of(learner) / ASSIGNMENT
    assert folder.is_dir() == handed_in.collected, told
    if "Honest" in learner or (handed_in.collected and GOOD in handed_in.members):
        assert load(find(folder, ASSIGNMENT)[0]) == WORK


def test_only_small_files_with_plain_names_are_written_and_none_outside(collected):
    course, _ = collected
    outside = [*course.root.parent.rglob("*outside*"), Path("/tmp/outside.ipynb")]
    extracted = course.root / "downloaded" / ASSIGNMENT / "extracted"
    assert [path for path in outside if path.exists() and extracted not in path.parents] == []
    for path in extracted.rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_size <= MAX_FILE_MIB * 2**20
        assert path.suffix.lower() not in (".zip", ".gz")
        assert not any(unicodedata.category(letter)[0] == "C" for letter in path.name)


def test_many_faults_of_one_learner_are_not_all_listed(collected):
    _, told = collected
    assert sum(line.startswith("More that was left out of the same learner") for line in told) == 1
    total = next(line for line in told if "files or archives were left out" in line)
    listed = sum(line.startswith("Left out") for line in told)
    # Of 100 files and their archive, 12 are unpacked and 10 are listed as left out.
    assert int(total.split()[0]) == listed + 101 - 12 - 10


def test_what_is_told_cannot_move_the_cursor(collected):
    _, told = collected
    assert len(told) > 30
    assert not any(unicodedata.category(letter)[0] == "C" for line in told for letter in line)


def test_files_beside_the_archive_of_the_platform_stop_only_themselves(course, caplog, tmp_path):
    """Each of these stopped the whole collection."""
    archives = course.archives
    good = [("Ada Lovelace_1_assignsubmission_file_/" + NOTEBOOK, WORK)]
    (archives / "z.zip").write_bytes(zipped(good))
    (archives / "truncated.zip").write_bytes(zipped(good)[:-30])
    (archives / "text.zip").write_bytes(b"no archive")
    (archives / "empty.zip").write_bytes(b"")
    (archives / "list.zip").write_bytes(long_list(2**24 + 1))
    (archives / "dots.zip").write_bytes(zipped([("../a.ipynb", WORK)]))
    (archives / "tar.tar.gz").write_bytes(tarred([("/abs.ipynb", WORK)]))
    (archives / "folder.zip").mkdir()
    os.mkfifo(archives / "pipe.zip")
    (archives / "link.zip").symlink_to(archives / "z.zip")
    (archives / "loop.zip").symlink_to("loop.zip")
    (archives / "elsewhere").symlink_to(tmp_path)
    (archives / os.fsdecode(b"\xff\x1b.zip")).write_bytes(b"")
    (archives / os.fsdecode(b"Jos\xe9.ipynb")).write_bytes(WORK)
    course.collect()
    assert course.submitted() == {"ada-lovelace": 1}
    told = [r.getMessage() for r in caplog.records if r.getMessage().startswith("Left out")]
    assert sorted(line.split(": ")[-1].split("/")[-1] for line in told) == [
        *("\\udcff\\x1b.zip", "a.ipynb", "abs.ipynb", "elsewhere", "empty.zip", "link.zip"),
        *("list.zip", "loop.zip", "pipe.zip", "text.zip", "truncated.zip"),
    ]
    assert f"{len(told)} files or archives were left out" in caplog.text
    assert (
        "file name made by Moodle or Canvas or Blackboard or Brightspace, found Jos_udce9.ipynb"
        in caplog.text
    )


def test_a_full_disk_is_told_in_words(course, caplog, monkeypatch):
    (course.archives / "z.zip").write_bytes(zipped([GOOD]))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.nbgrader_hooks.extracting._free", full)
    with pytest.raises(SystemExit) as stopped:
        course.collect()
    assert stopped.value.code == 1
    assert "Not everything was unpacked: [Errno 28] No space left on device" in caplog.text


ID, TIME, FILE = r"all/(?P<student_id>.*?)=", "(?P<timestamp>[^=]*)=", "(?P<file_id>.*)"


@pytest.mark.parametrize(
    ("regexp", "names", "submitted", "told"),
    [
        (ID + FILE, ["x/y=a.ipynb", "=b.ipynb", "ada=c.ipynb"], {"ada": 1}, 2),
        (ID + TIME + FILE, ["bo=99999-01-01=a.ipynb", "di=2026-03-01=a.ipynb"], {"di": 2}, 1),
        (ID + TIME + FILE, ["bo=yesterday=a.ipynb", "di=2026-03-01=a.ipynb"], {"di": 2}, 1),
        (ID + TIME + FILE, ["bo=2026-03-01=a.ipynb"], {"bo": 2}, 0),  # with timestamp.txt
        (ID, ["bo=x.y.ipynb", "bo=x.z.ipynb"], {"bo": 2}, 0),
    ],
)
def test_files_that_are_found_by_a_pattern(course, caplog, regexp, names, submitted, told):
    (course.archives / "all.zip").write_bytes(zipped([(name, WORK) for name in names]))
    course.collect(regexp)
    assert course.submitted() == submitted
    assert caplog.text.count("Not collected: ") == told


def test_a_missing_folder_of_archives_is_told(course, caplog):
    course.archives.rmdir()
    with pytest.raises(SystemExit) as ended:
        course.collect()
    assert ended.value.code == 1
    assert f"what the platform gave out in {course.archives}, found no such folder" in caplog.text


def test_a_file_in_place_of_a_folder_stops_only_its_learner(course, caplog):
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ada-lovelace").write_text("a file")
    learners = enumerate(["Ada Lovelace", "Bo Yu"])
    members = [(f"{who}_{number}_assignsubmission_file_/a.ipynb", WORK) for number, who in learners]
    (course.archives / "all.zip").write_bytes(zipped(members))
    course.collect()
    assert course.submitted() == {"bo-yu": 1}
    assert "Not collected: expected a folder to write into, found" in caplog.text


class TestGroups:
    def number_bo(self, course):
        """Enter the number that Canvas has for Bo."""
        course_id = configuration().CourseDirectory.course_id
        with Gradebook(f"sqlite:///{course.root}/gradebook.db", course_id) as gradebook:
            gradebook.update_or_create_student("bo-yu", lms_user_id="102")

    def collect(self, course, rows, *names):
        (course.root / "groups.csv").write_text("group,id\n" + rows, encoding="utf-8")
        (course.archives / "all.zip").write_bytes(zipped([(name, WORK) for name in names]))
        course.collect()

    def test_one_hand_in_counts_for_all_members(self, course):
        rows = "Group A,ada-lovelace\nGroup A,bo-yu\n"
        self.collect(course, rows, f"Group A_57_assignsubmission_file/{NOTEBOOK}")
        assert course.submitted() == {"ada-lovelace": 1, "bo-yu": 1}
        for student in course.submitted():
            path = course.root / "submitted" / student / ASSIGNMENT / NOTEBOOK
            assert path.read_bytes() == WORK

    def test_a_member_who_also_hands_in_alone_is_told(self, course, caplog):
        rows = "Group A,ada-lovelace\nGroup A,bo-yu\n"
        alone = f"Ada Lovelace_9_assignsubmission_file/{NOTEBOOK}"
        self.collect(course, rows, alone, f"Group A_57_assignsubmission_file/{NOTEBOOK}")
        assert course.submitted() == {"bo-yu": 1}
        assert "of ada-lovelace, found the numbers 9 and 57" in caplog.text

    def test_the_group_of_all_others_has_no_members(self, course, caplog):
        names = [f"{name}_5_assignsubmission_file/{NOTEBOOK}" for name in ("Default group", "G")]
        self.collect(course, "G,bo-yu\n", *names)
        assert course.submitted() == {"bo-yu": 1}
        assert "'Default group' in the gradebook, found nobody" in caplog.text
        assert "list their members in groups.csv" in caplog.text

    def test_those_without_a_group_can_be_listed(self, course):
        """Moodle writes no number for them."""
        rows = "Default group,ada-lovelace\nDefault group,bo-yu\n"
        self.collect(course, rows, f"Default group_assignsubmission_file/{NOTEBOOK}")
        assert course.submitted() == {"ada-lovelace": 1, "bo-yu": 1}

    @pytest.mark.parametrize("group", ["Group A", "team_1", "Équipe-2, bis"])
    def test_a_group_in_canvas_is_that_of_the_member_whose_number_it_is(self, course, group):
        self.number_bo(course)
        written = re.sub(r"[^\w]", "", group.lower())
        rows = f'Other,ada-lovelace\n"{group}",ada-lovelace\n"{group}",bo-yu\n'
        self.collect(course, rows, f"{written}_LATE_102_456_{NOTEBOOK}")
        assert course.submitted() == {"ada-lovelace": 1, "bo-yu": 1}

    def test_the_name_of_a_group_in_canvas_is_not_enough(self, course):
        """Somebody who is called like a group hands in alone."""
        self.number_bo(course)
        rows = "Group A,ada-lovelace\n"
        self.collect(course, rows, f"groupa_102_456_{NOTEBOOK}")
        assert course.submitted() == {"bo-yu": 1}

    @pytest.mark.parametrize(
        ("rows", "told"),
        [
            (
                "Group A,nobody\n",
                "groups.csv, line 2: expected a group and a learner of the gradebook",
            ),
            ("?!,bo-yu\n", "groups.csv, line 2: expected a group and a learner of the gradebook"),
            (",bo-yu\n", "groups.csv, line 2: expected a group and a learner of the gradebook"),
        ],
    )
    def test_a_wrong_row_stops_before_anything_is_collected(self, course, caplog, rows, told):
        with pytest.raises(SystemExit):
            self.collect(course, rows, f"Group A_57_assignsubmission_file/{NOTEBOOK}")
        assert told in caplog.text
        assert course.submitted() == {}

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"team;student\n", "expected the columns group and id, found ['team;student']"),
            (b"", "expected the columns group and id, found None"),
            ("group,id\nZoë,bo-yu".encode("latin-1"), "expected a CSV file in UTF-8"),
        ],
    )
    def test_another_file_is_told(self, course, caplog, content, told):
        (course.root / "groups.csv").write_bytes(content)
        with pytest.raises(SystemExit):
            course.collect()
        assert told in caplog.text


def test_with_damaged_archives_alone_the_command_fails(course, caplog):
    (course.archives / "all.zip").write_bytes(b"no archive")
    with pytest.raises(SystemExit) as stopped:
        course.collect()
    assert stopped.value.code == 1
    assert "Nothing was collected: " in caplog.text


def test_without_archives_the_command_fails(course, caplog):
    with pytest.raises(SystemExit) as stopped:
        course.collect()
    assert stopped.value.code == 1
    assert "Nothing was collected. Put the platform's archive into" in caplog.text
