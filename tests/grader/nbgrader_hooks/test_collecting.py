"""The learner is recognised from file names in archives of Moodle and Canvas."""

from __future__ import annotations

import logging
import unicodedata
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from nbgrader.api import Base, Gradebook
from sqlalchemy import create_engine
from traitlets.config import LoggingConfigurable

from grader.course import configuration
from grader.nbgrader_hooks.collecting import GradebookCollector
from grader.nbgrader_hooks.platforms import moment

STUDENTS = {
    "soren": ("Søren", "Ødegård", "101"),
    "ruth": ("Ruth, Jr.", "van 't Hoff", "102"),
    "anna": ('Anna "Anja"', "Šimić", None),
    "jose": ("José María", "Núñez", "104"),
    "wu1": ("Wei", "Wu", "105"),
    "wu2": ("Wei", "Wu", "106"),
}


class App(LoggingConfigurable):
    """The part of nbgrader's ZipCollectApp that the collector uses."""

    extracted_directory = "extracted"

    def __init__(self, folder, url):
        super().__init__(log=logging.getLogger("collecting"))
        self.folder = folder
        self.coursedir = SimpleNamespace(db_url=url, course_id="attention", root=str(folder))

    def _format_collect_path(self, step):
        return str(self.folder / step)

    def fail(self, message):
        self.log.error(message)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a gradebook into which the class list was imported."""
    url = f"sqlite:///{tmp_path_factory.mktemp('gradebook')}/gradebook.db"
    engine = create_engine(url)
    Base.metadata.create_all(engine)  # without this, alembic would be started, which takes seconds
    engine.dispose()
    with Gradebook(url, configuration().CourseDirectory.course_id) as gradebook:
        for student, (first, last, number) in STUDENTS.items():
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    return url


@pytest.fixture
def collect(url, tmp_path):
    """A function that collects files one after the other; messages are in caplog."""

    def run(*paths, named_regexp=""):
        for path in paths:
            file = tmp_path / "extracted" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        collector = GradebookCollector(parent=App(tmp_path, url), named_regexp=named_regexp)
        found = [collector.collect(str(tmp_path / "extracted" / path)) for path in paths]
        return [file and (file["student_id"], file["file_id"]) for file in found]

    return run


@pytest.mark.parametrize(
    ("path", "student", "file"),
    [
        ("all/Søren Ødegård_12345_assignsubmission_file_/{}.ipynb", "soren", "{}.ipynb"),
        ("all/ØDEGÅRD Søren_1_assignsubmission_file_/{}.ipynb", "soren", "{}.ipynb"),
        ("Ruth, Jr. van 't Hoff_9_assignsubmission_file_{}.ipynb", "ruth", "{}.ipynb"),
        ("Anna Anja Šimić_9_assignsubmission_file_/{} (1).ipynb", "anna", "{} (1).ipynb"),
        ("José María Núñez_9_assignsubmission_file_/work/{}.ipynb", "jose", "{}.ipynb"),
        ("all/Søren Ødegård_12345_assignsubmission_file/{}.ipynb", "soren", "{}.ipynb"),
        ("all/Ruth Jr. van t Hoff_9_assignsubmission_file/{}.ipynb", "ruth", "{}.ipynb"),
        # In an older Moodle each member of a group has a folder, with the group's name in front.
        ("Group A-Søren Ødegård_12_assignsubmission_file_/{}.ipynb", "soren", "{}.ipynb"),
        ("Team Anne-Marie-José María Núñez_9_assignsubmission_file/{}.ipynb", "jose", "{}.ipynb"),
        ("all/odegardsoren_101_456_{}.ipynb", "soren", "{}.ipynb"),
        ("all/ode_gardsoren_101_456_{}.ipynb", "soren", "{}.ipynb"),
        ("all/odegardsoren_LATE_101_456_{}-1.ipynb", "soren", "{}-1.ipynb"),
        ("all/vanthoffruth_LATE_102_456_work/{}.ipynb", "ruth", "{}.ipynb"),
        ("all/Week 1_jose_attempt_2026-03-02-22-30-00_{}.ipynb", "jose", "{}.ipynb"),
        ("all/Week_1_jose_attempt_2026-03-02-22-30-00_a/{}.ipynb", "jose", "{}.ipynb"),
        ("all/Week 1_Jose_attempt_2026-03-02-22-30-00_{}.ipynb", "jose", "{}.ipynb"),
        ("all/Week 1_104_attempt_2026-03-02-22-30-00_{}.ipynb", "jose", "{}.ipynb"),
        ("all/7-8 - Søren Ødegård - Mar 2, 2026 1030 PM/{}.ipynb", "soren", "{}.ipynb"),
        ("all/7-8 - Ruth, Jr. van 't Hoff - 2 March, 2026 930 AM/{}.ipynb", "ruth", "{}.ipynb"),
        ("all/7-8 - Søren Ødegård - Mar 2, 2026 1030 PM - {}.ipynb", "soren", "{}.ipynb"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_learner_is_found(collect, path, student, file, form):
    name = "dot-products"
    path = unicodedata.normalize(form, path.format(name))
    assert collect(path) == [(student, file.format(name))]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (
            "Nobody Here_1_assignsubmission_file_/a.ipynb",
            "If the learner is new, put them on the class list, import it, and collect again. If",
        ),
        ("Default group_assignsubmission_file/a.ipynb", "list their members in groups.csv"),
        ("Group A-Participant_12_assignsubmission_file/a.ipynb", "reveal them in Moodle"),
        ("Participant_12346_assignsubmission_file/a.ipynb", "reveal them in Moodle"),
        ("Homework_nobody_attempt_2026-03-02-22-30-00_a.ipynb", "needs the username as id"),
        ("1-2 - No Body - Mar 2, 2026 1030 PM/a.ipynb", "names as Brightspace writes them"),
        ("Wei Wu_1_assignsubmission_file_/a.ipynb", "found wu1 and wu2"),
        ("Wei Wu_1_assignsubmission_file_/a.ipynb", "by hand into the folder of the learner"),
        ("Søren Ødegård_1_assignsubmission_file_/notes.docx", "a file that ends in .ipynb, found"),
        ("someone_999_456_a.ipynb", "the lms_user_id 999 in the gradebook, found nobody"),
        ("a.ipynb", "expected a file name made by Moodle or Canvas or"),
    ],
)
def test_unknown_learners_are_skipped_and_reported(collect, caplog, path, told):
    assert collect(path) == [None]
    assert told in caplog.text
    assert path in caplog.text


@pytest.mark.parametrize(
    "path",
    [
        "Søren Ødegård_1_assignsubmission_file_/__MACOSX/a.ipynb",
        "Søren Ødegård_1_assignsubmission_file_/._a.ipynb",
        "Søren Ødegård_1_assignsubmission_file_/.ipynb_checkpoints/a.ipynb",
    ],
)
def test_files_that_systems_add_are_ignored(collect, caplog, path):
    assert collect(path) == [None]
    assert [record.getMessage()[:22] for record in caplog.records] == ["Nothing was collected."]


def test_a_late_submission_is_reported(collect, caplog):
    collect("odegardsoren_LATE_101_456_a.ipynb")
    assert "soren handed in late" in caplog.text


def test_files_of_the_same_name_are_renamed(collect):
    of_soren = "Søren Ødegård_1_assignsubmission_file_"
    found = collect(f"{of_soren}/a.ipynb", f"{of_soren}/b/a.ipynb", f"{of_soren}/c/a.ipynb")
    assert found == [("soren", "a.ipynb"), ("soren", "a (2).ipynb"), ("soren", "a (3).ipynb")]


def test_no_learner_can_hand_in_for_another(collect, caplog):
    """Neither by a folder in an archive nor by taking someone else's name on the platform."""
    inside = "José María Núñez_1_assignsubmission_file_/x/Søren Ødegård_2_assignsubmission_file_"
    assert collect(f"{inside}/a.ipynb") == [("jose", "a.ipynb")]
    two = [f"Søren Ødegård_{number}_assignsubmission_file_/a.ipynb" for number in (1, 2)]
    assert collect(*two) == [None, None]
    assert "sender with the name of soren, found the numbers 1 and 2" in caplog.text
    assert all(path in caplog.text for path in two)


