"""Find the notebook among what a student handed in, and read its bytes."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.submission.errors import Unreadable
from grader.submission.wording import listed

#: The largest file that is opened, in bytes. Notebooks with many figures have some MiB.
MOST_BYTES = 20 * 2**20

#: How deep a notebook may lie in folders of the student's own, and how much is looked through.
MOST_FOLDERS_DEEP = 2
MOST_ENTRIES = 1000

SUFFIX = ".ipynb"
#: What browsers and mail programs make of the suffix.
ODD_SUFFIXES = (".ipynb.txt", ".ipynb.json", ".json")

#: What others than the student put there: nbgrader, and programs that make archives.
NOT_THE_STUDENTS = ("timestamp.txt", "submission_secret.txt", "__MACOSX")

# What computers add to a name: "masking (1)", "masking-Copy2", "masking - Copy", "Copy of
# masking", "masking_v2", "masking final".
_ADDED = re.compile(
    r"^copy of |[\s_-]*(?:\(\d+\)|copy\s*\d*|final|v\d+|\d+)$",
    re.IGNORECASE,
)


def find(folder: Path, assignment: str) -> tuple[Path, list[str]]:
    """Return the notebook to grade and remarks on what was taken for it.

    A notebook of the right name is taken, whatever stands beside it. Otherwise the only
    notebook there is, or the only one whose name is the right one but for "(1)" and the like;
    folders in the folder are looked through if it holds no notebook itself. Links are not
    followed.

    Parameters
    ----------
    folder : Path
        What one student handed in for the assignment, submitted/STUDENT/ASSIGNMENT.
    assignment : str
        The name of the assignment, which is that of its notebook.

    Raises
    ------
    Unreadable
        If there is no notebook, or more than one that could be meant.
    """
    wanted = f"{assignment}{SUFFIX}"
    if folder.is_symlink():
        raise Unreadable(f"its folder is a link, which is not followed: expected {wanted} in it")
    if not folder.is_dir():
        raise Unreadable(f"nothing submitted: expected {wanted}")
    for level in _levels(folder):
        notebooks = [path for path in level if path.name.lower().endswith(SUFFIX)]
        notebooks = notebooks or [path for path in level if _is_odd(path.name, assignment)]
        if notebooks:
            return _choose(notebooks, wanted, folder)
    raise Unreadable(_nothing_found(folder, wanted))


def load(path: Path) -> bytes:
    """Return what is in the file; it has to be an ordinary one of no more than `MOST_BYTES`.

    Raises
    ------
    Unreadable
        If it is a link, a device or a pipe, is too large or cannot be opened.
    """
    try:
        # Neither follow a link nor wait for somebody to write into a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable(f"{path.name!r} is a link, which is not followed") from None
        raise Unreadable(f"{path.name!r} cannot be opened: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path.name!r} is not an ordinary file")
        data = file.read(MOST_BYTES + 1)
    check_size(len(data))
    return data


def check_size(size: int) -> None:
    """Raise `Unreadable` if a file of this many bytes is not read."""
    if size > MOST_BYTES:
        raise Unreadable(
            f"the file has more than {MOST_BYTES // 2**20} MiB, the most that is read. "
            "Clear the outputs, save and hand in again"
        )


def _levels(folder: Path) -> Iterator[list[Path]]:
    """Yield the files in the folder, then those in the folders in it, and so on."""
    folders, seen = [folder], 0
    for _ in range(MOST_FOLDERS_DEEP + 1):
        files, deeper = [], []
        for place in folders:
            for entry in _entries(place):
                seen += 1
                if seen > MOST_ENTRIES:
                    raise Unreadable(
                        f"more than {MOST_ENTRIES} files were handed in: expected one notebook"
                    )
                if entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    files.append(Path(entry.path))
        yield files
        folders = deeper


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in the folder, without hidden files and what others put there."""
    try:
        with os.scandir(folder) as entries:
            found = [e for e in entries if e.name[0] != "." and e.name not in NOT_THE_STUDENTS]
    except OSError as error:
        raise Unreadable(f"{folder.name!r} cannot be opened: {error.strerror}") from None
    return sorted(found, key=lambda entry: entry.name)


def _choose(notebooks: Sequence[Path], wanted: str, folder: Path) -> tuple[Path, list[str]]:
    chosen = next((path for path in notebooks if path.name == wanted), None)
    if chosen is None and len(notebooks) == 1:
        (chosen,) = notebooks
    if chosen is None:
        alike = [path for path in notebooks if _plain(path.name) == _plain(wanted)]
        if len(alike) != 1:
            names = listed([repr(_inside(path, folder)) for path in notebooks])
            raise Unreadable(f"found {names}, and it is not clear which is {wanted}. Keep one")
        (chosen,) = alike
    remarks = []
    if _inside(chosen, folder) != wanted:
        remarks.append(f"Found {_inside(chosen, folder)!r}, taken for {wanted}.")
    others = [repr(_inside(path, folder)) for path in notebooks if path != chosen]
    if others:
        verb = "was" if len(others) == 1 else "were"
        remarks.append(f"Beside it {verb} found {listed(others)}, not looked at.")
    return chosen, remarks


def _inside(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _plain(name: str) -> str:
    """Return a notebook's name without case, suffix and what computers add to it.

    Examples
    --------
    >>> {_plain(name) for name in ("Masking (1).ipynb", "masking-Copy1 (2).ipynb")}
    {'masking'}
    """
    plain = unicodedata.normalize("NFC", name).lower()
    for suffix in (*ODD_SUFFIXES, SUFFIX):
        plain = plain.removesuffix(suffix)
    while (shorter := _ADDED.sub("", plain)) != plain:
        plain = shorter
    return re.sub(r"[\s_-]+", "-", plain)


def _is_odd(name: str, assignment: str) -> bool:
    return name.lower().endswith(ODD_SUFFIXES) and _plain(name) == _plain(assignment)


def _nothing_found(folder: Path, wanted: str) -> str:
    entries = _entries(folder)
    if not entries:
        return f"nothing submitted: expected {wanted}"
    links = [repr(entry.name) for entry in entries if entry.is_symlink()]
    if links:
        return f"found {listed(links)}: a link, which is not followed. Expected the file {wanted}"
    names = [repr(entry.name) for entry in entries]
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    names = names[:3] if more else names
    found = ", ".join(names) + more if more else listed(names)
    return f"found {found}, but no notebook: expected {wanted}"
