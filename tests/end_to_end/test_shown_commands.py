"""Every command in the README and the guides is run here, or an entry says where or why not.

There is one table for each page. The commands of a page run in its order in one temporary copy of
the course, so later commands use the files that earlier ones have made. A command that changes no
file runs in the course itself.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.releasing.answer_files import write_class
from tests.end_to_end.nbgrader_courses import COURSES
from tests.end_to_end.shown_commands import (
    Shown,
    copy_of_course,
    run_in,
    shown_commands,
    without_make,
)
from tests.end_to_end.test_instructor_path import ROSTER
from tests.end_to_end.test_jupyterlab import PATIENCE, free_port

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "sample_class"


@dataclass(frozen=True)
class Run:
    """The command is run here and must succeed."""

    writes: tuple[str, ...] = ()  #: glob patterns of files that it must write in the course
    says: str = ""  #: a regular expression that its output must match
    first: Callable[[Path], None] | None = None  #: a step that prepares the copy
    goes_on: bool = False  #: whether it is a server: it must answer a request and is then stopped
    in_place: bool = (
        False  #: whether it runs in the course itself, because it changes no file there
    )


@dataclass(frozen=True)
class Tested:
    """Another test runs the command."""

    __test__ = False  # so that pytest does not collect this class because of its name
    by: str  #: "tests/room/test_file.py::test_name", or "::Class::test_name"


@dataclass(frozen=True)
class Untested:
    """The command cannot be run in a test."""

    because: str  #: the reason, as a sentence


Entry = Run | Tested | Untested


def hand_in(**answers: str) -> Callable[[Path], None]:
    """Return a step that puts each student's answers, of the sample class, into submitted/."""

    def step(course: Path) -> None:
        folder = course / "answers"
        folder.mkdir(exist_ok=True)
        for student, name in answers.items():
            (folder / f"{student}.py").write_bytes((SAMPLE / "answers" / f"{name}.py").read_bytes())
        write_class(
            course / "exercises/dot-products/dot-products.ipynb", folder, course / "submitted"
        )

    return step


def write_quickstart(course: Path) -> None:
    """Write nbgrader's quickstart course beside the copy."""
    folder = course.parent / "c101"
    folder.mkdir()
    COURSES["quickstart"].write(folder)


def write_roster(course: Path) -> None:
    (course / "roster.csv").write_text(ROSTER, encoding="utf-8")


def write_what_is_new(course: Path) -> None:
    """Add the changelog section of a release, remove the trial task, and set git's author name."""
    subprocess.run(["git", "checkout", "--quiet", "solutions"], cwd=course, check=True)
    changes = course / "CHANGELOG.md"
    changes.write_text(changes.read_text("utf-8").replace("## 0.1.0", "## 0.2.0"), "utf-8")
    for setting in ("user.name=Course", "user.email=course@localhost"):
        subprocess.run(["git", "config", *setting.split("=")], cwd=course, check=True)


# These take minutes, and the test suite itself, or the command that runs it, does the same.
COURSE = Untested("It makes the environment and calls `make book`, `exercises` and `class`.")
TEST = Untested("It runs this test.")
PART = Untested(
    "It runs a part of this suite; tests/tools/test_readme.py checks that the part exists."
)
PULL = Untested("The copy has no remote repository to pull from.")
BOOK = Tested("tests/book/test_build.py::test_the_book_builds_without_a_warning")
LOCK = Untested("It needs a package registry; test_packaging.py checks its result.")
ARCHIVE = Tested(
    "tests/grader/releasing/test_bundle.py::TestCommand::test_it_prints_the_path_of_the_archive"
)
INSTALL = Untested("It installs from a package registry; test_packaging.py checks the ranges.")
WHEEL = Tested("tests/attn_lib/test_packaging.py::test_installing_attn_lib_adds_only_numpy")
AUTOGRADE = Tested(
    "tests/end_to_end/test_sample_class.py::TestStockNbgrader::test_from_release_to_feedback"
)
PDF = Tested(
    "tests/tools/test_editions.py::TestPdf::test_every_picture_and_formula_is_there_with_its_text"
)
EPUB = Tested("tests/tools/test_editions.py::TestEpub::test_its_package_lists_exactly_its_files")
#: Another page shows the same command, and it is run there.
ELSEWHERE = Tested("tests/end_to_end/test_shown_commands.py::test_command_succeeds")
LAB = Run(goes_on=True)
HELP = Run(says=r"^make course ")

