"""Find the commands that a page shows, and make a copy of the course to run them in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Programs by which `inline code` is recognised as a command.
PROGRAMS = (
    "apt-get", "compare50", "cp", "dask", "git", "jupyter", "jupyter-lab", "make", "mkdir",
    "nbgrader", "pip", "python", "source", "sudo", "unzip", "uv",
)  # fmt: skip
IN_THE_COURSE = (".venv/bin/", ".ci/", "tools/")

#: Files and folders that make creates.
MADE = (".venv", "_build", "_class", "dist")
#: The git author of the copy's commit.
AUTHOR = ("-c", "user.name=Course", "-c", "user.email=course@localhost")

_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_COMMENT = re.compile(r"(?:^|\s+)#(?=\s|$).*")


@dataclass(frozen=True)
class Shown:
    """One command on a page."""

    page: str  #: path of the page in the course
    line: int
    section: str
    command: str  #: the command in one line, without comments

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.command}"


def shown_commands(root: Path, page: str) -> list[Shown]:
    """Return the commands in ``sh`` blocks and in sentences of a page, in order."""
    text = (root / page).read_text(encoding="utf-8")
    return [Shown(page, *found) for found in _commands(text)]


def _commands(text: str) -> Iterator[tuple[int, str, str]]:
    section, fence, begun = "", None, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if fence is None and (opened := re.match(r"\s*(```+|~~~+|:::+)(\S*)", line)):
            # The content of a ::: block is ordinary text.
            fence = opened.groups() if opened[1][0] != ":" else None
        elif fence is None:
            if heading := re.match(r"#+ (.*)", line):
                section = heading[1]
            yield from (
                (number, section, code) for code in _INLINE.findall(line) if is_command(code)
            )
        elif line.strip() == fence[0]:
            fence = None
        elif fence[1] == "sh":
            begun += _COMMENT.sub("", line).strip()
            if begun.endswith("\\"):
                begun = begun.removesuffix("\\")
            elif begun:
                yield number, section, " ".join(begun.split())
                begun = ""


def is_command(code: str) -> bool:
    """Tell whether inline code is a command rather than a name, a path or an expression."""
    words = code.split()
    while words and re.match(r"[A-Z_]+=", words[0]):
        del words[0]
    if not words:
        return False
    return words[0] in PROGRAMS or (words[0].startswith(IN_THE_COURSE) and words[0][-1] != "/")


def copy_of_course(root: Path, folder: Path) -> Path:
    """Copy the course's source files with uncommitted changes into a new git repository.

    The copy's environment has the programs of this one and is marked as ready, so that no make
    target installs anything.
    """
    for name in [*_source_files(root), *_compiled(root)]:
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name, follow_symlinks=False)
    environment = folder / ".venv"
    environment.mkdir()
    for place in Path(sys.prefix).iterdir():
        if place.name != ".ready":
            (environment / place.name).symlink_to(place)
    mark = "import sys, tools.environment as e; e.STAMP.write_text(e.fingerprint(sys.executable))"
    for command in (
        [".venv/bin/python", "-c", mark],
        ["git", "init", "--quiet"],
        ["git", "add", "."],
        ["git", *AUTHOR, "commit", "--quiet", "--message", "copy"],
    ):
        subprocess.run(command, cwd=folder, check=True, env=without_make(), capture_output=True)
    return folder


def _source_files(root: Path) -> list[str]:
    """Return the course's source files, including uncommitted ones."""
    if not (root / ".git").exists():  # unpacked from an archive
        paths = [path.relative_to(root) for path in root.rglob("*")]
        return [str(path) for path in paths if path.parts[0] not in MADE]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    )
    return [name for name in listed.stdout.split("\0") if name]


def _compiled(root: Path) -> list[str]:
    """Return the compiled modules, which Python would make anew in each copy, and in each start."""
    rooms = (root / "attn_lib", root / "grader")
    found = (path for room in rooms for path in room.rglob("__pycache__/*.pyc"))
    return [str(path.relative_to(root)) for path in found]


def run_in(
    folder: Path, command: Sequence[str | Path], environment: Mapping[str, str]
) -> subprocess.CompletedProcess:
    """Run a command as a reader does, with empty standard input and both outputs merged."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def without_make(**more: str) -> dict[str, str]:
    """Return this process's environment without the variables set by `make test`."""
    handed_on = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "PYTEST", "PORT"}
    kept = {name: value for name, value in os.environ.items() if name not in handed_on}
    return kept | more
