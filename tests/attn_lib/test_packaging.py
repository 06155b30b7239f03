"""The package as users get it: the contents of the wheel, what pip installs, and the lock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK_COMMAND = (
    "uv pip compile pyproject.toml --extra development --universal "
    "--python-version 3.11 -o requirements.txt"
)
PYTHONS = ("3.11", "3.12", "3.13")

USE_THE_LIBRARY = """
import sys
from pathlib import Path

import attn_lib

assert Path(attn_lib.__file__).is_relative_to(sys.prefix), attn_lib.__file__
output = attn_lib.scaled_dot_product_attention(
    [[2.0, 1.0]], [[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]], [[10.0, 0.0], [0.0, 8.0], [1.0, 1.0]]
)
assert output.round(4).tolist() == [[8.8291, 0.8582]], output

import attn_lib.course.checks
import attn_lib.course.mistakes

imported = {name.partition(".")[0] for name in sys.modules}
print(*sorted(imported & {"matplotlib", "ipywidgets", "IPython"}))
"""


def run_pip(python: Path, *arguments: str | Path) -> subprocess.CompletedProcess:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    command = [*pip, "--python", python, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def packages_in(python: Path) -> set[str]:
    """Return the names that pip would list: starting it takes nearly a second."""
    (folder,) = python.parents[1].glob("lib/python*/site-packages")
    return {canonicalize_name(found.name) for found in metadata.distributions(path=[str(folder)])}


@pytest.fixture(scope="module")
def empty_environment(tmp_path_factory) -> Path:
    """The Python of a new environment without packages; skipped without a package registry."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    asked = run_pip(python, "install", "--dry-run", "numpy", "hatchling")
    if asked.returncode:
        reason = f"No package registry can be reached from here: {asked.stderr[-500:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return python


def test_installing_attn_lib_adds_only_numpy(empty_environment, root, tmp_path):
    assert packages_in(empty_environment) == set()
    # All modules of NumPy would be compiled, though few of them are used.
    installed = run_pip(empty_environment, "install", "--no-compile", root)
    assert installed.returncode == 0, installed.stderr
    assert packages_in(empty_environment) == {"attn-lib", "numpy"}

    # In isolated mode and another folder, so that only installed packages can be imported.
    used = subprocess.run(
        [empty_environment, "-I", "-W", "error", "-c", USE_THE_LIBRARY],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert used.returncode == 0, used.stderr
    assert used.stdout.strip() == "", (
        "attn_lib imported packages that only figures and widgets need"
    )


def test_the_wheel_contains_only_attn_lib(root, tmp_path):
    built = run_pip(
        Path(sys.executable),
        *("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, root),
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    modules = {path.relative_to(root).as_posix() for path in (root / "attn_lib").rglob("*.py")}
    library = {name for name in names if name.startswith("attn_lib/")}
    model = "attn_lib/model"
    assert library == modules | {
        "attn_lib/py.typed",
        "attn_lib/course/effects/measured.json",
        f"{model}/trained.npz",
        f"{model}/trials/trials.json",
        f"{model}/trials/unmasked.npz",
        "attn_lib/course/jupyter/server_extension.json",
    }
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"attn_lib"}
    assert any(name.endswith("/licenses/LICENSE") for name in names)


@pytest.fixture(scope="module")
def lock(root) -> list[Requirement]:
    """The pins in requirements.txt; a package may have different pins for different Pythons."""
    text = (root / "requirements.txt").read_text(encoding="utf-8")
    return [Requirement(line) for line in text.splitlines() if re.match(r"\w", line)]


@pytest.fixture(scope="module")
def wanted(root) -> list[Requirement]:
    """The requirements in pyproject.toml with all extras, without attn_lib."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(text) for listed in lists for text in listed]
    return [requirement for requirement in requirements if requirement.name != project["name"]]


def applies(marker: Marker | None, python: str) -> bool:
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_system": "Linux",
        "platform_python_implementation": "CPython",
    }
    return marker is None or marker.evaluate(environment)


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_pins_one_version_in_the_range_of_pyproject(lock, wanted, python):
    pins = {}
    for pin in lock:
        if applies(pin.marker, python):
            pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    for requirement in wanted:
        (pin,) = pins[canonicalize_name(requirement.name)]
        (exact,) = pin.specifier
        assert exact.operator == "=="
        assert exact.version in requirement.specifier, f"{requirement}, locked at {exact.version}"


def test_the_lock_states_the_command_that_made_it(root):
    header = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()[1]
    assert header.removeprefix("#").strip() == LOCK_COMMAND
    stated = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert LOCK_COMMAND in " ".join(stated.replace("\\\n", " ").split())


def test_environment_is_the_locked_one(lock):
    pinned = {
        pin.name: str(pin.specifier) for pin in lock if not pin.marker or pin.marker.evaluate()
    }
    installed = {name: f"=={metadata.version(name)}" for name in pinned}
    assert installed == pinned, "run `make environment`"
    checked = run_pip(Path(sys.executable), "check")
    assert checked.returncode == 0, checked.stdout


def test_python_versions_agree(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    assert tuple(named) == PYTHONS
    assert project["requires-python"] == f">={PYTHONS[0]}"
    oldest = re.search(r"^oldest=(.+)$", (root / "tools/system_packages").read_text(), re.MULTILINE)
    assert oldest[1] == PYTHONS[0]
