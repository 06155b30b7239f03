"""Unpack what a platform gave out, for ``nbgrader zip_collect``, member by member.

Learners make archives, and the platform's archive contains what they hand in. So each fault is told
and costs only the member or the archive that it is in. Only ordinary files are written, all of them
inside of the folder, and what one learner hands in can fill neither the disk nor the memory.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, cast

from nbgrader.apps import ZipCollectApp
from nbgrader.plugins import ExtractorPlugin
from traitlets import Integer

from grader.files import is_by_machine
from grader.nbgrader_hooks.collecting import MAX_NAME_BYTES, is_hidden_or_system_file
from grader.nbgrader_hooks.platforms import found_in
from grader.printable import printable
from grader.submission.locating import MAX_BYTES, MAX_ENTRIES

#: An archive's list of members is read at once, so it is limited: in the platform's archive to
#: about 150,000 members, in a learner's to about 5,000.
MAX_LIST_BYTES = 16 * 2**20
MAX_LIST_BYTES_OF_LEARNER = 2**19

#: Archives inside of archives are unpacked down to this level; the platform's is the first.
MAX_LEVEL = 3

#: How many faults are told of what one learner handed in.
MAX_TOLD = 10

#: Bytes of a tar archive, unpacked. It is read from its beginning to its end.
MAX_TAR_BYTES = 4 * 2**30

#: The methods of compression that are read, as numbered in zip files. LZMA is left out because a
#: file chooses how much memory it takes.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)

_PIECE = 2**16
_TOP = PurePosixPath()


class LeftOut(Exception):
    """Raised for what is not unpacked; the message is the end of a sentence."""


@dataclass
class _Budget:
    """What may still be unpacked for one learner."""

    files: int
    size: int


class ArchiveExtractor(ExtractorPlugin):
    """Unpacks archives so that a fault costs only the member that it is in."""

    max_file_mib = Integer(
        MAX_BYTES // 2**20, min=1, help="MiB of one file. Larger ones are left out."
    ).tag(config=True)
    max_learner_mib = Integer(
        100, min=1, help="MiB that are unpacked for one learner. What is beyond is left out."
    ).tag(config=True)
    max_learner_files = Integer(
        MAX_ENTRIES, min=1, help="Files that are unpacked for one learner. More are left out."
    ).tag(config=True)

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        app = self.parent
        if not isinstance(app, ZipCollectApp):
            return
        # nbgrader would say that it has not found these folders, and call this a success.
        archive, extracted = map(
            Path, map(app._format_collect_path, (app.archive_directory, app.extracted_directory))
        )
        if not archive.exists() and not extracted.exists():
            app.fail(
                f"Nothing was collected: expected what the platform gave out in {archive}, found "
                "no such folder. Make it, put the zip file into it as it is, and collect again."
            )

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack the archives in a folder, and copy other files.

        Parameters
        ----------
        archive_path : str
            The folder with what the platform gave out.
        extracted_path : str
            The folder to unpack into.
        """
        self._into = Path(extracted_path)
        self._budgets: dict[str, _Budget] = {}
        self._told: Counter[str] = Counter()
        self._left_out = 0
        source = Path(archive_path)
        try:
            for path in self._files_below(source):
                with self._contained(path.relative_to(source).as_posix()):
                    self._take(path, path.relative_to(source))
            self.parent.collector_plugin_inst.share_with_members()
        except OSError as problem:  # only those that concern everything come here
            self.parent.fail(f"Not everything was unpacked: {problem}. Make room and try again.")
        if self._left_out:
            self.log.error("%d files or archives were left out; see above.", self._left_out)
        if not any(path.is_file() for path in self._into.rglob("*")):
            self.parent.fail(f"Nothing was collected: {source} has no file that can be unpacked.")

    def _files_below(self, folder: Path) -> Iterator[Path]:
        def tell(problem: OSError) -> None:
            self._tell(str(problem.filename), f"it cannot be opened ({problem.strerror})")

        found = False
        for root, folders, files in os.walk(folder, onerror=tell):
            for name in sorted(files):
                found = True
                yield Path(root, name)
            for name in folders:
                if Path(root, name).is_symlink():
                    self._tell(str(Path(root, name)), "links are not followed")
        if not found:
            self.parent.fail(f"Nothing was collected. Put the platform's archive into {folder}.")

    def _take(self, path: Path, name: Path) -> None:
        """Unpack or copy a file that lies in the folder of archives."""
        with _opened(path) as file:
            below = self._clean(name.as_posix())
            if self._is_archive(path):
                self._unpack(file, _own_folder(below), level=1)
            else:
                self._write(file, below, below.as_posix())

    def _unpack(self, file: IO[bytes], below: PurePosixPath, level: int) -> None:
        """Unpack an archive into a folder below the one for everything."""
        self.log.info("Unpacking into %s", below)
        if zipfile.is_zipfile(file):
            self._unpack_zip(file, below, level)
            return
        file.seek(0)
        is_gzip = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        unpacked = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzip else file
        try:
            self._unpack_tar(unpacked, below, level)
        except tarfile.ReadError:
            raise LeftOut("it is not an archive, or a part of it is missing") from None

    def _unpack_zip(self, file: IO[bytes], below: PurePosixPath, level: int) -> None:
        most = MAX_LIST_BYTES if level == 1 else MAX_LIST_BYTES_OF_LEARNER
        limited = cast("IO[bytes]", _Limited(file, most))
        with zipfile.ZipFile(limited) as archive:
            for member in archive.infolist():
                if member.is_dir():
                    continue
                with self._contained(f"{below}/{member.filename}"):
                    _check_zip_member(member)
                    path = self._clean(member.filename, below)
                    self._check_size(member.file_size)
                    with archive.open(member) as content:
                        self._take_member(content, path, below, level)

    def _unpack_tar(self, file: IO[bytes], below: PurePosixPath, level: int) -> None:
        budget = self.max_learner_mib * 2**20
        limited = _Limited(file, MAX_LIST_BYTES_OF_LEARNER, MAX_TAR_BYTES if level == 1 else budget)
        with tarfile.open(fileobj=cast("IO[bytes]", limited), mode="r:") as archive:
            for member in archive:
                archive.members = []  # type: ignore[attr-defined]  # else all of them stay in memory
                if member.isdir():
                    continue
                with self._contained(f"{below}/{member.name}"):
                    if not member.isreg():
                        raise LeftOut("it is a link or no file")
                    path = self._clean(member.name, below)
                    self._check_size(member.size)
                    content = archive.extractfile(member)
                    if content is not None:
                        self._take_member(content, path, below, level)

    def _take_member(
        self, content: IO[bytes], path: PurePosixPath, below: PurePosixPath, level: int
    ) -> None:
        """Write a member of an archive, and unpack it if it is one itself."""
        if is_hidden_or_system_file(path):
            return
        is_archive = self._is_archive(path)
        if is_archive and level == MAX_LEVEL:
            raise LeftOut(f"it is an archive at level {level + 1} of archives in archives")
        written = self._write(content, path, below.as_posix())
        if is_archive:
            folder, left_out = _own_folder(path), self._left_out
            try:
                with written.open("rb") as file:
                    self._unpack(file, folder, level + 1)
            finally:
                written.unlink()
            found = any(place.is_file() for place in Path(self._into, folder).rglob("*"))
            if not found and self._left_out == left_out:
                raise LeftOut("nothing is in it")

    def _is_archive(self, path: PurePath) -> bool:
        return path.suffix.lower() in self.zip_ext

    def _write(self, content: IO[bytes], path: PurePosixPath, archive: str) -> Path:
        """Write a file of limited size, and return where; nothing is left of one that fails."""
        sender = self._sender(path) or archive
        budget = self._budgets.setdefault(
            sender, _Budget(self.max_learner_files, self.max_learner_mib * 2**20)
        )
        if not budget.files:
            raise LeftOut(f"there are more than {self.max_learner_files} files of one learner")
        budget.files -= 1
        target = _free(self._into / path)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with target.open("xb") as file:
                while piece := content.read(_PIECE):
                    file.write(piece)
                    budget.size -= len(piece)
                    self._check_size(file.tell())
                    if budget.size < 0:
                        raise LeftOut(f"one learner has more than {self.max_learner_mib} MiB")
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return target

    def _check_size(self, size: int) -> None:
        if size > self.max_file_mib * 2**20:
            raise LeftOut(f"it has more than {self.max_file_mib} MiB")

    def _clean(self, name: str, below: PurePosixPath = _TOP) -> PurePosixPath:
        """Return the path of a member below a folder, in characters that can be printed."""
        name = name.replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or re.match("[A-Za-z]:", name) or not parts:
            raise LeftOut("its name leads out of the archive's folder")
        parts = [printable(part).replace("\\", "_") for part in parts]
        if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
            raise LeftOut("its name is too long")
        return below.joinpath(*parts)

    @contextlib.contextmanager
    def _contained(self, name: str) -> Iterator[None]:
        """Tell what goes wrong with one member, and go on, unless it concerns everything."""
        try:
            yield
        except LeftOut as problem:
            self._tell(name, str(problem))
        except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError):
            self._tell(name, "it is damaged, or a part of it is missing")
        except OSError as problem:
            if is_by_machine(problem):
                raise
            self._tell(name, f"it cannot be read or written ({problem.strerror or problem})")
        except Exception as problem:  # parsers raise errors of many classes for damaged files
            self._tell(name, f"it cannot be unpacked ({type(problem).__name__}: {problem})")

    def _tell(self, name: str, why: str) -> None:
        self._left_out += 1
        sender = self._sender(PurePosixPath(name)) or name.partition("/")[0]
        self._told[sender] += 1
        if self._told[sender] <= MAX_TOLD:
            self.log.error("Left out, because %s: %s", printable(why), printable(name))
        if self._told[sender] == MAX_TOLD:
            self.log.error("More that was left out of the same learner's files is not listed.")

    def _sender(self, path: PurePosixPath) -> str:
        """Return what stands for the learner in a path, or ""."""
        found = found_in(path, self.parent.collector_plugin_inst.named_regexp)
        return found.sender if found else ""


