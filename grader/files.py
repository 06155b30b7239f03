"""Write and remove files so that nobody finds half of one."""

from __future__ import annotations

import shutil
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever looks finds the old or the new one, whole."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8", errors="backslashreplace")
    beside.replace(path)


def remove_folder(folder: Path) -> None:
    """Remove the folder, and the one it stands in if nothing else does."""
    if folder.exists():
        shutil.rmtree(folder)
    if folder.parent.exists() and not any(folder.parent.iterdir()):
        folder.parent.rmdir()
