"""Finds the notebook among the files a student handed in, and reads its bytes."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from grader.submission.errors import Unreadable
from grader.submission.wording import listed

#: The largest file that is opened, in bytes. Notebooks with many figures have some MiB.
MAX_BYTES = 20 * 2**20

#: How many levels of subfolders are searched for a notebook, and how many files and folders in all.
MAX_FOLDER_DEPTH = 2
MAX_ENTRIES = 1000
#: How many levels of subfolders are searched for files that learners wrote, such as packages.
MAX_DEPTH_OF_OWN_FILES = 8

#: How many files a message names, and how many characters of each name.
MAX_NAMED = 10
MAX_NAME = 100

SUFFIX = ".ipynb"
#: How browsers and mail programs change the suffix.
ODD_SUFFIXES = (".ipynb.txt", ".ipynb.json", ".json")

#: Files that nbgrader and archive programs add to a submission.
ADDED_FILES = ("timestamp.txt", "submission_secret.txt", "__MACOSX")

# Additions to names: "masking (1)", "masking-Copy2", "masking - Copy", "Copy of
# masking", "masking_v2", "masking final".
_ADDED = re.compile(
    r"^copy of |[\s_-]*(?:\(\d+\)|copy\s*\d*|final|v\d+|\d+)$",
    re.IGNORECASE,
)


def find(folder: Path, assignment: str, siblings: Collection[str] = ()) -> tuple[Path, list[str]]:
    """Return the notebook to judge, and remarks on the choice.

    A notebook with the expected name is chosen, whatever other files there are. Otherwise it is
    the only notebook, or the only one with the expected name apart from additions such as "(1)".
    Subfolders are searched only if the folder itself contains no notebook. Links are not followed.

    Parameters
    ----------
    folder : Path
        submitted/STUDENT/ASSIGNMENT, with the files that one student handed in.
    assignment : str
        The name of the notebook; where an assignment has one, it is that of the assignment.
    siblings : collection of str
        The names of the assignment's other notebooks, which are not chosen in place of this one.

    Raises
    ------
    Unreadable
        If there is no notebook, or it is not clear which one is the submission.
    """
    wanted = f"{assignment}{SUFFIX}"
    if folder.is_symlink() or folder.parent.is_symlink():
        raise Unreadable(
            f"its folder is a link, and links are not followed: expected {wanted} in a folder"
        )
    if not folder.is_dir():
        raise Unreadable(f"nothing submitted: expected {wanted}")
    for level in _levels(folder):
        notebooks = [path for path in level if path.name.lower().endswith(SUFFIX)]
        notebooks = notebooks or [path for path in level if _is_odd(path.name, assignment)]
        notebooks = [path for path in notebooks if not _is_a_sibling(path, assignment, siblings)]
        if notebooks:
            return _choose(notebooks, wanted, folder)
    raise Unreadable(_nothing_found(folder, wanted))


def own_files(folder: Path, max_bytes: int) -> tuple[dict[str, bytes], list[str]]:
    """Return what was handed in beside notebooks, by path, and remarks on what was left out.

    Links are not followed. Files are taken as long as they have `max_bytes` bytes together.

    Parameters
    ----------
    folder : Path
        submitted/STUDENT/ASSIGNMENT.
    max_bytes : int

    Raises
    ------
    Unreadable
        If there are too many files.
    """
    found: dict[str, bytes] = {}
    remarks = []
    paths = sorted(path for level in _levels(folder, MAX_DEPTH_OF_OWN_FILES) for path in level)
    for path in paths:
        if path.name.lower().endswith(SUFFIX):
            continue
        try:
            found[_inside(path, folder)] = content = load(path, min(max_bytes, MAX_BYTES))
        except Unreadable:
            remarks.append(f"{_inside(path, folder)[:MAX_NAME]!r} was left out: it cannot be read.")
            continue
        max_bytes -= len(content)
    return found, remarks


def load(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file of at most `max_bytes` bytes.

    Raises
    ------
    Unreadable
        If it is a link, a device or a pipe, is another user's file that also has another name, is
        too large or cannot be opened.
    """
    try:
        # Do not follow links, and do not wait for another process to write into a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable(
                f"{path.name!r} is a link, and links are not followed: expected the file itself"
            ) from None
        raise Unreadable(f"{path.name!r} cannot be opened: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(f"{path.name!r} is not a regular file: expected a notebook")
        if is_foreign(found, path.parent.stat()):
            raise Unreadable(
                f"{path.name!r} is a hard link to a file of another user: expected the file itself"
            )
        check_size(found.st_size, max_bytes)
        return file.read(found.st_size)


def is_foreign(file: os.stat_result, folder: os.stat_result) -> bool:
    """Say whether a file has another name too and does not belong to the owner of its folder.

    It may be a hard link to a file that a learner may not read. Where owners are the same, as in a
    backup made of hard links, nothing is wrong.
    """
    return file.st_nlink > 1 and file.st_uid != folder.st_uid


def check_size(size: int, max_bytes: int = MAX_BYTES) -> None:
    """Raise `Unreadable` if a file of this many bytes is too large."""
    if size > max_bytes:
        raise Unreadable(
            f"the file is larger than {max_bytes // 2**20} MiB, the largest size that is read. "
            "Clear the outputs, save and hand in again"
        )


def _levels(folder: Path, depth: int = MAX_FOLDER_DEPTH) -> Iterator[list[Path]]:
    """Yield the files in the folder, then those in its subfolders, level by level."""
    folders, seen = [folder], 0
    for _ in range(depth + 1):
        files, deeper = [], []
        for parent in folders:
            for entry in _entries(parent):
                seen += 1
                if seen > MAX_ENTRIES:
                    raise Unreadable(
                        f"more than {MAX_ENTRIES} files were handed in: expected one notebook. "
                        "Keep only the notebook"
                    )
                if entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    files.append(Path(entry.path))
        yield files
        folders = deeper


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of the folder, without hidden files and `ADDED_FILES`."""
    try:
        with os.scandir(folder) as entries:
            found = [e for e in entries if e.name[0] != "." and e.name not in ADDED_FILES]
    except OSError as error:
        raise Unreadable(f"{folder.name!r} cannot be opened: {error.strerror}") from None
    return sorted(found, key=lambda entry: entry.name)


def _choose(notebooks: Sequence[Path], wanted: str, folder: Path) -> tuple[Path, list[str]]:
    chosen = next((path for path in notebooks if path.name == wanted), None)
    if chosen is None and len(notebooks) == 1:
        (chosen,) = notebooks
    if chosen is None:
        alike = [path for path in notebooks if _is_like(path.name, wanted)]
        if len(alike) != 1:
            names = _some(notebooks, folder)
            raise Unreadable(
                f"found {names}, and it is not clear which is {wanted}. Keep only that one"
            )
        (chosen,) = alike
    remarks = []
    if _inside(chosen, folder) != wanted:
        remarks.append(f"{_inside(chosen, folder)!r} was used in place of {wanted}.")
    others = [path for path in notebooks if path != chosen]
    if others:
        verb = "was" if len(others) == 1 else "were"
        remarks.append(f"{_some(others, folder)} {verb} also found and ignored.")
    return chosen, remarks


def _some(paths: Sequence[Path], folder: Path) -> str:
    """Return the names of files as a list in words, the first `MAX_NAMED` of them."""
    names = [repr(_inside(path, folder)[:MAX_NAME]) for path in paths[:MAX_NAMED]]
    more = len(paths) - len(names)
    return listed([*names, f"{more} more"] if more else names)


def _inside(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _variants(name: str) -> list[str]:
    """Return a notebook's name in lower case without its suffix, then without additions as "(1)".

    Examples
    --------
    >>> _variants("Problem2 (1).ipynb")
    ['problem2-(1)', 'problem2', 'problem']
    """
    plain = unicodedata.normalize("NFC", name).lower()
    for suffix in (*ODD_SUFFIXES, SUFFIX):
        plain = plain.removesuffix(suffix)
    variants = [plain]
    while (shorter := _ADDED.sub("", variants[-1])) != variants[-1]:
        variants.append(shorter)
    return [re.sub(r"[\s_-]+", "-", variant) for variant in variants]


def _is_like(name: str, wanted: str) -> bool:
    return _variants(wanted)[0] in _variants(name)


def _is_a_sibling(path: Path, notebook: str, siblings: Collection[str]) -> bool:
    """Say whether a file is another notebook of the assignment rather than this one."""
    names = {_variants(name)[0]: name for name in (*siblings, notebook)}
    return next((names[v] for v in _variants(path.name) if v in names), notebook) != notebook


def _is_odd(name: str, assignment: str) -> bool:
    return name.lower().endswith(ODD_SUFFIXES) and _is_like(name, assignment)


def _nothing_found(folder: Path, wanted: str) -> str:
    entries = _entries(folder)
    if not entries:
        return f"nothing submitted: expected {wanted}"
    links = [repr(entry.name) for entry in entries if entry.is_symlink()]
    if links:
        return f"found {listed(links)}, but links are not followed: expected the file {wanted}"
    names = [repr(entry.name) for entry in entries]
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    names = names[:3] if more else names
    found = ", ".join(names) + more if more else listed(names)
    return f"found {found}, but no notebook: expected {wanted}"