README: dict[str, Entry] = {
    "make course": COURSE,
    "make test": TEST,
    "make": HELP,
    "make course PYTHON=python3.12": COURSE,
    "make lab": LAB,
    "make pdf": PDF,
    "make epub": EPUB,
    "make release": ARCHIVE,
    ".venv/bin/python -m grader doctor": Run(says="ok +network"),
    ".venv/bin/python -m grader grade dot-products": Run(
        first=hand_in(ada="divides-by-d-k"),
        writes=("grades-dot-products.csv", "gradebook.db"),
        says="14 of 20",
    ),
    ".venv/bin/python -m grader report dot-products": Run(writes=("report-dot-products.html",)),
    "pip install .": WHEEL,
    "make test PYTEST=tests/attn_lib": PART,
    "make test PYTEST=tests/attn_lib/test_packaging.py": PART,
    'make test PYTEST="tests/book/test_build.py tests/book/test_claims.py tests/book/claims"': PART,
    "make test PYTEST=tests/book/test_pages.py": PART,
    "make test PYTEST=tests/exercises/proof/test_right.py": PART,
    "make test PYTEST=tests/exercises/proof/test_wrong.py": PART,
    "make test PYTEST=tests/exercises/mutation/test_mutants.py": PART,
    "make test PYTEST=tests/grader/judging/test_hostile.py": PART,
    'make test PYTEST="tests/exercises/proof/test_stock.py'
    ' tests/grader/gradebook/test_writing.py"': PART,
    "make test PYTEST=tests/grader/running/test_pipeline.py": PART,
    "make test PYTEST=tests/end_to_end/test_jupyterlab.py": PART,
    ".ci/run": TEST,
}

