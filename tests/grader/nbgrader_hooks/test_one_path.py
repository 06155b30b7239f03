"""nbgrader's autograde and our grade command use the same hidden inputs for the same answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode
from traitlets.config import Config

from attn_lib.course.personal import sizes
from attn_lib.course.personal.core import salted
from grader.course import SOLUTIONS, do_step, nbgrader_for
from grader.gradebook import reading
from grader.judging.judge import seed_of
from grader.judging.verdict import Verdict
from grader.releasing.answer_files import fill
from grader.releasing.release import generate
from grader.running.jobs import judge_job
from grader.sandbox.inside.limits import BUBBLEWRAP, Limits
from tests.grader.sandbox.probes import need_bubblewrap

# nbgrader's own code adds rows in an order about which SQLAlchemy 2.1 warns.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ASSIGNMENT = "dot-products"
SALT = "a secret of the class"
NUMBER = 41  # number of the generator from which the test cell prints an input
ANSWERS = {
    "learner-id": 'learner_id = "ada"',
    "softmax": "def softmax(scores):\n    return 'Größe — 大'",
    "in-words": "Because.",
}
OTHER_ANSWERS = ANSWERS | {"softmax": "def softmax(scores):\n    return 'Größe — 小'"}


def with_outputs(notebook: NotebookNode) -> str:
    """Return the notebook as an editor saves it after running it."""
    notebook.metadata["kernelspec"] = {"name": "conda-env", "display_name": "Conda"}
    for count, cell in enumerate(notebook.cells):
        cell.metadata["tags"] = ["seen"]
        if cell.cell_type == "code":
            cell.execution_count = count
            cell.outputs = [nbformat.v4.new_output("stream", text=f"{count}\n")]
    return nbformat.writes(notebook)


#: Different files with the same answers, and whether nbgrader can read them without repair.
FILES: Mapping[str, tuple[Callable[[NotebookNode], bytes], bool]] = {
    "as-saved": (lambda notebook: nbformat.writes(notebook).encode(), True),
    "with-outputs": (lambda notebook: with_outputs(notebook).encode(), True),
    "ascii": (lambda notebook: nbformat.writes(notebook, ensure_ascii=True).encode(), True),
    "compact": (lambda notebook: nbformat.writes(notebook, indent=None).encode(), True),
    "byte-order-mark": (lambda notebook: nbformat.writes(notebook).encode("utf-8-sig"), False),
    "utf-16": (lambda notebook: with_outputs(notebook).encode("utf-16"), False),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with submissions, in which the test of softmax prints a hidden input."""
    need_bubblewrap()
    folder = tmp_path_factory.mktemp("course")
    notebook = nbformat.read(SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    test = next(cell for cell in notebook.cells if cell.id == "softmax-tests")
    mark = "check.finish()"
    assert test.source.count(mark) == 1
    test.source = test.source.replace(mark, f"print('DRAWN', check.rng({NUMBER}).normal())\n{mark}")
    (folder / "solutions" / ASSIGNMENT).mkdir(parents=True)
    nbformat.write(notebook, folder / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    released = generate(ASSIGNMENT, folder / "plain").read_text(encoding="utf-8")
    for student, (file, _) in FILES.items():
        write(folder, student, file(filled_in(released, ANSWERS)))
    other = nbformat.writes(filled_in(released, OTHER_ANSWERS)).encode()
    write(folder, "other-answers", other)
    return folder


def filled_in(released: str, answers: Mapping[str, str]) -> NotebookNode:
    notebook = nbformat.reads(released, as_version=4)
    fill(notebook, dict(answers))
    return notebook


def file_of(folder: Path, room: str, student: str) -> Path:
    return folder / room / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


def write(folder: Path, student: str, content: bytes) -> None:
    path = file_of(folder, "submitted", student)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


@pytest.fixture(scope="module")
def by_grader(course) -> dict[str, Verdict]:
    """The verdicts of a worker of ``python -m grader grade``."""
    found = {}
    for student in (*FILES, "other-answers"):
        job = {
            "assignment": ASSIGNMENT,
            "student": student,
            "source": (course / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes(),
            "submitted": file_of(course, "submitted", student).read_bytes(),
            "limits": asdict(Limits()),
            "isolation": BUBBLEWRAP,
            "salt": SALT,
            "remarks": [],
        }
        found[student] = Verdict.from_bytes(judge_job(job))
    return found


@pytest.fixture(scope="module")
def by_nbgrader(course) -> dict[str, NotebookNode]:
    """The notebooks that nbgrader's own ``autograde`` writes, with the course's settings."""
    settings = {
        "source_directory": course / "solutions",
        "release_directory": course / "released",
        "submitted_directory": course / "submitted",
        "autograded_directory": course / "autograded",
        "db_url": reading.sqlite_url(course),
    }
    api = nbgrader_for(settings, Config({"PersonalNumbers": {"salt": SALT}}))
    do_step(api.generate_assignment, ASSIGNMENT)
    readable = [student for student, (_, can) in FILES.items() if can]
    for student in (*readable, "other-answers"):
        do_step(api.autograde, ASSIGNMENT, student)
    return {
        student: nbformat.read(file_of(course, "autograded", student), as_version=4)
        for student in (*readable, "other-answers")
    }


def drawn(notebook: NotebookNode) -> float:
    """Return the hidden input that the test of softmax printed."""
    cell = next(cell for cell in notebook.cells if cell.id == "softmax-tests")
    (found,) = re.findall(r"DRAWN (\S+)", cell.outputs[0].text)
    return float(found)


def test_both_commands_use_the_same_inputs_for_the_same_answers(by_grader, by_nbgrader):
    notebooks = {name: nbformat.reads(by_grader[name].notebook, as_version=4) for name in FILES}
    (seed,) = {by_grader[name].provenance["seed"] for name in FILES}
    assert {seed_of(notebook) for notebook in notebooks.values()} == {seed}
    hidden = np.random.default_rng([NUMBER, seed]).normal()
    assert {name: drawn(notebook) for name, notebook in notebooks.items()} == dict.fromkeys(
        FILES, hidden
    )
    readable = {name: found for name, found in by_nbgrader.items() if name in FILES}
    assert len(readable) == 4
    assert {name: drawn(notebook) for name, notebook in readable.items()} == dict.fromkeys(
        readable, hidden
    )


def test_other_answers_get_other_inputs_equal_for_both_commands(by_grader, by_nbgrader):
    verdict = by_grader["other-answers"]
    seed = verdict.provenance["seed"]
    assert seed != by_grader["as-saved"].provenance["seed"]
    hidden = np.random.default_rng([NUMBER, seed]).normal()
    assert drawn(nbformat.reads(verdict.notebook, as_version=4)) == hidden
    assert drawn(by_nbgrader["other-answers"]) == hidden


def test_both_commands_draw_learners_numbers_with_the_salt(by_grader, by_nbgrader):
    with salted(SALT):
        size = sizes("ada")
    assert size != sizes("ada")
    graded = nbformat.reads(by_grader["as-saved"].notebook, as_version=4)
    for notebook in (graded, by_nbgrader["as-saved"]):
        (cell,) = [cell for cell in notebook.cells if cell.id == "shapes-given"]
        assert f"q: {(size.B, size.H, size.n_q, size.d_k)}\n" in cell.outputs[0].text
