"""The shared objects that Python, its packages and some programs need, found by the loader itself.

The system's dynamic loader can list what it would load. It is asked once for each folder: what
would Python load if all modules in this folder were preloaded?
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

_LOADED = re.compile(r"^\t(?:.* => )?(/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)
#: The names of shared objects, as they stand in a program.
_NAMES = re.compile(rb"\0(lib[\w.+-]+\.so[.0-9]*)(?=\0)")

_MAX_LENGTH = 100_000  # of an environment variable; Linux allows 128 KiB
_SECONDS = 60


def shared_objects(python: str, folders: Iterable[Path], programs: Iterable[Path]) -> set[Path]:
    """Return the shared objects that Python, the modules in these folders and programs load.

    Parameters
    ----------
    python : str
        The path of the interpreter.
    folders : iterable of Path
        Those that hold extension modules, in any depth.
    programs : iterable of Path

    Returns
    -------
    set of Path
        Those that exist, at the paths where the loader finds them.
    """
    names = {name.decode() for path in programs for name in _NAMES.findall(path.read_bytes())}
    found: set[Path] = set()
    for folder in folders:
        modules = [f"./{path}" for path in _modules(folder)]
        found |= _loaded(python, folder, [*sorted(names), *modules])
    return found


def _loaded(python: str, folder: Path, preloaded: list[str]) -> set[Path]:
    """Return what the loader would load for Python with these objects preloaded."""
    found: set[Path] = set()
    for some in _batches(preloaded):
        listed = subprocess.run(
            [python, "-I", "-S", "-c", ""],
            env={"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(some)},
            cwd=folder,  # so that no space or colon in its name stands between the objects
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        found.update(map(Path, _LOADED.findall(os.fsdecode(listed.stdout))))
    return {path for path in found if path.is_file()}


def _batches(names: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    length = 0
    for name in names:
        length += len(name) + 1
        if length > _MAX_LENGTH:
            yield batch
            batch, length = [], len(name) + 1
        batch.append(name)
    yield batch


def _modules(folder: Path) -> Iterator[str]:
    """Yield the paths of the shared objects in a folder, relative to it."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(f"{folder}/{below}") as entries:  # joining paths would take as long again
            for entry in entries:
                path = f"{below}{entry.name}"
                if ".so" in entry.name:
                    yield path
                elif _may_be_folder(entry.name) and entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")


def _may_be_folder(name: str) -> bool:
    """Say whether this may be a folder with modules; looking at all other entries takes long."""
    return name != "__pycache__" and ("." not in name or name.endswith(".libs"))