CONTRIBUTING: dict[str, Entry] = {
    "make pdf": PDF,
    "make epub": EPUB,
    "make environment": Run(),
    "make test": TEST,
    "make test PYTEST=tests/attn_lib": PART,
    'make test PYTEST="tests/book -k quiz -x"': PART,
    # mypy needs a second where its cache is, and twenty in a copy.
    "make lint": Run(in_place=True),
    ".venv/bin/ruff format . && .venv/bin/ruff check --fix .": Run(says="left unchanged"),
    ".venv/bin/jupyter-book build .": BOOK,
    "make book": BOOK,
    ".venv/bin/python -m pytest --cov": TEST,
    ".venv/bin/pre-commit install": Run(writes=(".git/hooks/pre-commit",)),
    ".venv/bin/pre-commit run --all-files": Run(says="Passed"),
    "make lock": LOCK,
    "make exercises": ELSEWHERE,
    ".venv/bin/python -m tests.exercises.proof.matrix --write": Tested(
        "tests/exercises/proof/test_wrong.py::TestMistakes::test_the_table_in_the_book_has_all_assignments"
    ),
    ".venv/bin/python -m attn_lib.model.train": Tested(
        "tests/attn_lib/model/test_training.py::test_the_command_saves_the_trained_model"
    ),
    ".venv/bin/python -m attn_lib.course.effects.measure": Tested(
        "tests/attn_lib/course/test_effects.py::TestFile::test_the_command_measures_again"
    ),
    ".venv/bin/python -m attn_lib.course.effects.measure --train": Tested(
        "tests/attn_lib/course/test_effects.py::TestFile"
        "::test_the_command_trains_what_is_asked_for_and_keeps_the_rest"
    ),
    ".venv/bin/python -m attn_lib.model.trials": Tested(
        "tests/attn_lib/model/test_trials.py::test_the_command_runs_every_trial"
    ),
    "make test PYTEST=tests/attn_lib/course": PART,
    "make release": ARCHIVE,
    "make class": Tested(
        "tests/end_to_end/test_sample_class.py::TestScores::test_scores_are_exactly_as_expected"
    ),
    "uv pip compile pyproject.toml --extra development --universal --python-version 3.11"
    " -o requirements.txt": LOCK,
    "make lock UPGRADE=--upgrade": LOCK,
    "git diff requirements.txt": Run(),
    'make test PYTEST="tests/exercises tests/book tests/grader/releasing/test_release.py'
    ' tests/tools/test_readme.py"': PART,
    "make test PYTEST=tests/book/test_numpy_and_pytorch.py": PART,
    ".venv/bin/pip install torch": INSTALL,
    ".venv/bin/python -m tests.exercises.proof.seeds": Untested(
        "It takes minutes; the suite tries fewer seeds of the same tests."
    ),
    ".venv/bin/python -m tests.exercises.proof.seeds --styles 200": Untested(
        "It takes minutes; the suite tries fewer seeds of every style."
    ),
    ".venv/bin/python -m tests.exercises.proof.misreadings": Untested(
        "It takes minutes; the suite tries fewer learners' numbers."
    ),
    ".venv/bin/python -m tools.pictures": Tested(
        "tests/tools/test_pictures.py::test_each_picture_shows_the_right_part_of_the_page"
    ),
    ".venv/bin/python tools/page_sizes.py": Tested(
        "tests/tools/test_page_sizes.py::test_a_page_over_the_limit_fails"
    ),
    ".venv/bin/python -m tools.add_task softmax-saturation log-sum-exp log_sum_exp"
    " --after logarithm-tests": Run(
        writes=("solutions/softmax-saturation/softmax-saturation.ipynb",), says="in capitals"
    ),
    'make test PYTEST="tests/book tests/attn_lib/figures/test_figures.py"': PART,
    'make test PYTEST="tests/attn_lib/figures/test_figures.py tests/book/test_pages.py"': PART,
    'make test PYTEST="tests/book/test_quiz.py tests/book/test_pages.py'
    ' tests/book/test_claims.py"': PART,
    'make test PYTEST="tests/book/live tests/book/test_pages.py --built-book _build/html"': PART,
    ".venv/bin/python benchmarks/live_figures.py": Untested(
        "It measures times; its figures are used by tests/book/live."
    ),
    'make test PYTEST="tests/book/carried tests/book/test_pages.py"': PART,
    ".venv/bin/python -m tests.book.carried.compare_styles": Untested(
        "It takes pictures for minutes; tests/book/carried asks the same by names."
    ),
    ".venv/bin/python benchmarks/page_weight.py": Untested(
        "It measures times, with Lighthouse from the network."
    ),
    "make test PYTEST=tests/book/claims": PART,
    'make test PYTEST="tests/exercises/proof/test_wrong.py tests/book/claims'
    ' tests/book/test_claims.py"': PART,
    'make test PYTEST="tests/exercises tests/tools/test_readme.py"': PART,
    'make lock UPGRADE="--upgrade-package matplotlib"': LOCK,
    "make course": COURSE,
    'git commit -am "Release VERSION"': Run(first=write_what_is_new, says="Release VERSION"),
    "git tag -a vVERSION -m VERSION": Run(),
    ".ci/run": TEST,
}

EXTERNAL = Untested("It belongs to another project and runs in another environment.")
INSTRUCTOR = "tests/end_to_end/test_instructor_path.py::"
EXCHANGE = Tested(f"{INSTRUCTOR}TestExchange::test_release_collect_and_return_feedback")
CLUSTER = Tested(
    "tests/grader/running/test_cluster_workers.py::test_each_job_is_done_once_and_few_are_queued"
)

