"""The list of files that are visible inside the sandbox: Python, and what it needs to run.

Defends against: reading anything that is not listed, whoever may read it outside: home folders,
solutions, gradebook, submissions, the exchange, settings of the system and other programs. The
folders of the course and of the exchange are empty even if they lie in a folder that is listed.

Does not defend against: reading what is listed: Python's packages, including attn_lib and the
answers in it, and names of the machine's shared objects in the loader's cache.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from grader.course import private_folders
from grader.sandbox.shared_objects import shared_objects

SANDBOX = Path(__file__).resolve().parent
GRADER = SANDBOX.parent
COURSE = GRADER.parent


def _folder_of(package: str) -> Path:
    """Return the folder of a package without importing it, which may take long."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is installed with the grader"
    return Path(str(spec.origin)).resolve().parent


ATTN_LIB = _folder_of("attn_lib")

#: The part of the grader that is visible inside: one folder, and what importing it needs.
INSIDE = [GRADER / "__init__.py", SANDBOX / "__init__.py", SANDBOX / "inside"]

#: Where commands are looked up inside.
COMMANDS = "/usr/local/bin:/usr/bin:/bin"

#: Commands for ``!`` and ``%%bash`` in a cell. Those that the machine does not have are left out.
PROGRAMS = (
    *("awk", "bash", "basename", "cat", "cp", "cut", "date", "diff", "dirname", "du", "echo"),
    *("env", "expr", "false", "find", "grep", "head", "id", "ln", "ls", "mkdir", "mktemp", "mv"),
    *("nohup", "nproc", "printf", "pwd", "rm", "rmdir", "sed", "seq", "sh", "sleep", "sort"),
    *("tail", "tee", "test", "time", "touch", "tr", "true", "uname", "uniq", "wc", "which"),
    *("whoami", "xargs", "yes"),
)

#: Texts in the machine's language, time zones, and where the loader finds shared objects.
_DATA = ("/usr/lib/locale", "/usr/share/zoneinfo", "/etc/ld.so.cache")
_PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Visible:
    """What is visible inside."""

    files: tuple[Path, ...]  #: files, and folders with all that is in them; parents first
    covered: tuple[Path, ...]  #: folders that are empty, but for what is listed below them


@functools.cache
def visible_files() -> Visible:
    """Return the list. It takes a tenth of a second to make, so it is made once in a process."""
    folders = [*_standard_library(), *packages()]
    programs = [
        Path(found) for name in PROGRAMS if (found := shutil.which(name, path=COMMANDS)) is not None
    ]
    modules = [folder for folder in folders if folder.name in ("lib-dynload", *_PACKAGES)]
    libraries = shared_objects(interpreter(), modules, programs)
    listed = {*folders, *INSIDE, ATTN_LIB, *map(Path, _DATA)}
    listed |= {Path(interpreter())}
    # The loader goes through links in the names of folders, and these links are not made inside.
    listed |= {Path(os.path.realpath(path.parent)) / path.name for path in [*libraries, *programs]}
    others = [Path(os.__file__).resolve().parent / name for name in _PACKAGES]
    private = [COURSE, *private_folders(), *(path for path in others if path not in folders)]
    return _plan(listed, [*private, *_unread_fonts()])


def _unread_fonts() -> list[Path]:
    """Return folders that are covered because matplotlib takes long to read them when it starts.

    Only PostScript and PDF without embedded fonts need them.
    """
    fonts = _folder_of("matplotlib") / "mpl-data" / "fonts"
    return [fonts / "afm", fonts / "pdfcorefonts"]


def _plan(listed: set[Path], hidden: Iterable[Path]) -> Visible:
    """Return which of the listed files to mount, and which hidden folders to cover."""
    found = {path for path in listed if path.exists()}
    resolved = {Path(os.path.realpath(folder)) for folder in hidden}
    covered = {folder for folder in resolved if found & {*folder.parents} and folder.is_dir()}
    files = {path for path in found if covered & {*path.parents} or not found & {*path.parents}}
    return Visible(tuple(sorted(files)), tuple(sorted(covered)))


def packages() -> list[Path]:
    """Return the folders of packages that Python may import from, but for attn_lib's."""
    return [Path(folder) for folder in sys.path if Path(folder).name in _PACKAGES]


def import_path() -> list[str]:
    """Return the folders that the warm process may import from."""
    own = [COURSE, ATTN_LIB.parent]
    return [str(folder) for folder in [*packages(), *own]]


def interpreter() -> str:
    """Return the path of the interpreter itself, with a virtual environment's link resolved."""
    return os.path.realpath(sys.executable)


def _standard_library() -> list[Path]:
    """Return the folders of Python's own modules."""
    own = Path(os.__file__).resolve().parent
    prefix = Path(os.path.realpath(sys.base_prefix))
    zipped_or_compiled = [Path(path) for path in sys.path if path.endswith((".zip", "lib-dynload"))]
    # conda's libraries load others by names of their own, which no loader lists.
    of_conda = [prefix / "lib"] if (prefix / "conda-meta").is_dir() else []
    return [own, *zipped_or_compiled, *of_conda]