class _Limited:
    """A file of which parsers can read neither much at once nor more than a part.

    Parameters
    ----------
    file : file object
    at_once : int
        The largest number of bytes that may be read at once.
    size : int, optional
        The number of bytes from the beginning that may be read.
    """

    def __init__(self, file: IO[bytes], at_once: int, size: int | None = None) -> None:
        self._file = file
        self._at_once = at_once
        self._size = size

    def read(self, number: int = -1) -> bytes:
        """Return the next bytes."""
        most = self._at_once + 1
        data = self._file.read(most if number < 0 else min(number, most))
        if len(data) == most:
            raise LeftOut("its list of members is too long")
        self._check(self._file.tell())
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to another place."""
        if whence == os.SEEK_SET:
            self._check(offset)
        return self._file.seek(offset, whence)

    def _check(self, end: int) -> None:
        if self._size is not None and end > self._size:
            raise LeftOut(f"it has more than {self._size // 2**20} MiB")

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Return True."""
        return True


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open an ordinary file, without following links or waiting for another program."""
    if path.is_symlink():
        raise LeftOut("links are not followed; put the file itself there")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LeftOut("it is no ordinary file")
        yield file


def _check_zip_member(member: zipfile.ZipInfo) -> None:
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise LeftOut("it is a link or no file")
    if member.flag_bits & 0x1:
        raise LeftOut("it is encrypted")
    if member.compress_type not in METHODS:
        raise LeftOut(f"its method of compression, number {member.compress_type}, is not read")


def _own_folder(archive: PurePosixPath) -> PurePosixPath:
    """Return the folder for the members of an archive: its name without ``.zip`` or ``.tar.gz``.

    Examples
    --------
    >>> str(_own_folder(PurePosixPath("all/work.tar.gz")))
    'all/work'
    """
    folder = archive.with_suffix("")
    return folder.with_suffix("") if folder.suffix == ".tar" else folder


def _free(path: Path) -> Path:
    """Return the path, with a number if there is such a file already."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.stem} ({number}){path.suffix}")
    return free