INSTRUCTOR_GUIDE: dict[str, Entry] = {
    "make course": COURSE,
    "source .venv/bin/activate": Run(),
    ".venv/bin/python -m grader doctor": ELSEWHERE,
    "git pull": PULL,
    ".venv/bin/python -m grader roster roster.csv": Run(
        first=write_roster,
        writes=("gradebook.db",),
        says=r"^4 learners in roster\.csv: 4 are new, 0 changed\.",
    ),
    "nbgrader db student import": Tested(
        f"{INSTRUCTOR}TestPlatforms::test_canvas_from_zip_file_to_grades"
    ),
    "nbgrader db student remove ruth --force": Tested(
        "tests/grader/running/test_class_list.py"
        "::test_a_removed_student_leaves_report_exports_and_journal"
    ),
    ".venv/bin/nbgrader db student list": Run(says=r"^soren \(Ødegård, Søren\)"),
    "make exercises": Run(says="dot-products: up to date"),
    "make release": ARCHIVE,
    "nbgrader validate": Tested(
        "tests/end_to_end/test_sample_class.py"
        "::TestStockNbgrader::test_validate_accepts_right_answers"
    ),
    ".venv/bin/python -m grader release dot-products --force": Run(says="up to date"),
    ".venv/bin/nbgrader release_assignment dot-products": EXCHANGE,
    "nbgrader release_assignment": EXCHANGE,
    "nbgrader fetch_assignment dot-products --course attention": EXCHANGE,
    "nbgrader submit dot-products --course attention": EXCHANGE,
    "pip install '.[exercises]'": INSTALL,
    ".venv/bin/nbgrader db assignment add dot-products --duedate 2026-03-02T23:59+01:00": Run(),
    ".venv/bin/python -m grader extend dot-products ada --days 2": Run(
        says=r"ada: Due 2026-03-04 22:59 UTC for dot-products\."
    ),
    ".venv/bin/nbgrader collect dot-products --update": EXCHANGE,
    ".venv/bin/nbgrader zip_collect dot-products --force": Tested(
        f"{INSTRUCTOR}TestPlatforms::test_canvas_from_zip_file_to_grades"
    ),
    ".venv/bin/python -m grader grade dot-products": Run(
        first=hand_in(ada="divides-by-d-k"),
        writes=(
            "grades-dot-products.csv",
            "feedback/ada/dot-products/dot-products.html",
        ),
        says=r"14 of 20(?s:.*)^Due 2026-03-02 22:59 UTC\.",
    ),
    "nbgrader autograde": AUTOGRADE,
    ".venv/bin/jupyter-lab": LAB,
    ".venv/bin/python -m grader feedback dot-products": Run(says="1 page "),
    ".venv/bin/nbgrader release_feedback dot-products": EXCHANGE,
    ".venv/bin/python -m grader export dot-products --format moodle": Run(
        writes=("grades-dot-products-moodle.csv",)
    ),
    ".venv/bin/python -m grader totals": Run(
        writes=("grades-total.csv",), says="Totals of 4 students over 1 assignment in "
    ),
    ".venv/bin/python -m grader totals --format moodle": Run(
        writes=("grades-total-moodle.csv",), says="Not final, because answers wait to be read"
    ),
    ".venv/bin/python -m grader return dot-products --format moodle": Tested(
        "tests/grader/reporting/test_returning.py::test_pages_for_moodle"
    ),
    ".venv/bin/python -m grader return dot-products --format canvas": Tested(
        f"{INSTRUCTOR}TestPlatforms::test_canvas_from_zip_file_to_grades"
    ),
    ".venv/bin/python -m grader return dot-products --format mail": Run(
        writes=(
            "return-dot-products-mail/students.csv",
            "return-dot-products-mail/pages/ada/dot-products.html",
        )
    ),
    "make book": BOOK,
    "nbgrader db student remove ada-makeup --force": Tested(
        "tests/grader/releasing/test_without_answers.py"
        "::test_a_makeup_with_a_salt_from_start_to_finish"
    ),
    ".venv/bin/python -m grader grade dot-products --keep-grades": Tested(
        "tests/grader/command_line/test_commands.py"
        "::test_what_an_update_does_to_grades_is_said_first"
    ),
    ".venv/bin/python -m grader report dot-products": Run(writes=("report-dot-products.html",)),
    "pip install compare50": EXTERNAL,
    ".venv/bin/jupyter-nbconvert --to python submitted/*/dot-products/*.ipynb": Run(
        writes=("submitted/*/dot-products/dot-products.py",)
    ),
    ".venv/bin/jupyter-nbconvert --to python --output-dir stub"
    " exercises/dot-products/dot-products.ipynb": Run(writes=("stub/dot-products.py",)),
    "compare50 submitted/*/dot-products -x '*.ipynb' -d stub/dot-products.py -o alike": EXTERNAL,
    "make environment": Run(),
    ".venv/bin/dask scheduler": CLUSTER,
    ".venv/bin/dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1": CLUSTER,
    ".venv/bin/python -m grader grade dot-products --scheduler tcp://HOST:8786": CLUSTER,
    ".venv/bin/python -m grader copy-gradebook postgresql+psycopg://USER@HOST/gradebook": Tested(
        "tests/grader/gradebook/test_postgresql.py::test_a_gradebook_is_copied_and_grading_goes_on"
    ),
    "nbgrader generate_assignment ps1": Tested(
        "tests/end_to_end/test_other_courses.py::test_scores_are_those_of_nbgrader_itself"
    ),
    ".venv/bin/python -m grader course ../c101 ps1 --placement": Run(
        first=write_quickstart, says="inside the sandbox(?s:.*)sum_of_squares_uses_squares"
    ),
    ".venv/bin/python -m grader course ../c101 ps1": Tested(
        "tests/end_to_end/test_other_courses.py::test_scores_are_those_of_nbgrader_itself"
    ),
    "make test": TEST,
    "apt-get install bubblewrap": Untested("It changes the machine."),
}

