"""Make the course's virtual environment; called by tools/environment.

.venv/.ready is written last and holds a fingerprint of everything the environment was made
from. So an environment that is incomplete, out of date, moved to another folder or made by
another Python is detected and made again from scratch.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".ready"
ASK_PYTHON = "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2])"


def fingerprint(python: str) -> str:
    """Return a digest of the lock, the package metadata, the folder and the Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = {
        "lock": (ROOT / "requirements.txt").read_text(encoding="utf-8"),
        "package": [project["build-system"], project["project"]],
        "folder": str(VENV),
        "python": installation(python),
    }
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()


def installation(python: str) -> str:
    """Return the prefix and version of the base installation of `python`, even in a venv."""
    answer = subprocess.run([python, "-c", ASK_PYTHON], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def is_ready(python: str) -> bool:
    """Tell whether the environment is complete, up to date and made by `python`."""
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == fingerprint(python)


def make() -> None:
    """Make the environment from scratch."""
    if VENV.exists():
        print("The environment in .venv is incomplete or out of date: making it again.")
        shutil.rmtree(VENV)
    print("Installing the locked packages into .venv; this takes a minute or two.", flush=True)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    python = str(VENV / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The lock is complete, so pip need not resolve dependencies.
    subprocess.run([*pip, "--no-deps", "--requirement", ROOT / "requirements.txt"], check=True)
    # Hatchling is in the lock, so the build downloads nothing else.
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT], check=True)
    write_command()
    STAMP.write_text(fingerprint(python), encoding="utf-8")


def write_command() -> None:
    """Write the command ``grader`` of this course, which can be given in any folder.

    It is no script of the package: learners install that, and it has no grader in it. With -P,
    Python takes the course's grader, and nothing of that name in the folder where it is called.
    """
    python = shlex.quote(str(VENV / "bin" / "python"))
    path = VENV / "bin" / "grader"
    path.write_text(f'#!/bin/sh\nexec {python} -P -m grader "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["is-ready"]:
            return 0 if is_ready(sys.executable) else 1
        case ["is-ready", python]:
            return 0 if is_ready(python) else 1
        case ["make"]:
            try:
                make()
            except subprocess.CalledProcessError as error:
                print(
                    f"Making .venv failed: the command above ended with status "
                    f"{error.returncode}. Run make again once its cause is gone.",
                    file=sys.stderr,
                )
                return 1
            return 0
    print("usage: environment.py is-ready [PYTHON] | make", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
