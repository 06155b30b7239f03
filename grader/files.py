"""Write files atomically, and copy and remove what belongs to a submission."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

#: The file next to a submission in which nbgrader records when it was handed in.
TIMESTAMP = "timestamp.txt"
#: The files that nbgrader's exchange puts next to a submission. It needs the secret to return the
#: feedback.
NOTES = (TIMESTAMP, "submission_secret.txt")
MAX_NOTE_BYTES = 1024


#: Errors of the machine as a whole: full disks, read-only disks, faulty disks, too few resources.
_MACHINE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO),
    *(errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN),
)


def is_by_machine(error: BaseException) -> bool:
    """Say whether an error comes from the machine's state, and so would hit any other file too.

    Examples
    --------
    >>> is_by_machine(OSError(errno.ENOSPC, "No space left on device")), is_by_machine(ValueError())
    (True, False)
    """
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _MACHINE
    )


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content so that readers see either all of the old or all of the new."""
    stage(path, content)
    put_in_place(path)


def staged_at(path: Path) -> Path:
    """Return the hidden file beside a path, into which its next content is written."""
    return path.with_name(f".{path.name}.new")


def put_in_place(path: Path) -> None:
    """Replace a file by the one that was staged for it."""
    staged_at(path).replace(path)


def stage(path: Path, content: str | bytes) -> None:
    """Write the next content of a file to a hidden file beside it.

    Raises
    ------
    OSError
        If it cannot be written completely, or the path is a folder. Nothing is left then.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    staged = staged_at(path)
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    try:
        staged.write_bytes(content)
    except OSError:
        with contextlib.suppress(OSError):
            staged.unlink()
        raise


def replace_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Replace a folder, with all that is in it, by one with these files.

    Parameters
    ----------
    folder : Path
    files : mapping
        The content by path below the folder.

    Raises
    ------
    OSError
        If it cannot be written completely. The folder is as it was then.
    """
    staged, old = staged_at(folder), folder.with_name(f".{folder.name}.old")
    for left in (staged, old):
        if left.exists():
            shutil.rmtree(left)
    try:
        for name, content in files.items():
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode("utf-8") if isinstance(content, str) else content
            path.write_bytes(data)
        if folder.exists():
            folder.rename(old)
        staged.rename(folder)
    except OSError:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    if old.exists():
        shutil.rmtree(old)


def make_writable(folder: Path) -> None:
    """Make a folder if there is none, and find out early if nothing can be written into it.

    Raises
    ------
    OSError
        If it cannot be made or written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as problem:  # where the kernel makes all files, as in /proc
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder)) from problem
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def remove_folder(folder: Path) -> None:
    """Remove a folder, and then its parent folder if that is empty."""
    if folder.exists():
        shutil.rmtree(folder)
    if folder.parent.exists() and not any(folder.parent.iterdir()):
        folder.parent.rmdir()


def copy_notes(submission: Path, made: Path) -> None:
    """Make the notes in the folder `made` the same as those in a submission's folder.

    Parameters
    ----------
    submission : Path
        The folder with a submission, where nbgrader's exchange puts `NOTES`.
    made : Path
        The folder with what was made from the submission: the graded notebook or the feedback.
    """
    for name in NOTES:
        try:
            content = read_note(submission / name)
        except OSError:
            content = None
        copy = made / name
        if content is None:
            copy.unlink(missing_ok=True)
        elif not copy.is_file() or copy.read_bytes() != content:
            write_atomically(copy, content)


def read_note(path: Path) -> bytes | None:
    """Return the content of a note, or None if there is no ordinary file of less than 1 KiB.

    Raises
    ------
    OSError
        If the file or its folder cannot be read.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_size < MAX_NOTE_BYTES:
            return path.read_bytes()
    return None
