"""The commands that GitHub and Binder run exist and are the ones that `make` runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

WORKFLOWS = ["book.yml", "release.yml", "test.yml"]
BOOK_ACTIONS = {
    "actions/checkout",
    "actions/setup-python",
    "actions/configure-pages",
    "actions/upload-pages-artifact",
    "actions/deploy-pages",
}


#: The jobs that need more than read access, with their permissions.
MORE_THAN_READ = {
    "publish": {"pages": "write", "id-token": "write"},
    "release": {"contents": "write"},
}


@pytest.fixture(scope="module")
def jobs(root):
    """A function that returns the jobs of a workflow file."""

    def read(name: str) -> dict:
        text = (root / ".github" / "workflows" / name).read_text(encoding="utf-8")
        return yaml.safe_load(text)["jobs"]

    return read


@pytest.fixture(scope="module")
def pythons(root) -> list[str]:
    """The Python versions that pyproject.toml lists as supported."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def steps(jobs: dict) -> list[dict]:
    return [step for job in jobs.values() for step in job["steps"]]


def ran(jobs: dict) -> list[str]:
    return [line for step in steps(jobs) for line in step.get("run", "").splitlines()]


def test_no_workflow_is_forgotten(root):
    assert sorted(path.name for path in (root / ".github" / "workflows").iterdir()) == WORKFLOWS


@pytest.mark.parametrize("name", WORKFLOWS)
def test_commands_exist(root, jobs, name):
    own = [line for line in ran(jobs(name)) if re.match(r"make |\.ci/|tools/", line)]
    assert own
    targets = re.findall(
        r"^\.PHONY: (\S+)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    for line in own:
        program, *arguments = line.split()
        if program == "make":
            assert arguments
            assert set(arguments) <= set(targets), line
        else:
            assert os.access(root / program, os.X_OK), line


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_from_github_at_a_major_version(jobs, name):
    used = [step["uses"].partition("@") for step in steps(jobs(name)) if "uses" in step]
    assert used
    for action, _, version in used:
        assert action in BOOK_ACTIONS
        assert re.fullmatch(r"v\d+", version), action


def test_the_published_book_is_made_by_make_book(root, jobs):
    book = jobs("book.yml")
    assert "make book" in ran({"build": book["build"]})
    (upload,) = (step for step in steps(book) if "upload-pages-artifact" in step.get("uses", ""))
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    (made,) = re.findall(r"--makes (\S+)/index\.html", makefile)
    assert upload["with"]["path"] == made


def test_only_publishing_jobs_may_write(root, jobs):
    for name in WORKFLOWS:
        text = (root / ".github" / "workflows" / name).read_text(encoding="utf-8")
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        for job_name, job in jobs(name).items():
            assert job.get("permissions") == MORE_THAN_READ.get(job_name)
    assert "pull_request" in jobs("book.yml")["publish"]["if"]


def test_a_release_needs_a_tag_that_matches_the_version(root, jobs):
    commands = ran(jobs("release.yml"))
    (notes,) = (line for line in commands if "release_notes" in line)
    assert (root / notes.split()[1]).is_file()
    # The notes come first, so that a wrong tag fails before the build.
    assert commands.index(notes) < commands.index("make release")
    assert commands[-1].startswith('gh release create "$GITHUB_REF_NAME" dist/*.zip ')


def test_dependabot_covers_pip_and_actions(root):
    settings = yaml.safe_load((root / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
    limits = {one["package-ecosystem"]: one for one in settings["updates"]}
    assert limits.keys() == {"pip", "github-actions"}
    assert limits["pip"]["open-pull-requests-limit"] == 0  # the lock is made by `make lock`


def test_issue_forms_are_valid(root):
    """GitHub requires a name, a description, and fields with distinct ids."""
    forms = sorted((root / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 3
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name == "config.yml":
            assert form.keys() == {"blank_issues_enabled"}
            continue
        assert form["name"]
        assert form["description"]
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(set(ids)) == len(ids) > 1
        for field in form["body"]:
            assert field["type"] in {"input", "textarea", "markdown"}
            assert "value" in field["attributes"] or field["attributes"]["label"]


def test_the_tests_run_on_every_supported_python(jobs, pythons):
    job = jobs("test.yml")["test"]
    assert job["strategy"]["matrix"]["python"] == pythons
    assert ".ci/run" in ran({"test": job})


class TestBinder:
    def test_its_python_is_supported(self, root, pythons):
        stated = (root / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
        assert stated.removeprefix("python-") in pythons

    def test_pip_accepts_its_requirements(self, root):
        """Everything is installed already, at the lock's versions, so pip needs no registry."""
        options = ("--dry-run", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
        run = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "-r", "binder/requirements.txt"],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert "Would install attn_lib-" in run.stdout.replace("attn-lib", "attn_lib")

    def test_it_starts_as_make_lab_does(self, root):
        start = root / "binder" / "start"
        shown = subprocess.run(
            [start, "sh", "-c", 'echo "$JUPYTER_CONFIG_PATH"'],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        assert shown == f"{root}/tools/jupyter"
        assert "JUPYTER_CONFIG_PATH=$tools/jupyter" in (root / "tools" / "lab").read_text()
