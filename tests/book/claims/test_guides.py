"""The commands and files in the guides exist, and the numbers in them are right."""

import re
import shlex
import subprocess
import tomllib

import pytest

from grader.command_line.commands import parsed
from tests.book.test_assignments import CHAPTERS

GUIDES = ["how-to-use", "instructor-guide"]


@pytest.fixture(scope="module")
def source(root):
    return lambda page: (root / "book" / f"{page}.md").read_text(encoding="utf-8")


def commands(text):
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "\n".join(blocks).splitlines() + re.findall(r"`((?:make|pip|jupyter)\b[^`\n]*)`", text)


@pytest.mark.parametrize("page", GUIDES)
def test_make_targets_exist(root, source, page):
    named = {line.split()[1] for line in commands(source(page)) if re.match(r"make \w", line)}
    assert named
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert named <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize("page", GUIDES)
def test_grader_commands_and_options_exist(source, page):
    lines = [line for line in commands(source(page)) if "-m grader" in line]
    assert lines
    for line in lines:
        given = shlex.split(line.partition("-m grader ")[2], comments=True)
        assert parsed(given).action, line  # exits at a word that it does not know


def test_the_stated_python_version_is_the_required_one(root, source):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r"Python (\d+\.\d+) or newer", source("how-to-use"))[1]
    assert project["requires-python"] == f">={version}"
    assert 'pip install ".[exercises]"' in source("how-to-use")
    assert "exercises" in project["optional-dependencies"]


def test_chapters_open_with_two_questions_from_before(root, source):
    assert "Each chapter after the orientation opens with two questions" in source("how-to-use")
    with_questions = [name for name in CHAPTERS if "## Two questions from before" in source(name)]
    assert with_questions == [name for name in CHAPTERS if name != "orientation"]
    for name in with_questions:
        section = source(name).partition("## Two questions from before")[2].partition("\n## ")[0]
        assert section.count(":::{quiz}") == 2, name


@pytest.mark.parametrize(
    "path",
    [
        "roster.csv",
        "downloaded/x",
        "submitted/x",
        "feedback/x",
        "gradebook.db",
        "grades-dot-products.csv",
    ],
)
def test_submissions_are_ignored_by_git(root, source, path):
    assert path.partition("/")[0] in source("instructor-guide")
    if (root / ".git").exists():
        ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=root, check=False)
        assert ignored.returncode == 0


def test_learners_can_build_and_work_without_the_answers(root, tmp_path):
    # `make book` and `make lab` must not depend on solutions or tests if these are missing.
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    for target in ("book", "lab"):
        planned = subprocess.run(
            ["make", "--dry-run", target], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        assert not re.search(r"\b(solutions|tests|_class)\b", planned)


def test_the_guide_lists_the_files_to_keep_from_learners(source):
    text = source("instructor-guide")
    assert "`solutions`, `tests` and `_class` hold answers" in text
    assert "Learners' code runs in a sandbox" in text
