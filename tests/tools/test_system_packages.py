"""What tools/system_packages prints and does on machines that lack something.

Such a machine is simulated by a folder of small scripts, which is the only folder on PATH.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

VENV_PACKAGE = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"


def python(without: str = "") -> str:
    """Return a script that acts like this Python but lacks a module until it is "installed".

    It does not matter whether the machine that runs this test has the module.
    """
    return f"""\
#!/bin/bash
case "$*" in
    *{without or "nothing"}*) [ -e "${{0%/*}}/installed" ] ;;
    *ensurepip* | *libatomic*) ;;
    *) exec "{sys.executable}" "$@" ;;
esac
"""


PYTHON = python()
PYTHON_WITHOUT_ENSUREPIP = python(without="ensurepip")
PYTHON_WITHOUT_LIBATOMIC = python(without="libatomic")
OLD_PYTHON = """\
#!/bin/bash
[ "$1" = --version ] && echo "Python 3.10.13"
exit 1
"""
APT_GET = """\
#!/bin/bash
echo "apt-get $DEBIAN_FRONTEND $*" >>"${0%/*}/log"
[[ "$*" = *update* ]] || : >"${0%/*}/installed"
"""
BROKEN_APT_GET = "#!/bin/bash\necho 'E: no network' >&2\nexit 100\n"
CHROMIUM = HEADLESS_SHELL = BWRAP = PG_CTLCLUSTER = "#!/bin/bash\n"


class Machine:
    """A simulated machine that has only the given commands."""

    def __init__(self, root, folder) -> None:
        self.tool = root / "tools" / "system_packages"
        self.folder = folder

    def has(self, uid: int, *, without: str = "", **commands: str) -> Machine:
        """Add these commands, and all standard programs except the one named by `without`."""
        programs = {"bwrap": BWRAP, "pg_ctlcluster": PG_CTLCLUSTER}
        scripts = {name: script for name, script in programs.items() if name != without}
        scripts |= commands | {"id": f"#!/bin/bash\necho {uid}\n"}
        for name, script in scripts.items():
            path = self.folder / (name if name in programs else name.replace("_", "-"))
            path.write_text(script)
            path.chmod(0o755)
        return self

    def check(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["/bin/bash", self.tool, *arguments],
            env={"PATH": str(self.folder), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def apt_log(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()


@pytest.fixture
def machine(root, tmp_path) -> Machine:
    return Machine(root, tmp_path)


def test_nothing_missing_prints_nothing(machine):
    checked = machine.has(1000, python3=PYTHON, chromium=CHROMIUM).check("test")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_no_python(machine):
    checked = machine.has(0, apt_get=APT_GET).check("course")
    assert checked.returncode == 1
    assert "Expected Python 3.11 or newer as 'python3', found no such command." in checked.stderr


def test_old_python(machine):
    checked = machine.has(0, python3=OLD_PYTHON).check("course")
    assert checked.returncode == 1
    assert "Expected Python 3.11 or newer, found Python 3.10.13 as 'python3'." in checked.stderr
    assert "make course PYTHON=" in checked.stderr


def test_another_python_can_be_chosen(machine):
    machine.has(1000, python3=OLD_PYTHON, python3_newer=PYTHON)
    assert machine.check("course", PYTHON="python3-newer").returncode == 0


def test_root_gets_ensurepip_installed(machine):
    machine.has(0, python3=PYTHON_WITHOUT_ENSUREPIP, apt_get=APT_GET)
    checked = machine.check("course")
    assert checked.returncode == 0, checked.stderr
    assert f"Installing from the system's packages: {VENV_PACKAGE}" in checked.stdout
    update, install = machine.apt_log()
    assert " update" in update
    assert install.startswith("apt-get noninteractive install")
    assert install.endswith(f" {VENV_PACKAGE}")


def test_without_root_the_command_is_printed(machine):
    machine.has(1000, python3=PYTHON_WITHOUT_ENSUREPIP, apt_get=APT_GET)
    checked = machine.check("course")
    assert checked.returncode == 1
    assert f"sudo apt-get install {VENV_PACKAGE}" in checked.stderr
    assert not (machine.folder / "log").exists()


def test_failed_installation_stops(machine):
    machine.has(0, python3=PYTHON_WITHOUT_ENSUREPIP, apt_get=BROKEN_APT_GET)
    checked = machine.check("course")
    assert checked.returncode == 1
    assert "E: no network" in checked.stderr
    assert f"Expected to install {VENV_PACKAGE}" in checked.stderr


def test_course_needs_no_chromium(machine):
    checked = machine.has(1000, python3=PYTHON).check("course")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_without_chromium_browser_tests_are_skipped(machine):
    checked = machine.has(1000, python3=PYTHON).check("test")
    assert checked.returncode == 0
    assert "Chromium was not found, so the browser tests will be skipped." in checked.stdout
    assert "sudo apt-get install chromium" in checked.stdout


def test_without_chromium_there_is_no_pdf(machine):
    checked = machine.has(1000, python3=PYTHON).check("pdf")
    assert checked.returncode == 0
    assert "Chromium was not found, so no PDF of the course can be made." in checked.stdout
    assert "sudo apt-get install chromium" in checked.stdout


def test_without_chromium_ci_fails(machine):
    checked = machine.has(0, python3=PYTHON, apt_get=BROKEN_APT_GET).check("test", CI="true")
    assert checked.returncode == 1
    assert "Expected chromium for the browser tests, found none." in checked.stderr


def test_a_driver_that_cannot_start_stops(machine):
    checked = machine.has(1000, python3=PYTHON_WITHOUT_LIBATOMIC, chromium=CHROMIUM).check("test")
    assert checked.returncode == 1
    assert "Expected libatomic1 for the browser tests, found none." in checked.stderr
    assert "sudo apt-get install libatomic1" in checked.stderr


def test_root_gets_the_browser_installed(machine):
    machine.has(0, python3=PYTHON_WITHOUT_LIBATOMIC, apt_get=APT_GET)
    checked = machine.check("test", CI="true")
    assert checked.returncode == 0, checked.stderr
    assert machine.apt_log()[1].endswith(" chromium libatomic1")


def test_root_gets_the_browser_that_tests_take_less_time_with(machine):
    machine.has(0, python3=PYTHON, chromium=CHROMIUM, apt_get=APT_GET)
    assert machine.check("test").returncode == 0
    assert machine.apt_log()[1].endswith(" chromium-headless-shell")
    machine.has(0, chromium_headless_shell=HEADLESS_SHELL)
    assert machine.check("test").stdout == ""


def test_without_it_the_tests_run_in_chromium(machine):
    machine.has(0, python3=PYTHON, chromium=CHROMIUM, apt_get=BROKEN_APT_GET)
    checked = machine.check("test", CI="true")
    assert checked.returncode == 0
    assert "the browser tests run in Chromium itself" in checked.stdout


PROGRAMS = [
    ("course", "bwrap", "bubblewrap", "nothing can be graded in its sandbox"),
    ("test", "bwrap", "bubblewrap", "nothing can be graded in its sandbox"),
    ("test", "pg_ctlcluster", "postgresql", "the tests of a gradebook in PostgreSQL will be"),
]


@pytest.mark.parametrize(("purpose", "program", "package", "left_out"), PROGRAMS)
class TestPrograms:
    def test_root_gets_it_installed(self, purpose, program, package, left_out, machine):
        browsers = {"chromium": CHROMIUM, "chromium_headless_shell": HEADLESS_SHELL}
        machine.has(0, without=program, python3=PYTHON, apt_get=APT_GET, **browsers)
        assert machine.check(purpose).returncode == 0
        assert machine.apt_log()[1].endswith(f" {package}")

    def test_without_root_the_missing_feature_is_printed(
        self, purpose, program, package, left_out, machine
    ):
        machine.has(1000, without=program, python3=PYTHON, chromium=CHROMIUM)
        checked = machine.check(purpose)
        assert checked.returncode == 0
        assert left_out in checked.stdout
        assert f"sudo apt-get install {package}" in checked.stdout

    def test_ci_fails_without_it(self, purpose, program, package, left_out, machine):
        machine.has(1000, without=program, python3=PYTHON, chromium=CHROMIUM)
        checked = machine.check(purpose, CI="true")
        assert checked.returncode == 1
        assert f"Expected {package}, found no command {program}." in checked.stderr


@pytest.mark.parametrize("arguments", [[], ["everything"]])
def test_unknown_purpose(machine, arguments):
    checked = machine.has(0, python3=PYTHON).check(*arguments)
    assert checked.returncode == 1
    assert checked.stderr == "usage: tools/system_packages course|test|pdf\n"
