"""A release with a salt is without answers: its wheel passes visible tests, and tells nothing else.

The wheel is used as in Colab, where attn_lib is imported from the file itself.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from attn_lib.course.checks.__main__ import main
from attn_lib.course.notebooks.cells import without_hidden_tests
from attn_lib.course.personal import masking, two_keys
from attn_lib.course.personal.core import salted
from grader import course
from grader.__main__ import main as main_of_grader
from grader.course import SOLUTIONS, assignments
from grader.gradebook import reading
from grader.releasing import bundle as bundles
from grader.releasing.bundle import BundleFailed, bundle, without_answers
from grader.reporting.results import results
from grader.reporting.totals.term import Totals, term
from grader.running.local_workers import JUDGE_JOB
from grader.running.pipeline import Run, autograde
from grader.sandbox.warm_sandboxes import close_sandbox
from tests.grader.gradebook.server import with_tables
from tests.grader.running.classroom import InThisProcess

SALT = "kept in the instructor's configuration"
#: The last one is the id that ada types in a makeup.
LEARNERS = ["ada", "Grace H.", "ada-makeup"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    name, content = without_answers(metadata.version("attn_lib"), SALT, LEARNERS)
    path = tmp_path_factory.mktemp("handed-out") / name
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def notebooks(wheel) -> list[Path]:
    """Learners' notebooks with the model answers of ada, beside the wheel."""
    paths = []
    for assignment in assignments():
        notebook = nbformat.read(SOLUTIONS / assignment / f"{assignment}.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = without_hidden_tests(cell.source)
        paths.append(wheel.with_name(f"{assignment}.ipynb"))
        nbformat.write(notebook, paths[-1])
    return paths


def at_home(wheel: Path, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that finds attn_lib in the wheel."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=wheel.parent,
        env=os.environ | {"PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=False,
    )


CHECK = """
import sys
import attn_lib
from attn_lib.course.checks.__main__ import main

assert ".whl" in attn_lib.__file__
sys.exit(max([main([path]) for path in sys.argv[1:]]))
"""


def test_model_answers_pass_all_visible_tests(wheel, notebooks):
    checked = at_home(wheel, CHECK, *notebooks)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("test cells pass.") == len(assignments())


def changed(path: Path, old: str, new: str) -> Path:
    """Write a copy of a notebook with another text in its answers."""
    notebook = nbformat.read(path, as_version=4)
    assert any(old in cell.source for cell in notebook.cells)
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)
    nbformat.write(notebook, path.with_name("changed.ipynb"))
    return path.with_name("changed.ipynb")


def test_a_mistake_is_named_as_with_the_whole_library(wheel, notebooks, capsys):
    (path,) = [path for path in notebooks if path.stem == "dot-products"]
    wrong = changed(path, " / np.sqrt(q.shape[-1])", "")
    said = at_home(wheel, CHECK, wrong).stdout
    assert "(no-scale; see the book," in said
    assert main([str(wrong)]) == 1
    assert capsys.readouterr().out == said


def test_an_id_that_is_not_on_the_class_list_is_told(wheel, notebooks):
    (path,) = [path for path in notebooks if path.stem == "dot-products"]
    other = changed(path, 'learner_id = "ada"', 'learner_id = "bob"')
    said = " ".join(at_home(wheel, CHECK, other).stdout.split())
    assert "expected the id under which you are on the class list, got 'bob'." in said


def test_a_makeup_with_a_salt_from_start_to_finish(wheel, notebooks, tmp_path):
    """As in the guide: the archive knows the other id, the class list does not any more."""
    (path,) = [path for path in notebooks if path.stem == "masking"]
    makeup = changed(path, 'learner_id = "ada"', 'learner_id = "ada-makeup"')
    assert at_home(wheel, CHECK, makeup).returncode == 0
    place = tmp_path / "submitted" / "ada" / "masking" / "masking.ipynb"
    place.parent.mkdir(parents=True)
    place.write_bytes(makeup.read_bytes())
    url = with_tables(reading.sqlite_url(tmp_path))
    with Gradebook(url, course.configuration().CourseDirectory.course_id) as gradebook:
        gradebook.add_student("ada", first_name="Ada")
        gradebook.add_student("ada-makeup")
        gradebook.remove_student("ada-makeup")
    run = Run("masking", tmp_path / "submitted", tmp_path, db_url=url, salt=SALT)
    autograde(run, InThisProcess(lambda _: JUDGE_JOB))
    close_sandbox(run.limits, run.isolation)
    (ada,) = results(url, tmp_path, "masking")
    assert (ada.student, ada.score, ada.entry.to_read) == ("ada", 18, ["in-words"])
    assert ada.remarks == ("The notebook's learner_id is 'ada-makeup', the student's id 'ada'.",)
    graded = course.graded_notebook(tmp_path, "masking", "ada").read_text(encoding="utf-8")
    with salted(SALT):
        numbers = masking.empty_row("ada-makeup")
        assert repr(numbers) != repr(masking.empty_row("ada"))
    assert str(numbers) in graded
    assert [one.student for one in term(url, tmp_path, Totals()).students] == ["ada"]


ASKED = """
import importlib, json, sys

def result(module, name, *args):
    try:
        value = getattr(importlib.import_module(f"attn_lib.{module}"), name)
        return repr(value(*args)) if args else "there"
    except (ImportError, AttributeError, ValueError) as error:
        return type(error).__name__

print(json.dumps([result(*asked) for asked in json.loads(sys.argv[1])]))
"""

ANSWERS = [
    *(("course.personal.masking", name) for name in ("reading", "mask_from_outside")),
    ("course.personal.softmax_saturation", "WeightsAndJacobians"),
    ("course.personal.quiz", "as_attention"),
    ("course.personal.core", "personal_rng"),
    *(("course.personal.misreadings", name) for name in ("masking", "quiz")),
    ("course.personal.given_numbers", "given_to"),
    ("course.targets.examples", "EXAMPLES"),
    ("course.targets.masking", "padded_attention"),
    *(("course.mistakes", name) for name in ("masking", "composition", "appearances")),
    ("course.museum", "wing"),
    ("figures.style", "course_style"),
]


def test_no_answer_can_be_imported(wheel):
    found = json.loads(at_home(wheel, ASKED, json.dumps(ANSWERS)).stdout)
    assert set(found) <= {"AttributeError", "ModuleNotFoundError"}, found


def test_all_of_these_names_are_in_the_whole_library():
    asked = subprocess.run(
        [sys.executable, "-c", ASKED, json.dumps(ANSWERS)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(json.loads(asked.stdout)) == {"there"}


def test_targets_and_unknown_attentions_answer_what_is_visible_only(wheel):
    code = """
import numpy as np
from attn_lib.course.personal.masking import unknown_attention
from attn_lib.course.targets import TARGETS

print(TARGETS["softmax"](np.array([1.0, 5.0])).round(3))
attend, n = unknown_attention("ada")
for function, args in ((TARGETS["softmax"], [np.ones(4)]), (attend, [np.ones((n, 4))] * 3)):
    try:
        function(*args)
    except ValueError as error:
        print(type(error).__name__)
"""
    said = at_home(wheel, code)
    assert said.stdout.split("\n")[:3] == ["[0.018 0.982]", "NotStored", "NotStored"], said.stderr


def test_numbers_are_those_of_the_salt(wheel):
    code = """
from attn_lib.course.personal import two_keys
from attn_lib.course.personal.masking import mask_to_read

print([part.tolist() for part in two_keys(" GRACE h. ")], mask_to_read("ada").tolist())
"""
    with salted(SALT):
        drawn = [part.tolist() for part in two_keys("grace h.")], masking.mask_to_read("ada")
    assert at_home(wheel, code).stdout.strip() == f"{drawn[0]} {drawn[1].tolist()}"
    assert drawn[0] != [part.tolist() for part in two_keys("grace h.")]


def test_neither_salt_nor_ids_are_in_it(wheel):
    with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as file:
        texts = [file.read(name).decode("utf-8", errors="ignore") for name in file.namelist()]
    assert not [text for text in texts if SALT in text or "grace" in text.casefold()]


def test_hidden_tests_are_not_run_with_it(wheel, notebooks):
    code = CHECK.replace("main([path])", 'main(["--grade", path])')
    graded = at_home(wheel, code, notebooks[0])
    assert graded.returncode == 2
    assert graded.stderr.startswith("--grade: this copy of attn_lib has no answers")


def test_an_archive_with_a_salt_needs_learners_and_gets_this_wheel(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("<h1>The book</h1>", encoding="utf-8")
    with pytest.raises(BundleFailed, match="expected learners in the gradebook"):
        bundle(tmp_path, tmp_path / "dist", SALT)
    asked = []
    monkeypatch.setattr(bundles, "_exercises", dict)
    monkeypatch.setattr(
        bundles, "without_answers", lambda *about: asked.append(about) or ("a.whl", EMPTY_ZIP)
    )
    archive = bundle(tmp_path, tmp_path / "dist", SALT, LEARNERS)
    assert asked == [(metadata.version("attn_lib"), SALT, LEARNERS)]
    with zipfile.ZipFile(archive) as file:
        assert [name for name in file.namelist() if name.endswith("/a.whl")]


def test_the_command_takes_the_salt_and_the_class_list(root, tmp_path, monkeypatch, capsys):
    (line,) = re.findall(
        r"^# (c\.PersonalNumbers\.salt = .*)",
        (root / "nbgrader_config.py").read_text("utf-8"),
        re.M,
    )
    guide = (root / "book" / "instructor-guide.md").read_text(encoding="utf-8")
    assert f"```python\n{line}\n```" in guide  # as learners' instructors are told to write it
    (tmp_path / "salt.txt").write_text(f"{SALT}\n", encoding="utf-8")
    config = Config({"CourseDirectory": {"db_url": "sqlite:///class.db"}})
    exec(line, {"c": config, "root": tmp_path})
    monkeypatch.setattr(course, "configuration", lambda: config)
    monkeypatch.setattr(reading, "learners", lambda url: {f"of {url}": reading.Learner()})
    asked = []
    monkeypatch.setattr(bundles, "bundle", lambda *about: asked.append(about))
    folders = [f"--{name}={tmp_path}" for name in ("book", "into", "editions")]
    assert main_of_grader(["bundle", *folders]) == 0
    assert asked == [(tmp_path, tmp_path, SALT, ["of sqlite:///class.db"], tmp_path)]
    assert Run("dot-products", tmp_path, tmp_path).salt == SALT


#: A zip file without members.
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
