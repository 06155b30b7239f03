"""The steps of a learner: unpack the archive, follow its README.txt, hand in."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import nbformat
import pytest

from grader.course import EXERCISES, SOLUTIONS, assignments
from grader.releasing import bundle as bundles
from tests.end_to_end.shown_commands import shown_commands, without_make

VERSION = metadata.version("attn_lib")
WHEEL = f"attn_lib-{VERSION}-py3-none-any.whl"
ASSIGNMENT = "dot-products"
CHECK = f"python -m attn_lib.course.checks exercises/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
LAB = "jupyter lab exercises"
PATIENCE = 120  # seconds, for a machine with two busy cores

# A program that runs the code cells of a notebook in the current folder, as a kernel does.
RUN_CELLS = """
import json, pathlib, sys
names = {"__name__": "__main__"}
for cell in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
import attn_lib
print(attn_lib.__file__)
"""


def released() -> dict[str, bytes]:
    """The committed notebooks; tests/exercises compares them with fresh ones."""
    names = ["start.ipynb", *(f"{name}/{name}.ipynb" for name in assignments())]
    return {f"exercises/{name}": (EXERCISES / name).read_bytes() for name in names}


def commands(text: str, after: str, before: str) -> list[str]:
    """Return the indented lines of README.txt between two texts."""
    part = text.partition(f"\n{after}")[2].partition(f"\n{before}")[0]
    assert part
    return [line.strip() for line in part.splitlines() if line.startswith("  ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The unpacked archive, in a folder whose path contains a space."""
    work = tmp_path_factory.mktemp("a learner")
    (work / "html").mkdir()
    (work / "html" / "index.html").write_text("<h1>The book</h1>", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "_exercises", released)
        archive = bundles.bundle(work / "html", work)
    with zipfile.ZipFile(archive) as file:
        file.extractall(work)
    return work / archive.stem


