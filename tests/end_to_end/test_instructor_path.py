"""The steps of the instructors' guide work on a copy of the course, with the guide's examples."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.releasing.answer_files import fill, read_answers
from tests.end_to_end.shown_commands import copy_of_course, run_in, without_make
from tests.warm_nbgrader import WarmNbgrader

ASSIGNMENT = "dot-products"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"
#: The class list of the guide, with the learners' ids on their platform.
ROSTER = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@example.org,101
soren,Søren,Ødegård,soren@example.org,102
ruth,"Ruth, Jr.",van 't Hoff,ruth@example.org,103
zoe,Zoë,"D'Arcy",,104
"""
NAMES = {"ada": "Ada Lovelace", "soren": "Søren Ødegård", "ruth": "Ruth, Jr. van 't Hoff"}
#: The learners who use nbgrader's exchange.
EXCHANGE = ("ada", "soren")
ANSWERS = {"ada": "divides-by-d-k", "soren": "full-marks-loops", "ruth": "half-done"}


@pytest.fixture(scope="module")
def guide(root) -> str:
    return (root / "book" / "instructor-guide.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def python_blocks(guide) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)


class Course:
    """A copy of the course, with methods that run commands in it."""

    def __init__(self, folder: Path, home: Path, nbgrader: WarmNbgrader) -> None:
        self.folder, self.home, self.nbgrader = folder, home, nbgrader
        self.configuration = (folder / "nbgrader_config.py").read_text(encoding="utf-8")

    def run(self, *arguments: str | Path, at: Path | None = None, status: int = 0) -> str:
        """Run a program of the environment, in the course or in `at`, and return its output."""
        program, *rest = arguments
        folder, home = at or self.folder, at or self.home
        environment = without_make(HOME=str(home), JUPYTER_DATA_DIR=str(home / "data"))
        if program == "nbgrader":
            done = self.nbgrader.run(rest, folder, environment)
        else:
            done = run_in(folder, [self.folder / ".venv" / "bin" / program, *rest], environment)
        said = f"{done.stdout}{done.stderr or ''}"
        assert done.returncode == status, said
        return said

    def grade(self, *options: str) -> str:
        command = ("python", "-m", "grader", "grade", ASSIGNMENT, "--workers", "1", *options)
        return self.run(*command)

    def grades(self) -> dict[str, dict[str, str]]:
        with (self.folder / f"grades-{ASSIGNMENT}.csv").open(
            encoding="utf-8-sig", newline=""
        ) as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def configure(self, *lines: str) -> None:
        """Append these lines to the original nbgrader_config.py, replacing earlier additions."""
        text = "\n".join([self.configuration, *lines, ""])
        (self.folder / "nbgrader_config.py").write_text(text, encoding="utf-8")

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}", "attention")

    def submitted(self) -> dict[str, list[str]]:
        """Return the names of the files in each learner's submission."""
        return {
            folder.parent.name: sorted(path.name for path in folder.iterdir())
            for folder in sorted((self.folder / "submitted").glob(f"*/{ASSIGNMENT}"))
        }


@pytest.fixture(scope="module")
def course(root, tmp_path_factory, warm_nbgrader) -> Course:
    """A course into which the class list was imported."""
    folder = copy_of_course(root, tmp_path_factory.mktemp("course"))
    course = Course(folder, tmp_path_factory.mktemp("home"), warm_nbgrader)
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    course.run("nbgrader", "db", "student", "import", "roster.csv")
    return course


@pytest.fixture(scope="module")
def notebooks(root) -> dict[str, bytes]:
    """The notebook that each learner submits, as bytes."""
    found = {}
    for student, answers in ANSWERS.items():
        notebook = nbformat.read(root / "exercises" / ASSIGNMENT / NOTEBOOK, as_version=4)
        fill(notebook, read_answers(root / "tests/sample_class/answers" / f"{answers}.py"))
        found[student] = nbformat.writes(notebook).encode("utf-8")
    return found


@pytest.fixture
def hand_in(course, notebooks):
    """A function that fills the folder submitted/ anew, with a timestamp or None per learner."""

    def write(**times: str | None) -> None:
        shutil.rmtree(course.folder / "submitted", ignore_errors=True)
        for student, time in times.items():
            folder = course.folder / "submitted" / student / ASSIGNMENT
            folder.mkdir(parents=True)
            (folder / NOTEBOOK).write_bytes(notebooks[student])
            if time:
                (folder / "timestamp.txt").write_text(time, encoding="utf-8")

    return write


