"""The learner is recognised from file names in archives of Moodle and Canvas."""

from __future__ import annotations

import logging
import unicodedata
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from traitlets.config import LoggingConfigurable

from grader.course import configuration
from grader.nbgrader_hooks.collecting import GradebookCollector

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
        self.coursedir = SimpleNamespace(db_url=url, course_id="attention")

    def _format_collect_path(self, step):
        return str(self.folder / step)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a gradebook into which the class list was imported."""
    url = f"sqlite:///{tmp_path_factory.mktemp('gradebook')}/gradebook.db"
    with Gradebook(url, configuration().CourseDirectory.course_id) as gradebook:
        for student, (first, last, number) in STUDENTS.items():
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    return url


@pytest.fixture
def collect(url, tmp_path):
    """A function that collects files one after the other; messages are in caplog."""

    def run(*paths, named_regexp=""):
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
        ("all/odegardsoren_101_456_{}.ipynb", "soren", "{}.ipynb"),
        ("all/odegardsoren_LATE_101_456_{}-1.ipynb", "soren", "{}-1.ipynb"),
        ("all/vanthoffruth_LATE_102_456_work/{}.ipynb", "ruth", "{}.ipynb"),
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
            "'Nobody Here' in the gradebook, found nob",
        ),
        ("Wei Wu_1_assignsubmission_file_/a.ipynb", "found wu1 and wu2"),
        ("someone_999_456_a.ipynb", "the lms_user_id 999 in the gradebook, found nobody"),
        ("a.ipynb", "expected a file name made by Moodle or Canvas"),
    ],
)
def test_unknown_learners_are_skipped_and_reported(collect, caplog, path, told):
    assert collect(path) == [None]
    assert told in caplog.text
    assert path in caplog.text


@pytest.mark.parametrize(
    "path",
    [
        "Søren Ødegård_1_assignsubmission_file_/notes.txt",
        "Søren Ødegård_1_assignsubmission_file_/timestamp.txt",
        "Søren Ødegård_1_assignsubmission_file_/__MACOSX/a.ipynb",
        "Søren Ødegård_1_assignsubmission_file_/._a.ipynb",
        "Søren Ødegård_1_assignsubmission_file_/.ipynb_checkpoints/a.ipynb",
    ],
)
def test_other_files_are_ignored(collect, caplog, path):
    assert collect(path) == [None]
    assert caplog.text == ""


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
    assert collect(*two) == [("soren", "a.ipynb"), None]
    assert "sender with the name of soren, found the numbers 1 and 2" in caplog.text


def test_another_platform(collect):
    by_id = r".*/(?P<student_id>[^/-]+)-(?P<file_id>[^/]+)"
    assert collect("2026/ada-a.ipynb", named_regexp=by_id) == [("ada", "a.ipynb")]
    by_name = r"(?P<name>[^/]+)/(?P<file_id>[^/]+)"
    assert collect("wei wu/a.ipynb", "Núñez José María/a.ipynb", named_regexp=by_name) == [
        None,
        ("jose", "a.ipynb"),
    ]