@pytest.fixture(scope="module")
def readme(folder) -> str:
    return (folder / "README.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def install(readme) -> list[str]:
    """The commands in README.txt that install the library."""
    return commands(readme, "Linux and macOS:", "Windows")


@dataclass(frozen=True)
class Terminal:
    """A terminal of a learner without Jupyter settings and without a network."""

    folder: Path
    home: Path

    def start(self, *lines: str, place: Path | None = None) -> subprocess.Popen:
        """Start a shell that runs these lines in the archive's folder or in `place`."""
        environment = without_make(
            HOME=str(self.home),
            PATH=f"{self.home}/bin:/usr/local/bin:/usr/bin:/bin",
            PIP_NO_INDEX="1",
            PIP_DISABLE_PIP_VERSION_CHECK="1",
        )
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
        return subprocess.Popen(
            ["bash", "-c", "\n".join(["set -e", *lines])],
            cwd=place or self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *lines: str, place: Path | None = None) -> subprocess.CompletedProcess:
        """Run these lines and wait until they have finished."""
        process = self.start(*lines, place=place)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(lines, process.returncode, out, err)


@pytest.fixture(scope="module")
def terminal(folder, tmp_path_factory) -> Terminal:
    home = tmp_path_factory.mktemp("home")
    python = home / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return Terminal(folder, home)


@pytest.fixture(scope="module")
def without_library(folder, install, terminal) -> Path:
    """The environment that the first command makes, plus the packages that pip would download."""
    make, *_ = install
    made = terminal.run(make)
    assert made.returncode == 0, made.stderr
    environment = folder / ".venv"
    link_packages(environment)
    return environment


def link_packages(environment: Path) -> None:
    """Link all packages of this environment except attn_lib into another environment."""
    (site,) = environment.glob("lib/*/site-packages")
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        there = site / path.name
        if not ("attn_lib" in path.name or path.name.startswith("pip") or there.exists()):
            there.symlink_to(path)
    (environment / "share").mkdir(exist_ok=True)
    (environment / "share" / "jupyter").symlink_to(Path(sys.prefix) / "share" / "jupyter")
    for program, module in (("jupyter", "jupyter"), ("jupyter-lab", "jupyterlab")):
        script = environment / "bin" / program
        script.write_text(f'#!/bin/sh\nexec python -m {module} "$@"\n', encoding="utf-8")
        script.chmod(0o755)


@pytest.fixture(scope="module")
def installed(without_library, install, terminal) -> str:
    """The command that activates the environment, after the library was installed."""
    _, activate, install_all = install
    done = terminal.run(activate, install_all)
    assert done.returncode == 0, done.stderr
    assert f"attn_lib-{VERSION}" in done.stdout.replace("attn-lib", "attn_lib")
    return activate


@pytest.fixture(scope="module")
def answered() -> nbformat.NotebookNode:
    """The released notebook with the reference answers."""
    source = nbformat.read(SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    answers = {
        cell.id: cell.source
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    notebook = nbformat.read(EXERCISES / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return notebook


class TestWithoutTheLibrary:
    """Without attn_lib, as in Colab, the first code cell imports it from a wheel."""

    def run_cells(self, terminal, environment: Path, notebook: Path):
        program = terminal.home / "run_cells.py"
        program.write_text(RUN_CELLS, encoding="utf-8")
        line = f'"{environment}/bin/python" -W error -I "{program}" {notebook.name}'
        return terminal.run(line, place=notebook.parent)

    def test_every_notebook_begins_with_the_setup_cell(self):
        sources = set()
        for name in assignments():
            cells = nbformat.read(EXERCISES / name / f"{name}.ipynb", as_version=4).cells
            first = next(cell for cell in cells if cell.cell_type == "code")
            assert first.id == "find-attn-lib"
            assert "nbgrader" not in first.metadata
            sources.add(first.source)
        assert len(sources) == 1

    def test_the_wheel_beside_the_notebook_is_enough(
        self, folder, without_library, terminal, answered, tmp_path
    ):
        notebook = tmp_path / f"{ASSIGNMENT}.ipynb"
        nbformat.write(answered, notebook)
        missing = self.run_cells(terminal, without_library, notebook)
        assert missing.returncode == 1
        told = "AssertionError: Expected attn_lib, found none: install it, or upload its file."
        assert missing.stderr.splitlines()[-1] == told
        # Browsers name a file like this when it is downloaded a second time.
        uploaded = tmp_path / WHEEL.replace(".whl", " (1).whl")
        shutil.copy(folder / WHEEL, uploaded)
        found = self.run_cells(terminal, without_library, notebook)
        assert found.returncode == 0, found.stderr
        assert found.stdout.splitlines()[-1].startswith(f"{uploaded}/attn_lib/")


def test_the_library_is_installed_from_the_archive(installed, terminal):
    shown = terminal.run(installed, "cd /", 'python -c "import attn_lib; print(attn_lib.__file__)"')
    assert "/.venv/lib/" in shown.stdout
    assert "/a learner" in shown.stdout


def test_jupyterlab_opens_on_the_exercises(installed, readme, terminal):
    assert commands(readme, "3. Do the exercises", "JupyterLab opens") == [LAB]
    log = terminal.home / ".jupyter"
    log.mkdir()
    settings = {
        "ServerApp": {"open_browser": False, "allow_root": True, "port": 0},
        "IdentityProvider": {"token": "open"},
    }
    (log / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
    server = terminal.start(installed, f"exec {LAB}")
    try:
        listed = json.loads(ask(address_of(server, terminal.home), "api/contents"))
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    names = {entry["name"] for entry in listed["content"]}
    assert names == {*assignments(), "start.ipynb"}


def address_of(server: subprocess.Popen, home: Path) -> str:
    """Wait until the server has written its address to a file, and return the address."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for path in home.glob(".local/share/jupyter/runtime/jpserver-*.json"):
            with contextlib.suppress(json.JSONDecodeError):  # the server is still writing the file
                return json.loads(path.read_text(encoding="utf-8"))["url"]
        time.sleep(0.1)
    server.kill()
    pytest.fail(f"JupyterLab did not start:\n{server.communicate()[1][-4000:]}")


def ask(address: str, what: str) -> str:
    request = urllib.request.Request(address + what, headers={"Authorization": "token open"})
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.read().decode("utf-8")
        except OSError:  # the address is written before the server listens there
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_the_check_reports_missing_answers_and_success(
    folder, installed, readme, terminal, answered
):
    assert commands(readme, "4. Check", "Does") == [CHECK]
    before = terminal.run(installed, CHECK)
    assert before.returncode == 1, before.stderr
    assert "softmax: not written yet." in before.stdout
    assert before.stdout.endswith("0 of 6 test cells pass.\n")
    nbformat.write(answered, folder / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    after = terminal.run(installed, CHECK)
    assert after.returncode == 0, after.stdout + after.stderr
    assert after.stdout.endswith("6 of 6 test cells pass.\n")


def test_commands_for_windows_differ_in_two_lines(readme, install):
    windows = commands(readme, "Windows", "If the first line fails")
    assert windows == ["py -m venv .venv", r".venv\Scripts\activate", install[2]]


def test_the_book_shows_the_same_lines(root, install):
    shown: dict[str, list[str]] = {}
    for found in shown_commands(root, "book/how-to-use.md"):
        shown.setdefault(found.section, []).append(found.command)
    assert shown["With the archive"] == [*install, LAB]
    assert {install[1], CHECK} <= set(shown["How the exercises work"])


def test_file_names_in_the_archive_are_portable(folder):
    names = [path.relative_to(folder) for path in folder.rglob("*") if ".venv" not in path.parts]
    assert names
    for name in names:
        # Windows does not allow these characters in a name.
        assert not set('<>:"|?*\\') & set(str(name)), name
        assert not any(part.endswith((".", " ")) for part in name.parts), name
    assert len({str(name).lower() for name in names}) == len(names)
    assert WHEEL.endswith("-py3-none-any.whl")
