"""Write and remove files so that nobody finds half of one."""

from __future__ import annotations

import shutil
from pathlib import Path

#: nbgrader notes in this file, beside a submission, when it was handed in.
TIMESTAMP = "timestamp.txt"
#: What nbgrader's exchange puts beside a submission; by the second its feedback goes back.
NOTES = (TIMESTAMP, "submission_secret.txt")


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


def hand_on_notes(submission: Path, made: Path) -> None:
    """Copy nbgrader's notes from a submission's folder to the folder of what is made of it."""
    for name in NOTES:
        noted = submission / name
        text = noted.read_text("utf-8", "replace") if is_small_file(noted) else None
        copy = made / name
        if text is None:
            copy.unlink(missing_ok=True)
        elif not copy.is_file() or copy.read_text("utf-8") != text:
            write_whole(copy, text)


def is_small_file(path: Path) -> bool:
    """Say whether it is an ordinary file that holds a note: no link, no more than a KiB."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1024