LEARNER = "tests/end_to_end/test_learner_path.py::"
ARCHIVE_INSTALLED = Tested(f"{LEARNER}test_the_library_is_installed_from_the_archive")
HOW_TO_USE: dict[str, Entry] = {
    "make pdf": PDF,
    "make epub": EPUB,
    "python3 -m venv .venv": ARCHIVE_INSTALLED,
    ". .venv/bin/activate": ARCHIVE_INSTALLED,
    "python -m pip install -r requirements.txt": ARCHIVE_INSTALLED,
    "jupyter lab exercises": Tested(f"{LEARNER}test_jupyterlab_opens_on_the_exercises"),
    "make course": COURSE,
    "make lab": ELSEWHERE,
    "make": HELP,
    'python -m pip install ".[exercises]"': INSTALL,
    "python -m attn_lib.course.checks exercises/dot-products/dot-products.ipynb": Tested(
        f"{LEARNER}test_the_check_reports_missing_answers_and_success"
    ),
    "python -m attn_lib.course.checks --grade exercises/dot-products/dot-products.ipynb": Tested(
        "tests/attn_lib/course/notebooks/test_grade.py::test_right_answers_have_all_points"
    ),
    "mkdir -p submitted/me/dot-products": Run(),
    "cp exercises/dot-products/dot-products.ipynb submitted/me/dot-products/": Run(),
    ".venv/bin/python -m grader grade dot-products": Run(
        writes=("feedback/me/dot-products/dot-products.html",), says="0 of 20"
    ),
    ".venv/bin/jupyter lab solutions": LAB,
    "make exercises": ELSEWHERE,
    "git pull": PULL,
}

PAGES = {
    "README.md": README,
    "CONTRIBUTING.md": CONTRIBUTING,
    "book/instructor-guide.md": INSTRUCTOR_GUIDE,
    "book/how-to-use.md": HOW_TO_USE,
}


def shown_once(page: str) -> list[Shown]:
    """Return the page's commands without repetitions, each at its first position."""
    first: dict[str, Shown] = {}
    for shown in shown_commands(ROOT, page):
        first.setdefault(shown.command, shown)
    return list(first.values())


def commands_to_run() -> list[Shown]:
    return [
        shown
        for page, table in PAGES.items()
        for shown in shown_once(page)
        if isinstance(table.get(shown.command), Run)
    ]