def pack(course: Course, files: dict[str, bytes]) -> None:
    """Put an archive of these files into the folder that zip_collect reads."""
    folder = course.folder / "downloaded" / ASSIGNMENT
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(course.folder / "submitted", ignore_errors=True)
    (folder / "archive").mkdir(parents=True)
    with ZipFile(folder / "archive" / "submissions.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


class TestClassList:
    def test_the_class_list_in_the_guide_is_imported_exactly(self, guide, course):
        shown = re.search(r"^```text\n(id,.*?)^```", guide, re.MULTILINE | re.DOTALL)[1]
        assert ROSTER.startswith(shown)
        with course.gradebook() as gradebook:
            found = {s.id: (s.first_name, s.last_name, s.lms_user_id) for s in gradebook.students}
        assert found["soren"] == ("Søren", "Ødegård", "102")
        assert found["ruth"] == ("Ruth, Jr.", "van 't Hoff", "103")
        assert found["zoe"] == ("Zoë", "D'Arcy", "104")


class TestLateWork:
    def test_deadline_penalty_and_extension_use_their_time_zone(
        self, course, hand_in, python_blocks
    ):
        rule = next(block for block in python_blocks if "TenPercentADay" in block)
        (course.folder / "late_policy.py").write_text(rule, encoding="utf-8")
        course.configure(
            'c.NbGraderAPI.timezone = "Europe/Berlin"',
            'c.AssignLatePenalties.plugin_class = "late_policy.TenPercentADay"',
        )
        set_deadline = ["nbgrader", "db", "assignment", "add", ASSIGNMENT, "--duedate"]
        course.run(*set_deadline, "2026-03-02T23:59+01:00")
        hand_in(
            ada="2026-03-03 00:30:00 +0100",
            soren="2026-03-02 22:58:00.000000 UTC",
            ruth="2026-03-04 00:30:00 Europe/Berlin",
        )

        said = course.grade()

        assert "Due 2026-03-02 23:59 CET (2026-03-02 22:59 UTC)." in said
        assert "2 submissions came late, 2 with a penalty." in said
        assert "Nothing was handed in by 1 of the class: zoe." in said
        assert re.search(r"^ada +12\.6 of 20 +to read, 31 min late", said, re.MULTILINE)
        assert re.search(r"^ruth +4 of 20 +graded, 1 d late", said, re.MULTILINE)
        assert re.search(r"^soren +18 of 20 +to read$", said, re.MULTILINE)
        grades = course.grades()
        penalties = {student: float(row["late_penalty"]) for student, row in grades.items()}
        assert penalties == pytest.approx({"ada": 1.4, "soren": 0, "ruth": 1})
        page = course.folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
        assert "12.6" in page.read_text(encoding="utf-8")

        # A new deadline or an extension does not make submissions be judged again.
        judged = course.folder / "autograded" / "ada" / ASSIGNMENT / NOTEBOOK
        before = judged.stat().st_mtime_ns
        course.run("python", "-m", "grader", "extend", ASSIGNMENT, "ada", "--days", "2")
        course.run(*set_deadline, "2026-03-02T12:00+01:00")
        said = course.grade()
        assert re.search(r"^ada +14 of 20 +to read +divide", said, re.MULTILINE)
        assert re.search(r"^soren +16\.2 of 20 +to read, 11 h 58 min late", said, re.MULTILINE)
        assert judged.stat().st_mtime_ns == before
        report, _ = course.run("python", "-m", "grader", "report", ASSIGNMENT).splitlines()
        assert "Due 2026-03-02 12:00 CET" in Path(report).read_text(encoding="utf-8")

        course.configure('c.LateSubmissionPlugin.penalty_method = "zero"')
        said = course.grade()
        assert re.search(r"^soren +0 of 20 +to read, 11 h 58 min late", said, re.MULTILINE)
        assert "Due 2026-03-02 11:00 UTC." in said
        course.configure()

    def test_a_time_in_an_unknown_zone_is_reported_and_skipped(self, course, hand_in):
        hand_in(ada="2026-03-03 00:30:00 CEST")
        assert "timestamp.txt says '2026-03-03 00:30:00 CEST'" in course.grade("--student", "ada")


class TestPlatforms:
    COLLECT = ("nbgrader", "zip_collect", ASSIGNMENT, "--force")

    def test_moodle(self, course, notebooks):
        folder = "{}_{}_assignsubmission_file_/" + NOTEBOOK
        files = {
            folder.format(NAMES[student], number): content
            for number, (student, content) in enumerate(notebooks.items(), start=12345)
        }
        pack(course, files | {folder.format("Nobody Here", 1): b"{}"})
        said = course.run(*self.COLLECT)
        assert "expected one learner with the name 'Nobody Here'" in said
        assert course.submitted() == {student: [NOTEBOOK] for student in ("ada", "ruth", "soren")}

    def test_canvas_from_zip_file_to_grades(self, course, notebooks):
        first, second = NOTEBOOK, f"{ASSIGNMENT}-1.ipynb"
        pack(
            course,
            {
                f"odegardsoren_LATE_102_456_{second}": notebooks["soren"],
                f"lovelaceada_101_457_{first}": notebooks["ada"],
                f"lovelaceada_101_458_{second}": b"an earlier draft",
                "vanthoffruth_103_459_notes.txt": b"no notebook",
            },
        )
        assert "soren handed in late according to Canvas" in course.run(*self.COLLECT)
        assert course.submitted() == {"ada": [second, first], "soren": [second]}
        said = course.grade()
        assert f"soren: '{second}' was used in place of {NOTEBOOK}." in said
        assert f"ada: '{second}' was also found and ignored." in said
        points = {student: row["score"] for student, row in course.grades().items()}
        assert (points["ada"], points["soren"]) == ("14.0", "18.0")
        said = course.run("python", "-m", "grader", "return", ASSIGNMENT, "--format", "canvas")
        assert "Feedback for 2 students in " in said
        with ZipFile(course.folder / f"return-{ASSIGNMENT}-canvas.zip") as archive:
            returned = {name: archive.read(name).decode() for name in archive.namelist()}
        assert set(returned) == {
            f"lovelaceada_101_457_{first}",
            f"odegardsoren_LATE_102_456_{second}",
        }
        assert "dot-products: 14 of 20 points" in returned[f"lovelaceada_101_457_{first}"]
        assert not any("HIDDEN TESTS" in notebook for notebook in returned.values())

    def test_another_platform(self, course, notebooks, python_blocks):
        course.configure(next(block for block in python_blocks if "named_regexp" in block))
        pack(course, {f"2026/ada-{NOTEBOOK}": notebooks["ada"]})
        course.run(*self.COLLECT)
        assert course.submitted() == {"ada": [NOTEBOOK]}
        course.configure()


class TestExchange:
    def test_release_collect_and_return_feedback(self, course, notebooks, tmp_path):
        course.configure(f"c.Exchange.root = {str(tmp_path / 'exchange')!r}")
        shutil.rmtree(course.folder / "submitted", ignore_errors=True)
        course.run("nbgrader", "release_assignment", ASSIGNMENT)
        for student in EXCHANGE:
            own = tmp_path / student
            own.mkdir()
            (own / "nbgrader_config.py").write_text(
                f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n"
                f"c.CourseDirectory.student_id = {student!r}\n"
            )
            of_course = (ASSIGNMENT, "--course", "attention")
            course.run("nbgrader", "fetch_assignment", *of_course, at=own)
            (own / ASSIGNMENT / NOTEBOOK).write_bytes(notebooks[student])
            course.run("nbgrader", "submit", *of_course, at=own)
        course.run("nbgrader", "collect", ASSIGNMENT, "--update")
        handed_in = course.folder / "submitted" / "ada" / ASSIGNMENT
        assert (handed_in / NOTEBOOK).read_bytes() == notebooks["ada"]
        assert re.fullmatch(r"[\d-]+ [\d:.]+ UTC", (handed_in / "timestamp.txt").read_text())
        assert re.search(r"^ada +14 of 20", course.grade(), re.MULTILINE)
        # Submissions that did not come through the exchange lack its secret file, and nbgrader
        # would stop at them.
        others = [p.name for p in (course.folder / "feedback").iterdir() if p.name not in EXCHANGE]
        exclude = f"--CourseDirectory.student_id_exclude={','.join(others)}"
        course.run("nbgrader", "release_feedback", ASSIGNMENT, exclude)
        own = tmp_path / "ada"
        course.run("nbgrader", "fetch_feedback", *of_course, at=own)
        (page,) = (own / ASSIGNMENT / "feedback").rglob("*.html")
        assert "Score: 14.0 / 20.0" in page.read_text(encoding="utf-8")
        course.configure()


def test_after_a_change_of_a_test_all_are_graded_again(course, hand_in):
    hand_in(ada=None, soren=None)
    course.grade()
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    assert re.search(r"^ada +15\.5 of 20 +graded", course.grade(), re.MULTILINE)
    path = course.folder / "solutions" / ASSIGNMENT / NOTEBOOK
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "reading-tests")
    assert "1 - given[1].max()" in cell.source
    cell.source = cell.source.replace("1 - given[1].max()", "2 - given[1].max()")
    nbformat.write(notebook, path)

    # The change is in a hidden test.
    assert f"{ASSIGNMENT}: up to date" in course.run("python", "-m", "grader", "release")
    said = course.grade()

    # The 1.5 points given by hand still count.
    assert re.search(r"^ada +14\.5 of 20 +to read", said, re.MULTILINE)
    assert re.search(r"^soren +17 of 20 +to read", said, re.MULTILINE)
    with course.gradebook() as gradebook:
        assert gradebook.find_grade("in-words", ASSIGNMENT, ASSIGNMENT, "ada").manual_score == 1.5
