"""Write files atomically, and copy and remove what belongs to a submission."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path

#: The file next to a submission in which nbgrader records when it was handed in.
TIMESTAMP = "timestamp.txt"
#: The files that nbgrader's exchange puts next to a submission. It needs the secret to return the
#: feedback.
NOTES = (TIMESTAMP, "submission_secret.txt")


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
    staged = stage(path, content)
    staged.replace(path)


def stage(path: Path, content: str | bytes) -> Path:
    """Write the content to a hidden file beside the path, and return it.

    If it cannot be written completely, no file is left.
    """
    staged = path.with_name(f".{path.name}.new")
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    try:
        staged.write_bytes(content)
    except OSError:
        with contextlib.suppress(OSError):
            staged.unlink()
        raise
    return staged


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
        noted = submission / name
        text = noted.read_text("utf-8", "replace") if is_small_file(noted) else None
        copy = made / name
        if text is None:
            copy.unlink(missing_ok=True)
        elif not copy.is_file() or copy.read_text("utf-8") != text:
            write_atomically(copy, text)


def is_small_file(path: Path) -> bool:
    """Say whether the path is an ordinary file, not a link, of less than 1 KiB."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1024
