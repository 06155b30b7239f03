"""Archives that platforms and learners hand in, most of them damaged or malicious.

`HANDED_IN` has a learner's files for each kind, and what is told about them.
"""

from __future__ import annotations

import gzip
import io
import random
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

NOTEBOOK = "dot-products.ipynb"
#: Small limits, so that the archives that exceed them are small too.
MAX_FILE_MIB, MAX_LEARNER_MIB, MAX_LEARNER_FILES = 1, 3, 12

Members = list[tuple[str, bytes]]


@dataclass(frozen=True)
class HandedIn:
    """What one learner handed in, as members of the platform's archive."""

    members: Members  #: below the learner's folder
    told: tuple[str, ...] = ()  #: pieces of what is told about it
    collected: bool = False  #: whether a notebook is collected all the same


def zipped(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            if name.startswith("link-"):
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Duplicate name")
                archive.writestr(info, content)
    return file.getvalue()


def tarred(members: Members, odd: list[tuple[str, bytes]] = ()) -> bytes:
    """Return a tar archive of files, and of members of odd types that lead to /etc/passwd."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, kind in odd:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def changed(archive: bytes, name: str, change: Callable[[bytearray, int, int], None]) -> bytes:
    """Change one member of a zip file, given the places of its local and its central header."""
    file = bytearray(archive)
    local = file.index(name.encode()) - 30
    central = file.rindex(name.encode()) - 46
    assert (file[local : local + 4], file[central : central + 4]) == (b"PK\3\4", b"PK\1\2")
    change(file, local, central)
    return bytes(file)


def encrypted(file: bytearray, local: int, central: int) -> None:
    file[local + 6] |= 1
    file[central + 8] |= 1


def other_method(file: bytearray, local: int, central: int) -> None:
    """Claim Deflate64."""
    file[local + 8 : local + 10] = file[central + 10 : central + 12] = struct.pack("<H", 9)


def wrong_size(file: bytearray, local: int, central: int) -> None:
    """Claim that it unpacks to a few bytes."""
    file[local + 22 : local + 26] = file[central + 24 : central + 28] = struct.pack("<L", 5)


def damaged(file: bytearray, local: int, central: int) -> None:
    """Change the end of the content, so that the checksum is wrong or decompressing fails."""
    size = struct.unpack_from("<L", file, central + 20)[0]
    name = struct.unpack_from("<H", file, central + 28)[0]
    file[local + 30 + name + size // 2] ^= 0xFF


def long_list(size: int) -> bytes:
    """Return a zip file whose end says that its list of members has this many bytes."""
    content = b"\0" * size
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0)
    return content + end


WORK = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'
GOOD = (NOTEBOOK, WORK)
MIB = 2**20
LARGE = b"\0" * (MIB + 1)
HALF = b"\0" * (MIB - 1)

#: By name of the learner.
HANDED_IN: dict[str, HandedIn] = {
    "Honest Notebook": HandedIn([GOOD], collected=True),
    "Honest Archive": HandedIn([("work.zip", zipped([GOOD]))], collected=True),
    "Honest Tar": HandedIn([("work.tar.gz", tarred([GOOD]))], collected=True),
    "Honest Folder": HandedIn(
        [("w.zip", zipped([("__MACOSX/._a.ipynb", b"x"), (f"a b/ü/{NOTEBOOK}", WORK)]))],
        collected=True,
    ),
    "Honest Backslashes": HandedIn([("w.zip", zipped([(f"work\\{NOTEBOOK}", WORK)]))], (), True),
    "Honest Capitals": HandedIn([("WORK.ZIP", zipped([GOOD]))], collected=True),
    "Honest Suffix": HandedIn([(f"{NOTEBOOK}.txt", WORK)], collected=True),
    "Honest Shouting": HandedIn([(NOTEBOOK.upper(), WORK)], collected=True),
    # Archives that are none, or have nothing
    "Archive Nothing": HandedIn([("w.zip", zipped([]))], ("nothing is in it",)),
    "Archive Folder": HandedIn([("w.zip", zipped([("work/", b"")]))], ("nothing is in it",)),
    "Archive Hidden": HandedIn([("w.zip", zipped([("__MACOSX/._a", b"")]))], ("nothing is in it",)),
    "Archive Truncated": HandedIn([("w.zip", zipped([GOOD])[:-40])], ("it is not an archive",)),
    "Archive Text": HandedIn([("w.zip", b"my work")], ("it is not an archive",)),
    "Archive Empty": HandedIn([("w.zip", b"")], ("it is not an archive",)),
    "Archive Gzip": HandedIn([(f"{NOTEBOOK}.gz", gzip.compress(WORK))], ("it is not an archive",)),
    "Archive Cut": HandedIn(
        [("w.tar.gz", tarred([GOOD, ("noise", random.Random(3).randbytes(9000))])[:-4000])],
        ("a part of it is missing",),
        collected=True,
    ),
    "Archive Magic": HandedIn([("w.gz", b"\x1f\x8bxx")], ("a part of it is missing",)),
    "Archive Rar": HandedIn([("w.zip", b"Rar!\x1a\x07")], ("it is not an archive",)),
    "Archive List": HandedIn([("w.zip", long_list(2**19 + 1))], ("list of members is too long",)),
    # Members that are damaged or cannot be read
    "Member Damaged": HandedIn(
        [("w.zip", changed(zipped([("bad.ipynb", WORK), GOOD]), "bad.ipynb", damaged))],
        ("it is damaged", "bad.ipynb"),
        collected=True,
    ),
    "Member Encrypted": HandedIn(
        [("w.zip", changed(zipped([("bad.ipynb", WORK), GOOD]), "bad.ipynb", encrypted))],
        ("it is encrypted", "bad.ipynb"),
        collected=True,
    ),
    "Member Method": HandedIn(
        [("w.zip", changed(zipped([("bad.ipynb", WORK), GOOD]), "bad.ipynb", other_method))],
        ("its method of compression, number 9, is not read",),
        collected=True,
    ),
    "Member Lzma": HandedIn(
        [("w.zip", zipped([GOOD], zipfile.ZIP_LZMA))],
        ("its method of compression, number 14, is not read",),
    ),
    # Places outside of the archive's folder
    "Place Dots": HandedIn(
        [("w.zip", zipped([("../../../../../../outside.ipynb", WORK), GOOD]))],
        ("its name leads out of the archive's folder",),
        collected=True,
    ),
    "Place Absolute": HandedIn(
        [("w.zip", zipped([("/tmp/outside.ipynb", WORK), GOOD]))],
        ("its name leads out of the archive's folder",),
        collected=True,
    ),
    "Place Windows": HandedIn(
        [("w.zip", zipped([("C:\\outside.ipynb", WORK), ("..\\outside.ipynb", WORK), GOOD]))],
        ("its name leads out of the archive's folder",),
        collected=True,
    ),
    "Place Link": HandedIn(
        [("w.zip", zipped([("link-a", b"/etc"), ("link-a/outside.ipynb", WORK), GOOD]))],
        ("it is a link or no file",),
        collected=True,
    ),
    "Place Tar": HandedIn(
        [
            (
                "w.tar.gz",
                tarred(
                    [("../outside.ipynb", WORK), GOOD],
                    [
                        ("a.ipynb", tarfile.SYMTYPE),
                        ("b.ipynb", tarfile.LNKTYPE),
                        ("c.ipynb", tarfile.FIFOTYPE),
                        ("d.ipynb", tarfile.CHRTYPE),
                    ],
                ),
            )
        ],
        ("it is a link or no file", "its name leads out of the archive's folder"),
        collected=True,
    ),
    # Much from little
    "Bomb File": HandedIn([("bomb.ipynb", LARGE), GOOD], ("it has more than 1 MiB",), True),
    "Bomb Member": HandedIn(
        [("w.zip", zipped([("bomb.ipynb", LARGE), GOOD]))], ("it has more than 1 MiB",), True
    ),
    "Bomb Lie": HandedIn(
        [
            (
                "w.zip",
                changed(zipped([("bomb.ipynb", LARGE), GOOD]), "bomb.ipynb", wrong_size),
            )
        ],
        ("it is damaged",),
        collected=True,
    ),
    "Bomb Flat": HandedIn(
        [("w.zip", zipped([(f"{n}.ipynb", HALF) for n in range(5)]))],
        ("one learner has more than 3 MiB",),
        collected=True,
    ),
    "Bomb Nested": HandedIn(
        [(f"{n}.zip", zipped([("a.ipynb", HALF)])) for n in range(5)],
        ("one learner has more than 3 MiB",),
        collected=True,
    ),
    "Bomb Tar": HandedIn(
        [("w.tar.gz", tarred([(f"{n}.txt", b"\0" * 2 * MIB) for n in range(3)] + [GOOD]))],
        ("it has more than 1 MiB", "it has more than 3 MiB"),
    ),
    "Bomb Count": HandedIn(
        [("w.zip", zipped([GOOD, *((f"{n}.txt", b"") for n in range(99))]))],
        ("there are more than 12 files of one learner"),
        collected=True,
    ),
    "Bomb Levels": HandedIn(
        [("1.zip", zipped([GOOD, ("2.zip", zipped([("3.zip", zipped([GOOD]))]))]))],
        ("it is an archive at level 4 of archives in archives",),
        collected=True,
    ),
    # Odd names
    "Name Controls": HandedIn([("\x1b[2J\n\x07.ipynb", WORK)], collected=True),
    "Name Bidi": HandedIn([("a\u202egnp.ipynb", WORK)], collected=True),
    "Name Long": HandedIn([("x" * 249 + ".ipynb", WORK)], collected=True),
    "Name TooLong": HandedIn([("x" * 250 + ".ipynb", WORK), GOOD], ("its name is too long",), True),
    "Name Forms": HandedIn([("\u00e9.ipynb", WORK), ("e\u0301.ipynb", WORK), GOOD], (), True),
    "Name Case": HandedIn([(NOTEBOOK.upper(), WORK), GOOD], (), True),
    "Name Twice": HandedIn([GOOD, GOOD, GOOD], collected=True),
    "Name Clash": HandedIn([("a", b""), ("a/b.ipynb", WORK), GOOD], ("File exists",), True),
    "Name Dots": HandedIn([("a.b.ipynb", WORK), ("a.c.ipynb", WORK), GOOD], (), True),
    "Name Only": HandedIn([("notes.pdf", b"%PDF")], ("Skipped submission",)),
}


def platform_archive() -> bytes:
    """Return the archive that Moodle makes of `HANDED_IN`."""
    return zipped(
        [
            (f"{learner}_{number}_assignsubmission_file_/{name}", content)
            for number, (learner, handed_in) in enumerate(HANDED_IN.items(), start=100)
            for name, content in handed_in.members
        ]
    )