def test_commands_are_found_in_blocks_and_in_sentences(tmp_path):
    page = """# A page

Run `make book`, not `masking.ipynb`, `c.Exchange.root` or `.venv/bin/`.

:::{note}
`CI=true make test` here, `.venv/bin/nbgrader list` there.
:::

## Then

```sh
make lab PORT=1  # opens a browser
# nothing but a comment

uv pip compile \\
    a#b
```

```python
make = "no command"
```
"""
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    found = shown_commands(tmp_path, "page.md")
    assert [(shown.line, shown.section, shown.command) for shown in found] == [
        (3, "A page", "make book"),
        (6, "A page", "CI=true make test"),
        (6, "A page", ".venv/bin/nbgrader list"),
        (12, "Then", "make lab PORT=1"),
        (16, "Then", "uv pip compile a#b"),
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_table_lists_exactly_the_commands_of_the_page(page):
    shown = {command.command: str(command) for command in shown_once(page)}
    assert [place for command, place in shown.items() if command not in PAGES[page]] == []
    assert [command for command in PAGES[page] if command not in shown] == []


@pytest.mark.parametrize("page", PAGES)
def test_referenced_tests_exist_and_reasons_are_sentences(page):
    for command, entry in PAGES[page].items():
        if isinstance(entry, Tested):
            path, *names = entry.by.split("::")
            body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
            for name in names:
                (found,) = [node for node in body if getattr(node, "name", None) == name]
                body = found.body
        if entry is ELSEWHERE:
            assert any(isinstance(table.get(command), Run) for table in PAGES.values()), command
        elif isinstance(entry, Untested):
            assert re.fullmatch(r"[A-Z].* .*\.", entry.because), command


@pytest.fixture(scope="module")
def courses(tmp_path_factory):
    """A function that returns a page's copy of the course, made when first requested."""
    made: dict[str, Path] = {}

    def course(page: str) -> Path:
        if page not in made:
            made[page] = copy_of_course(ROOT, tmp_path_factory.mktemp("course"))
        return made[page]

    return course


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """Environment variables with a separate home folder and a free port."""
    home = tmp_path_factory.mktemp("home")
    settings = {"allow_root": os.getuid() == 0, "open_browser": False, "token": ""}
    (home / "jupyter").mkdir()
    (home / "jupyter" / "jupyter_server_config.json").write_text(
        json.dumps({"ServerApp": settings | {"port": free_port()}}), encoding="utf-8"
    )
    return without_make(
        HOME=str(home),
        JUPYTER_CONFIG_DIR=str(home / "jupyter"),
        JUPYTER_DATA_DIR=str(home / "data"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        PORT=str(free_port()),
    )


@pytest.mark.parametrize("shown", commands_to_run(), ids=str)
def test_command_succeeds(shown, courses, environment):
    entry = PAGES[shown.page][shown.command]
    course = ROOT if entry.in_place else courses(shown.page)
    if entry.first:
        entry.first(course)
    if entry.goes_on:
        check_server(shown.command, course, environment)
        return
    begun = time.time() - 1  # file systems may round times
    done = run_in(course, ["bash", "-euo", "pipefail", "-c", shown.command], environment)
    assert done.returncode == 0, done.stdout
    assert re.search(entry.says, done.stdout, re.MULTILINE), done.stdout
    for pattern in entry.writes:
        written = [path for path in course.glob(pattern) if path.stat().st_mtime >= begun]
        assert written, f"expected {pattern} to be written:\n{done.stdout}"


def _answers(said: str) -> bool:
    """Tell whether the server answers at the address in its output."""
    found = re.search(r"https?://[\w.]+:\d+/\S*", said)
    if not found:
        return False
    try:
        with urllib.request.urlopen(found[0], timeout=PATIENCE) as page:
            return page.status == 200
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError:
        return False


def check_server(command: str, course: Path, environment: dict[str, str]) -> None:
    """Start a server, request a page at the address that it prints, and stop it."""
    log = course / "server.log"
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            ["bash", "-c", command],
            cwd=course,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(log.read_text("utf-8")):
            assert server.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline, log.read_text("utf-8")
            time.sleep(0.1)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=PATIENCE)
        log.unlink()