class TestAttempts:
    EARLY = "Week 1_jose_attempt_2026-03-02-09-30-00_a.ipynb"
    LATE = "Week 1_jose_attempt_2026-03-02-22-30-00_a.ipynb"

    def test_the_last_one_counts(self, collect, caplog):
        assert collect(self.EARLY, self.LATE) == [None, ("jose", "a.ipynb")]
        assert f"jose handed in 2 times. The last attempt counts: {self.LATE}." in caplog.text
        assert self.EARLY in caplog.text

    def test_all_files_of_the_last_one_count(self, collect):
        late = self.LATE.replace("_a.", "_b.")
        assert collect(self.EARLY, self.LATE, late) == [
            None,
            ("jose", "a.ipynb"),
            ("jose", "b.ipynb"),
        ]

    def test_a_half_past_ten_in_the_evening_is_after_one_in_the_morning(self, collect):
        folder = "7-8 - Søren Ødegård - {}/a.ipynb"
        early, late = folder.format("Mar 2, 2026 930 AM"), folder.format("Mar 2, 2026 1030 PM")
        assert collect(late, early) == [("soren", "a.ipynb"), None]

    @pytest.mark.parametrize(
        "name", ["odegardsoren_101_456_a.ipynb", "Søren Ødegård_1_assignsubmission_file/a.ipynb"]
    )
    def test_of_two_archives_without_times_none_is_chosen(self, collect, caplog, name):
        assert collect(f"new/{name}", f"old/{name}") == [None, None]
        assert "soren has files in several archives" in caplog.text
        assert f"new/{name} and old/{name}" in caplog.text
        assert "Nothing was collected." in caplog.text


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "zone", "expected"),
        [
            ("2026-03-02-22-30-00", "UTC", "2026-03-02 22:30:00"),
            ("2026-07-02-00-30-59", "Europe/Berlin", "2026-07-01 22:30:59"),
            ("Mar 2, 2026 1205 AM", "America/New_York", "2026-03-02 05:05:00"),
            ("2 March, 2026 115 PM", "UTC", "2026-03-02 13:15:00"),
            ("2026-03-02T22:30:00+01:00", "Asia/Tokyo", "2026-03-02 21:30:00"),
            ("2026-03-02 22:30:00 Europe/Berlin", "UTC", "2026-03-02 21:30:00"),
            ("20260302T2230", "UTC", "2026-03-02 22:30:00"),
        ],
    )
    def test_it_is_read_in_its_zone(self, text, zone, expected):
        assert str(moment(text, zone)) == expected

    def test_every_minute_of_a_day_is_read_as_it_is_written(self):
        day = datetime(2026, 3, 2)
        for minute in range(24 * 60):
            at = day + timedelta(minutes=minute)
            hour = str(at.hour % 12 or 12)
            assert moment(f"{at:%Y-%m-%d-%H-%M-%S}", "UTC") == at
            assert moment(f"Mar 2, 2026 {hour}{at:%M %p}", "UTC") == at

    @pytest.mark.parametrize("text", ["yesterday", "2026-03-02-22-61-00", "2026", "22:30", "1e9"])
    def test_another_text_is_refused(self, text):
        with pytest.raises(ValueError, match="expected a time such as"):
            moment(text, "UTC")

    def test_the_zone_of_the_configuration_counts(self, url, tmp_path):
        app = App(tmp_path, url)
        app.config.NbGraderAPI.timezone = "Europe/Berlin"
        file = tmp_path / "extracted" / TestAttempts.LATE
        file.parent.mkdir()
        file.touch()
        collected = GradebookCollector(parent=app).collect(str(file))
        assert collected["timestamp"] == "2026-03-02 21:30:00 UTC"


def test_another_platform(collect):
    by_id = r".*/(?P<student_id>[^/-]+)-(?P<file_id>[^/]+)"
    assert collect("2026/ada-a.ipynb", named_regexp=by_id) == [("ada", "a.ipynb")]
    by_name = r"(?P<name>[^/]+)/(?P<file_id>[^/]+)"
    assert collect("wei wu/a.ipynb", "Núñez José María/a.ipynb", named_regexp=by_name) == [
        None,
        ("jose", "a.ipynb"),
    ]
