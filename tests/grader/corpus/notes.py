"""Things in the place of the note that says when a submission was handed in, none of them a time.

Each function makes one at the path of ``timestamp.txt``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Note = Callable[[Path], object]


def _text(content: bytes) -> Note:
    return lambda path: path.write_bytes(content)


NO_TIMES: dict[str, Note] = {
    "a word": _text(b"yesterday"),
    "bytes": _text(b"\xff\x00"),
    "a year too late": _text(b"99999-01-01 00:00:00 UTC"),
    "the path of a zone": _text(b"2026-03-01 10:00:00 ../../etc/passwd"),
    "a long number": _text(b"9" * 400),
    "an offset of months": _text(b"1-1-1 0:0 +9999"),
    "a long text": _text(b"2026-03-01 10:00:00 UTC" + b" " * 2000),
    "a folder": Path.mkdir,
    "an endless file": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
}
