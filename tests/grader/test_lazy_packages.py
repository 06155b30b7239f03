"""Lazy packages load a name when it is used, and provide all names of the real packages."""

import subprocess
import sys
import zipfile

import pytest

from grader.lazy_packages import PACKAGES

LAZILY = "from grader.lazy_packages import load_lazily; load_lazily()\n"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "module", ["grader.running.jobs", "grader.running.pipeline", "grader.nbgrader_settings"]
)
def test_grading_loads_no_server_and_no_kernel(module):
    loaded = run(f"{LAZILY}import sys, {module}; print(*sys.modules)").split()
    assert module in loaded
    for heavy in (
        "jupyter_server",
        "jupyter_client",
        "nbclient",
        "zmq",
        "nbconvert.exporters.html",
        "setuptools",
        "arrow",
    ):
        assert heavy not in loaded
    assert ("numpy" in loaded) == (module == "grader.running.jobs")


#: Prints a line for each of these names in a package: its type and its module.
DESCRIBE = """
def describe(package, names):
    for name in names:
        value = getattr(package, name)
        print(package.__name__, name, type(value), getattr(value, "__module__", None))
"""


@pytest.fixture(scope="module")
def real():
    """The lines that `describe` prints for all names of each real package, by package."""
    ask = (
        f"{DESCRIBE}\nimport importlib\n"
        f"packages = [importlib.import_module(name) for name in {list(PACKAGES)!r}]\n"
        "for package in packages:\n"
        "    describe(package, [n for n in vars(package) if not n.startswith('__')])"
    )
    found = {package: [] for package in PACKAGES}
    for line in run(ask).splitlines():
        found[line.split()[0]].append(line)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_a_lazy_package_has_all_its_names(package, real):
    names = [line.split()[1] for line in real[package]]
    ask = f"{DESCRIBE}\nimport {package} as package\ndescribe(package, {names!r})"
    assert names
    assert run(LAZILY + ask).splitlines() == real[package]


def test_a_name_that_a_module_has_too_is_what_the_package_makes_of_it():
    code = (
        "import grader.running.jobs, attn_lib.softmax, sys\n"
        "from attn_lib import softmax\n"
        "print(softmax([0, 0]), softmax is attn_lib.softmax, "
        "softmax is sys.modules['attn_lib.softmax'].softmax)"
    )
    assert run(LAZILY + code) == "[0.5 0.5] True True"


def test_a_star_import_gives_all_listed_names():
    code = "from nbgrader.preprocessors import *; print(Execute.__module__, LockCells.__module__)"
    expected = "nbgrader.preprocessors.execute nbgrader.preprocessors.lockcells"
    assert run(LAZILY + code) == expected


def test_names_defined_in_the_package_itself_exist():
    code = "import nbgrader; print(nbgrader._jupyter_server_extension_points())"
    assert run(LAZILY + code) == "[{'module': 'nbgrader'}]"


def test_an_unknown_name_is_an_error():
    code = "import nbgrader.plugins as p; print(hasattr(p, 'Nothing'), hasattr(p, 'BasePlugin'))"
    assert run(LAZILY + code) == "False True"


def test_a_function_that_is_called_after_all_does_its_work(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b.txt", "seven")
    code = (
        "from nbgrader.utils import unpack_archive\n"
        f"unpack_archive({str(tmp_path / 'a.zip')!r}, {str(tmp_path)!r})\n"
        "import setuptools.archive_util as real\n"
        "print(real.__file__.endswith('archive_util.py'), unpack_archive is real.unpack_archive)"
    )
    assert run(LAZILY + code) == "True False"
    assert (tmp_path / "b.txt").read_text() == "seven"


def test_a_name_that_no_stand_in_has_comes_from_the_real_module():
    code = "from setuptools.archive_util import UnrecognizedFormat as e; print(e.__name__)"
    assert run(LAZILY + code) == "UnrecognizedFormat"
