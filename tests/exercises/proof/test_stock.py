"""Stock nbgrader, with tests in the learner's kernel, and its validator give the same marks."""

from __future__ import annotations

import json
import shutil

import nbformat
import pytest
from nbgrader.converters import Autograde
from nbgrader.utils import is_solution
from nbgrader.validator import Validator
from traitlets.config import Config

from grader.course import do_step, nbgrader_for
from grader.gradebook import reading
from grader.releasing.release import generate

#: nbgrader's behaviour without this course's judge in nbgrader_config.py.
STOCK = Config(
    {
        "Autograde": {
            "sanitize_preprocessors": Autograde.sanitize_preprocessors.default_args[0],
            "autograde_preprocessors": Autograde.autograde_preprocessors.default_args[0],
        }
    }
)


pytestmark = pytest.mark.usefixtures("kernels_start_warm")


@pytest.fixture(scope="module")
def submissions(root, proof, tmp_path_factory):
    """A folder with two submissions: the stub, and the stub with the reference answers."""
    folder = tmp_path_factory.mktemp("stock")
    name = proof.assignment
    db_url = reading.sqlite_url(folder)
    stub = generate(name, folder / "released", db_url=db_url)
    right = nbformat.read(stub, as_version=4)
    source = nbformat.read(root / "solutions" / name / f"{name}.ipynb", as_version=4)
    answers = {cell.id: cell.source for cell in source.cells if is_solution(cell)}
    for cell in right.cells:
        cell.source = answers.get(cell.id, cell.source)
    for student in ("stub", "right"):
        (folder / "submitted" / student / name).mkdir(parents=True)
    shutil.copy(stub, folder / "submitted" / "stub" / name)
    nbformat.write(right, folder / "submitted" / "right" / name / f"{name}.ipynb")
    return folder


class TestStock:
    def test_autograde_gives_the_stub_zero_and_right_answers_full_marks(self, submissions, proof):
        folder = submissions
        api = nbgrader_for(
            {
                "submitted_directory": folder / "submitted",
                "autograded_directory": folder / "autograded",
                "db_url": reading.sqlite_url(folder),
            },
            STOCK,
        )
        for student in ("stub", "right"):
            do_step(api.autograde, proof.assignment, student)
        entries = reading.entries(reading.sqlite_url(folder), proof.assignment)
        by_hand = set(proof.model_numbers) | set(entries["right"].to_read)
        wanted = {c: p for c, p in entries["right"].points.items() if c not in by_hand}
        assert entries["right"].scores == wanted
        assert sum(entries["right"].points.values()) == proof.points
        assert entries["stub"].to_read == []
        assert set(entries["stub"].scores.values()) == {0.0}

    @pytest.mark.parametrize(("student", "passes"), [("stub", False), ("right", True)])
    def test_validate_agrees(self, student, passes, submissions, proof):
        name = proof.assignment
        path = submissions / "submitted" / student / name / f"{name}.ipynb"
        found = Validator().validate(str(path))
        assert ("failed" not in found) is passes, json.dumps(found, indent=1)[:3000]
