"""Collects submissions from nbgrader's exchange without following links.

Learners write into the exchange themselves. nbgrader would copy what a link there leads to, with
the rights of the instructor. The copy is an ordinary file, so no later step could tell.

Defends against links, pipes and devices, also if a learner puts them there while the folder is
copied, and against folders whose names or notes would stop the collection for everybody.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grader.printable import printable
from grader.submission.locating import MAX_ENTRIES, is_foreign
from grader.submission.timestamps import read_notes_safely


class CollectFiles(ExchangeCollect):
    """Copies ordinary files only, and tells of everything that it leaves out."""

    def init_src(self) -> None:
        """Find the last submission of each learner."""
        read_notes_safely(self.coursedir)
        super().init_src()
        self.src_records = [r for r in self.src_records if r["username"]]  # type: ignore[has-type]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Return what a folder's name says, with no user name if nothing can be collected of it."""
        # Like nbgrader's times, this one has no zone.
        nobody = {"username": "", "filename": "", "timestamp": datetime.min}  # noqa: DTZ901
        try:
            record = super()._path_to_record(path)
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except (OSError, ValueError, ArithmeticError, TypeError) as problem:
            left_out = f"its name does not end with a time ({problem})"
        else:
            if not is_folder:
                left_out = "it is not a folder, and links are not followed"
            elif not record["username"]:
                left_out = "its name does not begin with a learner's id"
            else:
                return record
        self.log.error("Not collected: %s: %s", printable(path), printable(left_out))
        return nobody

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy a submission from the exchange.

        If it cannot be read, an error is logged, so that the submissions of others are collected.
        """
        try:
            with tempfile.TemporaryDirectory() as stage:
                self._copy_files(src, Path(stage, "submission"))
                super().do_copy(str(Path(stage, "submission")), dest)
        except (OSError, RuntimeError) as problem:  # the latter is nbgrader's for a large folder
            self.log.error("Not collected: %s: %s", src, problem)

    def _copy_files(self, src: str, stage: Path) -> None:
        """Copy the ordinary files of a folder, each opened by way of its folder's descriptor."""
        if Path(src).is_symlink():
            raise OSError("the folder is a link, and links are not followed")
        seen, room = 0, 1000 * self.coursedir.max_dir_size
        for folder, folders, names, descriptor in os.fwalk(src, follow_symlinks=False):
            below = stage / os.path.relpath(folder, src)
            below.mkdir()
            linked = [name for name in folders if stat.S_ISLNK(_kind(name, descriptor))]
            folders[:] = [name for name in folders if name not in linked]
            for name in sorted([*linked, *names]):
                seen += 1
                if seen > MAX_ENTRIES:
                    raise OSError(f"it has more than {MAX_ENTRIES} files")
                left_out = self._copy_file(name, descriptor, below / name, room)
                if left_out:
                    self.log.warning("Not collected: %s: %s", Path(folder, name), left_out)
                else:
                    room -= (below / name).stat().st_size

    def _copy_file(self, name: str, folder: int, target: Path, room: int) -> str:
        """Copy a file, or return why it is left out."""
        if stat.S_ISLNK(_kind(name, folder)):
            return "it is a link, and links are not followed"
        # Do not wait for another process to write into a pipe.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return "it is not an ordinary file"
            if is_foreign(found, os.fstat(folder)):
                return "it is a hard link to a file of another user"
            if found.st_size > min(room, 1000 * self.coursedir.max_file_size):
                return f"it has {found.st_size:,} bytes, which is too large"
            with target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
        return ""


def _kind(name: str, folder: int) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
